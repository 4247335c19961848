"""Indirect calls: a dispatch over the functions whose address the module takes and whose signature fits, each inlined.

GPUs jump to the address; here it is compared with the address of each candidate in turn, and calling anything else traps.
"""

from __future__ import annotations

from collections.abc import Callable

from rfview.engine import isa
from rfview.engine.ptx import forms
from rfview.engine.ptx.lower.binding import fits
from rfview.engine.ptx.lower.context import Lowering
from rfview.engine.ptx.lower.control import control_inst
from rfview.engine.ptx.lower.functions import function_address, taken_functions
from rfview.engine.ptx.lower.names import Register
from rfview.engine.ptx.parse.syntax import Function, Instruction, Number, Operand
from rfview.engine.ptx.virtual import VirtualInst


def lower_indirect_call(low: Lowering, statement: Instruction, target: Register, returns: list[Operand],
                        arguments: list[Operand], inline: Callable[[Function], None]) -> None:
    """Compare the target with each candidate's address, each match followed by the inlined function; else trap."""
    callees = [function for function in taken_functions(low.module) if matches(low, function, returns, arguments)]
    if not callees:
        raise low.fail("no function whose address is taken in this module matches this call")
    end = low.new_label()
    for function in callees:
        after = low.new_label()
        low.branch(after, is_address(low, target, function_address(low.module, function.name)), True)
        inline(function)
        low.branch(end)
        low.items.append(after)
    low.line = statement.line
    trap = control_inst(low, isa.OP_TRAP, Instruction(statement.line, "trap", []))
    trap.aux = isa.TRAP_CALL
    low.emit(trap)
    low.items.append(end)


def is_address(low: Lowering, target: Register, address: int) -> int:
    """Emit the comparison of a pointer with an address; return its predicate."""
    info = forms.lookup("setp", ("eq", f"u{target.bits}"))
    inst = VirtualInst(info.op, f"setp.eq.u{target.bits}", low.line)
    inst.aux, inst.wait_class, inst.latency_class, inst.types = (
        info.aux, info.wait_class, info.latency_class, info.src_types)
    for slot, row in enumerate(low.rows(target)):
        inst.set_row(slot, row)
    low.fill(inst, 2, Number("int", address), f"u{target.bits}")
    inst.pdst = [low.temp(1).var]
    low.emit(inst)
    return inst.pdst[0]


def matches(low: Lowering, function: Function, returns: list[Operand], arguments: list[Operand]) -> bool:
    """Return whether a function's parameters and results have the sizes of the call's."""
    if function.body is None or len(function.params) != len(arguments) or len(function.returns) != len(returns):
        return False
    pairs = [*zip(function.params, arguments, strict=True), *zip(function.returns, returns, strict=True)]
    return all(fits(low, formal, actual) for formal, actual in pairs)
