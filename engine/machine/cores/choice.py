"""The functions of a core, chosen by the type of `spec` when the loop is compiled: the sub-core's has a field `core`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rfview.engine.compile.device import declare
from rfview.engine.machine.cores import collector
from rfview.engine.machine.cores.subcore import loop as subcore


def _bound(name: str) -> Callable[..., Any]:
    """Return a function that calls one of the same name in the core of `spec`, its third argument."""
    of_collector, of_subcore = getattr(collector, name), getattr(subcore, name)

    def call(sm: Any, rf: Any, spec: Any, *rest: Any) -> Any:
        return (of_subcore if "core" in spec.dtype.names else of_collector)(sm, rf, spec, *rest)

    call.__name__ = name
    call.__doc__ = of_collector.__doc__
    declare(call, lambda sm, rf, spec, *rest: of_subcore if "core" in spec.fields else of_collector)
    return call


# cycle(sm, rf, spec, key, rows, insts, arena, regions, log, mem_index); the others (sm, rf, spec)
cycle = _bound("cycle")
is_idle = _bound("is_idle")
idle_cycles = _bound("idle_cycles")
stuck = _bound("stuck")
