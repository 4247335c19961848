"""The state of lowering one kernel: its instructions so far, its variables, and conversion of operands to rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rfview.engine.errors import PtxError
from rfview.engine.isa import (OP_BRA, OP_BRA_UNI, OP_MOV32, OP_MOV64, OP_PRED, OP_SREG, PRED_FALSE, PRED_TRUE, SREGS,
                               TYPE_BITS)
from rfview.engine.program import LAT_OTHER, UNIT_CTRL, WAIT_FIXED
from rfview.engine.ptx import forms
from rfview.engine.ptx.forms.special_registers import TYPES as SPECIAL_TYPES
from rfview.engine.ptx.lower.access import store_pieces
from rfview.engine.ptx.lower.functions import function_address
from rfview.engine.ptx.lower.immediates import immediate_bits, is_of_type
from rfview.engine.ptx.lower.names import Body, CallParam, LabelId, Names, Parts, Place, Register
from rfview.engine.ptx.parse.source import Source
from rfview.engine.ptx.parse.syntax import (Address, Function, Group, Instruction, Minus, Name, Negated, Number, Operand,
                                            Pair, SyntaxModule, Vector)
from rfview.engine.ptx.virtual import NONE, Variables, VirtualInst


class CallsAgain(Exception):
    """A pointer may call a function that is being inlined: the kernel must be lowered with a stack for the function."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass
class Frame:
    """One function instance being lowered: the label that `ret` jumps to (NONE: exit), and its body if it is recursive."""

    function: Function
    return_label: int = NONE
    body: Body | None = None


@dataclass
class Call:
    """One call within or into a group: the placeholders before its jump (mark) and at its return (back).

    caller: the calling body, None if the calling code is not recursive. keeps: whether the caller's values must be
    saved; no body in the group overwrites those of code outside it. before: sets or advances the stack pointer.
    """

    mark: VirtualInst
    before: VirtualInst
    back: VirtualInst
    callee: Body
    caller: Body | None
    keeps: bool


@dataclass
class Lowering:
    """The state of lowering a kernel. `items` holds instructions and, as integers, label numbers."""

    source: Source
    module: SyntaxModule
    variables: Variables = field(default_factory=Variables)
    items: list[VirtualInst | int] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    names: Names = field(init=False)
    num_labels: int = 0
    local_bytes: int = 0
    line: int = 0
    carry: int = NONE
    num_temps: int = 0
    last_line: int = 0
    has_parts: bool = False     # whether a vector or 128-bit register is declared
    counts_bytes: bool = False  # whether the kernel's barriers count the bytes of copies
    places: dict[int, Place] = field(default_factory=dict)
    shared: dict[str, Place] = field(default_factory=dict)
    # for recursion: functions that pointers may re-enter, functions reachable from each, bodies by group and name, calls;
    # stack_starts: the moves that initialise a stack pointer
    by_pointer: frozenset[str] = frozenset()
    reached: dict[tuple[str, bool], frozenset[str]] = field(default_factory=dict)
    groups: dict[frozenset[str], dict[str, Body]] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    stack_base: Register | None = None      # the pointer of the dynamic stack, if the kernel uses one
    stack_starts: list[VirtualInst] = field(default_factory=list)
    stack: int = NONE

    def __post_init__(self) -> None:
        self.names = Names(self.variables)

    @property
    def version(self) -> tuple[int, int]:
        """The module's PTX version, (9, 0) for 9.0."""
        major, _, minor = self.module.version.partition(".")
        return int(major), int(minor)

    @property
    def architecture(self) -> int:
        """The number in the module's target, 90 for sm_90a."""
        return int(self.module.target.partition("_")[2].rstrip("af"))

    # -- building -----------------------------------------------------------------------------------------------

    def fail(self, message: str) -> PtxError:
        return self.source.error(self.line, message)

    def emit(self, inst: VirtualInst) -> VirtualInst:
        self.items.append(inst)
        return inst

    def new_label(self) -> int:
        self.num_labels += 1
        return self.num_labels - 1

    def temp(self, bits: int) -> Register:
        self.num_temps += 1
        return self.names.new_register(f"%tmp{self.num_temps}", bits)

    def guard_of(self, inst: VirtualInst, statement: Instruction) -> VirtualInst:
        """Give `inst` the guard of its statement; return it."""
        if statement.guard:
            inst.set_guard(self.predicate(Name(statement.guard))[0], statement.guard_negate)
        return inst

    def move(self, dst: list[int], src: list[int], mnemonic: str = "") -> VirtualInst:
        """Make a move of one or two rows, without emitting it."""
        wide = len(dst) == 2
        inst = VirtualInst(OP_MOV64 if wide else OP_MOV32, mnemonic or ("mov.b64" if wide else "mov.b32"), self.line)
        inst.wait_class = WAIT_FIXED
        inst.types = ("b64",) if wide else ("b32",)
        inst.dst = dst
        for slot, row in enumerate(src):
            inst.set_row(slot, row)
        return inst

    def check_clusters(self) -> None:
        """Refuse instructions that distinguish or synchronise the CTAs of a cluster if it has several."""
        count = self.frames[0].function.ctas_per_cluster
        if count > 1:
            raise self.fail(f"this kernel requires clusters of {count} CTAs; only clusters of one CTA are supported")

    def branch(self, label: int, guard: int = NONE, negate: bool = False) -> VirtualInst:
        """Emit a branch to a label."""
        inst = VirtualInst(OP_BRA if guard >= 0 else OP_BRA_UNI, "bra", self.line)
        inst.unit, inst.wait_class, inst.form, inst.is_removable = UNIT_CTRL, WAIT_FIXED, "branch", False
        inst.target = label
        return self.emit(inst.set_guard(guard, negate))

    def local_area(self, size: int, align: int) -> int:
        """Reserve `size` bytes of the thread's local memory; return their offset."""
        offset = -(-self.local_bytes // max(align, 1)) * max(align, 1)
        self.local_bytes = offset + size
        return offset

    def stack_pointer(self) -> Register:
        if self.stack < 0:
            self.stack = self.variables.new("%stack", 32)
        return Register(self.stack, 32)

    def integer(self, base: str, target: int, row: int, number: int) -> VirtualInst:
        """Make a 32-bit operation on a row and a number, without emitting it."""
        info = forms.lookup(base, ("u32",))
        inst = VirtualInst(info.op, f"{base}.u32", self.line)
        inst.aux, inst.flags, inst.unit, inst.types = info.aux, info.flags, info.unit, info.src_types
        inst.wait_class, inst.latency_class = info.wait_class, info.latency_class
        inst.dst = [target]
        inst.set_row(0, row)
        inst.set_imm(2, number)
        return inst

    def carry_flag(self) -> int:
        if self.carry < 0:
            self.carry = self.variables.new("%cc", 1)
        return self.carry

    # -- operands -----------------------------------------------------------------------------------------------

    def resolve(self, name: Name) -> object:
        """Return what a name stands for; raises for an unknown name."""
        meaning = self.names.find(name.text)
        if meaning is not None:
            return meaning
        if name.text in self.shared:
            return self.shared[name.text]
        if name.text in self.module.variables:
            return Place(self.module.variables[name.text].space, symbol=name.text)
        if name.text in self.module.functions:
            return Place("code", function_address(self.module, name.text))
        if name.text in SPECIAL_TYPES:
            raise self.fail(f"the special register '{name.text}' cannot stand here; mov it to a register")
        what = "special register" if name.text.startswith("%") and "." in name.text else \
            "register" if name.text.startswith("%") else "name"
        near = self.names.similar(name.text)
        raise self.fail(f"unknown {what} '{name.text}'" + (f"; did you mean '{near}'?" if near else ""))

    def register(self, operand: object, what: str = "a register") -> Register:
        if isinstance(operand, Vector) and len(operand.items) == 1:
            operand = operand.items[0]
        if not isinstance(operand, Name):
            raise self.fail(f"expected {what}, found {describe(operand)}")
        meaning = self.resolve(operand)
        if isinstance(meaning, Parts):
            raise self.fail(f"expected {what}, found '{operand.text}', which is a vector of {len(meaning.names)} values")
        if not isinstance(meaning, Register):
            raise self.fail(f"expected {what}, found '{operand.text}', which is not a register")
        return self.plus(meaning, operand.addend) if operand.addend else meaning

    def plus(self, register: Register, addend: int) -> Register:
        """Add to a register, for an operand such as `%r1+4`; returns a new register."""
        if register.bits not in (32, 64):
            raise self.fail(f"an operand cannot add {addend} to a register of {register.bits} bits")
        info = forms.lookup("add", (f"u{register.bits}",))
        total = self.temp(register.bits)
        inst = VirtualInst(info.op, f"add.u{register.bits}", self.line)
        inst.aux, inst.flags, inst.unit, inst.types = info.aux, info.flags, info.unit, info.src_types
        inst.wait_class, inst.latency_class = info.wait_class, info.latency_class
        inst.dst = self.rows(total)
        for slot, row in enumerate(self.rows(register)):
            inst.set_row(slot, row)
            inst.set_imm(2 + slot, addend >> 32 * slot)
        self.emit(inst)
        return total

    def predicate(self, operand: object) -> tuple[int, bool]:
        """Return (variable, negated) of a predicate operand."""
        negated = isinstance(operand, Negated)
        name = operand.name if isinstance(operand, Negated) else operand
        register = self.register(name, "a predicate register")
        if register.bits != 1:
            raise self.fail(f"expected a predicate register, found {describe(name)}")
        return register.var, negated

    def constant_predicate(self, value: bool) -> int:
        """Emit a predicate that is always `value`; return it."""
        inst = VirtualInst(OP_PRED, "mov.pred", self.line)
        inst.aux, inst.wait_class, inst.pdst = PRED_TRUE if value else PRED_FALSE, WAIT_FIXED, [self.temp(1).var]
        return self.emit(inst).pdst[0]

    def predicate_or_constant(self, operand: object) -> tuple[int, bool]:
        """Return (variable, negated) of a predicate operand, which may be a number."""
        if isinstance(operand, Number):
            return self.constant_predicate(bool(operand.value)), False
        return self.predicate(operand)

    def is_predicate(self, operand: object) -> bool:
        if isinstance(operand, Negated):
            return True
        if not isinstance(operand, Name):
            return False
        meaning = self.names.find(operand.text)
        return isinstance(meaning, Register) and meaning.bits == 1

    def destination(self, operand: object, bits: int) -> list[int]:
        """Return the rows of a destination register; a `_` becomes a new, unused register."""
        if is_discarded(operand):
            return self.rows(self.temp(bits))
        register = self.register(operand, "a destination register")
        if register.bits == 1:
            raise self.fail(f"expected a data register, found the predicate {describe(operand)}")
        return self.rows(register)

    def destinations(self, items: Sequence[Operand], bits: int) -> list[int]:
        """Return the rows of several destinations; what a register named more than once gets is its last value."""
        rows = [self.destination(item, bits) for item in items]
        return [row for place, one in enumerate(rows)
                for row in (self.rows(self.temp(32 * len(one))) if one in rows[place + 1 :] else one)]

    def rows(self, register: Register) -> list[int]:
        """Return the rows of a register: one, or low and high."""
        if register.bits == 64:
            return [2 * register.var, 2 * register.var + 1]
        return [2 * register.var]

    def fill(self, inst: VirtualInst, slot: int, operand: object, type_name: str, is_loose: bool = False) -> None:
        """Put a source operand of a type into slots `slot` (and slot + 1 for 64 bits).

        is_loose: registers may be wider than the type, as for cvt, ld and st.
        """
        wide = TYPE_BITS[type_name] == 64
        if isinstance(operand, Number):
            if not is_of_type(operand, type_name):
                raise self.fail(f"'{inst.mnemonic}' works on .{type_name}, found {describe(operand)}")
            bits = immediate_bits(operand, type_name)
            inst.set_imm(slot, bits)
            if wide:
                inst.set_imm(slot + 1, bits >> 32)
            return
        register = self.special_value(operand, 64 if wide else 32)
        if isinstance(operand, Name) and register is None:
            meaning = self.resolve(operand)
            if isinstance(meaning, Place | CallParam):
                return self.fill_address(inst, slot, meaning, operand.addend, wide)
        register = register or self.register(operand)
        if register.bits == 1:
            raise self.fail(f"expected a {type_name} operand, found the predicate {describe(operand)}")
        if wide != (register.bits == 64) and not (is_loose and not wide):
            needed = TYPE_BITS[type_name]
            raise self.fail(f"{describe(operand)} has {register.bits} bits, but the instruction needs {needed}")
        rows = self.rows(register)
        inst.set_row(slot, rows[0])
        if wide:
            inst.set_row(slot + 1, rows[1])

    def special_inst(self, dst: list[int], name: str, mnemonic: str) -> VirtualInst:
        """Make the instruction that reads a special register, without emitting it."""
        inst = VirtualInst(OP_SREG, mnemonic, self.line)
        inst.aux, inst.form, inst.note = SREGS[name], "special", name
        inst.latency_class, inst.wait_class, inst.is_removable = LAT_OTHER, WAIT_FIXED, True
        inst.dst = dst
        return inst

    def special_value(self, operand: object, bits: int) -> Register | None:
        """Read a special register used as an operand (PTX 1.x: cvt.u32.u16 r, %tid.x) into a new register, else None."""
        if not isinstance(operand, Name) or operand.text not in SREGS or self.names.find(operand.text) is not None:
            return None
        register = self.temp(bits)
        self.emit(self.special_inst(self.rows(register), operand.text, "mov.u64" if bits == 64 else "mov.u32"))
        return register

    def fill_address(self, inst: VirtualInst, slot: int, place: object, addend: int, wide: bool) -> None:
        """Put the address of a variable into a slot pair as an immediate or a relocation."""
        if isinstance(place, CallParam):
            place = self.in_local_memory(place)
        assert isinstance(place, Place)
        if place.on_stack:
            row = self.rows(self.temp(32))[0]
            self.emit(self.integer("add", row, self.rows(self.stack_pointer())[0], place.offset + addend))
            inst.set_row(slot, row)
            if wide:
                inst.set_imm(slot + 1, 0)
            return
        inst.set_imm(slot, place.offset + addend)
        if wide:
            inst.set_imm(slot + 1, (place.offset + addend) >> 32)
        if place.space in ("global", "const") and place.symbol:
            inst.relocs.append((slot, place.symbol, addend, wide))

    def in_local_memory(self, param: CallParam) -> Place:
        """Store a call parameter's pieces in local memory and return the place."""
        if param.local_offset < 0:
            param.local_offset = self.local_area(param.size, 16)
        store_pieces(self, param)
        return Place("local", param.local_offset)

    def label(self, operand: object) -> int:
        if isinstance(operand, Name):
            meaning = self.names.find(operand.text)
            if isinstance(meaning, LabelId):
                return meaning.number
            raise self.fail(f"unknown label '{operand.text}'")
        raise self.fail(f"expected a label, found {describe(operand)}")


def is_discarded(operand: object) -> bool:
    """Return whether a result is `_`."""
    return isinstance(operand, Name) and operand.text == "_"


def describe(operand: object) -> str:
    """Describe an operand for an error message."""
    if isinstance(operand, Name):
        return f"'{operand.text}'"
    if isinstance(operand, Number):
        return f"the number {operand.value}" if operand.kind == "int" else "a floating-point number"
    kinds = {Address: "an address", Vector: "a vector", Pair: "a pair a|b", Negated: "a negated predicate",
             Minus: "a register with a sign",
             Group: "a list in parentheses"}
    return kinds.get(type(operand), "nothing")


