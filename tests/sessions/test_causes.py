"""Who holds a lost warp-cycle: each rule in a small program, sums that agree, and designs that say whose access they serve."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rfview
from rfview.engine import plugin
from rfview.engine.errors import InputError
from rfview.engine.plugin.holding import Access
from rfview.engine.stalls import NO_STALL
from rfview.sessions.causes import refusals
from rfview.sessions.causes.account import Causes
from rfview.sessions.causes.rules import BY_STATE, OF_DESIGN, RULES, rule_of
from rfview.sessions.lines.counts import count_instructions
from tests.properties.causes import wrong_causes

HEAD = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 data)
{
 .reg .pred %p<3>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %d<9>;
 .shared .align 4 .b8 room[4096];
 ld.param.u64 %d1, [data];
 mov.u32 %r1, %tid.x;
"""
STRIDED = """ mul.wide.u32 %d2, %r1, 128;
 add.s64 %d3, %d1, %d2;
 ld.global.u32 %r2, [%d3];
 add.u32 %r3, %r2, 1;
 st.global.u32 [%d3], %r3;
"""


def run(body: str, block: int = 32, **options: Any) -> Any:
    """Return the session of a kernel at its end."""
    session = rfview.launch(f"{HEAD}{body} ret;\n}}\n", 1, block, [np.zeros(8192, np.uint32)], **options)
    session.run()
    return session


def pairs(session: Any) -> dict[tuple[str, str, str], int]:
    """Return the lost warp-cycles of a run by state, and the operations of the waiting instruction and its holder."""
    causes = count_instructions(session.timeline, 0, session.timeline.last).causes
    words = [entry.text.split()[0].rstrip(";") for entry in session.info.program] + ["nobody"]
    found: dict[tuple[str, str, str], int] = {}
    for code, waiter, holder, count in zip(causes.code, causes.waiter, causes.holder, causes.count, strict=True):
        key = session.info.stall_names[int(code)], words[waiter], words[holder]
        found[key] = found.get(key, 0) + int(count)
    return found


def test_a_result_is_held_by_the_instruction_that_writes_it() -> None:
    found = pairs(run(STRIDED))
    (held,) = [key for key in found if key[0] == "long_scoreboard"]
    assert held == ("long_scoreboard", "add.u32", "ld.global.u32")
    assert found[held] > 120                    # the latency of L2 and DRAM


def test_a_full_unit_is_held_by_the_access_in_it_whoever_waits() -> None:
    session = run(STRIDED, block=128)
    waits = {key: count for key, count in pairs(session).items() if key[0] == "pipe_throttle"}
    assert {holder for _, _, holder in waits} <= {"ld.global.u32", "st.global.u32"}
    assert sum(waits.values()) == int(session.snapshot().sm["stall_total"][session.info.stall_codes["pipe_throttle"]]) > 0
    metrics = count_instructions(session.timeline, 0, session.timeline.last).causes.metrics
    load = next(pc for pc, entry in enumerate(session.info.program) if entry.text.startswith("ld.global"))
    assert (metrics.accesses[load], metrics.per_access(load)) == (4, (32.0, 1.0))


def test_an_instruction_that_waits_for_its_unit_passes_the_blame_on() -> None:
    found = pairs(run(STRIDED, block=256))
    held = {key[2]: count for key, count in found.items() if key[:2] == ("long_scoreboard", "add.u32")}
    assert set(held) == {"ld.global.u32", "st.global.u32"}, "loads wait behind the stores of warps that were served before"


def test_a_barrier_is_held_where_the_last_warp_stands() -> None:
    late = """ setp.gt.u32 %p1, %r1, 31;
 @%p1 bra THERE;
 cvt.rn.f32.u32 %f1, %r1;
 sin.approx.f32 %f2, %f1;
 sin.approx.f32 %f3, %f2;
 sin.approx.f32 %f4, %f3;
THERE:
 bar.sync 0;
 st.global.f32 [%d1], %f4;
"""
    held = {key[2]: count for key, count in pairs(run(late, block=64)).items() if key[0] == "barrier"}
    assert max(held, key=lambda word: held[word]) == "sin.approx.f32" and "nobody" not in held


def test_passes_over_shared_memory_are_counted_with_their_ideal() -> None:
    shared = " mov.u32 %r2, room;\n mad.lo.u32 %r3, %r1, 32, %r2;\n ld.shared.u32 %r4, [%r3];\n add.u32 %r5, %r4, 1;\n" \
             " st.global.u32 [%d1], %r5;\n"
    session = run(shared)
    metrics = count_instructions(session.timeline, 0, session.timeline.last).causes.metrics
    load = next(pc for pc, entry in enumerate(session.info.program) if entry.text.startswith("ld.shared"))
    assert metrics.per_access(load) == (8.0, 1.0) and metrics.is_shared(load)       # 32 lanes in 4 banks
    assert ("short_scoreboard", "add.u32", "ld.shared.u32") in pairs(session)


def test_lanes_that_name_the_same_bytes_count_once_in_the_ideal() -> None:
    session = run(" and.b32 %r2, %r1, 1;\n mul.wide.u32 %d2, %r2, 256;\n add.s64 %d3, %d1, %d2;\n ld.global.v2.u32 "
                  "{%r3, %r4}, [%d3];\n add.u32 %r5, %r3, %r4;\n")
    metrics = count_instructions(session.timeline, 0, session.timeline.last).causes.metrics
    load = next(pc for pc, entry in enumerate(session.info.program) if entry.text.startswith("ld.global"))
    assert metrics.per_access(load) == (2.0, 1.0)           # 32 x 8 bytes asked for, 16 of them different


def test_a_warp_that_has_just_begun_waits_for_nobody() -> None:
    found = pairs(run(STRIDED))
    assert found[("no_instruction", "mov.u32", "nobody")] == 1 or found[("no_instruction", "ld.param.u64", "nobody")] == 1
    assert {key[0] for key in found if key[2] == "nobody"} == {"no_instruction"}


@pytest.mark.parametrize(("design", "state"), [("stt", "stt_write"), ("hrf", "wb_drain")])
def test_a_design_names_the_instruction_whose_value_it_writes(design: str, state: str) -> None:
    body = " add.u32 %r2, %r1, 1;\n mul.lo.u32 %r3, %r1, %r1;\n add.u32 %r4, %r2, %r3;\n xor.b32 %r5, %r4, %r2;\n" * 3
    session = run(f"{body} st.global.u32 [%d1], %r5;\n", block=128, design=design)
    held = {key[2] for key in pairs(session) if key[0] == state}
    assert held and held <= {"add.u32", "mul.lo.u32", "xor.b32", "mov.u32", "ld.param.u64"}
    assert not wrong_causes(session.timeline)


def as_set(causes: Causes) -> dict[tuple[int, int, int], int]:
    return dict(zip(zip(causes.code.tolist(), causes.waiter.tolist(), causes.holder.tolist(), strict=True),
                    causes.count.tolist(), strict=True))


@pytest.mark.parametrize("design", ["sram", "hrf", "rfc"])
def test_stretches_add_up_and_sums_are_those_of_the_machine(design: str) -> None:
    session = run(STRIDED * 2, block=96, design=design)
    timeline, last = session.timeline, session.timeline.last
    whole = count_instructions(timeline, 0, last).causes
    parts = [as_set(count_instructions(timeline, *ends).causes) for ends in ((0, last // 3), (last // 3, last))]
    for key, count in as_set(whole).items():
        assert sum(part.get(key, 0) for part in parts) == count
    assert not wrong_causes(timeline)


def test_a_charge_too_many_is_seen() -> None:
    session = run(STRIDED)
    counts = count_instructions(session.timeline, 0, session.timeline.last)
    counts.causes.count[0] += 1

    class Other:
        def __getattr__(self, name: str) -> Any:
            return getattr(session.timeline, name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.properties.causes.count_instructions", lambda *ends: counts)
        assert len(wrong_causes(Other())) == 2          # a state's sum, and an instruction's


def test_every_state_has_one_rule_with_its_source() -> None:
    names = set(plugin.stalls())
    assert set(BY_STATE) <= names and not set(BY_STATE) & set(NO_STALL)
    assert len(BY_STATE) == sum(len(rule.states) for rule in RULES)
    assert all(rule_of(name).holder and rule_of(name).source for name in names - set(NO_STALL))
    assert rule_of("wb_drain") is OF_DESIGN
    assert rule_of("wb_drain", is_machine_code=True).find is not OF_DESIGN.find     # held in Allocate, not by a bank


@pytest.mark.parametrize(("answer", "message"), [
    (lambda at, refused: 7, "expected an Access or None"),
    (lambda at, refused: Access([1, 2, 3], [1]), "3,"),
    (lambda at, refused: at.rf("nothing"), "no field 'nothing'"),
])
def test_a_wrong_answer_of_a_design_is_one_sentence(answer: Any, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    session = run(STRIDED * 2, block=128)
    module = SimpleNamespace(holder=answer, DESIGN=SimpleNamespace(name="sram"), __file__="mine.py")
    monkeypatch.setattr(refusals.plugin, "find", lambda name: module)
    with pytest.raises(InputError, match=message):
        count_instructions(session.timeline, 0, session.timeline.last)
