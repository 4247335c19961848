"""The front end takes what ptxas takes and refuses what it refuses, on the stored list of lines (tests/ptx_forms.py)."""

from __future__ import annotations

from collections import Counter

from tests.ptx_forms import mark, stored, verdict


def test_verdicts_are_those_of_ptxas_but_for_the_differences_that_are_explained() -> None:
    lines = stored()
    changed = []
    for sign, line, _ in lines:
        our = verdict(line)
        now = mark(our, "refused" if sign == "-" else "", line.text) if sign != "!" else "!"
        if now != sign:
            changed.append(f"{sign} became {now}: {line} {our}")
    assert not changed, "\n".join(changed)


def test_at_least_995_of_1000_verdicts_are_equal_and_each_difference_has_a_reason() -> None:
    lines = stored()
    counts = Counter(sign for sign, *_ in lines)
    assert len(lines) >= 2000 and counts["!"] + counts["~"] <= 0.005 * len(lines) and counts["+"] > 0.3 * len(lines)
    assert all(reason for sign, _, reason in lines if sign == "!")
