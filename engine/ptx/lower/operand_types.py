"""Checks the types of an instruction's registers, and the spelling of control instructions, by PTX's rules."""

from __future__ import annotations

from rfview.engine.isa import TYPE_BITS
from rfview.engine.ptx import forms
from rfview.engine.ptx.forms import control
from rfview.engine.ptx.lower.context import Lowering, describe
from rfview.engine.ptx.lower.names import Register
from rfview.engine.ptx.parse.syntax import Address, Instruction, Name, Number, Pair

_UNTYPED = ("", "f16x2", "pred")      # registers that every instruction of their width takes, or none


def check_types(low: Lowering, statement: Instruction) -> None:
    """Refuse registers of other types or widths than an instruction of the opcode table works on.

    Integers of both signs go together, and .b types with all types of their width; a cvt may have wider registers. Loads,
    stores and atomics call the functions below.
    """
    base, *modifiers = statement.opcode.split(".")
    try:
        info = forms.lookup(base, tuple(modifiers))
    except forms.UnsupportedOpcode:
        return          # reported, with a form that exists, where the instruction is lowered
    if not statement.operands:
        return
    first, *sources = statement.operands
    result = first.first if isinstance(first, Pair) else first
    kinds = info.src_types if base != "shfl" else ("b32",) * len(info.src_types)    # a lane number may be a float's bits
    wanted = [(result, info.dst_type or ""), *zip(sources, kinds, strict=False)]
    for operand, kind in wanted:
        if kind not in ("", "pred"):
            check_operand(low, statement.opcode, operand, kind)


def check_form(low: Lowering, statement: Instruction) -> None:
    """Refuse spellings and operands that a control instruction does not have; others have their own checks."""
    opcode, operands, known = statement.opcode, statement.operands, control.forms_of(statement.opcode)
    if known is None:
        return
    kinds = control.operands_of(opcode, known)
    if kinds is None:
        raise low.fail(f"unsupported instruction '{opcode}'; nearest supported form: '{next(iter(known))}'")
    if len(operands) != len(kinds):
        raise low.fail(f"'{opcode}' takes {len(kinds) or 'no'} operands, found {len(operands)}")
    for operand, kind in zip(operands, kinds, strict=True):
        if kind == "address" and not isinstance(operand, Address) or kind == "number" and not isinstance(operand, Number):
            raise low.fail(f"'{opcode}' takes {'an address in brackets' if kind == 'address' else 'a number'}, found "
                           f"{describe(operand)}")
        if isinstance(operand, Address) and operand.base is not None:
            low.resolve(operand.base)
        elif kind not in ("address", "number"):
            check_operand(low, opcode, operand, kind)


def check_operand(low: Lowering, opcode: str, operand: object, kind: str) -> None:
    """Refuse one operand that is not of type `kind`."""
    register = low.names.find(operand.text) if isinstance(operand, Name) else None
    if not isinstance(register, Register) or register.kind in _UNTYPED and register.bits == 1:
        return
    bits, is_wider = max(TYPE_BITS[kind], 16), opcode.startswith("cvt.")
    if register.kind and (register.bits < bits if is_wider else register.bits != bits) or not goes_with(register.kind, kind):
        assert isinstance(operand, Name)
        raise low.fail(f"'{operand.text}' is declared .{register.kind}, '{opcode}' works on .{kind}")


def goes_with(declared: str, kind: str) -> bool:
    """Return whether a register of a declared type may stand where an instruction works on `kind`, widths aside."""
    if declared in _UNTYPED or is_bits(declared) or is_bits(kind):
        return True
    return "f" not in declared if "f" not in kind else declared == kind


def is_bits(kind: str) -> bool:
    return kind.startswith("b") and not kind.startswith("bf")
