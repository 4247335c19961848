"""Whether the terminal shows pixels, and by which protocol: decided from the environment, without querying the terminal.

The answer to a query could come late, be mixed with key presses, or never come: over ssh, in a multiplexer, in a pipe.
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
KONSOLE = 220400                # the release that introduced Sixel
CELL = (10, 20)                 # that of a VT340, for terminals that do not report theirs and scale pictures themselves


@dataclass(frozen=True)
class Graphics:
    """How pictures are drawn. kind: kitty, sixel or blocks. cell: (width, height) of a cell in pixels.

    missing: why a terminal with graphics gets half blocks, "" if nothing is missing.
    """

    kind: str = "blocks"
    cell: tuple[int, int] = CELL
    missing: str = ""


def choose_kind(environ: Mapping[str, str]) -> str:
    """Return kitty, sixel or blocks, by RFVIEW_GRAPHICS or else the terminal's name; raises InputError for other words."""
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
            or (konsole.isdecimal() and int(konsole) >= KONSOLE)):
        return "sixel"
    return "blocks"


def choose(environ: Mapping[str, str], has_all_colours: bool) -> Graphics:
    """Return how pictures are drawn here. has_all_colours: the screen writes 24-bit colours."""
    kind = choose_kind(environ)
    if kind == "blocks":
        return Graphics()
    if importlib.util.find_spec("textual_image") is None:
        return Graphics(missing="lacks textual-image; pip install 'rfview[pictures]'")
    cell = cell_pixels()
    if kind == "sixel" and cell is None:
        return Graphics(missing="does not report the size of a cell in pixels")
    if kind == "kitty" and not has_all_colours:     # the colour of a placeholder encodes its image's number
        return Graphics(missing="needs COLORTERM=truecolor")
    return Graphics(kind, cell or CELL)


def cell_pixels() -> tuple[int, int] | None:
    """Return (width, height) of a terminal cell in pixels, None if unknown."""
    try:
        import fcntl
        import termios
    except ImportError:     # not on a POSIX system
        return None
    try:
        answer = fcntl.ioctl(sys.__stderr__.fileno() if sys.__stderr__ is not None else 2, termios.TIOCGWINSZ, bytes(8))
    except (OSError, ValueError):
        return None
    rows, columns, width, height = struct.unpack("HHHH", answer)
    return (width // columns, height // rows) if rows and columns and width >= columns and height >= rows else None
