"""The operands of the table of forms: its notation read, and the types of registers that each takes."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from rfview.engine.ptx.forms.grammar import TYPE_WIDTHS

# the types that a register can be declared with, predicates apart
DECLARED = ("b8", "u8", "s8", "b16", "u16", "s16", "f16", "b32", "u32", "s32", "f32", "f16x2", "b64", "u64", "s64", "f64",
            "b128")


def is_bits(kind: str) -> bool:
    return kind[0] == "b" and not kind.startswith("bf")


@lru_cache(maxsize=None)
def registers_for(kind: str, is_loose: bool = False, is_named: bool = False) -> frozenset[str]:
    """Return the types of registers that an instruction that works on `kind` takes; is_loose: wider ones, too.

    Integers of both signs go together, and .b types with all types of their width; is_named: the opcode names the type.
    """
    bits = max(TYPE_WIDTHS[kind], 8)
    if kind == "pred":
        return frozenset({"pred"})
    types = set()
    for declared in DECLARED:
        width = TYPE_WIDTHS[declared]
        if width != bits and not (is_loose and width > bits or is_loose and bits == 8):
            continue
        is_pair = "x" in kind
        as_integer = is_named or is_pair if declared == "f16x2" else declared[0] in "us" and not is_pair
        is_integer = kind[0] in "us" and as_integer
        if is_bits(declared) or is_bits(kind) or is_integer or declared == kind:
            types.add(declared)
    return frozenset(types)


class Kind(NamedTuple):
    """An operand of a form, read from the table's notation."""

    what: str
    type: str = ""
    registers: frozenset[str] = frozenset()
    size: int = 0
    is_optional: bool = False
    may_discard: bool = False
    element: Kind | None = None     # type: ignore[misc]
    numbers: frozenset[int] | range | None = None
    more: str = ""


_WORDS = ("any", "offset", "label", "targets", "texture", "surface", "n", "sv")
_ALIASES = {"h": "u64", "m": "b16", "k": "b16", "s": "u32", "q": "p", "q!": "p!"}


@lru_cache(maxsize=None)
def kind_of(text: str) -> Kind:
    """Read an operand of the table's notation."""
    if text.endswith("?"):
        return kind_of(text[:-1])._replace(is_optional=True)
    if text in _WORDS:
        return Kind(text)
    text = _ALIASES.get(text, text)
    if text[0] == "#":
        return Kind("#", numbers=numbers_of(text[1:]))
    if text.startswith("[]"):
        return Kind("[]", more=text[2:])
    if "{" in text:
        count, _, inner = text.partition("{")
        only_vector = count.endswith("!")
        count = count.rstrip("!")
        inner = inner.rstrip("}")
        if inner.endswith("/"):
            what = "unpack" if inner[0] == "=" else "pack"
            return Kind(what, inner.strip("=/"))
        return Kind("vector", size=int(count or 0), element=kind_of(inner), more="!" * only_vector)
    if "|" in text:
        first, _, second = text.partition("|")
        return Kind("pair", element=kind_of(first), more=second)
    if text in ("p", "=p", "p!", "=p!"):
        return Kind(text.rstrip("!"), "pred", more="!" * text.endswith("!"))
    if text.lstrip("=-")[:1] in ("w", "x"):
        size = int(text[-1]) if text[-1] in "24" else 0
        return Kind("video", "u32", registers_for("u32") | {"f16x2"}, size=size, more=text)
    if text == "=_":
        return Kind("_")
    if limited := re.fullmatch(r"(\w+)([<>%])(\d+)", text):
        sign, limit = limited[2], int(limited[3])
        begin, end = {"<": (0, limit), ">": (limit + 1, 1 << 32), "%": (0, 1 << 32)}[sign]
        return kind_of(limited[1])._replace(numbers=range(begin, end, limit if sign == "%" else 1))
    is_written, body = text[0] == "=", text.lstrip("=-")
    marks = "".join(mark for mark in "_~!amst" if mark in body[2:])
    kind = body.rstrip("_~!amst")
    if kind[0] == "2":
        kind = f"{kind[1]}{2 * int(kind[2:])}"
    what = "=" if is_written else "-" if text[0] == "-" else "source"
    registers = registers_for(kind, "~" in marks, "t" in marks)
    return Kind(what, kind, registers, may_discard="_" in marks, more=marks.strip("_~t"))


def numbers_of(text: str) -> frozenset[int] | range | None:
    """Read `a..b`, `a..b/step`, `a..`, `a,b` or `` (any number)."""
    if ".." in text:
        first, _, last = text.partition("..")
        last, _, step = last.partition("/")
        return range(int(first), int(last) + 1 if last else 1 << 63, int(step or 1))
    return frozenset(map(int, text.split(","))) if text else None


def may_be_missing(kind: str) -> bool:
    return kind.endswith("?") and "|" not in kind
