"""Whether the terminal shows pixels, and by which protocol; the terminal is known by its environment and never asked.

An answer could come late, take a key with it, or never come: over ssh, in a multiplexer, without a terminal.
"""

from __future__ import annotations

import importlib.util
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from rfview.engine.errors import InputError

CHOICES = ("auto", "kitty", "sixel", "blocks")
NAMES = {"kitty": "Kitty graphics", "sixel": "Sixel graphics", "blocks": "half blocks"}
KITTY_TERM, KITTY_PROGRAM = ("xterm-kitty", "xterm-ghostty"), ("ghostty",)      # they know Unicode placeholders too
SIXEL_TERM = ("foot", "foot-extra", "mlterm", "contour", "yaft-256color")
SIXEL_PROGRAM = ("WezTerm", "iTerm.app", "mintty", "contour")
MULTIPLEXERS = ("TMUX", "STY", "ZELLIJ")
KONSOLE = 220400                # the release that learnt Sixel
CELL = (10, 20)                 # a VT340's, where the terminal does not tell and scales itself


@dataclass(frozen=True)
class Graphics:
    """How pictures are drawn. kind: kitty, sixel or blocks. cell: (width, height) of a cell in pixels.

    missing: why a terminal that has graphics gets half blocks, "" where all is as it should be.
    """

    kind: str = "blocks"
    cell: tuple[int, int] = CELL
    missing: str = ""


def choose_kind(environ: Mapping[str, str]) -> str:
    """Return kitty, sixel or blocks by RFVIEW_GRAPHICS, else by the terminal's name; raises InputError for another word."""
    wanted = environ.get("RFVIEW_GRAPHICS") or "auto"
    if wanted not in CHOICES:
        raise InputError(f"RFVIEW_GRAPHICS: {wanted!r} is not one of {', '.join(CHOICES)}")
    if environ.get("TEXTUAL_DRIVER"):       # a browser
        return "blocks"
    if wanted != "auto":
        return wanted
    term, program = environ.get("TERM", ""), environ.get("TERM_PROGRAM", "")
    if any(environ.get(name) for name in MULTIPLEXERS) or term.startswith(("tmux", "screen")):
        return "blocks"
    if term in KITTY_TERM or program in KITTY_PROGRAM:
        return "kitty"
    konsole = environ.get("KONSOLE_VERSION", "")
    if (term in SIXEL_TERM or program in SIXEL_PROGRAM or environ.get("LC_TERMINAL") == "iTerm2"
            or (konsole.isdigit() and int(konsole) >= KONSOLE)):
        return "sixel"
    return "blocks"


def choose(environ: Mapping[str, str], has_all_colours: bool) -> Graphics:
    """Return how pictures are drawn here. has_all_colours: the screen writes colours of 24 bits."""
    kind = choose_kind(environ)
    if kind == "blocks":
        return Graphics()
    if importlib.util.find_spec("textual_image") is None:
        return Graphics(missing="lacks textual-image; pip install 'rfview[pictures]'")
    cell = cell_pixels()
    if kind == "sixel" and cell is None:
        return Graphics(missing="does not tell how many pixels a cell has")
    if kind == "kitty" and not has_all_colours:     # a placeholder's colour is the number of its image
        return Graphics(missing="needs COLORTERM=truecolor")
    return Graphics(kind, cell or CELL)


def cell_pixels() -> tuple[int, int] | None:
    """Return (width, height) of a cell of the terminal in pixels, None where that is not known."""
    try:
        import fcntl
        import termios
    except ImportError:     # not a POSIX system
        return None
    try:
        answer = fcntl.ioctl(sys.__stderr__.fileno() if sys.__stderr__ is not None else 2, termios.TIOCGWINSZ, bytes(8))
    except (OSError, ValueError):
        return None
    rows, columns, width, height = struct.unpack("HHHH", answer)
    return (width // columns, height // rows) if rows and columns and width >= columns and height >= rows else None
