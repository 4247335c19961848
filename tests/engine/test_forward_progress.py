"""Who waits for whom (RULES.md, B7): lanes meet at barriers, in collectives and at flags wherever they are in the program."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rfview.engine.errors import KernelFault
from tests.engine.one_warp import run_one_warp

LANES = range(32)
PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
  .reg .b32 %t; .reg .b32 %a; .reg .b32 %b; .reg .b32 %c; .reg .b32 %r; .reg .pred %p; .reg .pred %q;
  .reg .b64 %in; .reg .b64 %out; .reg .b64 %at;
  .shared .align 4 .b8 words[128];
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %r, 0;
  mul.wide.u32 %at, %t, 4; add.u64 %out, %out, %at;
  {body}
  st.global.u32 [%out], %r;
  ret;
}}
"""
HALVES = "setp.lt.u32 %p, %t, 16; @%p bra LOW; {high} bra.uni JOIN; LOW: {low} JOIN:"
NESTED = " ".join(f"setp.ne.u32 %p, %t, {lane}; @%p bra OUT{lane}; @%q bra IN{lane}; @!%q bra LAST{lane}; barrier.sync 0; "
                  f"LAST{lane}: add.u32 %r, %r, 100; barrier.sync 0; IN{lane}: add.u32 %r, %r, 10; OUT{lane}: add.u32 %r, %r, 1;"
                  for lane in LANES)


def halves(low: str, high: str) -> str:
    """Return code in which lanes 0 to 15 do one thing and the others another."""
    return HALVES.format(low=low, high=high)


CASES = {
    "a barrier opens when the lanes behind the join have ended": (
        "setp.lt.u32 %p, %t, 14; @%p bra DONE; barrier.sync 0; mov.u32 %r, 7; DONE: add.u32 %r, %r, 2;",
        [2] * 14 + [9] * 18),
    "an aligned barrier does the same": (
        "setp.lt.u32 %p, %t, 14; @%p bra DONE; bar.sync 0; mov.u32 %r, 7; DONE: add.u32 %r, %r, 2;", [2] * 14 + [9] * 18),
    "a barrier in a loop with fewer trips for some lanes": (
        "and.b32 %a, %t, 3; AGAIN: barrier.sync 0; add.u32 %r, %r, 1; setp.le.u32 %p, %r, %a; @%p bra AGAIN;",
        [t % 4 + 1 for t in LANES]),
    "a barrier at two places": (
        "setp.lt.u32 %p, %t, 16; @%p bra BEHIND; barrier.sync 0; BEHIND: barrier.sync 0; mov.u32 %r, 5;", [5] * 32),
    "a barrier under a guard": (
        "setp.lt.u32 %p, %t, 16; @%p barrier.sync 0; add.u32 %r, %r, 1; @!%p barrier.sync 0; add.u32 %r, %r, 1;", [2] * 32),
    "lanes behind the join arrive for those that wait with a count": (
        "setp.lt.u32 %p, %t, 16; @%p bra DONE; barrier.sync 1, 32; DONE: @%p barrier.arrive 1, 32; mov.u32 %r, 3;", [3] * 32),
    "a reduction of the lanes that have not ended": (
        "setp.lt.u32 %p, %t, 14; setp.ge.u32 %q, %t, 20; @%p bra DONE; barrier.red.popc.u32 %r, 0, %q; DONE: add.u32 %r, %r, 1;",
        [1] * 14 + [13] * 18),
    "a reduction at two places, which all threads take part in": (
        "setp.eq.u32 %q, %t, 9; " + halves("barrier.red.or.pred %q, 0, %q; selp.u32 %r, 1, 2, %q;",
                                          "barrier.red.or.pred %q, 0, %q; selp.u32 %r, 3, 4, %q;"), [1] * 16 + [3] * 16),
    "a shuffle in both arms": (
        halves("mul.lo.u32 %a, %t, 2; shfl.sync.bfly.b32 %r, %a, 16, 31, -1; add.u32 %r, %r, 1000;",
               "add.u32 %b, %t, 5; shfl.sync.bfly.b32 %r, %b, 16, 31, -1; add.u32 %r, %r, 2000;"),
        [t + 16 + 5 + 1000 if t < 16 else 2 * (t - 16) + 2000 for t in LANES]),
    "a shuffle in an arm and behind the join": (
        "mul.lo.u32 %a, %t, 10; setp.lt.u32 %p, %t, 16; @!%p bra OUT; shfl.sync.idx.b32 %r, %a, 20, 31, -1; OUT: @%p bra PAST; "
        "shfl.sync.idx.b32 %r, %t, 3, 31, -1; PAST:", [20] * 16 + [30] * 16),
    "a vote under two guards": (
        "setp.lt.u32 %p, %t, 16; setp.gt.u32 %q, %t, 29; @%p vote.sync.ballot.b32 %r, %q, -1; "
        "@!%p vote.sync.ballot.b32 %r, %p, -1;", [0] * 32),
    "a match in both arms": (
        "and.b32 %a, %t, 1; " + halves("match.any.sync.b32 %r, %a, -1;", "match.any.sync.b32 %r, %a, -1;"),
        [0x55555555 << (t & 1) for t in LANES]),
    "a reduction over lanes in both arms": (
        halves("redux.sync.add.u32 %r, %t, -1;", "mov.u32 %a, 100; redux.sync.add.u32 %r, %a, -1; add.u32 %r, %r, 7;"),
        [1720] * 16 + [1727] * 16),
    "a vote in a switch": (
        "and.b32 %a, %t, 3; setp.eq.u32 %q, %t, 6; TABLE: .branchtargets A0, A1, A2, A3; brx.idx %a, TABLE; " + " ".join(
            f"A{k}: vote.sync.any.pred %p, %q, -1; selp.u32 %r, {k + 1}, 99, %p; bra JOIN;" for k in range(4)) + " JOIN:",
        [t % 4 + 1 for t in LANES]),
    "lanes at two places order their accesses with bar.warp.sync": (
        "mov.u32 %a, words; mad.lo.u32 %a, %t, 4, %a; " + halves(
            "st.shared.u32 [%a], %t; bar.warp.sync -1; ld.shared.u32 %r, [%a+64];",
            "mul.lo.u32 %b, %t, 3; st.shared.u32 [%a], %b; bar.warp.sync -1; ld.shared.u32 %r, [%a+-64];"),
        [3 * (t + 16) if t < 16 else t - 16 for t in LANES]),
    "an elected lane, and the wait for all members": (
        "mov.u32 %a, words; " + halves(
            "setp.eq.u32 %q, %t, 5; @%q st.shared.u32 [%a], 11; elect.sync _|%p, -1; selp.u32 %r, 1, 0, %p;",
            "elect.sync _|%p, -1; ld.shared.u32 %r, [%a];"), [1] + [0] * 15 + [11] * 16),
    "tiles of one instruction go on without each other": (
        # lanes 0 to 7 need lanes 16 to 23, which wait for a flag that lane 8 sets after its own tile has met
        "mov.u32 %a, 0xff0000ff; setp.lt.u32 %p, %t, 8; selp.u32 %a, 0xff00ff, 0xff00, %p; setp.ge.u32 %q, %t, 16; "
        "@%q bra OTHER; vote.sync.ballot.b32 %r, %p, %a; setp.eq.u32 %p, %t, 8; @%p st.volatile.global.u32 [%in], 1; "
        "bra JOIN; OTHER: setp.ge.u32 %p, %t, 24; @%p bra JOIN; POLL: ld.volatile.global.u32 %b, [%in]; setp.eq.u32 %q, %b, 0; "
        "@%q bra POLL; vote.sync.ballot.b32 %r, %q, 0xff00ff; JOIN:", [255] * 8 + [0] * 8 + [255] * 8 + [0] * 8),
    "two loops poll flags that a parked lane sets": (
        "setp.ge.u32 %p, %t, 8; @%p bra JOIN; setp.lt.u32 %p, %t, 4; @%p bra LOW; "
        "HIGH: ld.volatile.global.u32 %r, [%in+4]; setp.eq.u32 %q, %r, 0; @%q bra HIGH; bra JOIN; "
        "LOW: ld.volatile.global.u32 %r, [%in]; setp.eq.u32 %q, %r, 0; @%q bra LOW; "
        "JOIN: setp.eq.u32 %p, %t, 9; @%p st.volatile.global.u32 [%in], 3; @%p st.volatile.global.u32 [%in+4], 4;",
        [3] * 4 + [4] * 4 + [0] * 24),
    "a loop with a fence polls": (
        "setp.ne.u32 %p, %t, 0; @%p bra JOIN; POLL: membar.gl; ld.global.u32 %r, [%in]; setp.eq.u32 %q, %r, 0; @%q bra POLL; "
        "JOIN: setp.eq.u32 %p, %t, 1; @%p st.global.u32 [%in], 6;", [6] + [0] * 31),
    "every lane waits in nested branches of its own": (
        "setp.eq.u32 %q, %t, 77; " + NESTED, [142] * 32),
}

LONG = [name for name, (body, _) in CASES.items() if "POLL" in body or "LOW: ld" in body or "OUT31" in body]   # cycles


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=() if name in LONG else pytest.mark.nojit) for name in CASES])
def test_lanes_meet_wherever_they_are(tmp_path: Path, name: str) -> None:
    body, expected = CASES[name]
    got = run_one_warp(tmp_path, PTX.format(body=body), np.zeros((32, 1), np.uint32), 1)[:, 0]
    assert got.tolist() == [value & 0xFFFFFFFF for value in expected]


@pytest.mark.nojit
@pytest.mark.parametrize("body, said", [
    ("setp.lt.u32 %p, %t, 14; @%p bra DONE; barrier.sync 1, 32; DONE:",
     "waits at a barrier that can never complete.*barrier.sync.*warp 0, lane 14"),
    ("setp.lt.u32 %p, %t, 3; @%p bra DONE; shfl.sync.idx.b32 %r, %t, 0, 31, -1; DONE: @%p vote.sync.ballot.b32 %r, %p, -1;",
     r"waits for lanes \(mask 0x00000007\) that can never come.*shfl.*warp 0, lane 3"),
    ("setp.lt.u32 %p, %t, 3; @%p bra DONE; vote.sync.ballot.b32 %r, %p, -1; DONE: @%p barrier.sync 0;",
     r"waits for lanes \(mask 0x00000007\) that can never come.*vote.*warp 0, lane 3"),
])
def test_a_fault_names_a_lane_that_waits_and_where(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(KernelFault, match=said) as raised:
        run_one_warp(tmp_path, PTX.format(body=body), np.zeros((32, 1), np.uint32), 1)
    assert raised.value.warp == 0 and raised.value.lane == int(str(raised.value).split("lane ")[1].split(",")[0])
