"""Keys, the mouse and resizes: a few cases of the fuzz target in a real terminal."""

from __future__ import annotations

from tests.robustness import keys
from tests.robustness.__main__ import tally

BUDGET = 150


def test_a_recorded_session_stays_alive_whatever_is_typed() -> None:
    outcomes, following = tally("keys", 2, 0, BUDGET, None)
    assert following == BUDGET and set(outcomes) == {"done"}, outcomes


def test_a_case_is_the_same_whenever_it_is_made() -> None:
    cases = [keys.case(3, number) for number in range(2000)]
    assert cases == [keys.case(3, number) for number in range(2000)]
    texts = [case for case in cases if isinstance(case, str)]
    assert len(texts) < 2000 and len(set(texts)) > 400 and not any(text in ("q", "\x11", "\x1a") for text in texts)
