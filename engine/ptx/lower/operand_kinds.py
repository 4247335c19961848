"""Checks operands of every kind of the table: single ones, predicates, pairs, addresses, vectors, textures, labels."""

from __future__ import annotations

import re

from rfview.engine.ptx.forms.grammar import NOTHING, TYPE_WIDTHS, Form
from rfview.engine.ptx.forms.operands import DECLARED, Kind, kind_of
from rfview.engine.ptx.forms.special_registers import TYPES as SPECIAL_TYPES
from rfview.engine.ptx.forms.special_registers import VECTORS
from rfview.engine.ptx.lower.context import Lowering, describe
from rfview.engine.ptx.lower.names import CallParam, LabelId, Parts, Place, Register, TargetList
from rfview.engine.ptx.lower.single_operand import PLAIN, is_special, mistyped, odd_operand, outside
from rfview.engine.ptx.parse.syntax import Address, Group, Minus, Name, Negated, Number, Pair, Vector

_NO_FORM = Form("", (), NOTHING, "", "", None)     # type: ignore[arg-type]


def wrong(low: Lowering, kind: Kind, operand: object, form: Form = _NO_FORM) -> str:
    """Return what is wrong with one operand, "" if nothing."""
    what = kind.what
    if type(operand) is Minus and (what == "-" or kind.more[:1] == "-"):
        operand = operand.name
    if what in ("source", "=", "-"):
        if type(operand) is Name:
            meaning = low.names.find(operand.text)
            if type(meaning) is Register:
                if (meaning.kind or PLAIN[meaning.bits]) in kind.registers and (what != "=" or not operand.addend):
                    return ""
                return mistyped(operand, meaning, kind)
        return odd_operand(low, kind, operand)
    return _CHECKS[what](low, kind, operand, form)


def _predicate(low: Lowering, kind: Kind, operand: object, form: Form) -> str:
    name = operand.name if isinstance(operand, Negated) else operand
    if kind.what == "p" and isinstance(operand, Number) and kind.more != "!":
        return "" if operand.kind == "int" else f"needs a predicate, found {describe(operand)}"
    if isinstance(name, Name) and not (kind.what == "=p" and isinstance(operand, Negated)):
        meaning = low.names.find(name.text)
        if isinstance(meaning, Register) and meaning.bits == 1 or kind.what == "=p" and not kind.more and name.text == "_":
            return ""
        if kind.what == "p" and is_special(low, name) and SPECIAL_TYPES[name.text] == "pred" \
                and form.opcode == "mov.pred":
            return ""
        if meaning is None and not is_special(low, name):
            low.resolve(name)
    return f"needs a predicate register, found {describe(operand)}"


def _pair(low: Lowering, kind: Kind, operand: object, form: Form) -> str:
    assert kind.element is not None
    first, second = (operand.first, operand.second) if isinstance(operand, Pair) else (operand, None)
    if second is None:
        return wrong(low, kind.element, first, form) if kind.is_optional else "gives a result and a predicate, as in d|p"
    discards = isinstance(first, Name) and first.text == "_"
    if discards and isinstance(second, Name) and second.text == "_":
        return "gives nothing to '_|_'"
    return ("" if discards else wrong(low, kind.element, first, form)) or _predicate(low, Kind("=p"), second, form)


def _address(low: Lowering, kind: Kind, operand: object, form: Form) -> str:
    if not isinstance(operand, Address):
        return f"takes an address in brackets, found {describe(operand)}"
    if kind.more in _OPAQUE:
        return _opaque(low, kind, operand)
    if operand.base is None:
        is_local = (kind.more or form.space) == "local"
        return "" if is_local else "takes a register or variable as the address, found a number"
    base = low.resolve(operand.base)
    space = kind.more or form.space
    if kind.more.startswith("@"):       # a variable must be in this space, a register may hold a generic address
        space = form.space or (kind.more[1:] if isinstance(base, Place) else "")
    if isinstance(base, Register):
        declared = base.kind or PLAIN[base.bits]
        if declared[0] == "f" or declared == "pred":
            return f"takes an integer as the address, '{operand.base.text}' is declared .{declared}"
        if base.bits == 32 and space in ("", "global") and low.module.address_size == 64:
            return f"takes an address of 64 bits, '{operand.base.text}' is declared .{declared}"
        return ""
    if isinstance(base, CallParam):
        own = "param"
    elif isinstance(base, Place):
        own = base.space
        if own == "param" and form.row.base in ("st", "atom", "red"):
            return f"cannot write the parameter '{operand.base.text}'"
    else:
        return f"takes a register or variable as the address, found {describe(operand.base)}"
    if own == "code":
        return f"cannot access '{operand.base.text}', which is a function"
    if space and space.split("::")[0] != own.split("::")[0] or not space and own == "const":
        return f"accesses .{space or 'global'} memory, '{operand.base.text}' is in .{own}"
    return ""


_OPAQUE = {"tex": "texref", "surf": "surfref"}


def _opaque(low: Lowering, kind: Kind, operand: Address) -> str:
    """A texture or surface: its name, or a register of 64 bits with its handle."""
    what = _OPAQUE[kind.more]
    if operand.base is None:
        return f"takes a .{what}, found a number"
    base, variable = low.resolve(operand.base), low.module.variables.get(operand.base.text)
    is_handle = isinstance(base, Register) and base.kind in ("u64", "b64", "s64", "") and base.bits == 64
    if is_handle or variable is not None and variable.type == what:
        return ""
    return f"takes a .{what} or a register of 64 bits, found {describe(operand.base)}"


def _number(low: Lowering, kind: Kind, operand: object, form: Form) -> str:
    if not isinstance(operand, Number) or operand.kind != "int":
        return f"takes a number, found {describe(operand)}"
    return outside(kind, operand)


def _threads(low: Lowering, kind: Kind, operand: object, form: Form) -> str:
    """A number of threads: whole warps."""
    if isinstance(operand, Number) and operand.kind == "int" and (
            operand.value % 32 or not operand.value and ".arrive" in form.opcode):
        return f"counts {operand.value} threads; expected whole warps, a multiple of 32"
    return wrong(low, kind_of("u32"), operand, form)


def _vector(low: Lowering, kind: Kind, operand: object, form: Form) -> str:
    """A vector, or a register of a vector; one element may stand alone. Only some elements may be `_`."""
    assert kind.element is not None
    items, element = [operand], kind.element
    if isinstance(operand, Vector):
        items = list(operand.items)
    elif isinstance(operand, Name) and isinstance(parts := low.names.find(operand.text), Parts) \
            and (kind.size > 1 or "b128" not in element.registers):
        items = [Name(part) for part in parts.names]
    elif kind.more == "!":
        return f"takes a vector of {kind.size} registers, found {describe(operand)}"
    if len(items) != kind.size:
        return f"takes {kind.size} {'register' if kind.size == 1 else 'registers'} here, found {len(items)}"
    widths, named = set(), 0
    for item in items:
        if element.what == "=" and kind.size > 1 and isinstance(item, Name) and item.text == "_":
            continue
        problem = wrong(low, element, item, form)
        if problem:
            return problem
        named += 1
        if isinstance(item, Name) and isinstance(register := low.names.find(item.text), Register):
            widths.add(register.bits)
    if len(widths) > 1:
        return "takes registers of one width in a vector"
    return "" if named else "needs a register that takes a value"


def _parts(low: Lowering, kind: Kind, operand: object, form: Form) -> str:
    """The parts of a register: two or four, of equal width."""
    if isinstance(operand, Name) and isinstance(parts := low.names.find(operand.text), Parts):
        operand = Vector([Name(part) for part in parts.names])
    if not isinstance(operand, Vector) or len(operand.items) == 1:
        return f"takes a vector of parts, found {describe(operand)}"
    total, count = TYPE_WIDTHS[kind.type], len(operand.items)
    bits = total // count
    if count not in (2, 4) or bits < 8:
        return f"cannot have {count} parts of {total} bits"
    part = Kind("=" if kind.what == "unpack" else "source", f"b{bits}",
                frozenset(declared for declared in DECLARED if TYPE_WIDTHS[declared] == bits))
    named = 0
    for item in operand.items:
        if isinstance(item, Name) and item.text == "_" and kind.what == "unpack":
            continue
        named += 1
        if problem := wrong(low, part, item, form):
            return problem
    return "" if named else "needs a register that takes a part"


# by size (halves, bytes, or one of either) and whether it is written: what a selector may be, and how to say that
_SELECTORS = {
    (0, False): (r"b[0-3]|h[01]", ".b0 to .b3, .h0 or .h1"), (0, True): (r"b[0-3]|h[01]", ".b0 to .b3, .h0 or .h1"),
    (2, False): (r"h[0-3]{2}", "'.h' and two digits from 0 to 3"), (2, True): (r"h(?=.)1?0?", ".h0, .h1 or .h10"),
    (4, False): (r"b[0-7]{4}", "'.b' and four digits from 0 to 7"),
    (4, True): (r"b(?=.)3?2?1?0?", "'.b' and digits from 3 down to 0"),
}


def _video(low: Lowering, kind: Kind, operand: object, form: Form) -> str:
    """A word, or bytes or halves of it."""
    if isinstance(operand, Name) and low.names.find(operand.text) is None:
        whole, _, part = operand.text.rpartition(".")
        pattern, words = _SELECTORS[kind.size, kind.more[0] == "="]
        if isinstance(low.names.find(whole), Register):
            if not re.fullmatch(pattern, part):
                return f"selects with {words} here, found '.{part}'"
            operand = Name(whole)
    if isinstance(operand, Number) and kind.size:
        return f"needs a register, found {describe(operand)}"
    return wrong(low, kind._replace(what="=" if kind.more[0] == "=" else "source"), operand, form)


def _any(low: Lowering, kind: Kind, operand: object, form: Form) -> str:
    return ""


def _sink(low: Lowering, kind: Kind, operand: object, form: Form) -> str:
    is_sink = isinstance(operand, Name) and operand.text == "_"
    return "" if is_sink else f"gives no value here but '_', found {describe(operand)}"


_COORDINATES = {"1d": 1, "2d": 2, "3d": 4, "a1d": 2, "a2d": 4, "cube": 4, "acube": 4, "2dms": 4, "a2dms": 4}


def _texture(low: Lowering, kind: Kind, operand: object, form: Form) -> str:
    """`[texture, {coordinates}]`, perhaps with a sampler, or a surface; the index of a layer is an integer."""
    if not isinstance(operand, Group) or len(operand.items) not in (2, 3) or not isinstance(operand.items[0], Name):
        return f"takes a {kind.what} and coordinates in brackets, found {describe(operand)}"
    is_surface = kind.what == "surface"
    if problem := _opaque(low, kind._replace(more="surf" if is_surface else "tex"), Address(operand.items[0], 0)):
        return problem
    geometry = next(part for part in form.opcode.split(".") if part in _COORDINATES)
    last = operand.items[-1]
    items = last.items if isinstance(last, Vector) else [last]
    count = _COORDINATES[geometry]
    if len(items) not in (1, 2, 4) or len(items) < count:
        return f"takes {count} coordinates, found {len(items)}"
    wanted = "u32" if is_surface else form.opcode.rpartition(".")[2]
    for place, item in enumerate(items):
        is_index = geometry[0] == "a" and not place or geometry.endswith("ms") and place == 2
        if problem := wrong(low, kind_of("u32" if is_index else f"{wanted}t"), item, form):
            return problem
    return ""


def _offset(low: Lowering, kind: Kind, operand: object, form: Form) -> str:
    return "" if isinstance(operand, Vector) else f"takes a vector of offsets, found {describe(operand)}"


def _special_vector(low: Lowering, kind: Kind, operand: object, form: Form) -> str:
    is_one = isinstance(operand, Name) and operand.text.lstrip("%") in VECTORS and low.names.find(operand.text) is None
    return "" if is_one else f"takes a special register of four values, found {describe(operand)}"


def _label(low: Lowering, kind: Kind, operand: object, form: Form) -> str:
    if isinstance(operand, Name):
        if isinstance(low.names.find(operand.text), LabelId):
            return ""
        raise low.fail(f"unknown label '{operand.text}'")
    return f"takes a label, found {describe(operand)}"


def _targets(low: Lowering, kind: Kind, operand: object, form: Form) -> str:
    if isinstance(operand, Name) and isinstance(low.names.find(operand.text), TargetList):
        return ""
    return f"takes a .branchtargets table, found {describe(operand)}"


_CHECKS = {
    "p": _predicate, "=p": _predicate, "pair": _pair, "[]": _address, "#": _number, "n": _threads, "vector": _vector,
    "pack": _parts, "unpack": _parts, "video": _video, "any": _any, "label": _label, "targets": _targets,
    "texture": _texture, "offset": _offset, "surface": _texture, "sv": _special_vector, "_": _sink,
}
