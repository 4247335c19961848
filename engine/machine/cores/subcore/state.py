"""The sub-core's state (`rf.core`, recorded and rewound with the design's) and its parameters (`spec.core`).

A launch begins with zeros, which therefore mean empty everywhere: warps, in-flight entries and counters are stored plus one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rfview.engine.machine_code import NUM_MACHINE_ROWS
from rfview.engine.state import MAX_WARPS, READ_RING

NUM_SUBCORES = 4
NUM_COUNTERS = 6
QUEUE_ENTRIES = 8
CONSTANT_LINES = 8
NUM_OPERANDS = 3
WINDOW = 3              # cycles after Allocate in which operands are read

# pipes of fixed latency, and units of variable latency with a queue of one
(PIPE_NONE, PIPE_ALU, PIPE_FMA, PIPE_HALF, PIPE_DOUBLE, PIPE_TENSOR, PIPE_UNIFORM) = range(7)
NUM_PIPES = 7
(UNIT_XU, UNIT_DOUBLE, UNIT_CONSTANT, UNIT_SPECIAL) = range(4)
NUM_UNITS = 4
UNIT_NONE, UNIT_MEMORY = 254, 255       # fixed latency; the memory queue

WARP_CONTROL = np.dtype(
    [
        ("until_cycle", "i8"),        # its stall counter: may issue from this cycle on
        ("counter", "u1", (NUM_COUNTERS,)),  # dependence counters: accesses outstanding
        ("limit", "u1"),              # of DEPBAR: the counter plus one, 0 = none
        ("most", "u1"),               # .. and how many accesses may be outstanding there
        ("long", "u1"),               # counters that wait for L1TEX, one bit each
        ("arriving", "u1"),           # instructions on their way into its buffer: bit k: one that arrives in k + 1 cycles
        ("listed", "u1"),             # counters that DEPBAR wants to be 0, one bit each
        ("pad", "u1", (5,)),
        ("constant_cycle", "i8"),     # the constants of its next instruction are there from then on, 0 = not looked for
    ],
    align=True,
)

SUBCORE = np.dtype(
    [
        # one block of the journal: what changes in many cycles
        ("left_cycle", "i8"),         # the last cycle in which an access left for the memory pipeline
        ("pipe_cycle", "i8", (NUM_PIPES,)),  # per pipe: its input latch is free from then on
        ("control", "u1"),            # in-flight entry in Control, plus one
        ("counting", "u1"),           # .. that entered it in the last cycle, whose counters count now
        ("allocate", "u1"),           # in-flight entry in Allocate, plus one
        ("allocated", "u1"),          # .. that passed it in the last cycle
        ("last_warp", "u1"),          # that issued last, plus one
        ("hits", "u1"),               # operands that it found in the reuse cache, one bit each (the last to pass)
        ("stale", "u1"),              # places of the reuse cache whose register has been written since: bit 2 operand + bank
        ("held_bank", "u1"),          # the bank without a free port for Allocate's instruction, plus one
        ("credits_used", "u1"),
        ("queued", "u1"),             # accesses in `queue`
        ("queue", "u1", (QUEUE_ENTRIES,)),   # their in-flight entries plus one, the oldest first
        ("unit", "u1", (NUM_UNITS,)), # per unit: in-flight entry that waits for it, plus one
        ("pad", "u1", (2,)),          # up to a whole word
        ("read_warp", "u1", (2, READ_RING)),  # the warp of the last read booked of bank b in cycle c, plus one: [b][c & 3]
        ("read_reg", "u1", (2, READ_RING)),
        ("wanted", "u2", (2, 2)),     # cycles that `asked` reads take of each bank's ports, in Allocate and in Control
        ("accepted", "u4"),           # results of Allocate's instruction likewise, a byte per row
        # the rest
        ("asked", "u1", (2, NUM_MACHINE_ROWS)),   # per row slot: cycles plus one of a read that the design has accepted
        ("cache_warp", "u1", (NUM_OPERANDS, 2)),  # the reuse cache: per operand and bank, the warp plus one
        ("cache_reg", "u1", (NUM_OPERANDS, 2)),
        ("unit_cycle", "i8", (NUM_UNITS,)),  # per unit: it takes the next instruction from then on
        ("constant_cycle", "i8", (CONSTANT_LINES,)),    # the L0 cache of constants: a line is there from then on
        ("constant_line", "u4", (CONSTANT_LINES,)),     # .. its number plus one
        ("constant_next", "u1"),      # the line of constants to be replaced next
    ],
    align=True,
)
CACHE_ROWS = NUM_SUBCORES * NUM_OPERANDS * 2    # recorded rows that hold what stale places had

CORE: Any = np.dtype(
    [
        ("free_cycle", "i8"),         # the SM's memory pipeline takes the next access from then on
        ("turn", "u1"),               # the sub-core that its arbiter considers first
        ("fetching", "u1"),           # whether an instruction buffer had room in the last cycle
        ("lines", "u2"),              # lines or passes of the access that entered the memory pipeline last
        ("pad", "u1", (4,)),
        ("sub", SUBCORE, (NUM_SUBCORES,)),
        ("warp", WARP_CONTROL, (MAX_WARPS,)),
    ],
    align=True,
)

# classes of instructions (classes.py)
CLASSES = ("none", "alu", "fma", "imad", "wide", "half", "double", "tensor", "tensor_half", "tensor_small", "uniform",
           "branch", "xu", "constant", "special", "tensor_double", "load_global", "load_shared", "store_global",
           "store_shared", "shuffle", "atomic_global", "atomic_shared", "async_copy")
NUM_CLASSES = 24
NUM_WIDTHS = 3          # 4, 8 and 16 bytes per lane

PARAMETERS = np.dtype(
    [(name, "i4") for name in "credits grant_cycles full_fp32 hold_counters branch_cycles reuse_cache read_ports "
                              "fetch_stages late_wide constant_cycles".split()]
    + [("latency", "i4", (NUM_CLASSES,)),       # per class: cycles until its result can be bypassed; variable: until use
       ("port_cycles", "i4", (NUM_CLASSES,)),   # per class: from then on until it is written
       ("interval", "i4", (NUM_CLASSES,)),      # per class: cycles for which it holds its pipe's latch, unit or address unit
       ("pipe", "u1", (NUM_CLASSES,)),
       ("unit", "u1", (NUM_CLASSES,)),          # UNIT_*, of variable latency
       ("read_cycles", "i4", (NUM_CLASSES, NUM_WIDTHS)),    # accesses: from issue until the operands are read (WAR)
       ("use_cycles", "i4", (NUM_CLASSES, NUM_WIDTHS))],    # .. until a dependent instruction can issue (RAW)
    align=True,
)
