"""CUDA device library functions that a module declares without a body: malloc, and the grid-wide barrier.

Each is implemented in PTX here, which is inlined at the call. malloc allocates upwards from a heap in global memory; freed
memory is not reused. A variable holds the number of bytes allocated, updated by compare and swap, retried if another thread
interfered; if the heap is too full, malloc returns a null pointer, as CUDA's does. The grid's handle, which
numba's cooperative groups need, is the address of the workspace that nvcc's code finds in %envreg1 and %envreg2.
"""

from __future__ import annotations

from functools import cache

from rfview.engine.program import GRID_WORKSPACE_BYTES, HEAP, HEAP_BYTES, HEAP_USED
from rfview.engine.ptx.parse.parser import parse_module
from rfview.engine.ptx.parse.source import Source
from rfview.engine.ptx.parse.syntax import Function, Instruction, Scope, SyntaxModule, Variable

_GRID = ("cudaCGGetIntrinsicHandle", "cudaCGSynchronize")
_WHOLE_GRID = 1         # cudaCGScopeGrid
_ERROR = 1              # cudaErrorInvalidValue
_ARRIVED = GRID_WORKSPACE_BYTES // 2    # offset of the arrivals at the barrier; the top bit flips when all have come
_TEXT = f"""
.version 9.0
.target sm_75
.address_size 64
.func (.param .b64 taken) malloc(.param .b64 size)
{{
    .reg .pred %full, %again;
    .reg .b64 %used_at, %wanted, %bytes, %old, %end, %seen, %got;
    ld.param.u64 %wanted, [size];
    add.u64 %bytes, %wanted, 15;
    and.b64 %bytes, %bytes, -16;
    mov.u64 %used_at, {HEAP_USED};
    mov.u64 %got, 0;
    ld.volatile.global.u64 %seen, [%used_at];
TAKE:
    mov.u64 %old, %seen;
    setp.gt.u64 %full, %wanted, {HEAP_BYTES};
    add.u64 %end, %old, %bytes;
    setp.gt.or.u64 %full, %end, {HEAP_BYTES}, %full;
    @%full bra DONE;
    atom.global.cas.b64 %seen, [%used_at], %old, %end;
    setp.ne.u64 %again, %seen, %old;
    @%again bra TAKE;
    mov.u64 %got, {HEAP};
    add.u64 %got, %got, %old;
DONE:
    st.param.b64 [taken+0], %got;
    ret;
}}
.func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)
{{
    .reg .pred %known;
    .reg .b32 %scope, %high, %low;
    .reg .b64 %at;
    ld.param.u32 %scope, [scope];
    mov.u32 %high, %envreg1;
    mov.u32 %low, %envreg2;
    mov.b64 %at, {{%low, %high}};
    setp.eq.u32 %known, %scope, {_WHOLE_GRID};
    selp.b64 %at, %at, 0, %known;
    st.param.b64 [handle+0], %at;
    ret;
}}
.func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{{
    .reg .pred %none, %others, %waits;
    .reg .b32 %part, %thread, %cta, %arrivals, %number, %old, %now;
    .reg .b64 %at;
    ld.param.u64 %at, [handle];
    mov.u32 %now, {_ERROR};
    setp.eq.u64 %none, %at, 0;
    @%none bra LEAVE;
    barrier.sync 0;
    mov.u32 %thread, %tid.x;
    mov.u32 %part, %tid.y;
    or.b32 %thread, %thread, %part;
    mov.u32 %part, %tid.z;
    or.b32 %thread, %thread, %part;
    setp.ne.u32 %others, %thread, 0;
    @%others bra TOGETHER;
    mov.u32 %arrivals, %nctaid.x;
    mov.u32 %part, %nctaid.y;
    mul.lo.u32 %arrivals, %arrivals, %part;
    mov.u32 %part, %nctaid.z;
    mul.lo.u32 %arrivals, %arrivals, %part;
    sub.u32 %arrivals, 0x80000001, %arrivals;
    mov.u32 %cta, %ctaid.x;
    mov.u32 %part, %ctaid.y;
    or.b32 %cta, %cta, %part;
    mov.u32 %part, %ctaid.z;
    or.b32 %cta, %cta, %part;
    setp.eq.u32 %waits, %cta, 0;
    selp.b32 %number, %arrivals, 1, %waits;
    membar.gl;
    atom.global.add.u32 %old, [%at+{_ARRIVED}], %number;
WAIT:
    ld.volatile.global.u32 %now, [%at+{_ARRIVED}];
    xor.b32 %now, %now, %old;
    setp.ge.s32 %waits, %now, 0;
    @%waits bra WAIT;
    membar.gl;
TOGETHER:
    barrier.sync 0;
    mov.u32 %now, 0;
LEAVE:
    st.param.b32 [result+0], %now;
    ret;
}}
"""


def declare_heap(module: SyntaxModule) -> None:
    """Add malloc's heap to a module with 64-bit addresses that declares malloc without a body."""
    if _leaves(module, "malloc"):
        line = module.functions["malloc"].line
        module.variables[HEAP] = Variable(line, "global", "b8", HEAP, HEAP_BYTES, 16, is_array=True)
        module.variables[HEAP_USED] = Variable(line, "global", "b64", HEAP_USED)


def wants_grid(module: SyntaxModule) -> bool:
    """Return whether a module declares the grid's functions without a body."""
    return any(_leaves(module, name) for name in _GRID)


def function_at(module: SyntaxModule, name: str, line: int) -> Function | None:
    """Return a library function that the module declares without a body, its lines set to the call's; else None."""
    if name not in ("malloc", *_GRID) or not _leaves(module, name):
        return None
    written = _parsed().functions[name]
    assert written.body is not None
    items = [Instruction(line, item.opcode, item.operands, item.guard, item.guard_negate)
             if isinstance(item, Instruction) else item for item in written.body.items]
    return Function(line, written.name, False, written.params, written.returns, Scope(line, items))


def _leaves(module: SyntaxModule, name: str) -> bool:
    function = module.functions.get(name)
    return function is not None and function.body is None and module.address_size == 64


@cache
def _parsed() -> SyntaxModule:
    return parse_module(Source(_TEXT, "device library"))
