"""The condition language: named machine state and arithmetic over it. Nothing runs as Python.

    cycle  launch  launch.next_cta                     time, launch number, any field of the launch record
    warp[3].pc  w3.pc  w3.state == wb_drain  w3.line   fields of a warp; stall names are constants; PTX line of the pc
    w3.R12[5]  w3.R12  w3.P2  w3.P2[5]                 register of one lane / of 32 lanes; predicate mask / one lane
    w3.UR4  w3.UP0                                     uniform register or predicate of machine code
    f32(w3.R12[0])  s32(...)  f64(lo, hi)  u64(lo, hi) the same bits as float, signed, double, 64-bit
    bank[2].queue  collector[0].valid  pipe[0].inflight  scheduler[0].last_warp  sm.FIELD  rf.FIELD
    mem[0x700000000000]  mem[A + 16]  A[4]             the u32 at a generic address; buffer names are their addresses,
                                                       A[4] the fifth word of 32 bits, the same as mem[A + 16]
    stall.long_scoreboard  total.long_scoreboard       warps in a state now; warp-cycles in it since the start
    event.NAME                                         event counts
    any(w.state == barrier)  all(..)  count(..)        over all warps w, banks b, collectors c, schedulers s, pipes p,
    min(..)  max(..)  sum(..)                          or over lanes: any(w3.R12 > 5); or over a field's values:
                                                       sum(rf.FIELD), count(rf.FIELD == 8)
    changed(x)                                         x differs from the cycle before
    and or not  < <= == != >= > in  + - * / // %  & | ^ ~ << >>  abs min max popcount

Whole numbers are 64-bit and wrap; x // 0 and x % 0 are 0; registers of empty warp slots are 0.

    compiler  nodes           text to nodes by way of `ast`; nodes give columns, and bounds by zone maps alone
    bounds                    the bounds of an expression, from those of its parts
    names  operations         names of the machine's parts; what operators and functions do
    mistakes                  what is wrong with an expression, in a sentence
    ptx_names  values  types  names of registers and kernels as in their source; values as people read them, in their type
    expression                a compiled expression over one timeline
"""

from rfview.sessions.expressions.compiler import compile_expression, compile_part
from rfview.sessions.expressions.expression import Expression
from rfview.sessions.expressions.names import FUNCTIONS, UNITS

__all__ = ["FUNCTIONS", "UNITS", "Expression", "compile_expression", "compile_part"]
