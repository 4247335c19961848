"""Maps a value to a signed level on a scale, and to the one character that shows it without colour."""

from __future__ import annotations

import numpy as np

from rfview.sessions.heat.strip import LOST, UNWRITTEN

LEVELS = 12             # levels of each sign
EXPONENT = 0.8          # small values are easier to distinguish than with equal steps
LOG_RANGE = 1e4
NEAR_ZERO = 0.02        # of the scale
# the larger the value the more ink; strokes for negative values
PLUS, MINUS = "░▒▓█", "-=≡#"
PLUS_ASCII, MINUS_ASCII = ".:+@", "-=%#"
NOT_A_NUMBER, INFINITE = "?", "!"
LEGEND = "+ ░▒▓█   − -=≡#   · near 0   blank: not written   ? NaN  ! Inf  ✕ bits lost"


def levels(values: np.ndarray, top: float, log: bool = False) -> np.ndarray:
    """Return (..) i8 levels -LEVELS..LEVELS of f8 values; values beyond the scale get the level of its end."""
    size = np.abs(np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf)) / (top or 1.0)
    share = np.minimum(size, 1.0)
    curve = np.log1p(share * LOG_RANGE) / np.log1p(LOG_RANGE) if log else share**EXPONENT
    return (np.sign(np.nan_to_num(values)) * np.ceil(curve * LEVELS - 1e-9)).astype(np.int8)


def characters(values: np.ndarray, state: np.ndarray, top: float, log: bool = False, ascii_only: bool = False) -> np.ndarray:
    """Return (..) U1 characters of cells: sign and magnitude, or what a cell holds instead of a number."""
    plus, minus = (PLUS_ASCII, MINUS_ASCII) if ascii_only else (PLUS, MINUS)
    table = np.array([*minus[::-1], "," if ascii_only else "·", *plus])
    level = levels(values, top, log)
    quarter = np.sign(level) * -(-np.abs(level) * 4 // LEVELS)
    with np.errstate(invalid="ignore"):
        quarter = np.where(~log & (np.abs(values) < NEAR_ZERO * top) | (values == 0), 0, quarter)
    shown = table[quarter + 4]
    shown = np.where(np.isnan(values), NOT_A_NUMBER, np.where(np.isinf(values), INFINITE, shown))
    return np.select([state == UNWRITTEN, state == LOST], [" ", "x" if ascii_only else "✕"], shown)
