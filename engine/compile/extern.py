"""The call by symbol from a design's loop to the part shared by all designs, so that both compile in parallel.

With numba's usual linking, the loop would have to be compiled after the shared part and optimised together with it.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding
from numba import typeof, types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from rfview.engine.compile import cache, jit, stored

SYMBOL = f"rfview_start_execution_{cache.source_hash(cache.engine_files())}"
READY = cache.CACHE_FOLDER / "shared.ready"

NOWHERE = 1     # an address for code that is not loaded

_stage: Any = None      # the entry point behind the symbol
_linked: tuple[Any, ...] = ()
_forms: tuple[Any, ...] = ()
_promised = False


def start_execution(sm: Any, key: Any, rows: Any, insts: Any, arena: Any, regions: Any, log: Any,
                    mem_index: Any) -> int:
    """Run the stage that starts execution; compiled code calls the address set by `link`."""
    return _stage(sm, key, rows, insts, arena, regions, log, mem_index)


@intrinsic
def _by_symbol(typingctx, sm, key, rows, insts, arena, regions, log, mem_index):
    """Call SYMBOL with the calling convention of numba's compiled functions."""

    def codegen(context, builder, signature, args):
        convention = context.call_conv
        kind = convention.get_function_type(signature.return_type, signature.args)
        callee = cgutils.get_or_insert_function(builder.module, kind, SYMBOL)
        status, result = convention.call_function(builder, callee, signature.return_type, signature.args, args)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return result

    return types.int64(sm, key, rows, insts, arena, regions, log, mem_index), codegen


if not jit.OFF:

    @overload(start_execution)
    def _start_execution(sm, key, rows, insts, arena, regions, log, mem_index):
        """Replace `start_execution` by the call by symbol."""
        return lambda sm, key, rows, insts, arena, regions, log, mem_index: _by_symbol(
            sm, key, rows, insts, arena, regions, log, mem_index)


def is_ready() -> bool:
    """Return whether the shared part is in the cache."""
    return stored.is_marked(READY)


def link(stage: Any, *arguments: Any, is_usual: bool = True) -> None:
    """Compile or load the shared part for arguments like these, and define its symbol; before the loop first runs.

    is_usual: it is the one that `is_ready` is about.
    """
    global _stage, _linked, _forms
    _stage = stage
    if jit.OFF:
        return
    # numba takes milliseconds to find the types of records: skip that if they look like last time's
    forms = tuple((argument.dtype, argument.ndim, argument.flags.num) for argument in arguments)
    if forms == _forms:
        return
    signature = tuple(typeof(argument) for argument in arguments)
    if _linked == signature:
        _forms = forms
        return
    if _promised or _linked:
        raise RuntimeError("this process has a compiled loop for another shared part than this one")
    stage.compile(signature)
    compiled = stage.overloads[signature]
    assert types.unliteral(compiled.signature.return_type) == types.int64, "what _by_symbol says"
    binding.add_symbol(SYMBOL, compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))
    _linked, _forms = signature, forms
    if is_usual and not is_ready():
        stored.mark(READY, [jit.name_on_disk(stage, arguments)])


def promise() -> None:
    """Allow the loop to be compiled but not run in this process: the symbol gets an address that must not be called."""
    global _promised
    _promised = True
    binding.add_symbol(SYMBOL, NOWHERE)
