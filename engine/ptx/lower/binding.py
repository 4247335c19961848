"""Binds the parameters of a called function: to the caller's .param variables, or to registers with the values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rfview.engine import isa
from rfview.engine.program import WAIT_FIXED
from rfview.engine.ptx.lower.context import Lowering, describe
from rfview.engine.ptx.lower.names import CallParam, Names, Parts, Place, Register, part_names, register_bits
from rfview.engine.ptx.parse.syntax import Name, Variable, Vector
from rfview.engine.ptx.virtual import VirtualInst


def as_param(formal: Variable, register: Register) -> CallParam:
    return CallParam(formal.name, formal.size, {(0, formal.size): register.var})


def pairs(low: Lowering, formals: Sequence[Variable], actuals: Sequence[object],
          own: Names) -> Iterator[tuple[Variable, object]]:
    """Yield each parameter with what the caller passes; a vector of registers, part by part.

    Raises PtxError if the argument for a vector holds more or fewer values.
    """
    for formal, actual in zip(formals, actuals, strict=True):
        if not formal.is_register or formal.vector == 1:
            yield formal, actual
            continue
        meaning = low.resolve(actual) if isinstance(actual, Name) else None
        given = [Name(part) for part in meaning.names] if isinstance(meaning, Parts) else \
            actual.items if isinstance(actual, Vector) else [actual]
        if len(given) != formal.vector:
            raise low.fail(f"'{formal.name}' is a vector of {formal.vector} values, {describe(actual)} has {len(given)}")
        names = part_names(formal.name, formal.vector)
        own.table[formal.name] = Parts(names)
        low.has_parts = True
        for name, part in zip(names, given, strict=True):
            yield replace(formal, name=name, vector=1), part


def fits(low: Lowering, formal: Variable, actual: object) -> bool:
    """Return whether what a call passes or receives has the size of the parameter.

    Arrays and 128 bits are passed in .param variables only.
    """
    meaning = low.resolve(actual) if isinstance(actual, Name) else None
    if isinstance(meaning, CallParam):
        return meaning.size == formal.size
    if formal.is_array or formal.type == "b128" or isinstance(meaning, Place):
        return False
    return not isinstance(meaning, Register) or meaning.bits == register_bits(formal.type)


def bind(low: Lowering, formal: Variable, actual: object, own: Names) -> object:
    """Return what a formal parameter is bound to: the caller's .param variable, or a register with the value."""
    meaning = low.resolve(actual) if isinstance(actual, Name) else None
    if isinstance(meaning, CallParam) and not formal.is_register:
        return meaning
    if isinstance(meaning, CallParam) or actual is None:
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
