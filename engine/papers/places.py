"""Where a design keeps values, and which events read and write there: the columns of a comparison.

A design that is not in the table is taken to count its main register file's accesses, and every event of its own named
`<place>_reads` or `<place>_writes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# design -> (place, events that read it, events that write it)
PLACES: dict[str, tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]] = {
    "sram": (("SRAM", ("rf_reads",), ("rf_writes",)),),
    "stt": (("STT-RAM", ("rf_reads",), ("rf_writes",)),),
    "edram": (("eDRAM", ("rf_reads",), ("rf_writes",)),),
    "hrf": (("STT-RAM", ("stt_reads",), ("stt_writes",)), ("write buffers", ("wb_reads", "wb_drain_reads"), ("wb_writes",))),
    "single_buffer": (("STT-RAM", ("stt_reads",), ("stt_writes",)),
                      ("buffer", ("buffer_reads", "buffer_drains"), ("buffer_writes",))),
    "hcrf": (("SRAM cells", ("s_reads",), ("s_writes",)), ("STT-RAM cells", ("t_reads",), ("t_writes",))),
    "racetrack": (("tapes", ("rm_reads",), ("rm_writes",)), ("write buffers", ("wb_reads", "wb_forwards"), ("wb_writes",))),
    "rfc": (("cache", ("rfc_reads", "rfc_evictions", "rfc_flushes", "rfc_removals"), ("rfc_writes", "rfc_fills")),),
}
# events that cost energy and are neither
OTHERS = ("x_transfers", "shifts", "preshifts", "row_refreshes", "low_refreshes")


def accesses(chain: Sequence[str], counts: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Return reads and writes of each place of a chain of designs, outermost first, from a run's event counts."""
    found: dict[str, dict[str, int]] = {}
    for name in chain:
        for place, reads, writes in PLACES.get(name) or _guess(name, counts):
            label = f"main {place}" if len(chain) > 1 and name != chain[0] else place
            found[label] = {"reads": sum(counts.get(event, 0) for event in reads),
                            "writes": sum(counts.get(event, 0) for event in writes)}
    return found


def others(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the other events of a run that cost energy."""
    return {name: counts[name] for name in OTHERS if counts.get(name)}


def _guess(name: str, counts: Mapping[str, int]) -> tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]:
    """Return the places of a design that is not ours."""
    from rfview.engine import plugin as designs     # start-up: only foreign designs are asked

    own = [event for event, _ in designs.design(name).events]
    stems = dict.fromkeys(event.rpartition("_")[0] for event in own if event.endswith(("_reads", "_writes")))
    return (("main file", ("rf_reads",), ("rf_writes",)),
            *((stem, (f"{stem}_reads",), (f"{stem}_writes",)) for stem in stems))


def area_mm2(chain: Sequence[str], values: Mapping[str, Any], preset: str = "fermi") -> float | None:
    """Return a register file's area by its own paper's tables (sram: the machine's); None where the paper gives none."""
    from rfview.engine import plugin as designs     # start-up, both: a comparison has columns before it has areas
    from rfview.engine.papers.baselines import baseline_of

    if chain[0] == "sram":
        return baseline_of("sram", values, preset).area_mm2
    found = designs.find(chain[0])
    own = getattr(found, "area_mm2", None)
    if own is not None:
        return float(designs.host_functions.call(found, "area_mm2", values))
    entry = (found.DESIGN.technology or {}).get("area_mm2")
    return float(entry[0]) if entry else None
