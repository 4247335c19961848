"""Lowering of cp.async.bulk and cp.reduce.async.bulk: a loop of loads and stores in the thread that requests the copy.

GPUs have an engine that copies in parallel with the warps; here the copy is done when the instruction is, like cp.async's,
then its bytes are counted at the barrier. Groups are no-operations. Copies by tensor maps, which the host makes, are
refused.
"""

from __future__ import annotations

from collections.abc import Callable

from rfview.engine.isa import TYPE_BITS
from rfview.engine.ptx.lower.context import Lowering
from rfview.engine.ptx.lower.mbarrier import count_bytes
from rfview.engine.ptx.lower.names import Register
from rfview.engine.ptx.lower.steps import Steps
from rfview.engine.ptx.parse.syntax import Address, Instruction, Name, Operand, Vector

_COPY_BYTES = 16  # sizes and addresses of copies are multiples of this
_AT_ONCE = 4  # loads in flight at once in the loop, of four registers each
_REDUCTIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")


def lower_bulk_copy(low: Lowering, statement: Instruction) -> None:
    """Lower a copy between global and shared memory, or within one, that a barrier or a group tracks."""
    to, source = statement.opcode.split(".")[3:5]

    def run(copy: _Copy) -> None:
        copy.loop(_COPY_BYTES * _AT_ONCE, lambda: copy.move(_AT_ONCE))
        copy.loop(_COPY_BYTES, lambda: copy.move(1))

    transfer(low, statement, to, source, run)


def lower_bulk_reduction(low: Lowering, statement: Instruction) -> None:
    """Lower a copy that reduces each element into the one at the target."""
    to, source, *words = statement.opcode.split(".")[4:]
    operation, kind = next(word for word in words if word in _REDUCTIONS), words[-1]
    noftz, width = ".noftz" if operation == "add" and kind in ("f16", "bf16") else "", TYPE_BITS[kind]
    transfer(low, statement, to, source,
             lambda copy: copy.loop(width // 8, lambda: copy.reduce(f"{operation}{noftz}.{kind}", width)))


def transfer(low: Lowering, statement: Instruction, to: str, source: str, run: Callable[[_Copy], None]) -> None:
    """Lower a transfer, under the statement's guard, and count its bytes at the barrier if it names one."""
    after = low.new_label()
    if statement.guard:
        low.branch(after, low.predicate(Name(statement.guard))[0], not statement.guard_negate)
    copy = _Copy(low, statement, to.partition("::")[0], source.partition("::")[0])
    run(copy)
    if ".bulk_group" not in statement.opcode:
        count_bytes(copy.steps, ".shared", statement.operands[3], copy.size, False)
    low.items.append(after)


class _Copy:
    """One copy: the registers with the next addresses to read and write, and with the bytes left."""

    def __init__(self, low: Lowering, statement: Instruction, to: str, source: str) -> None:
        self.low, self.to, self.source = low, to, source
        self.steps = Steps(low, Instruction(statement.line, statement.opcode, statement.operands))
        self.target = self._address(statement.operands[0], to)
        self.origin = self._address(statement.operands[1], source)
        self.size = self.steps.value("mov.u32", statement.operands[2])
        self.left = self.steps.value("mov.u32", self.size)

    def _address(self, operand: Operand, space: str) -> tuple[Name, int]:
        """Copy an address into a new register; return its name and width in bits."""
        assert isinstance(operand, Address) and operand.base is not None
        meaning = self.low.resolve(operand.base)
        bits = meaning.bits if isinstance(meaning, Register) else 64 if space == "global" else 32
        base = self.steps.value(f"mov.u{bits}", operand.base, bits=bits)
        return self.steps.value(f"add.u{bits}", base, operand.offset, bits=bits), bits

    def loop(self, size: int, body: Callable[[], None]) -> None:
        """Emit a loop of `body`, run while at least `size` bytes are left."""
        start, end = self.low.new_label(), self.low.new_label()
        self.low.items.append(start)
        is_done = self.steps.value("setp.lt.u32", self.left, size, bits=1)
        self.low.branch(end, self.low.predicate(is_done)[0])
        body()
        for name, bits in (self.target, self.origin):
            self.steps.emit(f"add.u{bits}", name, name, size)
        self.steps.emit("sub.u32", self.left, self.left, size)
        self.low.branch(start)
        self.low.items.append(end)

    def move(self, count: int) -> None:
        """Load `count` blocks of 16 bytes, then store them."""
        groups = [Vector([self.steps.new() for _ in range(4)]) for _ in range(count)]
        for place, group in enumerate(groups):
            self.steps.emit(f"ld.{self.source}.v4.b32", group, Address(self.origin[0], _COPY_BYTES * place))
        for place, group in enumerate(groups):
            self.steps.emit(f"st.{self.to}.v4.b32", Address(self.target[0], _COPY_BYTES * place), group)

    def reduce(self, operation: str, width: int) -> None:
        """Reduce one element into the one at the target."""
        value = self.steps.value(f"ld.{self.source}.b{width}", Address(self.origin[0], 0), bits=width)
        self.steps.emit(f"red.{self.to}.{operation}", Address(self.target[0], 0), value)
