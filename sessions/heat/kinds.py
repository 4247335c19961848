"""Determines the type of a register's words: by the instructions that write it, otherwise by the words themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rfview.sessions.expressions.types import looks_like_float, type_written

if TYPE_CHECKING:
    from rfview.engine.info import Instruction

# kinds, in the order in which `t` cycles through them
KINDS = ("f32", "s32", "u32", "offset", "f16")
WORDS = {"f32": "f32", "s32": "s32", "u32": "u32", "s16": "s32", "u16": "u32", "f16": "f16", "f16x2": "f16",
         "u64": "offset", "s64": "offset", "b64": "offset"}


def kind_of(program: Sequence[Instruction], writers: Sequence[int], words: np.ndarray) -> str:
    """Return the kind of a register that the instructions at these pcs wrote, of which `words`, u4, are values.

    The type of most writers decides. If they have none, like 32-bit moves, words of a magnitude usual for floats are f32.
    """
    votes: dict[str, int] = {}
    for pc in writers:
        kind = WORDS.get(type_written(program[pc].text), "") if 0 <= pc < len(program) else ""
        if kind:
            votes[kind] = votes.get(kind, 0) + 1
    if votes:
        return max(votes, key=lambda kind: votes[kind])
    return "f32" if looks_like_float(words) else "s32"


def typed(words: np.ndarray, kind: str) -> np.ndarray:
    """Return (.., 32) f8 values of u4 words. offset: from the first lane, a stride is a ramp; f16: the lower half."""
    words = np.ascontiguousarray(words, np.uint32)
    with np.errstate(invalid="ignore", over="ignore"):
        if kind == "f32":
            return words.view(np.float32).astype(np.float64)
        if kind == "f16":
            return (words & np.uint32(0xFFFF)).astype(np.uint16).view(np.float16).astype(np.float64)
        if kind == "s32":
            return words.view(np.int32).astype(np.float64)
        if kind == "offset":
            return (words - words[..., :1]).view(np.int32).astype(np.float64)
        return words.astype(np.float64)
