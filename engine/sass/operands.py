"""Operands of machine code, from nvdisasm's words: registers, predicates, constants, immediates and addresses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

REGISTER = re.compile(r"([-~!]?)(\|?)(U?R)(\d{1,3}|Z)((?:\.\w+)*)(\|?)((?:\.\w+)*)")
PREDICATE = re.compile(r"(!?)(U?P)([0-6]|T)")
CONSTANT = re.compile(r"([-~!]?)(\|?)c\[(0x[0-9a-f]+)\]\s*\[(.*?)\]((?:\.\w+)*)(\|?)((?:\.\w+)*)")
NUMBER = re.compile(r"([-~]?)(0x[0-9a-f]{1,16})((?:\.\w+)*)")
FLOAT = re.compile(r"[^\s:\[\]]+:([0-9a-f]{8})")
BARRIER = re.compile(r"B(\d{1,2})")
TERM = re.compile(r"(U?R)(\d{1,3}|Z)((?:\.\w+)*)")
SYMBOL_WORD = re.compile(r"32@(lo|hi)\((.+)\)")
TWO_ADDRESSES = re.compile(r"((?:^|, )\[[^]]*\])(?=\[)")      # of LDGSTS for sm_80
POLICY = re.compile(r"(?<=[\dZ\]])desc,?\[")       # nvdisasm 13.5 puts the comma before it behind it, or nowhere, of sm_80
ADDEND = re.compile(r"(.+?)(?:\s*\+\s*(-?0x[0-9a-f]+|\d+))?")
REGISTERS = {"R": 255, "UR": 255}       # numbers below these; RZ and URZ have none


@dataclass(frozen=True)
class Operand:
    """One operand.

    kind: R, UR, P, UP (a register's `number`, None for RZ, URZ, PT), B (barrier register), c (constant: number = its bank),
    n (immediate: `number` = its bits), f (a float, or two halves: its bits), s (a word of an address: `text` = symbol,
    number = addend), m (address in memory: `terms` and `number` = offset), or w (another word).
    sign: "", "-", "~" or "!"; absolute: |x|. parts: suffixes. terms: (kind, number, suffixes) of an address's registers.
    """

    text: str
    kind: str
    number: int | None = None
    sign: str = ""
    absolute: bool = False
    parts: tuple[str, ...] = ()
    terms: tuple[tuple[str, int | None, tuple[str, ...]], ...] = ()
    offset: int = 0


@lru_cache(maxsize=8192)
def operand_of(text: str) -> Operand:
    """Return an operand of a text; of kind w if it is of no other kind. Raises ValueError for a malformed one."""
    if match := PREDICATE.fullmatch(text):
        return Operand(text, match[2], None if match[3] == "T" else int(match[3]), match[1])
    if match := REGISTER.fullmatch(text):
        number = None if match[4] == "Z" else int(match[4])
        if number is not None and number >= REGISTERS[match[3]]:
            raise ValueError(f"operand {text}")
        return Operand(text, match[3], number, match[1], bool(match[2]), suffixes(match[5] + match[7]))
    if match := FLOAT.fullmatch(text):
        return Operand(text, "f", int(match[1], 16))
    if match := NUMBER.fullmatch(text):
        value = int(match[2], 16)
        if match[3]:
            raise ValueError(f"operand {text}")
        return Operand(text, "n", -value if match[1] == "-" else value, "~" if match[1] == "~" else "")
    if match := CONSTANT.fullmatch(text):
        terms, offset = terms_of(match[4])
        return Operand(text, "c", int(match[3], 16), match[1], bool(match[2]), suffixes(match[5] + match[7]), terms, offset)
    if match := SYMBOL_WORD.fullmatch(text):
        named = ADDEND.fullmatch(match[2].strip("()"))
        assert named is not None
        return Operand(named[1].strip("`()"), "s", int(named[2] or "0", 0), parts=(match[1],))
    if match := BARRIER.fullmatch(text):
        return Operand(text, "B", int(match[1]))
    plain = re.sub(r"^desc\[UR\w+\]", "", text)     # of the memory's caching policy
    if plain.startswith("[") and plain.endswith("]"):
        terms, offset = terms_of(plain[1:-1])
        return Operand(text, "m", 0, terms=terms, offset=offset)
    return Operand(text, "w")


def split(text: str) -> list[str]:
    """Return the operands of a text, separated by commas outside of brackets; two addresses may stand side by side."""
    text = POLICY.sub(",desc[", TWO_ADDRESSES.sub(r"\1, ", text))
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        if letter in "[(":
            depth += 1
        elif letter in "])":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [part for part in (*parts, text[start:].strip()) if part]


def suffixes(text: str) -> tuple[str, ...]:
    """Return the suffixes of an operand without .reuse, which the control code says too."""
    return tuple(part for part in text.split(".") if part and part != "reuse")


def terms_of(text: str) -> tuple[tuple[tuple[str, int | None, tuple[str, ...]], ...], int]:
    """Return (registers, offset) of what stands between brackets, such as R2.64+UR4+-0x10. Raises ValueError."""
    terms, offset = [], 0
    for part in text.split("+"):
        part = part.strip()
        if match := TERM.fullmatch(part):
            terms.append((match[1], None if match[2] == "Z" else int(match[2]), suffixes(match[3])))
        elif match := re.fullmatch(r"(-?)(0x[0-9a-f]{1,8})", part):
            offset += -int(match[2], 16) if match[1] else int(match[2], 16)
        else:
            raise ValueError(f"an address with {part!r}")
    return tuple(terms), offset
