"""The notation of the table of forms, and the forms that an opcode can be.

A line of the table is `NAMES | MODIFIERS | OPERANDS | NEEDS`. Modifiers are slots in the manual's order, `a/b` for
alternatives, `?` for one that may be missing; like ptxas, rfview takes them in any order, only types keep theirs. Slots that
consist of types are called T, U, V, W in the operands. In a name with dots (`mul.wide`) these come first.

    =T   a register that is written; =T_ also `_`       T    a register or number that is read; T! a register only
    =p   a predicate that is written, p one that is read; =T|p a pair, =T|p? one whose predicate may be missing
    2T   twice the width of T; T~ registers may be wider   #    a number, #a..b one of that range, #a,b one of those
    []   an address in the instruction's space; []s in space s
    n{T} a vector of n; *{T} of as many as the modifier v2 .. v8 or x1 .. x4 says; T/ parts of T
    A:T  a lane's part of matrix A (or B, C, D) of T; H:T half of A's
    T?   may be missing, with all that follow              q    p, there with .and, .or or .xor; h, m, k: see _WITH

T takes the registers of that type; a type that is written out is a shift, a count or the like, which takes fewer.

NEEDS is `@version,target` (the least), `<version,target` (the last), `>name` for a form that is lowered to several
instructions (lower/kernel.py has the function of each name), and `!reason` for what PTX has and rfview does not.
A name and an alternative may have needs of their own (`cluster@7.8,90`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

TYPE_WIDTHS = {
    "pred": 1, "b1": 1, "s2": 2, "u2": 2, "s4": 4, "u4": 4, "b8": 8, "u8": 8, "s8": 8, "e4m3": 8, "e5m2": 8,
    "e2m1x2": 8, "b16": 16, "u16": 16, "s16": 16, "f16": 16, "bf16": 16, "e4m3x2": 16, "e5m2x2": 16,
    "e3m2x2": 16, "e2m3x2": 16, "ue8m0x2": 16, "b32": 32, "u32": 32, "s32": 32, "f32": 32, "tf32": 32, "f16x2": 32,
    "bf16x2": 32, "u16x2": 32, "s16x2": 32, "b64": 64, "u64": 64, "s64": 64, "f64": 64, "f32x2": 64, "b128": 128,
    "e4m3x4": 32, "e5m2x4": 32, "e3m2x4": 32, "e2m3x4": 32, "e2m1x4": 16,
}
SPACES = ("global", "shared", "shared::cta", "shared::cluster", "local", "const", "param", "param::entry", "param::func")
# operands that are there if a modifier is: a cache policy, the CTAs of a cluster, a mask of bytes, a predicate
_WITH = {"h": {"L2::cache_hint"}, "m": {"multicast::cluster"}, "k": {"cp_mask"}, "q": {"and", "or", "xor"}}
# what ptxas takes more than once, and what it takes and ignores where it has no meaning
_REPEATED = frozenset({"sat", "cc", "NaN", "relu", "satfinite", "shiftamt", "sync", "uni", "approx"})
_IGNORED = frozenset({"finite", "infinite", "number", "notanumber", "normal", "subnormal", "b8x16", "b6x16_p32",
                      "b4x16_p64"})
_NEEDS = {"shared::cta": "7.8,30", "shared::cluster": "7.8,90"}      # of a modifier wherever it stands
_COLUMNS = re.compile(r"(?<=\s)\|(?=\s|$)")
# the type of the registers that hold elements of matrices, u32 for all integers
_HELD_IN = {"f16": "f16x2", "bf16": "bf16x2", "e4m3": "b32", "e5m2": "b32", "tf32": "tf32", "f32": "f32", "f64": "f64"}
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
_INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32")    # for these ptxas takes registers declared .f16x2, too
_COUNTS = {"v2": 2, "v4": 4, "v8": 8, "x1": 1, "x2": 2, "x4": 4}


class Needs(NamedTuple):
    """The least PTX version and target of a form, and the last; is_special: targets with the letter a or f."""

    version: tuple[int, int] = (1, 0)
    target: int = 0
    is_special: bool = False
    last_version: tuple[int, int] = (99, 0)
    last_target: int = 999

    def joined(self, other: Needs) -> Needs:
        """Return what both need."""
        return Needs(max(self.version, other.version), max(self.target, other.target), self.is_special or other.is_special,
                     min(self.last_version, other.last_version), min(self.last_target, other.last_target))


NOTHING = Needs()
_ACCESSES = ("ld", "ldu", "st", "atom", "red", "mov", "suld.b", "sust.b")
_WIDE, _NEVER = Needs((8, 8), 100), Needs((99, 1), 999)     # what accesses of 256 bits need, and what does not exist


class Slot(NamedTuple):
    """One place for a modifier: the alternatives with what each needs; those of one order are filled in the text's order."""

    words: dict[str, Needs]
    is_optional: bool
    is_type: bool
    order: str


class Row(NamedTuple):
    """One line of the table for one of its names."""

    base: str
    slots: tuple[Slot, ...]
    operands: tuple[str, ...]
    needs: Needs
    refusal: str
    lowered: str

    def filled(self, parts: Iterable[str]) -> list[str] | None:
        """Return the modifier in each slot, "" for none; None if the parts do not fit."""
        chosen, after = [""] * len(self.slots), {"type": 0, "layout": 0, "space": 0, "": 0}
        for part in parts:
            for place, slot in enumerate(self.slots):
                if part in slot.words and not chosen[place] and place >= after[slot.order]:
                    chosen[place] = part
                    if slot.order:
                        after[slot.order] = place + 1
                    break
            else:
                if (part not in _IGNORED or part in chosen) and not (part in _REPEATED and part in chosen):
                    return None
        if any(not word and not slot.is_optional for word, slot in zip(chosen, self.slots, strict=True)):
            return None
        return chosen


class Form(NamedTuple):
    """What an opcode can mean: the spelling in the manual's order, and the operands with their types inserted."""

    opcode: str
    operands: tuple[str, ...]
    needs: Needs
    refusal: str
    space: str
    row: Row


def need(text: str) -> Needs:
    """Read `7.8,90`, `8.6,100a` or `7.8`; after `<`, what a form needs at most."""
    if not text:
        return NOTHING
    is_last = text.startswith("<")
    version, _, target = text.lstrip("<@").partition(",")
    major, _, minor = version.partition(".")
    number = (int(major or 1), int(minor or 0))
    least = int(target.rstrip("af") or 0)
    if is_last:
        return Needs(last_version=number, last_target=least or 999)
    return Needs(number, least, target.endswith(("a", "f")))


def slot(word: str, sets: dict[str, str]) -> Slot:
    """Read one slot; names in capitals are those of `sets`."""
    is_optional, words = word.endswith("?"), {}
    for each in word.rstrip("?").split("/"):
        for alternative in sets.get(each, each).split("/"):
            name, _, least = alternative.partition("@")
            words[name] = need(least or _NEEDS.get(name, ""))
    is_type = all(name in TYPE_WIDTHS for name in words)
    kinds = {"type": is_type, "layout": words.keys() <= {"row", "col"}, "space": words.keys() <= {*SPACES}}
    return Slot(words, is_optional, is_type, next((kind for kind, holds in kinds.items() if holds), ""))


def rows_of(table: str, sets: dict[str, str]) -> dict[str, list[Row]]:
    """Read a table; return its rows by name."""
    by_name: dict[str, list[Row]] = {}
    for line in table.strip().splitlines():
        if not line.strip() or line.lstrip().startswith("--"):
            continue
        names, modifiers, operands, needs = [*map(str.strip, _COLUMNS.split(line)), "", "", ""][:4]
        slots = tuple(slot(word, sets) for word in modifiers.split())
        needed, lowered = NOTHING, ""
        needs, _, refusal = needs.partition("!")
        for word in needs.split():
            if word[0] == ">":
                lowered = word[1:]
            else:
                needed = needed.joined(need(word))
        for each in names.split():
            name, _, least = each.partition("@")
            row = Row(name, slots, tuple(operands.split()), needed.joined(need(least)), refusal, lowered)
            by_name.setdefault(name, []).append(row)
    return by_name


def bound(row: Row, chosen: list[str]) -> Form:
    """Return the form that a row is with these modifiers."""
    types = [word for word, each in zip(chosen, row.slots, strict=True) if each.is_type]
    count = next((_COUNTS[word] for word in chosen if word in _COUNTS), 1)
    needs = row.needs
    for word, each in zip(chosen, row.slots, strict=True):
        if word and each.words[word] is not NOTHING:
            needs = needs.joined(each.words[word])
    space = next((word for word in chosen if word in SPACES), "")
    named = {letter: kind + "t" * (kind in _INTEGERS) for letter, kind in zip("TUVW", types, strict=False)}
    given = ["".join(named.get(letter, letter) for letter in kind).replace("*", str(count)) for kind in row.operands
             if kind.rstrip("!") not in _WITH or not _WITH[kind.rstrip("!")].isdisjoint(chosen)]
    operands = tuple(fragment(kind, chosen) if ":" in kind else kind for kind in given)
    if types and row.base in _ACCESSES:
        needs = needs.joined(_of_access(row.base, chosen, space, count * TYPE_WIDTHS[types[0]]))
    return Form(".".join([row.base, *filter(None, chosen)]), operands, needs, row.refusal, space, row)


def fragment(text: str, chosen: list[str]) -> str:
    """Return the vector that holds a lane's part of a matrix: `=D:f32` of m16n8k8 is `4!{=f32}`."""
    rows, columns, depth = next(map(int, shape.groups()) for word in chosen if (shape := _SHAPE.fullmatch(word)))
    matrix, _, kind = text.lstrip("=").rstrip("t").partition(":")
    elements = {"A": rows * depth, "H": rows * depth // 2, "B": depth * columns}.get(matrix, rows * columns)
    bits = TYPE_WIDTHS[kind]
    register = _HELD_IN.get(kind, "u32")
    return f"{elements * bits // 32 // max(bits, 32)}!{{{'=' * (text[0] == '=')}{register}}}"


def _of_access(base: str, chosen: list[str], space: str, bits: int) -> Needs:
    """Return what an access of so many bits needs; hints, and more than 128 bits, are for global memory alone."""
    hints = [word for word in chosen if word.startswith(("L1::", "L2::"))]
    is_wide = bits > 128
    if (hints or is_wide) and space not in ("", "global") or is_wide and (bits > 256 or base not in ("ld", "st")):
        return _NEVER
    if not is_wide:
        return _NEVER if any(word.startswith("L2::evict") for word in hints) else NOTHING
    return _NEVER if "b128" in chosen else _WIDE


class Table:
    """All rows, and the forms of opcodes."""

    def __init__(self, rows: dict[str, list[Row]]) -> None:
        self.rows = rows
        self.forms = lru_cache(maxsize=None)(self._forms)

    def _forms(self, opcode: str) -> tuple[Form, ...]:
        """Return the forms that an opcode can be, () if PTX has none."""
        base, parts = self.base_of(opcode)
        fitting = [(row, row.filled(parts)) for row in self.rows.get(base, ())]
        forms = [bound(row, chosen) for row, chosen in fitting if chosen is not None]
        return tuple(form for form in forms if form.needs.version <= form.needs.last_version)

    def base_of(self, opcode: str) -> tuple[str, list[str]]:
        """Split an opcode into its name and the modifiers."""
        parts = opcode.split(".")
        for length in range(min(len(parts), 5), 0, -1):
            if (name := ".".join(parts[:length])) in self.rows:
                return name, parts[length:]
        return parts[0], parts[1:]
