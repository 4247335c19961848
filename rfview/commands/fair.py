"""Settings shared by all machines of a comparison: a paper's numbers for Fermi's core apply to every design (B0.9, B5.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SHARED = {"sm.num_schedulers": "number of schedulers", "sm.max_banks_per_cycle": "banks served per cycle"}


def shared_settings(variants: Sequence[str], preset: str, given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the settings that some design's paper requires, which all designs get, and a note for each.

    A last note names the designs whose papers had another machine than this preset.
    """
    from rfview.engine import plugin as designs
    from rfview.engine.config import load_preset

    config = load_preset(preset)
    shared: dict[str, Any] = {}
    notes: list[str] = []
    for name, meaning in SHARED.items():
        wanted = {}
        for variant in variants:
            value = designs.build(variant, {}, "", config.core).settings.get(name)
            if value:
                wanted[variant] = int(value)
        if wanted and name not in given:
            variant = min(wanted, key=lambda key: wanted[key])
            shared[name] = wanted[variant]
            if shared[name] != config[name]:
                notes.append(f"every design runs with {name} = {shared[name]} ({meaning}), because {variant} does")
    other = {variant: designs.design(designs.parse_variant(variant)[0]).paper_preset for variant in variants
             if designs.parse_variant(variant)[0] in designs.BUILT_IN and designs.parse_variant(variant)[0] != "sram"}
    listed = ", ".join(f"{name} for {variant}" for variant, name in other.items() if name != preset)
    if listed:
        notes.append(f"designs run on preset {preset}; the presets of the papers are {listed}")
    return shared, notes
