"""The rule that judges claims: every sort with limits computed by hand, and the texts that go with a verdict."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from rfview.engine import papers as claims
from rfview.engine.papers import Claim, Number, verdicts
from rfview.engine.papers.edram_errors import PASS_OR_FAIL
from rfview.engine.papers.verdicts import CONTRADICTS, DIRECTION, EXACT, FAILS, NOT_DERIVABLE, UNTESTED, WITHIN

LADDER = (FAILS, DIRECTION, WITHIN)


def claim(sort: str, value: float, **changes: object) -> Claim:
    """Return a claim of a sort."""
    base = {"id": "x", "paper": "hcrf", "section": "", "design": "hcrf", "baseline": "-", "quantity": "q", "value": value,
            "unit": "%", "kind": "simulated", "how": "", "sort": sort}
    return Claim(**{**base, **changes})


@pytest.mark.parametrize(("sort", "value", "more", "steps"), [
    # a loss of 40 %: 10 .. 160 is "direction", 30 .. 50 "within"
    ("effect", 40, {}, [(9.9, 0), (10, 1), (29.9, 1), (30, 2), (50, 2), (50.1, 1), (160, 1), (161, 0), (-40, 0)]),
    # a change of -5 %: the sign matters
    ("effect", -5, {}, [(-1.2, 0), (-1.25, 1), (-3.75, 2), (-6.25, 2), (-6.3, 1), (-20, 1), (-21, 0), (5, 0)]),
    # 0.8 of the time: the effect is 0.2, so 0.75 .. 0.85 is "within" and 0.2 .. 0.95 "direction"
    ("effect", 0.8, {"null": 1.0}, [(0.96, 0), (0.94, 1), (0.86, 1), (0.84, 2), (0.76, 2), (0.74, 1), (0.21, 1), (0.19, 0)]),
    # 60 % of SRAM's power: 40 points saved
    ("effect", 60, {"null": 100.0}, [(95, 0), (90, 1), (70, 2), (50, 2), (49, 1), (101, 0)]),
    # two figures in the text, 10 and 20: 2.5 .. 80 and 7.5 .. 25
    ("effect", 15, {"low": 10.0, "high": 20.0}, [(2.4, 0), (2.5, 1), (7.5, 2), (25, 2), (26, 1), (80, 1), (81, 0)]),
    ("maximum", 12, {}, [(2.9, 0), (3, 1), (9, 2), (15, 2), (16, 1), (49, 0)]),
    ("scale", 1000, {"unit": "cycles"}, [(249, 0), (250, 1), (799, 1), (800, 2), (1250, 2), (1251, 1), (4001, 0)]),
    # no loss: 1 point is "within", 2 points "direction", and a gain of 3 no confirmation
    ("small loss", 0, {}, [(1, 2), (-1, 2), (1.1, 1), (-2, 1), (2.1, 0), (-3, 0)]),
    # 4 %: 25 % of it is 1 point; twice as much is 8
    ("small loss", 4, {}, [(3, 2), (5, 2), (2.9, 1), (8, 1), (8.1, 0), (-8, 1), (-8.1, 0)]),
    ("small loss", 2, {"low": 2.0, "high": 4.0}, [(1, 2), (0.9, 1), (5, 2), (8, 1), (8.5, 0)]),
    ("bound", 10, {"bound": "most"}, [(10, 2), (-3, 2), (10.1, 1), (12.5, 1), (12.6, 0)]),
    ("bound", 50, {"bound": "least"}, [(50, 2), (80, 2), (49, 1), (40, 1), (39, 0)]),
    ("count", 6, {}, [(3, 0), (4, 1), (5, 2), (7, 2), (8, 1), (9, 0)]),
    ("parameter", 3, {}, [(1, 0), (2, 1), (3, 2), (4, 1), (5, 0)]),
    ("set", 3, {}, [(0, 0), (1, 0), (2, 1), (3, 2)]),
    ("pass", 1, {}, [(0, 0), (1, 1)]),
    ("pass", math.inf, {"unit": "dB"}, [(90, 0), (math.inf, 1)]),
    ("words", 0.5, {"low": 0.5, "high": 1.0}, [(0.49, 0), (0.5, 1), (1, 1)]),
])
def test_each_sort_by_hand(sort: str, value: float, more: dict[str, object], steps: list[tuple[float, int]]) -> None:
    for got, step in steps:
        assert verdicts.judge(claim(sort, value, **more), Number(got)) == LADDER[step], got


def test_a_range_needs_its_mean_and_for_more_every_item() -> None:
    between = claim("range", 60, low=40.0, high=80.0)
    near, far = {"a": 30.0, "b": 100.0}, {"a": 29.0, "b": 101.0}
    assert verdicts.judge(between, Number(65, each=near)) == WITHIN
    assert verdicts.judge(between, Number(65, each=far)) == DIRECTION
    assert verdicts.judge(between, Number(81, each=near)) == FAILS


@pytest.mark.parametrize(("got", "printed", "agrees"), [
    (19.588, 19.6, True), (36.8, 28.3, False), (3.636, 4, True), (2.5651, 2.56, True), (2.5751, 2.56, False),
    (31.5, 32, True),
    (2.71, 2, False), (1.1364, 1.13, True), (0.394, 0.33, False), (24576, 24576, True), (0.6712, 0.67, True),
])
def test_exact_means_the_printed_digits(got: float, printed: float, agrees: bool) -> None:
    assert verdicts.agrees_as_printed(got, printed) is agrees
    assert verdicts.judge(claim("exact", printed, kind="exact"), Number(got)) == (EXACT if agrees else FAILS)


def test_a_zero_with_two_digits_is_less_than_half_a_hundredth() -> None:
    zero = claim("exact", 0.0, digits=2)
    assert [verdicts.judge(zero, Number(got)) for got in (0.0, 0.0049, 0.0051, 0.4)] == [EXACT, EXACT, FAILS, FAILS]


def test_what_hardly_acted_is_not_tested() -> None:
    zero = claim("exact", 0.0, digits=2, named=1)
    few = verdicts.check(zero, lambda: Number(0.0, "none", {"k": 0.0}, acted=(99.0, "bits lost")), "", ("k",))
    assert few.verdict == UNTESTED and few.number is not None and few.note.startswith("99 bits lost a run")
    many = verdicts.check(zero, lambda: Number(0.0, "none", {"k": 0.0}, acted=(100.0, "bits lost")), "", ("k",))
    assert (many.verdict, many.other_kernels) == (EXACT, False)
    nothing = verdicts.check(zero, lambda: Number(math.nan, "no gain"), "")
    assert (nothing.verdict, nothing.number, nothing.note) == (UNTESTED, None, "no gain")


def test_other_kernels_are_fewer_than_half_of_those_that_the_paper_names() -> None:
    four = claim("effect", 40, named=4)
    own = ("a", "b", "c")
    two = verdicts.check(four, lambda: Number(40, each={"a": 1.0, "b": 2.0, "z": 3.0}), "", own)
    one = verdicts.check(four, lambda: Number(40, kernels=("a", "z")), "", own)
    assert (two.verdict, two.other_kernels, one.verdict, one.other_kernels) == (WITHIN, False, WITHIN, True)
    unnamed = verdicts.check(claim("effect", 40), lambda: Number(40, each={"a": 1.0}), "", ("a",))
    assert unnamed.other_kernels
    table = verdicts.check(claim("exact", 40, kind="exact"), lambda: Number(40), "")
    assert not table.other_kernels


def test_what_cannot_be_derived_or_contradicts_itself_is_judged_by_neither() -> None:
    right = lambda: Number(40, "ours")      # noqa: E731 - a number that would be within
    away = verdicts.check(claim("effect", 40, not_derivable="needs a trace"), right, "")
    assert (away.verdict, away.note, away.number) == (NOT_DERIVABLE, "needs a trace; ours", right())
    both = verdicts.check(claim("effect", 40, contradicts="40 against 30"), None, "no kernel")
    assert (both.verdict, both.note) == (CONTRADICTS, "40 against 30")


def test_claims_that_share_a_measurement_count_once_by_the_worst() -> None:
    same = [dataclasses.replace(claim("effect", value, measurement="m"), id=str(value)) for value in (40, 20, 12)]
    found = [verdicts.check(one, lambda: Number(44), "") for one in same]
    assert [one.verdict for one in found] == [WITHIN, DIRECTION, DIRECTION]
    alone = verdicts.check(claim("effect", 40), lambda: Number(44), "")
    assert [one.claim.id for one in verdicts.by_measurement([*found, alone])] == ["20", "x"]


def test_no_tolerance_of_the_file_is_wider_than_the_effect() -> None:
    """No effect at all is never within, whatever the sort, except for small losses, which are near none by definition."""
    for one in claims.load().values():
        if one.sort in ("effect", "maximum", "scale"):
            assert verdicts.judge(one, Number(one.null)) == FAILS, one.id
            near, far = (abs(end - one.null) for end in verdicts.ends(one))
            assert near > 0 and far > 0 and (one.low is None or (one.low - one.null) * (one.high - one.null) > 0), one.id
        assert (one.sort == "bound") == (one.bound in ("most", "least")), one.id
        assert not (one.not_derivable and one.contradicts), one.id
        if one.sort == "small loss":
            assert abs(one.value) <= 5, one.id
        assert one.sort not in ("range", "words") or one.low is not None, one.id


def test_a_wrong_output_is_a_failure_however_few_bits_were_lost() -> None:
    few = {"acted": (12.0, "bits lost")}
    passes = verdicts.check(claim("pass", 1), lambda: Number(1.0, "fine", **few), "")
    fails = verdicts.check(claim("pass", 1), lambda: Number(0.0, "off", **few), "")
    assert (passes.verdict, fails.verdict, fails.note) == (UNTESTED, FAILS, "with only 12 bits lost a run; off")
    error = verdicts.check(claim("exact", 0.0, digits=2), lambda: Number(0.3, "off", **few), "")
    effect = verdicts.check(claim("effect", 40), lambda: Number(-3.0, "nothing moved", **few), "")
    assert (error.verdict, effect.verdict) == (FAILS, UNTESTED)


def test_a_mean_within_by_opposite_errors_names_the_largest() -> None:
    """No loss is claimed: -30 % and +12 % would each fail, and their mean with eight zeros is within a point."""
    each = {**{f"k{i}": 0.0 for i in range(6)}, "sgemm": -30.0, "bfs": -4.0, "sad": 12.0, "lj": 14.0}
    found = verdicts.check(claim("small loss", 0), lambda: Number(-0.8, each=each), "")
    assert (found.verdict, found.cancelling) == (WITHIN, ("sgemm", "lj"))
    one_sided = verdicts.check(claim("small loss", 0), lambda: Number(0.9, each={"a": 0.0, "b": 9.0}), "")
    spread = verdicts.check(claim("effect", 40), lambda: Number(40, each={"a": 20.0, "b": 60.0}), "")
    assert one_sided.cancelling == spread.cancelling == ()
    off = verdicts.check(claim("small loss", 0), lambda: Number(5.0, each=each), "")
    assert (off.verdict, off.cancelling) == (FAILS, ())
    assert verdicts.counts([found, spread])["by cancelling"] == 1


@pytest.mark.parametrize(("program", "wanted", "got", "passes"), [
    ("sgemm", [100.0, 0.1], [100.99, 0.109], True),        # 1 % of the value, or 0.01
    ("sgemm", [100.0, 0.1], [101.1, 0.1], False),
    ("sgemm", [100.0, 0.1], [100.0, 0.111], False),
    ("spmv", [50.0, 0.1], [50.09, 0.1049], True),          # 0.2 %, or 0.0001 of the largest, which is 0.005
    ("spmv", [50.0, 0.1], [50.0, 0.106], False),
    ("mri-q", [-50.0, 0.1], [-50.11, 0.1], False),
    ("cutcp", [100.0, 100.0], [100.4, 99.8], True),        # 0.5 % of the value, and 0.25 % of the sum
    ("cutcp", [100.0, 100.0], [100.4, 100.4], False),
    ("sgemm", [math.inf, math.nan], [math.inf, math.nan], True),
    ("sgemm", [1.0], [math.nan], False),
])
def test_parboils_output_tests_by_hand(program: str, wanted: list[float], got: list[float], passes: bool) -> None:
    assert PASS_OR_FAIL[program].passes(np.array(wanted, np.float32), np.array(got, np.float32)) is passes
