"""Splits PTX text into tokens: words (dotted opcodes included), directives, numbers, strings and punctuation."""

from __future__ import annotations

import math
import re
import struct

from rfview.engine.ptx.parse.source import Source

WORD, DIRECTIVE, NUMBER, STRING, PUNCT, END = "word", "directive", "number", "string", "punct", "end"

_TOKEN = re.compile(
    r"(?P<skip>[ \t\r\n\f\v]+|//[^\n]*|/\*.*?\*/)"
    r"|(?P<word>[A-Za-z_$%][\w$%]*(?:(?:\.|::)[\w$]+)*)"
    r"|(?P<open>/\*)"
    r"|(?P<directive>\.[A-Za-z_][\w$]*(?:::[\w$]+)*)"
    r"|(?P<number>0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|0[xX][0-9a-fA-F]+U?|0[bB][01]+U?"
    r"|\d*\.\d+(?:[eE][+-]?\d+)?|\d+\.(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+U?)"
    r'|(?P<string>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<punct><<|>>|&&|\|\||[=!<>]=|[;,{}()\[\]<>:+\-*/|&!@=?~^%#])"
    r"|(?P<bad>.)",
    re.DOTALL,
)


class Tokens:
    """The tokens of a source as parallel lists; the last one is END."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.kinds: list[str] = []
        self.texts: list[str] = []
        self.offsets: list[int] = []
        kinds, texts, offsets = self.kinds, self.texts, self.offsets
        for match in _TOKEN.finditer(source.text):
            kind = match.lastgroup or "bad"
            if kind == "skip":
                continue
            if kind in ("bad", "open"):
                self._refuse(match)
            kinds.append(kind)
            texts.append(match.group())
            offsets.append(match.start())
        kinds.append(END)
        texts.append("end of file")
        offsets.append(len(source.text))

    def _refuse(self, match: re.Match[str]) -> None:
        unterminated = {'"': "unterminated string", "/*": "unterminated comment"}
        what = unterminated.get(match.group(), f"unexpected character {match.group()!r}")
        raise self.source.error(self.source.line_at(match.start()), what)

    def line(self, index: int) -> int:
        """Return the 1-based line of token `index`."""
        return self.source.line_at(self.offsets[min(index, len(self.offsets) - 1)])


def number_value(text: str) -> tuple[str, int]:
    """Return (kind, value) of a number token: ('int', n), ('f32', bits), ('f64', bits).

    Raises ValueError for more digits than Python converts, and for a decimal number beyond the largest double.
    """
    low = text.lower()
    if low.startswith("0f"):
        return "f32", int(text[2:], 16)
    if low.startswith("0d"):
        return "f64", int(text[2:], 16)
    if low.startswith("0x"):
        return "int", int(low.rstrip("u"), 16)
    if low.startswith("0b"):
        return "int", int(low.rstrip("u"), 2)
    if "." in low or "e" in low:
        if math.isinf(value := float(low)):
            raise ValueError
        return "f64", int.from_bytes(struct.pack("<d", value), "little")
    digits = low.rstrip("u")
    if len(digits) > 1 and digits[0] == "0" and not set(digits) & {"8", "9"}:
        return "int", int(digits, 8)
    return "int", int(digits)
