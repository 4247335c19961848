"""The one rule that judges all claims, by the sort that claims.toml gives each, which follows from its paper's words.

With g our value, v the paper's (if its text prints two figures, all between them) and null the value without any effect:

    sort         direction                                       within
    effect       same sign, g - null a quarter to four times     within 25 % of v - null
    maximum      of v - null; a maximum is ours over the items   the same
    scale        factor 4                                        factor 1.25
    small loss   |g| at most 2 v, or 2 points if that is more    within 25 % of v, or 1 point
    bound        within 25 % of the bound                        on the right side of it
    range        our mean in it                                  and every item within 25 % of its ends
    count        +-2                                             +-1
    parameter    +-1                                             equal
    set          half of it                                      all of it
    pass, words  as stated                                       none: words have only a direction
    exact        -                                               the printed digits, or in the printed range

Only small losses have an absolute tolerance. A count that is a parameter with few values (4 of M, 6 of the TLP) has +-1,
since +-2 would include nearly all of them. If the mechanism hardly acted, success says nothing and the claim is not tested;
an output that is wrong nevertheless is a failure. A mean that is within although single items on both sides of the paper's
value would each fail is within by cancelling.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from rfview.engine.papers import EXACT as EXACT_KIND, Claim, Number

EXACT, WITHIN, DIRECTION, FAILS = "exact", "within 25 %", "direction", "does not hold"
NOT_DERIVABLE, CONTRADICTS, UNTESTED = "not derivable", "contradicts itself", "not tested"
JUDGED = (EXACT, WITHIN, DIRECTION, FAILS)                       # best first
VERDICTS = (*JUDGED, NOT_DERIVABLE, CONTRADICTS, UNTESTED)
STEPS = ("judged", "direction or better", "within or better", "own judged", "own direction or better",
         "own within or better", "by cancelling", "words only")
NEAR, FACTOR = 0.25, 4.0
LEAST_ACTED = 100            # lost bits, shifts, spills per run: with fewer, the mechanism hardly acted
WORDS = ("pass", "words")    # sorts that have no "within"
OUTPUTS = ("pass", "exact")  # sorts that an output meets or not, however seldom the mechanism acted
RULE = ("exact: the printed digits; effects and maxima: within 25 % of the paper's distance from no effect, direction: the "
        "same sign and a quarter to four times; small losses: 25 % or 1 point, direction: twice or 2 points; bounds: on the "
        "right side, direction: within 25 %; ranges: mean in it, every item within 25 % of its ends; scales: 1.25 times, "
        "direction: 4 times; counts: +-1, direction: +-2; words: direction only. Not tested where the mechanism acted under "
        f"{LEAST_ACTED} times a run, unless an output is wrong; by cancelling: within as a mean, with items on both sides "
        "that would each fail; other kernels: fewer than half of those that the paper names, or none named")


@dataclass(frozen=True)
class Finding:
    """A claim with its outcome: the verdict, one of VERDICTS, the number if any, a sentence, and how it was judged.

    other_kernels: fewer than half of the kernels that the paper names were run, or it names none. cancelling: the items with
    the largest opposite errors, if the claim is within only because they cancel.
    """

    claim: Claim
    verdict: str
    number: Number | None
    note: str
    other_kernels: bool = False
    cancelling: tuple[str, ...] = ()

    @property
    def words_only(self) -> bool:
        """Say whether the claim is only words, without a number to be near to."""
        return self.claim.sort in WORDS


def check(claim: Claim, compute: Callable[[], Number] | None, reason: str, own: Collection[str] = ()) -> Finding:
    """Return the finding of a claim; compute is None if it is not tested, for that reason.

    own: the kernels among ours that the claim's paper used.
    """
    aside = NOT_DERIVABLE if claim.not_derivable else CONTRADICTS if claim.contradicts else ""
    why = claim.not_derivable or claim.contradicts
    if compute is None:
        return Finding(claim, aside or UNTESTED, None, why or reason)
    number = compute()
    if math.isnan(number.value):
        return Finding(claim, aside or UNTESTED, None, "; ".join(part for part in (why, number.note) if part))
    needs_runs = claim.kind != EXACT_KIND or claim.named > 0
    other = needs_runs and (not claim.named or 2 * len(set(number.ran) & set(own)) < claim.named)
    if aside:
        return Finding(claim, aside, number, "; ".join(part for part in (why, number.note) if part), other)
    verdict = judge(claim, number)
    if number.acted is not None and number.acted[0] < LEAST_ACTED:
        times = f"{number.acted[0]:,.0f} {number.acted[1]} a run"
        if verdict == FAILS and claim.sort in OUTPUTS:
            return Finding(claim, FAILS, number, f"with only {times}; {number.note}", other)
        return Finding(claim, UNTESTED, number, f"{times}, so that nothing is tested; {number.note}", other)
    return Finding(claim, verdict, number, number.note, other, opposite_errors(claim, number) if verdict == WITHIN else ())


def judge(claim: Claim, number: Number) -> str:
    """Return the verdict on a tested number: one of JUDGED."""
    direction, within = SORTS[claim.sort](claim, number)
    if within:
        return EXACT if claim.sort == "exact" else WITHIN
    return DIRECTION if direction else FAILS


def opposite_errors(claim: Claim, number: Number) -> tuple[str, ...]:
    """Return the items furthest above and below the paper's value, if on both sides there are items that would each fail."""
    low, high = ends(claim)
    failing = {name: value for name, value in number.each.items() if judge(claim, Number(value)) == FAILS}
    above = [name for name, value in failing.items() if value > high]
    below = [name for name, value in failing.items() if value < low]
    if not above or not below or len(number.each) < 2:
        return ()
    return min(below, key=failing.__getitem__), max(above, key=failing.__getitem__)


def ends(claim: Claim) -> tuple[float, float]:
    """Return the smallest and the largest value that the paper gives."""
    return (claim.value if claim.low is None else claim.low), (claim.value if claim.high is None else claim.high)


def _times(claim: Claim, number: Number, least: float, most: float) -> bool:
    """Say whether our value is `least` to `most` times as far from no effect as the paper's, on the same side."""
    sign = math.copysign(1.0, claim.value - claim.null)
    near, far = sorted(sign * (end - claim.null) for end in ends(claim))
    return bool(least * near <= sign * (number.value - claim.null) <= most * far)


def _effect(claim: Claim, number: Number) -> tuple[bool, bool]:
    """Judge an effect or a maximum."""
    return _times(claim, number, 1 / FACTOR, FACTOR), _times(claim, number, 1 - NEAR, 1 + NEAR)


def _scale(claim: Claim, number: Number) -> tuple[bool, bool]:
    """Judge a number of cycles by factors."""
    return _times(claim, number, 1 / FACTOR, FACTOR), _times(claim, number, 1 / (1 + NEAR), 1 + NEAR)


def _small_loss(claim: Claim, number: Number) -> tuple[bool, bool]:
    """Judge a loss that the paper calls negligible or puts at 5 % at most."""
    low, high = ends(claim)
    below, above = low - max(NEAR * abs(low), 1.0), high + max(NEAR * abs(high), 1.0)
    return abs(number.value) <= max(2 * abs(high), 2.0), below <= number.value <= above


def _bound(claim: Claim, number: Number) -> tuple[bool, bool]:
    """Judge "less than" and "at least"."""
    if claim.bound == "most":
        return number.value <= (1 + NEAR) * claim.value, number.value <= claim.value
    return number.value >= claim.value / (1 + NEAR), number.value >= claim.value


def _range(claim: Claim, number: Number) -> tuple[bool, bool]:
    """Judge a range over items."""
    low, high = ends(claim)
    inside = low <= number.value <= high
    return inside, inside and all((1 - NEAR) * low <= one <= (1 + NEAR) * high for one in number.each.values())


def _steps(direction: float, within: float) -> Callable[[Claim, Number], tuple[bool, bool]]:
    """Return the judge of whole numbers that may be off by a tolerance."""

    def judged(claim: Claim, number: Number) -> tuple[bool, bool]:
        off = abs(number.value - claim.value)
        return off <= direction, off <= within

    return judged


def _set(claim: Claim, number: Number) -> tuple[bool, bool]:
    """Judge how many of a set are where the paper has them."""
    return number.value >= claim.value / 2, number.value == claim.value


def _words(claim: Claim, number: Number) -> tuple[bool, bool]:
    """Judge a statement in words, as a range or as pass and fail."""
    low, high = ends(claim)
    return low <= number.value <= high, False


def _exact(claim: Claim, number: Number) -> tuple[bool, bool]:
    """Judge a number that follows from tables."""
    if claim.low is not None and claim.high is not None:
        return False, claim.low <= number.value <= claim.high
    return False, agrees_as_printed(number.value, claim.value, claim.digits)


SORTS: dict[str, Callable[[Claim, Number], tuple[bool, bool]]] = {
    "effect": _effect, "maximum": _effect, "scale": _scale, "small loss": _small_loss, "bound": _bound, "range": _range,
    "count": _steps(2, 1), "parameter": _steps(1, 0), "set": _set, "pass": _words, "words": _words, "exact": _exact,
}


def agrees_as_printed(got: float, printed: float, digits: int | None = None) -> bool:
    """Say whether a number, rounded or truncated to the digits of the printed one, equals it.

    digits: after the decimal point; None: as many as the printed number has.
    """
    if not math.isfinite(printed) or not math.isfinite(got):
        return got == printed
    if digits is None:
        digits = len(repr(float(printed)).partition(".")[2].rstrip("0"))
    scale = 10.0**digits
    wanted = round(printed * scale)
    rounded = math.floor(got * scale + 0.5 + 1e-9)
    return wanted == rounded or (digits > 0 and wanted != 0 and wanted == math.floor(got * scale + 1e-9))


def by_measurement(findings: Sequence[Finding]) -> list[Finding]:
    """Return one finding per measurement: of claims that share one, the judged one with the worst verdict."""
    by_key: dict[str, Finding] = {}
    for finding in findings:
        key = f"measurement {finding.claim.measurement}" if finding.claim.measurement else finding.claim.id
        other = by_key.get(key)
        if other is None or (finding.verdict in JUDGED and (
                other.verdict not in JUDGED or JUDGED.index(finding.verdict) > JUDGED.index(other.verdict))):
            by_key[key] = finding
    return list(by_key.values())


def counts(findings: Iterable[Finding]) -> dict[str, int]:
    """Count findings: by verdict, and in steps of which each is a subset of the one before.

    The steps of STEPS are judged, direction or better, within or better; "own": on the paper's own kernels; words only:
    those in the right direction that cannot be more.
    """
    counts = dict.fromkeys((*VERDICTS, *STEPS), 0)
    for one in findings:
        counts[one.verdict] += 1
        steps = (one.verdict in JUDGED, one.verdict in JUDGED[:3], one.verdict in JUDGED[:2])
        for name, is_so in zip(("judged", "direction or better", "within or better"), steps):
            counts[name] += is_so
            counts[f"own {name}"] += is_so and not one.other_kernels
        counts["by cancelling"] += bool(one.cancelling)
        counts["words only"] += steps[1] and one.words_only
    return counts
