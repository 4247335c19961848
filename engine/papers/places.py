"""The places in which a design keeps values, and the events that read and write there: columns of a comparison.

A design lists them itself (Design.places). If it does not, they are its main register file's accesses, unless it is built
over a main file with places of its own, and its own events named `<place>_reads` or `<place>_writes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# events that cost energy and are neither reads nor writes
OTHERS = ("x_transfers", "shifts", "preshifts", "row_refreshes", "low_refreshes")


def accesses(chain: Sequence[str], counts: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Return reads and writes of each place of a chain of designs, outermost first, from a run's event counts."""
    places: dict[str, dict[str, int]] = {}
    for name in chain:
        for place, reads, writes in _places(name):
            label = f"main {place}" if len(chain) > 1 and name != chain[0] else place
            places[label] = {"reads": sum(counts.get(event, 0) for event in reads),
                            "writes": sum(counts.get(event, 0) for event in writes)}
    return places


def others(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the other events of a run that cost energy."""
    return {name: counts[name] for name in OTHERS if counts.get(name)}


def _places(name: str) -> tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]:
    """Return a design's places: those that it lists, else its main register file and those in the names of its events."""
    from rfview.engine import plugin     # start-up: a comparison has columns before it has designs

    design = plugin.design(name)
    own = [event for event, _ in design.events]
    stems = dict.fromkeys(event.rpartition("_")[0] for event in own if event.endswith(("_reads", "_writes")))
    main = () if design.takes_main else (("main file", ("rf_reads",), ("rf_writes",)),)
    return design.places or (*main, *((stem, (f"{stem}_reads",), (f"{stem}_writes",)) for stem in stems))


def area_mm2(chain: Sequence[str], values: Mapping[str, Any], preset: str = "fermi") -> float | None:
    """Return a register file's area from its own paper's tables (sram: the machine's); None if the paper gives none."""
    from rfview.engine import plugin as designs     # start-up, both: a comparison has columns before it has areas
    from rfview.engine.papers.baselines import baseline_of

    if chain[0] == "sram":
        return baseline_of("sram", values, preset).area_mm2
    module = designs.find(chain[0])
    if hasattr(module, "area_mm2"):
        return designs.host_functions.number(module, "area_mm2", values)
    entry = (module.DESIGN.technology or {}).get("area_mm2")
    return float(entry[0]) if entry else None
