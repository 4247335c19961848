"""The technology node of each paper's table of energies: what was made at different nodes does not compare in joules.

Kept beside the designs' files, not in them: their whole text is the key of compiled code. A design file says its own as
technology["node_nm"] = (32, "nm", source).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

# nm; racetrack's Table 3 names no node
PAPERS = {"sram": 32, "stt": 32, "hrf": 32, "single_buffer": 32,        # HRF Table 1
          "hcrf": 40,                                                   # HC-RF section V, Table II
          "rfc": 40}                                                    # RFC section 4.3


def node_nm(chain: Sequence[str], values: Mapping[str, Any], preset: str = "fermi") -> int | None:
    """Return the node in nm that a run's energies are of, None where its source names none; chain: outermost first.

    values: the design's parameters by name. Raises InputError for a design that is not at hand.
    """
    name = chain[0]
    if name == "edram":
        return int(values["edram.node"])
    if name == "sram" and preset == "gebhart":
        return PAPERS["rfc"]
    if name in PAPERS or name == "racetrack":
        return PAPERS.get(name)
    from engine import designs

    entry = (designs.design(name).technology or {}).get("node_nm")
    return int(entry[0]) if entry else None


def differ(nodes: Iterable[int | None]) -> bool:
    """Say whether energies of these nodes stand for different technologies."""
    return len({node for node in nodes if node is not None}) > 1
