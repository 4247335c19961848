"""The technology node of each paper's energies: joules at different nodes are not comparable.

A design's file gives its own as technology["node_nm"] = (32, "nm", source), or if it depends on parameters or the preset
with a function node_nm(values, preset).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rfview.engine import defaults
from rfview.engine.plugin import host_functions as host
from rfview.engine.plugin.finding import find


def node_nm(chain: Sequence[str], values: Mapping[str, Any], preset: str = defaults.PRESET) -> int | None:
    """Return the node of a run's energies in nm, None if its source names none. chain: outermost first.

    values: the design's parameters by name. Raises InputError if a design is not available.
    """
    module = find(chain[0])
    if hasattr(module, "node_nm"):
        return int(host.number(module, "node_nm", values, preset))
    entry = (module.DESIGN.technology or {}).get("node_nm")
    return int(entry[0]) if entry else None


def differ(nodes: Iterable[int | None]) -> bool:
    """Return whether these nodes are different technologies."""
    return len({node for node in nodes if node is not None}) > 1
