"""Checks an operand that is one value: a register of a fitting type, a number, a special register or an address."""

from __future__ import annotations

from rfview.engine.ptx.forms.grammar import TYPE_WIDTHS
from rfview.engine.ptx.forms.operands import Kind
from rfview.engine.ptx.forms.special_registers import TYPES as SPECIAL_TYPES
from rfview.engine.ptx.lower.context import Lowering, describe
from rfview.engine.ptx.lower.immediates import is_of_type
from rfview.engine.ptx.lower.names import LabelId, Parts, Register
from rfview.engine.ptx.parse.syntax import Name, Number

# what a register without a declared type is taken for
PLAIN = {1: "pred", 8: "b8", 16: "b16", 32: "b32", 64: "b64"}


def mistyped(operand: Name, register: Register, kind: Kind) -> str:
    declared = register.kind or PLAIN[register.bits]
    if declared == "pred":
        return f"works on .{kind.type}, found the predicate {describe(operand)}"
    return f"works on .{kind.type}, '{operand.text}' is declared .{declared}"


def odd_operand(low: Lowering, kind: Kind, operand: object) -> str:
    """Return what is wrong with an operand that is no register of its own: a number, a special register, a symbol."""
    if isinstance(operand, Number):
        if kind.what == "=" or kind.more == "!":
            return f"needs a register, found {describe(operand)}"
        if not is_of_type(operand, kind.type):
            return f"works on .{kind.type}, found {describe(operand)}"
        return outside(kind, operand) if kind.numbers is not None else ""
    if not isinstance(operand, Name):
        return f"needs a register{' or number' * (kind.what != '=')}, found {describe(operand)}"
    if operand.text == "_":
        return "" if kind.may_discard else "must have a register for its result, found '_'"
    meaning = low.names.find(operand.text)
    if isinstance(meaning, Parts):
        if "b128" in kind.registers and not low.register(Name(meaning.names[0])).kind:
            return ""       # a register of 128 bits
        return f"works on .{kind.type}, '{operand.text}' is a vector of {len(meaning.names)} values"
    if is_special(low, operand):
        return special(low, kind, operand)
    place = low.resolve(operand)
    if isinstance(place, LabelId):
        return f"needs a register, found the label '{operand.text}'"
    if kind.more in ("a", "m") and (TYPE_WIDTHS[kind.type] in (32, 64)) and "f" not in kind.type:
        return ""
    return f"needs a register, found the variable '{operand.text}'"


def is_special(low: Lowering, name: Name) -> bool:
    return name.text in SPECIAL_TYPES and low.names.find(name.text) is None


def special(low: Lowering, kind: Kind, name: Name) -> str:
    """Return why a special register cannot stand here, "" if it can."""
    declared = SPECIAL_TYPES[name.text]
    if declared == "pred" and kind.more == "m":
        return f"works on .{kind.type}, the special register '{name.text}' is a predicate"
    if kind.what == "=":
        return f"cannot write the special register '{name.text}'"
    if low.version < (2, 0):
        return ""
    if kind.more in ("m", "s") and kind.type[0] != "f":
        width, wanted = TYPE_WIDTHS[declared], TYPE_WIDTHS[kind.type]
        if wanted == width or width == 32 and wanted == 16 or name.text == "%gridid" and wanted == 32:
            return ""
        return f"works on .{kind.type}, the special register '{name.text}' has {width} bits"
    return f"cannot read the special register '{name.text}'; mov can"


def outside(kind: Kind, number: Number) -> str:
    """Return why a number is not one of those that an operand can be, "" if it is."""
    numbers = kind.numbers
    if numbers is None or number.value in numbers:
        return ""
    wanted = f"{numbers[0]} to {numbers[-1]}" + f" in steps of {numbers.step}" * (numbers.step > 1) \
        if isinstance(numbers, range) else ", ".join(map(str, sorted(numbers)))
    return f"takes the number {wanted}, found {number.value}"
