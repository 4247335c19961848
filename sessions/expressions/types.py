"""The type of a register's value, from the instruction that wrote it, and words as text in that type."""

from __future__ import annotations

from typing import Any

import numpy as np

from rfview.sessions.expressions.values import value_text

DATA_TYPES = frozenset(f"{letter}{bits}" for letter in "fsub" for bits in (8, 16, 32, 64)) | {"f16x2", "bf16x2", "pred"}


def type_written(text: str) -> str:
    """Return the type of an instruction's result: "f32" for `fma.rn.f32 R3, ...`, "" if its name has none.

    The first type of a name is that of the destination (`cvt.f32.s32`); `.wide` makes it twice as long.
    """
    parts = text.removeprefix("@").split(" ")
    name = next((part for part in parts if "." in part), "")
    data_type = next((part for part in name.split(".")[1:] if part in DATA_TYPES), "")
    return f"{data_type[0]}{2 * int(data_type[1:])}" if ".wide." in name and data_type[1:].isdecimal() else data_type


def looks_like_float(values: np.ndarray) -> bool:
    """Return whether 32-bit words are more readable as floats: all are zero or of an ordinary magnitude."""
    floats = values.view(np.float32)
    size = np.abs(floats[values != 0])
    return bool(size.size and np.all(np.isfinite(size)) and np.all((size > 1e-6) & (size < 1e9)))


def kind_of(text: str, words: np.ndarray) -> str:
    """Return "f32", "s32" or "u32" for an instruction's result in one register; untyped bits are guessed."""
    kind = type_written(text)
    if kind in ("b32", ""):
        return "f32" if looks_like_float(words) else "u32"
    return kind if kind in ("f32", "s32") else "u32"


def word_text(word: int, kind: str) -> str:
    """Return one register lane as text in a type from `kind_of`."""
    if kind == "f32":
        return f"{float(np.uint32(word & 0xFFFFFFFF).view(np.float32)):.6g}"
    if kind == "s32":
        return str(word - (1 << 32) if word >= 1 << 31 else word)
    return value_text(word)


def readings(word: int) -> str:
    """Return a register word in all readings: hexadecimal, signed, and as a float."""
    return f"0x{word:08x}  {word_text(word, 's32')}  {word_text(word, 'f32')}"


def lanes_text(values: Any, room: int) -> str:
    """Return a value of a trace in about `room` cells: 32 words of a register as floats if they look like floats.

    Equal lanes are shown once; of different ones as many as fit, and how many more there are.
    """
    if not isinstance(values, list) or len(values) != 32 or not all(isinstance(value, int) for value in values):
        return value_text(values)
    words = np.array(values, np.int64).astype(np.uint32)
    kind = "f32" if looks_like_float(words) else "s32" if (words >= 1 << 31).any() else ""
    texts = [word_text(int(word), kind) if kind else str(word) for word in words.tolist()]
    if len(set(texts)) == 1:
        return f"{texts[0]} in all 32"
    shown: list[str] = []
    for text in texts:
        if len(" ".join([*shown, text])) + 5 > room:
            return f"{' '.join(shown)} +{32 - len(shown)}"
        shown.append(text)
    return " ".join(shown)
