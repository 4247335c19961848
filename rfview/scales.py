"""Colours of values: heat from blue via the background to yellow, greys of a picture, red for the error of a pixel."""

from __future__ import annotations

from rfview.sessions.heat.glyphs import LEVELS

BLUE, MIDDLE, YELLOW = (0x3F, 0x8C, 0xF4), (0x2B, 0x33, 0x3E), (0xF0, 0xCF, 0x5E)
MIDDLE_LIGHT = (0xE3, 0xE7, 0xEB)
NOT_WRITTEN, NOT_WRITTEN_LIGHT = (0x12, 0x17, 0x1D), (0xFA, 0xFB, 0xFC)
LOST_BITS, NOT_A_NUMBER = (0xFF, 0x4A, 0x70), (0xC8, 0x4A, 0xE0)
GREYS, ERRORS = 48, 16
WHITE = (0xFF, 0xFF, 0xFF)
ERROR_LOW = (0x5A, 0x24, 0x34)
LIT = 0.28              # share of white (on a light page, of black) in the cursor's column


def _between(first: tuple[int, ...], second: tuple[int, ...], share: float) -> tuple[int, ...]:
    return tuple(round(a + (b - a) * share) for a, b in zip(first, second, strict=True))


def _hex(colour: tuple[int, ...]) -> str:
    return "#" + "".join(f"{part:02X}" for part in colour)


def colours(light: bool) -> dict[str, str]:
    """Return role -> "#RRGGBB" of all cells: heat:p5, heat:n5, heat:none, heat:lost, heat:nan; lit: the same, lighter;
    grey:0..47; err:0..15.
    """
    middle = MIDDLE_LIGHT if light else MIDDLE
    cells: dict[str, tuple[int, ...]] = {"lost": LOST_BITS, "nan": NOT_A_NUMBER}
    cells["none"] = NOT_WRITTEN_LIGHT if light else NOT_WRITTEN
    for level in range(LEVELS + 1):
        cells[f"p{level}"] = _between(middle, YELLOW if not light else (0xB8, 0x8A, 0x00), level / LEVELS)
        cells[f"n{level}"] = _between(middle, BLUE, level / LEVELS)
    edge = (0, 0, 0) if light else WHITE
    out = {f"heat:{name}": _hex(colour) for name, colour in cells.items()}
    out |= {f"lit:{name}": _hex(_between(colour, edge, LIT)) for name, colour in cells.items()}
    out |= {"heat:plus": out[f"heat:p{LEVELS}"], "heat:minus": out[f"heat:n{LEVELS}"]}
    out |= {f"grey:{level}": _hex((round(255 * level / (GREYS - 1)),) * 3) for level in range(GREYS)}
    out |= {f"err:{level}": _hex(_between(ERROR_LOW, LOST_BITS, level / (ERRORS - 1))) for level in range(ERRORS)}
    out["err:none"] = out["heat:none"]
    out["err:top"] = _hex(edge)
    return out
