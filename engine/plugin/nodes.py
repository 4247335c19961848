"""The technology node of each paper's table of energies: what was made at different nodes does not compare in joules.

A design's file says its own as technology["node_nm"] = (32, "nm", source), or where it depends on parameters or the preset
in a function node_nm(values, preset).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rfview.engine.plugin import host_functions as host
from rfview.engine.plugin.finding import find


def node_nm(chain: Sequence[str], values: Mapping[str, Any], preset: str = "fermi") -> int | None:
    """Return the node in nm that a run's energies are of, None where its source names none; chain: outermost first.

    values: the design's parameters by name. Raises InputError for a design that is not at hand.
    """
    found = find(chain[0])
    if hasattr(found, "node_nm"):
        return int(host.call(found, "node_nm", values, preset))
    entry = (found.DESIGN.technology or {}).get("node_nm")
    return int(entry[0]) if entry else None


def differ(nodes: Iterable[int | None]) -> bool:
    """Say whether energies of these nodes stand for different technologies."""
    return len({node for node in nodes if node is not None}) > 1
