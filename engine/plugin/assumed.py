"""Which energies of a design are assumed rather than taken from a source: they are shown, but no gain is claimed of them."""

from __future__ import annotations

from collections.abc import Sequence

from rfview.engine.plugin.finding import find

ASSUMED = "assumed"         # how the source of such a number begins
OF_ANOTHER = "every entry (the tables are of Fermi-like register files, not of this core's)"


def assumed_entries(chain: Sequence[str], core: str) -> tuple[str, ...]:
    """Return the events whose energy is assumed, and "leakage" if that is; of a run's design and those it is built over.

    chain: outermost first. core: "collector", whose files the designs' tables are of, or "subcore", where no number has a
    source. Raises InputError if a design is not available.
    """
    if core == "subcore":
        return (OF_ANOTHER,)
    names = [name for one in chain for name, source in _sources(one).items() if source.startswith(ASSUMED)]
    return tuple(dict.fromkeys(names))


def mark(entries: Sequence[str]) -> str:
    """Return what is said of an energy with such entries: "assumed: rf_reads, leakage"; "" without any."""
    return f"{ASSUMED}: {', '.join(entries)}" if entries else ""


def _sources(name: str) -> dict[str, str]:
    """Return the source of each energy of a design."""
    design = find(name).DESIGN
    sources = {event: str(source) for event, (_, source) in (design.energy_pj or {}).items()}
    leakage = (design.technology or {}).get("leakage_mw")
    return {**sources, **({"leakage": str(leakage[2])} if leakage else {})}
