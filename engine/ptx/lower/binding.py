"""What the parameters of a called function stand for: the caller's .param variables, or registers with the values."""

from __future__ import annotations

from rfview.engine import isa
from rfview.engine.program import WAIT_FIXED
from rfview.engine.ptx.lower.context import Lowering, describe
from rfview.engine.ptx.lower.names import CallParam, Names, Register, register_bits
from rfview.engine.ptx.parse.syntax import Name, Variable
from rfview.engine.ptx.virtual import VirtualInst


def as_param(formal: Variable, register: Register) -> CallParam:
    return CallParam(formal.name, formal.size, {(0, formal.size): register.var})


def bind(low: Lowering, formal: Variable, actual: object, own: Names) -> object:
    """Give what a formal parameter stands for: the caller's .param variable, or a register with the value."""
    found = low.resolve(actual) if isinstance(actual, Name) else None
    if isinstance(found, CallParam) and not formal.is_register:
        return found
    if isinstance(found, CallParam) or actual is None:
        raise low.fail(f"cannot pass {describe(actual)} to register parameter '{formal.name}'")
    register = own.new_register(formal.name, register_bits(formal.type))
    if register.bits == 1:
        inst = VirtualInst(isa.OP_PRED, "mov.pred", low.line)
        inst.aux, inst.wait_class = isa.PRED_MOV, WAIT_FIXED
        var, negated = low.predicate(actual)
        inst.psrc, inst.psrc_negate, inst.pdst = [var], [negated], [register.var]
    else:
        inst = low.move(low.rows(register), [])
        low.fill(inst, 0, actual, formal.type if not formal.is_array else "b32")
    low.emit(inst)
    return register if formal.is_register else as_param(formal, register)
