"""Texts of stops at changes: the values in the type of the instruction that wrote them, and that instruction."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rfview.sessions import open_session
from rfview.sessions.expressions.types import kind_of, lanes_text, type_written, word_text

FIRST = Path(__file__).resolve().parents[2] / "sessions" / "recorded" / "first.rfs"


@pytest.mark.parametrize(("text", "expected"), [
    ("fma.rn.f32 R3, R15, R24, R3", "f32"), ("cvt.rn.f32.s32 R1, R2", "f32"), ("cvt.rzi.s32.f32 R1, R2", "s32"),
    ("mad.wide.s32 R4, R1, 4, R2", "s64"), ("@P0 mov.b32 R1, R2", "b32"), ("ld.global.u32 R1, [R2]", "u32"),
    ("@!P1 add.s32 R1, R1, 1", "s32"), ("bar.sync 0", ""), ("shfl.sync.bfly.b32 R1, R2, 1, 31, -1", "b32"),
])
def test_an_instruction_names_the_type_that_it_writes(text: str, expected: str) -> None:
    assert type_written(text) == expected


def test_words_are_written_out_in_their_type() -> None:
    one = int(np.float32(1.25).view(np.uint32))
    assert word_text(one, "f32") == "1.25" and word_text(0xFFFFFFFF, "s32") == "-1" and word_text(7, "u32") == "7"
    assert kind_of("mov.b32 R1, R2", np.full(32, one, np.uint32)) == "f32"
    assert kind_of("mov.b32 R1, R2", np.arange(32, dtype=np.uint32)) == "u32"
    assert kind_of("add.s32 R1, R2, R3", np.full(32, one, np.uint32)) == "s32"


def test_lanes_are_told_as_far_as_there_is_room() -> None:
    one = int(np.float32(0.5).view(np.uint32))
    assert lanes_text([one] * 32, 20) == "0.5 in all 32"
    assert lanes_text(list(range(32)), 14) == "0 1 2 3 4 +27"
    assert lanes_text([0xFFFFFFFF, *range(31)], 9) == "-1 0 +30"
    assert lanes_text(7, 9) == "7" and lanes_text([1, 2], 9) == "[1 2]"


def test_a_watchpoint_says_who_wrote_and_what_in_its_type() -> None:
    with open_session(str(FIRST)) as session:
        session.goto(3000)
        session.watch("w1.R4")
        stop = session.continue_()
        entry = next(item for item in session.info.program if f"(pc {item.pc})" in stop.text)
        assert f"written by `{entry.text}`" in stop.text and 4 in entry.dst
        old, new = (session.value("w1.R4[0]", at) for at in (stop.cycle - 1, stop.cycle))
        words = np.array([new], np.uint32)
        assert old != new and word_text(int(new), kind_of(entry.text, words)) in stop.text
