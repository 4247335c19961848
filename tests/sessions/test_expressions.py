"""Expressions: columns over chunks equal a brute-force evaluation of every snapshot; errors name what is unknown."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rfview.engine import stalls
from rfview.engine.errors import InputError
from rfview.sessions.expressions import compile_expression
from tests.sessions.conftest import CYCLES
from tests.sessions.double import BASE, NUM_WARPS

Look = Any  # (snapshots, cycle) -> int, or a list of ints for values per warp


def wrap(value: int) -> int:
    """Wrap an integer to 64 bits, signed."""
    return (int(value) + (1 << 63)) % (1 << 64) - (1 << 63)


def register(snapshot: Any, warp: int, reg: int, lane: int) -> int:
    try:
        return int(snapshot.register(warp, reg)[lane])
    except IndexError:
        return 0


def scalars() -> st.SearchStrategy[tuple[str, Look]]:
    """Return a strategy for items with one value per cycle: their text, and how to read them from snapshots."""
    warp, lane = st.integers(0, NUM_WARPS - 1), st.integers(0, 31)
    field = st.sampled_from(["pc", "state", "num_issued", "state_since_cycle", "cta"])
    names = st.sampled_from(["issued", "barrier", "long_scoreboard", "bank_conflict", "no_cta"])
    return st.one_of(
        st.just(("cycle", lambda t, c: c)),
        st.integers(0, 5000).map(lambda n: (str(n), lambda t, c: n)),
        names.map(lambda name: (name, lambda t, c: stalls.BY_NAME[name].code)),
        names.map(lambda name: (f"stall.{name}", lambda t, c: int(t[c].sm["state_count"][stalls.BY_NAME[name].code]))),
        names.map(lambda name: (f"total.{name}", lambda t, c: int(t[c].sm["stall_total"][stalls.BY_NAME[name].code]))),
        st.tuples(warp, field).map(lambda a: (f"w{a[0]}.{a[1]}", lambda t, c: int(t[c].sm["warp"][a[0]][a[1]]))),
        st.tuples(warp, field).map(lambda a: (f"warp[{a[0]}].{a[1]}", lambda t, c: int(t[c].sm["warp"][a[0]][a[1]]))),
        st.tuples(warp, st.integers(0, 3), lane).map(
            lambda a: (f"w{a[0]}.R{a[1]}[{a[2]}]", lambda t, c: register(t[c], *a))),
        warp.map(lambda w: (f"w{w}.P2", lambda t, c: t[c].predicate(w, 2))),
        st.integers(0, 3).map(lambda b: (f"bank[{b}].queue", lambda t, c: int(t[c].sm["bank"][b]["queue"]))),
        st.integers(0, 3).map(lambda i: (f"rf.level[{i}]", lambda t, c: int(t[c].rf["level"][i]))),
        st.just(("rf.writes", lambda t, c: int(t[c].rf["writes"]))),
        st.just(("event.instructions", lambda t, c: int(t[c].sm["events"][0]))),
        st.integers(0, 127).map(lambda w: (f"mem[A + {4 * w}]", lambda t, c: int(t[c].memory[128 + w]))),
        st.integers(0, 127).map(lambda w: (f"A[{w}]", lambda t, c: int(t[c].memory[128 + w]))),
        st.just((f"mem[{BASE + 1024:#x}]", lambda t, c: int(t[c].memory[384]))),
    )


def vectors() -> st.SearchStrategy[tuple[str, Look]]:
    """Return a strategy for fields of all warps or banks."""
    fields = st.sampled_from(["pc", "state", "num_issued"])
    column = lambda t, c, f: [int(v) for v in t[c].sm["warp"][f][:NUM_WARPS]]
    return st.one_of(
        fields.map(lambda f: (f"w.{f}", lambda t, c: column(t, c, f))),
        fields.map(lambda f: (f"w1.{f} + w.{f}", lambda t, c: [v + column(t, c, f)[1] for v in column(t, c, f)])),
    )


BINARY = {"+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_,
          "^": operator.xor, "//": lambda a, b: a // b if b else 0, "%": lambda a, b: a % b if b else 0}
FIXED = {**BINARY, "<<": lambda a, b: a << b if b < 64 else 0, ">>": lambda a, b: a >> min(b, 63)}
COMPARE = {"<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt,
           ">=": operator.ge}
REDUCE = {"any": lambda v: int(any(v)), "all": lambda v: int(all(v)), "count": lambda v: sum(map(bool, v)), "min": min,
          "max": max, "sum": lambda v: wrap(sum(v))}


def reduced() -> st.SearchStrategy[tuple[str, Look]]:
    """Return a strategy for reductions over warps."""
    plain = st.tuples(st.sampled_from(sorted(REDUCE)), vectors()).map(
        lambda a: (f"{a[0]}({a[1][0]})", lambda t, c: REDUCE[a[0]](a[1][1](t, c))))
    compared = st.tuples(st.sampled_from(sorted(REDUCE)), vectors(), st.sampled_from(sorted(COMPARE)), scalars()).map(
        lambda a: (f"{a[0]}({a[1][0]} {a[2]} {a[3][0]})",
                   lambda t, c: REDUCE[a[0]]([int(COMPARE[a[2]](v, a[3][1](t, c))) for v in a[1][1](t, c)])))
    return st.one_of(plain, compared)


def grow(inner: st.SearchStrategy[tuple[str, Look]]) -> st.SearchStrategy[tuple[str, Look]]:
    """Return a strategy that combines expressions into larger ones."""
    return st.one_of(
        st.tuples(inner, st.sampled_from(sorted(BINARY)), inner).map(
            lambda a: (f"({a[0][0]} {a[1]} {a[2][0]})", lambda t, c: wrap(BINARY[a[1]](a[0][1](t, c), a[2][1](t, c))))),
        st.tuples(inner, st.sampled_from(sorted(COMPARE)), inner).map(
            lambda a: (f"({a[0][0]} {a[1]} {a[2][0]})", lambda t, c: int(COMPARE[a[1]](a[0][1](t, c), a[2][1](t, c))))),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(
            lambda a: (f"({a[0][0]} {a[1]} {a[2][0]})",
                       lambda t, c: int((all if a[1] == "and" else any)((a[0][1](t, c), a[2][1](t, c)))))),
        inner.map(lambda a: (f"(not {a[0]})", lambda t, c: int(not a[1](t, c)))),
        inner.map(lambda a: (f"abs({a[0]})", lambda t, c: wrap(abs(a[1](t, c))))),
        inner.map(lambda a: (f"(-{a[0]})", lambda t, c: wrap(-a[1](t, c)))),
        inner.map(lambda a: (f"s32({a[0]})", lambda t, c: (a[1](t, c) + (1 << 31)) % (1 << 32) - (1 << 31))),
        st.tuples(inner, st.sampled_from([0, 1, 3, 7, 1000]), st.sampled_from(["%", "//", "<<", ">>", "^"])).map(
            lambda a: (f"({a[0][0]} {a[2]} {a[1]})", lambda t, c: wrap(FIXED[a[2]](a[0][1](t, c), a[1])))),
        inner.map(lambda a: (f"popcount({a[0]})", lambda t, c: (a[1](t, c) % (1 << 64)).bit_count())),
        st.tuples(inner, inner).map(lambda a: (f"min({a[0][0]}, {a[1][0]})", lambda t, c: min(x[1](t, c) for x in a))),
        inner.map(lambda a: (f"changed({a[0]})", lambda t, c: int(c > 0 and a[1](t, c) != a[1](t, c - 1)))),
        st.tuples(inner, inner, inner).map(
            lambda a: (f"({a[0][0]} in ({a[1][0]}, {a[2][0]}))",
                       lambda t, c: int(a[0][1](t, c) in (a[1][1](t, c), a[2][1](t, c))))),
    )


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.recursive(st.one_of(scalars(), reduced()), grow, max_leaves=6), st.integers(0, CYCLES), st.integers(1, 60))
def test_columns_equal_a_look_at_every_snapshot(both, truth: list, expression: Any, start: int, length: int) -> None:
    text, look = expression
    stop = min(start + length, CYCLES + 1)
    expected = [int(look(truth, cycle)) for cycle in range(start, stop)]
    for timeline in both:
        column = compile_expression(text, timeline).column(start, stop)
        assert [int(value) for value in column] == expected, text


@pytest.fixture(scope="module")
def both(file, request: pytest.FixtureRequest) -> list:
    """Return a recorded and a live timeline that stay open."""
    from rfview.sessions.timeline.live import LiveTimeline
    from rfview.sessions.timeline.opening import open_recording
    from tests.sessions.conftest import CHUNK
    from tests.sessions.double import Double

    live = LiveTimeline(Double(CYCLES), chunk_cycles=CHUNK)
    live.extend(CYCLES)
    return [open_recording(file), live]


def value(timeline: Any, text: str, cycle: int = 50) -> Any:
    return compile_expression(text, timeline).column(cycle, cycle + 1)[0]


def test_registers_come_as_lanes_floats_and_pairs(recorded, truth: list) -> None:
    cycle = next(c for c in range(CYCLES) if int(truth[c].sm["resident"]) >> 3 & 1)
    lanes = truth[cycle].register(3, 1)
    assert (value(recorded, "w3.R1", cycle) == lanes).all()
    assert value(recorded, "f32(w3.R1[7])", cycle) == pytest.approx(float(lanes[7:8].view(np.float32)[0]), nan_ok=True)
    pair = int(lanes[0]) | int(truth[cycle].register(3, 2)[0]) << 32
    assert int(value(recorded, "u64(w3.R1[0], w3.R2[0])", cycle)) % (1 << 64) == pair
    double = np.array([pair], np.uint64).view(np.float64)[0]
    assert value(recorded, "f64(w3.R1[0], w3.R2[0])", cycle) == pytest.approx(double, nan_ok=True)
    assert value(recorded, "max(w3.R1)", cycle) == lanes.max()


def test_arithmetic_never_raises(recorded) -> None:
    for text in ("1 / 0", "5 // 0", "7 % 0", "1 << 99", "-1 >> 99", "1 << (0 - 3)", "9223372036854775807 + 1",
                 "0 / 0 > 1", "2.5 // 0", "f32(0xffffffff) == f32(0xffffffff)", "1.5 * w3.pc", "~w3.pc"):
        value(recorded, text)
    assert value(recorded, "1 << 99") == 0 and value(recorded, "-8 >> 99") == -1


def test_lines_belong_to_the_next_instruction(recorded, truth: list) -> None:
    assert value(recorded, "w3.line") == 10 + int(truth[50].sm["warp"][3]["pc"]) // 2
    assert value(recorded, "count(w.line >= 10)") == NUM_WARPS


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("w3.pcc", ["position 1", "pcc", "pc"]),
        ("cycle > 5 and wrap[3].pc", ["position 15", "wrap", "warp"]),
        ("w3.state == barier", ["position 13", "barier", "barrier"]),
        ("w8.pc", ["no warp 8", "0..7"]),
        ("w3.R9", ["R9", "R0..R3"]),
        ("w3.R1[32]", ["lane"]),
        ("stall.long", ["long_scoreboard"]),
        ("bank[9].queue", ["bank 9", "0..3"]),
        ("mem[5]", ["multiple of 4"]),
        ("mem[0x1000]", ["no buffer", "A at 0x700000000000"]),
        ("mem[w3.pc]", ["constant"]),
        ("A[100000]", ["A has", "words", "no word 100000"]),
        ("A[-1]", ["no word -1"]),
        ("A.pc", ["buffer", "A[5]"]),
        ("rf.write", ["writes"]),
        ("sm.sb_read[3] != 0", ["sb_read", "not recorded"]),
        ("1 +", ["position 3", "it ends after `+`, where a value is missing"]),
        ("cycle > 5 and", ["it ends after `and`"]),
        ("w3.pc = 4", ["did you mean `==`"]),
        ("w3.pc > 4 && cycle", ["position 11", "did you mean `and`"]),
        ("w3.%f1 > 0", ["position 4", "without %", "w0.f1"]),
        ("w3.pc > %r1", ["without %", "w0.r1"]),
        ("w3", ["w3 is a warp", "w0.pc"]),
        ("A[0:4]", ["a range of elements"]),
        ("w3.pc w4.pc", ["`w4.pc` is not expected here"]),
        ("w3.foobar", ["warp 3 has no field 'foobar'; `rfview help expressions`"]),
        ("__import__('os').system('ls')", ["position"]),
        ("open('x')", ["open"]),
        ("w3.pc.__class__", ["position"]),
        ("[x for x in (1, 2)]", ["ListComp"]),
        ("lambda: 1", ["Lambda"]),
        ("'text'", ["not a number"]),
        ("w3.pc ** 2", ["Pow"]),
        ("f'{cycle}'", ["JoinedStr"]),
        ("w.pc == b.queue", ["warps", "banks"]),
        ("any(cycle)", ["any()"]),
        ("w3.pc & 1.5", ["whole numbers"]),
        ("99999999999999999999", ["64 bits"]),
        ("(" * 500 + "1" + ")" * 500, ["expression"]),
        ("-" * 1900 + "1", ["expression"]),
        ("1\0", ["expression"]),
        ("x" * 3000, ["2000"]),
        ("", ["expression"]),
        ("w.R1", ["one warp"]),
        ("warp", ["warp"]),
        ("warp[3]", ["name a field"]),
        ("(y := 5)", ["NamedExpr"]),
        ("1 if cycle else 2", ["IfExp"]),
        ("cycle.real", ["cycle"]),
    ],
)
def test_mistakes_are_one_error_with_place_and_close_names(recorded, text: str, parts: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        compile_expression(text, recorded)
    for part in parts:
        assert part in str(caught.value), str(caught.value)


def test_conditions_need_one_value_per_cycle(recorded) -> None:
    with pytest.raises(InputError, match="any"):
        compile_expression("w.state == barrier", recorded).truth(0, 5)


def test_a_chunk_without_changes_is_known_as_such(recorded) -> None:
    assert compile_expression("w3.pc", recorded).may_change(2, 3) == [True]
    assert compile_expression("sm.launch.grid[0]", recorded).may_change(2, 4).tolist() == [False, False]
    assert compile_expression("cycle", recorded).may_change(2, 3) == [True]
