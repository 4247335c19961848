"""One machine instruction while it is being made: the fields of MACHINE_INST, filled from operands."""

from __future__ import annotations

from collections.abc import Container

import numpy as np

from rfview.engine import isa
from rfview.engine.machine_code import CODE_BASE, MACHINE_INST, NUM_MACHINE_ROWS, UNIFORM_PREDICATES
from rfview.engine.program import (GLOBAL_BASE, LAT_OTHER, MEM_NONE, NO_PC, NO_PRED, NO_REG, NUM_DST_ROWS, SPACE_NONE,
                                   UNIT_CTRL, UNIT_SP, WAIT_FIXED)
from rfview.engine.sass.form import Form, NotExecuted
from rfview.engine.sass.operands import Operand

M32, M64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
NEGATED = {"i32": isa.MODIFY_NEG, "i64": isa.MODIFY_NEG64, "f32": isa.MODIFY_FNEG, "f64": isa.MODIFY_DNEG,
           "h2": isa.MODIFY_HNEG}
ABSOLUTE = {"f32": isa.MODIFY_FABS, "f64": isa.MODIFY_DABS, "h2": isa.MODIFY_HABS}
BOTH = {"f32": isa.MODIFY_FNABS, "f64": isa.MODIFY_DNABS, "h2": isa.MODIFY_HNABS}
PARTS = {"B0": isa.PART_B0, "B1": isa.PART_B1, "B2": isa.PART_B2, "B3": isa.PART_B3, "H0": isa.PART_H0, "H1": isa.PART_H1,
         "H0_H0": isa.PART_H0_H0, "H1_H1": isa.PART_H1_H1, "F32": isa.PART_F32, "H1_H0": isa.PART_NONE}
FIELDS = tuple(name for name in MACHINE_INST.names or () if name not in ("line", "control", "num_dst", "dst"))
# whose only operand is encoded as b; whose second operand is encoded as c (read off the reuse bits of ptxas's code)
ONE_IN_THE_MIDDLE, SECOND_IS_LAST = ("MOV", "IABS", "I2FP"), ("FADD", "DADD", "HADD2")
SIGN_BITS = {"f32": 1 << 31, "f64": 1 << 63, "h2": 0x80008000}


class Draft:
    """The instruction. constants: where each constant bank begins in the constant image, in bytes. names: of code."""

    def __init__(self, constants: dict[int, int], names: Container[str] = ()) -> None:
        self.constants, self.names = constants, names
        self.op, self.flags, self.aux, self.offset, self.target = isa.OP_NOP, 0, 0, 0, NO_PC
        self.imm, self.src = [0] * NUM_MACHINE_ROWS, [NO_REG] * NUM_MACHINE_ROWS
        self.dst: list[int] = []
        self.src_mask = self.imm_mask = self.const_mask = self.uniform_mask = self.dst_uniform = 0
        self.modify, self.moved = [0, 0, 0], [0, 0, 0]
        self.texts: dict[int, str] = {}         # of operands in row slots, as the instruction has them
        self.psrc, self.psrc_negate = [NO_PRED] * 3, [0] * 3
        self.pdst = [NO_PRED] * 2
        self.guard, self.guard_negate = NO_PRED, 0
        self.unit, self.latency_class, self.wait_class, self.is_float = UNIT_SP, LAT_OTHER, WAIT_FIXED, 0
        self.space, self.memory_kind = SPACE_NONE, MEM_NONE
        self.width = self.count = self.signed = self.reg_bits = self.scale = self.polls = 0
        self.relocs: list[tuple[int, str, int]] = []      # slot, symbol, addend

    def be(self, op: int, aux: int = 0, flags: int = 0) -> Draft:
        """Set the opcode."""
        self.op, self.aux, self.flags = op, aux, flags
        return self

    def source(self, k: int, operand: Operand, kind: str = "i32") -> None:
        """Fill operand k, one or two row slots. kind: i32, i64, f32, f64, h2 (two halves): what its sign means."""
        self.texts[k] = operand.text
        self.rows(2 * k, operand, 2 if kind in ("i64", "f64") else 1, kind)
        if self.imm_mask >> 2 * k & 1:
            return
        part = [PARTS[name] for name in operand.parts if name in PARTS]
        if len(part) != len(operand.parts) or len(part) > 1:
            raise NotExecuted(f"with operand {operand.text}")
        self.modify[k] = self.sign_of(operand, kind) | (part[0] << isa.PART_SHIFT if part else 0)

    @staticmethod
    def sign_of(operand: Operand, kind: str) -> int:
        """Return the code for an operand's sign."""
        if operand.absolute:
            code = (BOTH if operand.sign == "-" else ABSOLUTE).get(kind)
        elif operand.sign == "-":
            code = NEGATED.get(kind)
        else:
            code = isa.MODIFY_NOT if operand.sign else isa.MODIFY_NONE
        if code is None:
            raise NotExecuted(f"with operand {operand.text}")
        return code

    def rows(self, slot: int, operand: Operand, count: int, kind: str = "i32", word: int = 0) -> None:
        """Fill row slots from `slot` on with the words of an operand, without its sign unless it is a number.

        word: the first of its words.
        """
        kinds = {"R": "src_mask", "UR": "uniform_mask", "c": "const_mask"}
        if operand.kind in kinds and not (operand.number is None and operand.kind != "c"):
            if operand.terms:
                raise NotExecuted(f"with operand {operand.text}")
            for place in range(count):
                self._row(slot + place, kinds[operand.kind], operand, word + place)
        elif operand.kind == "s":
            self._symbol(slot, operand, count)
        else:
            value = number_of(operand, kind)
            for place in range(count):
                self.number(slot + place, value >> 32 * place & M32)

    def _row(self, slot: int, mask: str, operand: Operand, word: int) -> None:
        setattr(self, mask, getattr(self, mask) | 1 << slot)
        assert operand.number is not None
        if mask == "src_mask":
            if operand.number + word >= NO_REG:
                raise NotExecuted(f"with operand {operand.text}")
            self.src[slot] = operand.number + word
        elif mask == "uniform_mask":
            self.imm[slot] = operand.number + word
        else:
            self.imm[slot] = self.constant(operand.number, operand.offset) + 4 * word

    def constant(self, bank: int, offset: int) -> int:
        """Return a place in a constant bank as a place in the constant image."""
        if bank not in self.constants:
            raise NotExecuted(f"with constant bank {bank}, which the module does not have")
        return self.constants[bank] + offset

    def _symbol(self, slot: int, operand: Operand, count: int) -> None:
        """Fill a slot with half of an address; the upper word is the same for all code, and for all variables."""
        if operand.parts == ("hi",):
            self.number(slot, (CODE_BASE if operand.text in self.names else GLOBAL_BASE) >> 32)
        else:
            self.number(slot, 0)
            self.relocs.append((slot, operand.text, operand.number or 0))
        if count > 1:
            self.number(slot + 1, 0)

    def number(self, slot: int, value: int) -> None:
        """Fill a row slot with a number."""
        self.imm[slot] = value & M32
        self.imm_mask |= 1 << slot

    def result(self, operand: Operand, count: int = 1) -> None:
        """Write the result's words to registers from the operand's on."""
        number = NO_REG if operand.number is None else operand.number
        if number != NO_REG and number + count > NO_REG or operand.sign or operand.parts not in ((), ("64",)):
            raise NotExecuted(f"with destination {operand.text}")
        self.dst += [NO_REG if number == NO_REG else number + word for word in range(count)]
        self.dst_uniform = int(operand.kind == "UR")

    def condition(self, index: int, operand: Operand | None) -> None:
        """Read a predicate; without one, true."""
        number, is_negated = (None, 0) if operand is None else (operand.number, int(operand.sign == "!"))
        if number is None:
            self.psrc_negate[index] = 1 - is_negated
        else:
            assert operand is not None
            self.psrc[index] = number + UNIFORM_PREDICATES * (operand.kind == "UP")
            self.psrc_negate[index] = is_negated

    def truth(self, index: int, operand: Operand | None) -> None:
        """Write a predicate; PT, or none, is not written."""
        if operand is not None and operand.number is not None:
            self.pdst[index] = operand.number + UNIFORM_PREDICATES * (operand.kind == "UP")

    def guarded(self, text: str) -> None:
        """Set the guard from "@!P0"; "" is none."""
        if text:
            self.guard_negate = int(text[1] == "!")
            name = text.lstrip("@!")
            if name[-1] != "T":
                self.guard = int(name[-1]) + UNIFORM_PREDICATES * (name[0] == "U")

    def note_places(self, form: Form) -> None:
        """Note at which place of the instruction each operand is: lowering may leave some out, or exchange them."""
        unpacks = form.has("UNPACK_B", "UNPACK_B_MERGE_C")      # F2FP
        places = {"a": 1 if form.base in ONE_IN_THE_MIDDLE or unpacks else 0,
                  "b": 2 if form.base in SECOND_IS_LAST or unpacks else 1, "c": 2}
        left = [(operand.text, places[role]) for role in places for operand in form.all(role)]
        for k, text in sorted(self.texts.items()):
            found = next((index for index, (other, _) in enumerate(left) if other == text), None)
            if found is not None and k < len(self.moved):
                self.moved[k] = (left.pop(found)[1] - k) % 3

    def control(self, op: int, aux: int = 0) -> Draft:
        """Make it a control instruction."""
        self.unit = UNIT_CTRL
        return self.be(op, aux)


def records_of(drafts: list[Draft]) -> np.ndarray:
    """Return instructions as (n,) MACHINE_INST, without their lines and control codes."""
    insts = np.zeros(len(drafts), MACHINE_INST)
    insts["num_dst"] = [len(draft.dst) for draft in drafts]
    dst = [(draft.dst + [NO_REG] * NUM_DST_ROWS)[:NUM_DST_ROWS] for draft in drafts]
    insts["dst"] = np.array(dst).reshape(-1, NUM_DST_ROWS)
    for name in FIELDS:
        values = np.array([getattr(draft, name) for draft in drafts])
        insts[name] = values.reshape(insts[name].shape)
    return insts


def number_of(operand: Operand, kind: str) -> int:
    """Return an immediate's or zero register's bits, its sign applied; the immediate of a double is its upper word."""
    value = operand.number or 0
    if operand.kind == "f":
        value = value << 32 if kind == "f64" else value
    elif operand.kind in ("R", "UR"):
        sign = SIGN_BITS.get(kind, 0) if operand.sign == "-" and kind in SIGN_BITS else 0
        return sign if operand.sign in ("", "-") else M64
    if operand.sign == "~":
        value = ~value
    return value & M64
