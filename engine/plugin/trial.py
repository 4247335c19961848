"""Compiles each hook of a user's design on its own, in a second or two, to find mistakes before the machine is compiled.

Only this module and simulator.py combine designs with numba; listing and replaying need neither.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numba
from numba import types
from numba.core.errors import NumbaError

from rfview.engine import plugin as designs
from rfview.engine.compile import jit
from rfview.engine.plugin.compiler_errors import explain
from rfview.engine.plugin.conformance import HOOKS, problems
from rfview.engine.errors import InputError


def check(sm: Any, rf: Any, spec: Any, rows: Any, insts: Any, built: designs.Built) -> None:
    """Check every design in a chain, compiling a user's hooks on their own; raises InputError with a line per mistake.

    The arguments are those of the machine's step; only their types matter.
    """
    if jit.OFF:
        return
    given = {"sm": numba.typeof(sm), "rows": numba.typeof(rows), "insts": numba.typeof(insts),
             "inst": numba.typeof(insts[0]), "mask": types.uint32}
    slips = []
    for level, name in enumerate(built.chain):
        if name in designs.BUILT_IN:    # not checked when it was imported, so that listing reads no sources
            slips += problems(designs.find(name))
        else:
            known = given | {"rf": numba.typeof(rf), "spec": numba.typeof(spec)}
            slips += _slips(designs.find(name), known)
        if level + 1 < len(built.chain):
            rf, spec = rf.mrf, spec.mrf
    if slips:
        raise InputError("\n".join(slips))


def _slips(module: ModuleType, known: dict[str, Any]) -> list[str]:
    """Return a sentence for every hook of a design that does not compile or may not return an int; each once."""
    slips = []
    for name, arguments in HOOKS.items():
        function = getattr(module, name, None)
        if function is None:
            continue
        compiled: Any = jit.step_jit(function)
        try:
            compiled.compile(tuple(known.get(argument, types.int64) for argument in arguments))
        except (NumbaError, KeyError, AttributeError, TypeError, ValueError) as error:
            slips.append(str(explain(error, [module], name)))
            continue
        for entry in compiled.overloads.values():
            kind = entry.signature.return_type
            if not isinstance(types.unliteral(kind), (types.Integer, types.Boolean)):
                slips.append(f"design {module.DESIGN.name}, hook {name}: returns {types.unliteral(kind)}; every path "
                             "returns an int")
    return list(dict.fromkeys(slips))
