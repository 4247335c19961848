"""Finds the types to which a kernel's pointers point, where its PTX shows them, by following addresses to accesses."""

from __future__ import annotations

import re
from collections import Counter

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|^\s*\.(?:loc|file|pragma)\b[^\n]*", re.DOTALL | re.MULTILINE)
STATEMENT = re.compile(r"[\s{}]*(?:[\w$.]+:[\s{}]*)*(?:@!?%[\w$]+\s+)?([a-z][\w.:]*)\s+(.*)", re.DOTALL)
PARAMETER = re.compile(r"\[\s*([\w$.]+)\s*(?:\+\s*0)?\s*\]")
BASE = re.compile(r"\[\s*(%[\w$.]+)")
REGISTER = re.compile(r"%[\w$.]+")
PASSED_ON = ("cvta", "mov", "add", "sub", "mad", "selp", "max", "min", "and")     # make an address from an address
ACCESSES = ("ld", "st", "atom", "red", "ldu")
ELSEWHERE = (".param", ".shared", ".local", ".const")
EXACT = {"f32": "float32", "f64": "float64", "s8": "int8", "u8": "uint8", "b8": "uint8", "s16": "int16", "s32": "int32",
         "u32": "uint32", "s64": "int64", "u64": "int64", "b64": "int64"}


def body_of(text: str, kernel: str) -> str:
    """Return the statements of a kernel, "" if the module does not have it."""
    match = re.search(rf"\.entry\s+{re.escape(kernel)}\b", text)
    if match is None:
        return ""
    begin = text.find("{", text.find(")", match.end()) if text[match.end() :].lstrip().startswith("(") else match.end())
    depth = 0
    for at in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if not depth:
            return text[begin:at]
    return text[begin:]


def pointees(body: str) -> dict[str, str]:
    """Return parameter -> NumPy's name of the type most often accessed through it; "" if no access was found.

    Parameters that the kernel never loads are left out.
    """
    pieces = (STATEMENT.match(piece) for piece in COMMENT.sub("", body).split(";"))
    statements = [(match[1], [part.strip() for part in match[2].split(",")]) for match in pieces if match is not None]
    comes_from: dict[str, str] = {}
    loaded: dict[str, str] = {}
    for opcode, operands in statements:
        named = PARAMETER.search(operands[-1]) if opcode.startswith("ld.param") else None
        if named is not None:
            loaded[named[1]] = ""
            comes_from[operands[0]] = named[1]
    before = -1
    while len(comes_from) != before:        # loops carry addresses backwards
        before = len(comes_from)
        for opcode, operands in statements:
            if opcode.partition(".")[0] in PASSED_ON and operands[0] not in comes_from:
                names = REGISTER.findall(" ".join(operands[1:]))
                sources = {comes_from[name] for name in names if name in comes_from}
                if len(sources) == 1:
                    comes_from[operands[0]] = sources.pop()
    seen: dict[str, Counter[str]] = {}
    for opcode, operands in statements:
        base = next((match[1] for part in operands if (match := BASE.search(part))), "")
        if opcode.partition(".")[0] in ACCESSES and base in comes_from and not any(space in opcode for space in ELSEWHERE):
            seen.setdefault(comes_from[base], Counter())[opcode.rpartition(".")[2]] += 1
    return loaded | {name: _numpy(types, body) for name, types in seen.items()}


def _numpy(types: Counter[str], body: str) -> str:
    """Return the type of the most common access; for untyped bits, the type with which the kernel computes."""
    type_ = types.most_common(1)[0][0]
    if type_ in EXACT:
        return EXACT[type_]
    has_halves = ".f16" in body
    if type_ in ("b16", "u16"):
        return "float16" if has_halves else "uint16"
    return "float16" if has_halves else "float32" if ".f32" in body else "uint32"
