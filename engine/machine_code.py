"""One decoded instruction of machine code (SASS): the record that engine/sass makes, and that machines of today execute.

It has the field names of program.INST where the meaning is the same, so that values/ takes either; it has no masks of
registers, since machine code carries its own dependences (`control`). A source row slot is what one of four masks says: a
register of 32 lanes, a word of imm, a word of the constant image, or a uniform register; the numbers of the last two are in
imm. RZ and URZ are immediate zeros. Operand k has slots 2k and 2k + 1; memory instructions have the address in slots 0 and
1, the uniform part of it in slots 6 and 7, and data to store in slots 2..5 (LDGSTS: the shared address, as a register, a
number and a uniform register, in slots 2 to 4). Those of tensor cores have more registers of A in slots 6 and 7, of C in 8
and 9. Predicates P0..P6 are 0..6, UP0..UP6 are 8..14 (no or all lanes). NO_PRED reads as false, negated (PT) as true; as a
guard it is true, negated false.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.program import NUM_DST_ROWS

NUM_MACHINE_ROWS = 10       # source row slots
NUM_UNIFORM = 255
NUM_BARRIER_REGS = 16
CODE_BASE = 0x5000_0000_0000            # code address of pc 0; an instruction has 16 bytes
UNIFORM_PREDICATES = 8                  # number of UP0

MACHINE_INST = np.dtype(
    [
        ("offset", "i8"),         # memory: byte offset added to the address; JUMP: to a relative address
        ("op", "u4"),
        ("flags", "u4"),
        ("aux", "u4"),
        ("imm", "u4", (NUM_MACHINE_ROWS,)),
        ("target", "u4"),         # of a branch; JUMP: pc to which a relative address is added
        ("line", "u4"),           # 1-based line of the listing
        ("control", "u4"),        # stall | yield << 4 | write barrier << 5 | read barrier << 8 | waits << 11 | reuse << 17
        ("src", "u1", (NUM_MACHINE_ROWS,)),   # register of a slot in src_mask, else NO_REG
        ("dst", "u1", (NUM_DST_ROWS,)),
        ("src_mask", "u2"),       # bit k: row slot k is register src[k]
        ("imm_mask", "u2"),       # .. imm[k]
        ("const_mask", "u2"),     # .. the word at byte imm[k] of the constant image
        ("uniform_mask", "u2"),   # .. uniform register imm[k]
        ("modify", "u1", (3,)),   # per operand: MODIFY_* | PART_* << PART_SHIFT of isa.py
        ("moved", "u1", (3,)),    # per operand: it is at this many places later, mod 3, for reuse bits
        ("num_dst", "u1"),
        ("dst_uniform", "u1"),    # dst are uniform registers, which get the value of the first lane that executes
        ("guard", "u1"),
        ("guard_negate", "u1"),
        ("psrc", "u1", (3,)),
        ("psrc_negate", "u1", (3,)),
        ("pdst", "u1", (2,)),
        ("unit", "u1"),
        ("latency_class", "u1"),
        ("wait_class", "u1"),
        ("space", "u1"),
        ("width", "u1"),
        ("count", "u1"),
        ("signed", "u1"),
        ("reg_bits", "u1"),
        ("scale", "u1"),          # memory: the register part of the address is shifted left by this
        ("is_float", "u1"),
        ("memory_kind", "u1"),
        ("polls", "u1"),          # an atomic or an ordered load: a loop with it may wait for what others store
    ],
    align=True,
)


def is_machine_code(insts: np.ndarray) -> bool:
    """Return whether instructions are MACHINE_INST, not INST."""
    return "const_mask" in (insts.dtype.names or ())
