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
since +-2 would include nearly all of them. If the mechanism hardly acted, the claim is not tested.
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
         "own within or better", "words only", "held before", "numbers before")
NEAR, FACTOR = 0.25, 4.0
LEAST_ACTED = 100            # lost bits, shifts, spills per run: with fewer, the mechanism hardly acted
WORDS = ("pass", "words")    # sorts that have no "within"
RULE = ("exact: the printed digits; effects and maxima: within 25 % of the paper's distance from no effect, direction: the "
        "same sign and a quarter to four times; small losses: 25 % or 1 point, direction: twice or 2 points; bounds: on the "
        "right side, direction: within 25 %; ranges: mean in it, every item within 25 % of its ends; scales: 1.25 times, "
        "direction: 4 times; counts: +-1, direction: +-2; words: direction only. Not tested where the mechanism acted under "
        f"{LEAST_ACTED} times a run; other kernels: fewer than half of those that the paper names, or it names none")
OLD_NEAR, OLD_POINTS = 0.25, 2.0


@dataclass(frozen=True)
class Finding:
    """A claim with its outcome: the verdict, one of VERDICTS, the number if any, a sentence, and how it was judged.

    other_kernels: fewer than half of the kernels that the paper names were run, or it names none. held_before: whether the
    number was accepted under the former rule; None if there is no number.
    """

    claim: Claim
    verdict: str
    number: Number | None
    note: str
    other_kernels: bool = False
    held_before: bool | None = None

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
    before = held_before(claim, number)
    if aside:
        return Finding(claim, aside, number, "; ".join(part for part in (why, number.note) if part), other, before)
    if number.acted is not None and number.acted[0] < LEAST_ACTED:
        note = f"{number.acted[0]:,.0f} {number.acted[1]} a run, so that nothing is tested; {number.note}"
        return Finding(claim, UNTESTED, number, note, other, before)
    return Finding(claim, judge(claim, number), number, number.note, other, before)


def judge(claim: Claim, number: Number) -> str:
    """Return the verdict on a tested number: one of JUDGED."""
    direction, within = SORTS[claim.sort](claim, number)
    if within:
        return EXACT if claim.sort == "exact" else WITHIN
    return DIRECTION if direction else FAILS


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
    found: dict[str, Finding] = {}
    for finding in findings:
        key = f"measurement {finding.claim.measurement}" if finding.claim.measurement else finding.claim.id
        other = found.get(key)
        if other is None or (finding.verdict in JUDGED and (
                other.verdict not in JUDGED or JUDGED.index(finding.verdict) > JUDGED.index(other.verdict))):
            found[key] = finding
    return list(found.values())


def counts(findings: Iterable[Finding]) -> dict[str, int]:
    """Count findings: by verdict, and in steps of which each is a subset of the one before.

    The steps of STEPS are judged, direction or better, within or better; "own": on the paper's own kernels; words only:
    those in the right direction that cannot be more; held before, of numbers before: under the former rule.
    """
    found = dict.fromkeys((*VERDICTS, *STEPS), 0)
    for one in findings:
        found[one.verdict] += 1
        steps = (one.verdict in JUDGED, one.verdict in JUDGED[:3], one.verdict in JUDGED[:2])
        for name, is_so in zip(("judged", "direction or better", "within or better"), steps):
            found[name] += is_so
            found[f"own {name}"] += is_so and not one.other_kernels
        found["words only"] += steps[1] and one.words_only
        found["held before"] += one.held_before is True
        found["numbers before"] += one.held_before is not None
    return found


def held_before(claim: Claim, number: Number) -> bool:
    """Say whether a number was accepted by the former rule: in the range, or within 25 % of the value or 2 points."""
    got, low, high = number.value, *(claim.old_band or (claim.low, claim.high))
    if low is not None and high is not None:
        return low <= got <= high
    if not math.isfinite(claim.value) or not math.isfinite(got):
        return claim.value == got
    if claim.kind == EXACT_KIND:
        return agrees_as_printed(got, claim.value)
    near = OLD_NEAR * abs(claim.value)
    return abs(got - claim.value) <= max(near, OLD_POINTS if claim.unit in ("%", "points") else 0.0)
