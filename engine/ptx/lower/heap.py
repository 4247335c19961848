"""malloc in kernels: a heap in global memory, given out from its beginning; what is freed is not given out again.

The first 16 bytes of the heap count what is taken. malloc becomes the instructions below, at the place of each call: compare
and swap until no other thread came between, with a null pointer where the heap does not hold so much, as CUDA's gives.
"""

from __future__ import annotations

from functools import cache

from rfview.engine.ptx.parse.source import Source
from rfview.engine.ptx.parse.syntax import Function, Instruction, Scope, SyntaxModule, Variable
from rfview.engine.ptx.parse.parser import parse_module

HEAP = "%heap"
HEAP_BYTES = 8 << 20  # CUDA C++ Programming Guide, cudaLimitMallocHeapSize where it is not set
_HEAD_BYTES = 16
_BODY = f"""
.version 9.0
.target sm_75
.address_size 64
.func (.param .b64 taken) malloc(.param .b64 size)
{{
    .reg .pred %full, %again;
    .reg .b64 %heap_at, %wanted, %bytes, %old, %end, %seen, %got;
    ld.param.u64 %wanted, [size];
    add.u64 %bytes, %wanted, 15;
    and.b64 %bytes, %bytes, -16;
    mov.u64 %heap_at, {HEAP};
    mov.u64 %got, 0;
    ld.volatile.global.u64 %seen, [%heap_at];
TAKE:
    mov.u64 %old, %seen;
    setp.gt.u64 %full, %wanted, {HEAP_BYTES - _HEAD_BYTES};
    add.u64 %end, %old, %bytes;
    setp.gt.or.u64 %full, %end, {HEAP_BYTES - _HEAD_BYTES}, %full;
    @%full bra DONE;
    atom.global.cas.b64 %seen, [%heap_at], %old, %end;
    setp.ne.u64 %again, %seen, %old;
    @%again bra TAKE;
    add.u64 %got, %heap_at, %old;
    add.u64 %got, %got, {_HEAD_BYTES};
DONE:
    st.param.b64 [taken+0], %got;
    ret;
}}
"""


def declare_heap(module: SyntaxModule) -> None:
    """Give a module of 64-bit addresses that declares malloc without a body the memory that it takes from."""
    function = module.functions.get("malloc")
    if function is not None and function.body is None and module.address_size == 64:
        module.variables[HEAP] = Variable(function.line, "global", "b8", HEAP, HEAP_BYTES, 16, is_array=True)


def malloc_at(line: int) -> Function:
    """Give malloc as a function whose instructions stand on the line of the call."""
    written = _parsed()
    assert written.body is not None
    items = [Instruction(line, item.opcode, item.operands, item.guard, item.guard_negate)
             if isinstance(item, Instruction) else item for item in written.body.items]  # fmt: skip
    return Function(line, written.name, False, written.params, written.returns, Scope(line, items))


@cache
def _parsed() -> Function:
    return parse_module(Source(_BODY, "malloc")).functions["malloc"]
