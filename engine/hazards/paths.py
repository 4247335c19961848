"""Which instructions may follow one: branches, calls and returns.

A place is a pc with the return pcs of the calls around it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from rfview.engine import isa
from rfview.engine.machine.cores.subcore.classes import base_opcode
from rfview.engine.program import NO_PRED, Kernel

MOST_CALLS = 3      # return addresses that a place remembers; deeper ones may be any

Place = tuple[int, tuple[int, ...]]


class Paths:
    """The successors of a kernel's instructions.

    Where a jump through a register that is no return may lead is not known: to every function, or, of a jump table, to all
    code that nothing else leads to.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.count = len(kernel.insts)
        self.opcodes = [base_opcode(text) for text in kernel.texts]

    @cached_property
    def returns(self) -> list[int]:
        """Return where calls return to."""
        return [pc + 1 for pc, opcode in enumerate(self.opcodes) if opcode == "CALL" and pc + 1 < self.count]

    @cached_property
    def collected(self) -> list[int]:
        """Return where lanes go on behind ENDCOLLECTIVE."""
        return [int(inst["target"]) for inst, text in zip(self.kernel.insts, self.kernel.texts, strict=True)
                if "WARPSYNC.COLLECTIVE" in text]

    @cached_property
    def unled(self) -> list[int]:
        """Return the instructions that follow one that goes elsewhere, and that no branch names: of jump tables."""
        named = {int(inst["target"]) for inst in self.kernel.insts}
        return [pc for pc in range(1, self.count)
                if pc not in named and not self._falls_through(pc - 1)]

    def _falls_through(self, pc: int) -> bool:
        inst = self.kernel.insts[pc]
        op = int(inst["op"])
        if op in (isa.OP_BRA, isa.OP_JUMP, isa.OP_EXIT):
            return int(inst["guard"]) != NO_PRED or int(inst["aux"]) != 0
        return op not in (isa.OP_TRAP, isa.OP_ENDCOLLECTIVE)

    def after(self, place: Place) -> Iterator[Place]:
        """Yield the places that may follow one."""
        pc, calls = place
        inst = self.kernel.insts[pc]
        op, opcode = int(inst["op"]), self.opcodes[pc]
        if self._falls_through(pc) and pc + 1 < self.count:
            yield pc + 1, calls
        if opcode == "CALL":
            inner = (*calls, pc + 1)[-MOST_CALLS:]
            targets = [int(inst["target"])] if op == isa.OP_BRA else [first for _, first in self.kernel.functions]
            yield from ((target, inner) for target in targets)
        elif op == isa.OP_BRA:
            yield int(inst["target"]), calls
        elif opcode == "RET":
            yield from [(calls[-1], calls[:-1])] if calls else [(pc, ()) for pc in self.returns]
        elif op == isa.OP_JUMP:
            yield from ((target, calls) for target in self.unled)
        elif op == isa.OP_ENDCOLLECTIVE:
            yield from ((target, calls) for target in self.collected)
