"""A decoded kernel program: the output of the front end, and all that the machine knows of a kernel.

`INST` is one decoded instruction. Row slots: an instruction gathers up to six *source rows* (a row is one warp-register,
32 lanes x 32 bits). Operand k (0, 1, 2) has its low word in row slot 2k and its high word (64-bit operands) in slot
2k + 1, unless the opcode says otherwise:
  ld / st / atom    slots 0, 1 = address (slot 1 is filled with 0 for 32-bit addresses), st data = slots 2..5 in order,
                    atom operand b = slots 2, 3, operand c (cas: new value) = slots 4, 5
  shfl              slot 0 = a, 2 = b, 4 = c, 5 = member mask        vote: slot 0 = member mask, predicate in psrc[0]
  match             slots 0, 1 = a, 2 = member mask                  bar.warp.sync: slot 0 = member mask
  bar / barrier     slot 0 = barrier id, slot 2 = thread count (immediate 0 = all threads of the CTA)
Results go to up to four destination rows `dst[0..3]`, any registers (a 64-bit result is dst[0] low, dst[1] high).
16-bit and 8-bit registers live in one 32-bit row: value in the low bits, upper bits zero.
The carry flag (add.cc ...) is an ordinary predicate register of the allocator: pdst[0] / psrc[0].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rfview.engine import isa

NO_REG = 255
NO_PRED = 255
NUM_SRC_ROWS = 6
NUM_DST_ROWS = 4
MAX_REGS = 63
NO_PC = 0xFFFFFFFF
GLOBAL_BASE = 0x7000_0000_0000          # the first address of global memory
ADDRESS_ROOM = 1 << 30                  # with 32-bit addresses, bytes left free at either end of the range of low words
PARAM_BYTES = 4096                      # PTX manual, kernel function parameters: the least size of their space
MAX_PARAM_BYTES = 32_764                # the largest since PTX 8.1, on sm_70 and later
GRID_WORKSPACE = "%grid_workspace"      # the symbol in which cooperative groups keep the grid-wide barrier
GRID_WORKSPACE_BYTES = 64
HEAP, HEAP_USED = "%heap", "%heap_used"     # malloc's heap, all of it undefined, and the variable with the bytes taken
HEAP_BYTES = 8 << 20                    # CUDA C++ Programming Guide, default of cudaLimitMallocHeapSize

# execution units (field `unit`) and their names; CTRL instructions (branch, exit, barrier, membar, nop) act at issue and
# use no collector
UNIT_SP, UNIT_SFU, UNIT_LDST, UNIT_CTRL = range(4)
UNITS = ("SP", "SFU", "LDST", "CTRL")

# the state of a warp that waits for this producer (field `wait_class`): wait, short_scoreboard, long_scoreboard (B0.6)
WAIT_FIXED, WAIT_SHORT, WAIT_LONG = 0, 1, 2

# state spaces (field `space`) and their names
SPACE_NONE, SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CONST, SPACE_PARAM = range(7)
SPACES = ("", "generic", "global", "shared", "local", "const", "param")

# what an instruction does in memory (field `memory_kind`); a reduction is an atomic without a result
MEM_NONE, MEM_LOAD, MEM_STORE, MEM_ATOMIC, MEM_REDUCTION = range(5)

# latency classes (field `latency_class`), indices into config.latency_cycles / initiation_cycles; GPGPU-Sim's groups
(LAT_INT_ADD, LAT_INT_MAX, LAT_INT_MUL, LAT_INT_MAD, LAT_INT_DIV, LAT_SHFL, LAT_FP_ADD, LAT_FP_MAX, LAT_FP_MUL,
 LAT_FP_MAD, LAT_FP_DIV, LAT_DP_ADD, LAT_DP_MAX, LAT_DP_MUL, LAT_DP_MAD, LAT_DP_DIV, LAT_SFU,
 LAT_FP_DIV_APPROX, LAT_FP_ROOT, LAT_DP_ROOT, LAT_OTHER) = range(21)
NUM_LATENCY_CLASSES = 24

INST = np.dtype(
    [
        ("need_regs", "u8"),      # registers read or written: all must be free of pending writes
        ("dst_regs", "u8"),       # registers written: must be free of pending reads (WAR) too
        ("offset", "i8"),         # memory: byte offset added to the address operand
        ("need_preds", "u4"),     # predicates read (guard included) or written
        ("dst_preds", "u4"),
        ("op", "u2"),             # opcode of isa.py
        ("flags", "u2"),          # modifier bits of isa.py (ftz, sat, rounding, negate ...)
        ("aux", "u4"),            # opcode-specific: comparison, LUT, special register, atomic operation, shfl mode ...
        ("imm", "u4", (NUM_SRC_ROWS,)),   # value of row slots that are immediate
        ("target", "u4"),         # branch target pc
        ("reconv", "u4"),         # immediate post-dominator pc of a branch, NO_PC if the paths only meet at exit
        ("line", "u4"),           # 1-based PTX source line
        ("src", "u1", (NUM_SRC_ROWS,)),   # register of each row slot, NO_REG = immediate or unused
        ("dst", "u1", (NUM_DST_ROWS,)),
        ("src_mask", "u1"),       # bit k: row slot k is read from the register file
        ("repeats", "u1"),        # bit k: row slot k names the register of a lower slot and takes what was read for that
        ("imm_mask", "u1"),       # bit k: row slot k is filled with imm[k]
        ("num_dst", "u1"),        # destination rows in use
        ("unit", "u1"),
        ("latency_class", "u1"),
        ("wait_class", "u1"),
        ("guard", "u1"),          # guard predicate or NO_PRED
        ("guard_negate", "u1"),
        ("psrc", "u1", (2,)),     # predicate sources or NO_PRED
        ("psrc_negate", "u1", (2,)),
        ("pdst", "u1", (2,)),     # predicate destinations or NO_PRED
        ("space", "u1"),
        ("width", "u1"),          # memory: bytes per element (1, 2, 4, 8)
        ("count", "u1"),          # memory: elements (vector width)
        ("signed", "u1"),         # memory: sign-extend loaded elements narrower than the register
        ("reg_bits", "u1"),       # memory: bits of each destination/source register (16, 32, 64)
        ("last_use", "u1"),       # bit k: row slot k is the last read of its register on every path (RFC section 3.1)
        ("long_source", "u1"),    # bit k: row slot k may have been produced by a long-latency operation (RFC section 3.2)
        ("is_float", "u1"),       # Fermi's floating-point class (RULES.md, B4.1), for eDRAM's flags
        ("memory_kind", "u1"),    # MEM_*
        # what the machine asks at every issue, from opcode, flags and aux (`fill_derived`)
        ("collective", "u1"),     # needs all lanes of a member mask together: their meeting place, 1 to 40; 0 = it does not
        ("waits_for_memory", "u1"),   # may issue only after the warp's earlier accesses have been performed
        ("polls", "u1"),          # an atomic or an ordered load: a loop with it may wait for what others store
    ],
    align=True,
)


# members of a collective meet in the same one of these opcodes, and in the same `aux`, which is below 8 in all
COLLECTIVES = (isa.OP_SHFL, isa.OP_VOTE, isa.OP_MATCH, isa.OP_REDUX, isa.OP_BAR_WARP)


def fill_derived(insts: np.ndarray) -> None:
    """Set the fields of instructions that follow from opcode, flags and aux."""
    op, flags, aux = insts["op"], insts["flags"], insts["aux"]
    insts["collective"] = 0
    for number, opcode in enumerate(COLLECTIVES):
        meets = (op == opcode) & (flags & isa.FLAG_NO_SYNC == 0)
        insts["collective"][meets] = 1 + 8 * number + aux[meets]
    waits = (op == isa.OP_BAR_WARP) & (aux != isa.BAR_WARP_ELECT)
    insts["waits_for_memory"] = waits | (op == isa.OP_BAR) | (op == isa.OP_MEMBAR)
    kind = insts["memory_kind"]
    insts["polls"] = (kind == MEM_ATOMIC) | (kind == MEM_LOAD) & (flags & isa.FLAG_ORDERED != 0)


def source_masks(src: Sequence[int]) -> tuple[int, int]:
    """Return src_mask and repeats of row slots that name registers or NO_REG: each register is read once (B0.16)."""
    read = repeats = 0
    for slot, reg in enumerate(src):
        if reg != NO_REG:
            if reg in src[:slot]:
                repeats |= 1 << slot
            else:
                read |= 1 << slot
    return read, repeats


@dataclass(frozen=True)
class Param:
    """A kernel parameter: size, alignment and offset in bytes in the parameter space; `type` as in PTX ('u64', 'b8')."""

    name: str
    type: str
    size: int
    align: int
    offset: int


@dataclass(frozen=True)
class Symbol:
    """A module-scope .global or .const variable. `init` is what its `size` bytes begin with; the others are 0.

    `relocs`: (byte offset in init, symbol name, addend) where the initialiser holds another symbol's address.
    """

    name: str
    space: str
    size: int
    align: int
    init: bytes
    relocs: tuple[tuple[int, str, int], ...] = ()
    type: str = "b8"


@dataclass(frozen=True)
class Reloc:
    """Patch `insts[pc].imm[slot]` (and imm[slot + 1] when `wide`) with address(symbol) + addend at load time."""

    pc: int
    slot: int
    symbol: str
    addend: int
    wide: bool


@dataclass(frozen=True)
class ConstantBank:
    """A constant bank of machine code: its data, from `offset` of the kernel's constant image on.

    relocs: (byte offset in data, symbol or function, addend) where it holds an address. variables: (name, byte offset in
    data, bytes) of the module's variables that a launch finds there as they then are.
    """

    bank: int
    offset: int
    data: bytes
    relocs: tuple[tuple[int, str, int], ...] = ()
    variables: tuple[tuple[str, int, int], ...] = ()


@dataclass(frozen=True)
class Kernel:
    """One entry point of a module, decoded: instructions with pcs relative to its own start.

    insts: (n,) INST, or MACHINE_INST of machine_code.py. texts: n strings, the instruction with physical registers
    ("fma.rn.f32 R3, R1, R2, R3").
    registers: physical registers per thread, after allocation and spilling. virtual: live ranges of the PTX's registers,
    which name physical registers in views: (name, first pc, last pc, register, words).
    """

    name: str
    insts: np.ndarray
    texts: tuple[str, ...]
    params: tuple[Param, ...]
    registers: int
    predicates: int
    shared_bytes: int            # static, aligned; dynamic shared memory begins here
    local_bytes: int             # per thread, depot and spills
    relocs: tuple[Reloc, ...]
    virtual: tuple[tuple[str, int, int, int, int], ...] = ()
    max_threads: int = 0         # .maxntid / .reqntid product, 0 = not stated
    required_threads: tuple[int, int, int] = (0, 0, 0)
    spilled_words: int = 0
    stack_bytes: int = 0         # of local_bytes, the stack of recursive functions
    notes: tuple[str, ...] = ()  # spills, and what an option of compilation could not achieve, a sentence each
    # of machine code only
    architecture: int = 0        # 80 for sm_80; 0: the instructions are made of PTX
    param_base: int = 0          # of the parameters in the constant image
    constants: tuple[ConstantBank, ...] = ()
    functions: tuple[tuple[str, int], ...] = ()     # name and first pc of what is called
    workspace: int = 0           # where its constant image has the address of the grid-wide barrier, 0 = nowhere

    @property
    def meets_grid(self) -> bool:
        """Return whether it uses the grid-wide barrier."""
        return self.workspace != 0 or any(reloc.symbol == GRID_WORKSPACE for reloc in self.relocs)


@dataclass(frozen=True)
class Module:
    """A decoded PTX module: its kernels and module-scope variables, and the text it came from."""

    path: str
    text: str
    kernels: dict[str, Kernel]
    symbols: dict[str, Symbol] = field(default_factory=dict)
    strings: tuple[str, ...] = ()
