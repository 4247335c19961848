"""The intermediate representation between parsing and emission: instructions over virtual variables, in basic blocks.

A *variable* is a virtual register: 1 word (up to 32 bits), 2 words (64 bits) or 0 words (a predicate or carry flag).
A *row* names one word of a variable: 2 * variable + word. Slots are those of rfview.engine.program (INST).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rfview.engine.program import NUM_SRC_ROWS, SPACE_NONE, UNIT_SP, WAIT_SHORT

NONE = -1


class VirtualInst:
    """One instruction over rows and predicate variables; the field names follow INST."""

    __slots__ = (
        "op", "flags", "aux", "unit", "latency_class", "wait_class", "is_float", "mnemonic", "form", "line",
        "src", "imm", "imm_mask", "dst", "guard", "guard_negate", "psrc", "psrc_negate", "pdst",
        "space", "width", "count", "signed", "reg_bits", "memory_kind", "offset", "target", "types", "relocs",
        "is_removable", "is_ordered", "kills_when_guarded", "note",
    )

    def __init__(self, op: int, mnemonic: str, line: int) -> None:
        self.op, self.mnemonic, self.line = op, mnemonic, line
        self.flags = self.aux = self.latency_class = self.is_float = 0
        self.unit, self.wait_class = UNIT_SP, WAIT_SHORT
        self.form = "plain"
        self.src = [NONE] * NUM_SRC_ROWS
        self.imm = [0] * NUM_SRC_ROWS
        self.imm_mask = 0
        self.dst: list[int] = []
        self.guard, self.guard_negate = NONE, False
        self.psrc: list[int] = []
        self.psrc_negate: list[bool] = []
        self.pdst: list[int] = []
        self.space = SPACE_NONE
        self.width = self.count = self.signed = self.reg_bits = self.memory_kind = 0
        self.offset = 0
        self.target: int = NONE
        self.types: tuple[str, ...] = ()
        self.relocs: list[tuple[int, str, int, bool]] = []
        self.is_removable = True
        self.is_ordered = False
        self.kills_when_guarded = False
        self.note = ""

    def set_row(self, slot: int, row: int) -> None:
        """Make a slot read a row; it is no longer an immediate."""
        self.src[slot] = row
        self.imm_mask &= ~(1 << slot)

    def set_imm(self, slot: int, value: int) -> None:
        """Fill a slot with a 32-bit immediate."""
        self.src[slot] = NONE
        self.imm[slot] = value & 0xFFFFFFFF
        self.imm_mask |= 1 << slot

    def copy(self) -> VirtualInst:
        """Copy an instruction, its lists included."""
        made = VirtualInst(self.op, self.mnemonic, self.line)
        for name in VirtualInst.__slots__:
            value = getattr(self, name)
            setattr(made, name, list(value) if isinstance(value, list) else value)
        return made

    def set_guard(self, guard: int, negate: bool) -> VirtualInst:
        self.guard, self.guard_negate = guard, negate
        return self

    def reads(self) -> list[int]:
        """Return the variables read, guard and predicates included; a guarded definition does not count as a read."""
        variables = [row >> 1 for row in self.src if row >= 0]
        if self.psrc:
            variables += [p for p in self.psrc if p >= 0]
        if self.guard >= 0:
            variables.append(self.guard)
        return variables

    def writes(self) -> list[int]:
        """Return the variables written."""
        variables = [row >> 1 for row in self.dst if row >= 0]
        if self.pdst:
            variables += [p for p in self.pdst if p >= 0]
        return variables

    @property
    def kills(self) -> bool:
        """Whether the definitions end the old values (a guarded definition does not: B0.3)."""
        return self.guard < 0 or self.kills_when_guarded


@dataclass
class Block:
    """A basic block: straight-line instructions; only the last may branch. `successors` are block indices."""

    insts: list[VirtualInst] = field(default_factory=list)
    successors: list[int] = field(default_factory=list)


@dataclass
class Variables:
    """The table of virtual variables by index: name, bits (1 = predicate, 16, 32, 64) and words (0, 1, 2)."""

    names: list[str] = field(default_factory=list)
    bits: list[int] = field(default_factory=list)
    words: list[int] = field(default_factory=list)

    def new(self, name: str, bits: int) -> int:
        self.names.append(name)
        self.bits.append(bits)
        self.words.append(0 if bits == 1 else (bits + 31) // 32)
        return len(self.names) - 1


@dataclass
class VirtualProgram:
    """A lowered kernel body before registers are allocated."""

    blocks: list[Block]
    variables: Variables
    local_bytes: int = 0
    spilled_words: int = 0
    stack_starts: list[VirtualInst] = field(default_factory=list)  # the moves that initialise the stack pointer
    # (line, name, as a guard, row of data) of each read of a variable that nothing writes (lower/kernel.py)
    unset: list[tuple[int, str, bool, int]] = field(default_factory=list)

    def copy(self) -> VirtualProgram:
        """Return a copy that passes may change without touching this program."""
        made = {id(inst): inst.copy() for block in self.blocks for inst in block.insts}
        variables = Variables(list(self.variables.names), list(self.variables.bits), list(self.variables.words))
        blocks = [Block([made[id(inst)] for inst in block.insts], list(block.successors)) for block in self.blocks]
        starts = [made[id(inst)] for inst in self.stack_starts if id(inst) in made]
        return VirtualProgram(blocks, variables, self.local_bytes, self.spilled_words, starts, list(self.unset))


def align_up(offset: int, align: int) -> int:
    """Round `offset` up to a multiple of `align`."""
    return -(-offset // align) * align
