"""The functions of a core, chosen by the type of `spec` when the loop is compiled: the sub-core's has a field `core`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from types import ModuleType
from typing import Any

from rfview.engine.compile.device import declare
from rfview.engine.machine.cores import collector


def _core_of(fields: Collection[str]) -> ModuleType:
    """Return the module of the core whose parameters have these fields; the sub-core's is imported on first use."""
    if "core" not in fields:
        return collector
    from rfview.engine.machine.cores.subcore import loop    # start-up cost: half of the code of all cores

    return loop


def _bound(name: str) -> Callable[..., Any]:
    """Return a function that calls one of the same name in the core of `spec`, its third argument."""

    def call(sm: Any, rf: Any, spec: Any, *rest: Any) -> Any:
        return getattr(_core_of(spec.dtype.names), name)(sm, rf, spec, *rest)

    call.__name__ = name
    call.__doc__ = getattr(collector, name).__doc__
    declare(call, lambda sm, rf, spec, *rest: getattr(_core_of(spec.fields), name))
    return call


# cycle(sm, rf, spec, key, rows, insts, arena, regions, log, mem_index); the others (sm, rf, spec)
cycle = _bound("cycle")
is_idle = _bound("is_idle")
idle_cycles = _bound("idle_cycles")
stuck = _bound("stuck")
