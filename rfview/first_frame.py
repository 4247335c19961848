"""The first frame, written to the terminal before Textual is loaded, which takes longer than all that it shows.

The terminal is put into its second screen, without echo; Textual goes on from there, without clearing what stands on it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from rfview.palette import Palette
from rfview.render import footer, frame
from rfview.render.layout import layout
from rfview.render.scene import Scene
from rfview.render.text import Line
from rfview.screens.opening import hints

SECOND_SCREEN, FIRST_SCREEN = "\x1b[?1049h", "\x1b[?25h\x1b[?1049l"
INPUT, OUTPUT = 0, 2        # where Textual reads and writes
HIDDEN_CURSOR = "\x1b[?25l"


class FirstFrame:
    """Holds the terminal from the first frame until Textual takes it over, or until what goes wrong before that.

    Where there is no POSIX terminal nothing is shown and nothing is held.
    """

    def __init__(self, palette: Palette, own: Mapping[str, str]):
        """own: keys of the user's."""
        self.palette, self.own = palette, own
        self._modes: list[Any] | None = None

    def __enter__(self) -> FirstFrame:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._modes is not None:
            import termios

            termios.tcsetattr(INPUT, termios.TCSANOW, self._modes)
            self._modes = None
            self._write(FIRST_SCREEN)

    @property
    def is_held(self) -> bool:
        """Say whether a frame stands on the terminal and Textual has not taken over."""
        return self._modes is not None

    def show(self, scene: Scene) -> None:
        """Write the frame of a scene."""
        if self._modes is None and not self._take():
            return
        width, height = os.get_terminal_size(OUTPUT)
        picture = as_ansi(scene, width, height, self.palette, self.own) if width and height else ""
        self._write(SECOND_SCREEN + HIDDEN_CURSOR + picture)

    def _take(self) -> bool:
        """Switch echo and lines off; return whether there is a terminal."""
        if not (os.isatty(INPUT) and os.isatty(OUTPUT)):
            return False
        try:
            import termios
        except ImportError:     # not a POSIX system
            return False
        try:
            modes = termios.tcgetattr(INPUT)
            # keys wait for Textual one by one, as they are
            as_typed = modes[0] & ~(termios.ICRNL | termios.INLCR | termios.IGNCR | termios.IXON | termios.IXOFF)
            taken = [as_typed, *modes[1:3], modes[3] & ~(termios.ECHO | termios.ICANON), *modes[4:]]
            termios.tcsetattr(INPUT, termios.TCSANOW, taken)
        except (OSError, termios.error):
            return False
        self._modes = modes
        return True

    def _write(self, text: str) -> None:
        data = text.encode()
        while data:
            data = data[os.write(OUTPUT, data) :]

    def continued(self, driver_class: type) -> type:
        """Return Textual's driver as one that takes the terminal over as it stands."""
        first = self

        class Continuing(driver_class):     # type: ignore[misc]
            """Leaves out the first switch to the second screen, which would clear it."""

            _keeps = False

            def start_application_mode(self) -> None:
                self._keeps = first.is_held
                super().start_application_mode()
                if first.is_held:       # these are what Textual is to leave behind
                    self.attrs_before, first._modes = first._modes, None
                self._keeps = False

            def write(self, data: str) -> None:
                if not (self._keeps and data == SECOND_SCREEN):
                    super().write(data)

        return Continuing


def as_ansi(scene: Scene, width: int, height: int, palette: Palette, own: Mapping[str, str]) -> str:
    """Return the main screen as text with control sequences for its places and styles."""
    scene = scene.at(note=frame.size_note(width, height))
    system = _colours()
    out = []
    for y in range(height):
        out.append(f"\x1b[{y + 1};1H" + palette.style("", "text").render(" " * width, color_system=system))
    for place in layout(width, height, scene.panel):
        lines = (footer.render_keys(hints(scene, width, own), place.width) if place.panel == "footer"
                 else frame.paint(scene, place))  # fmt: skip
        for offset, line in enumerate(lines[: place.height]):
            out.append(f"\x1b[{place.y + offset + 1};{place.x + 1}H" + _row(line, place.width, palette, system))
    return "".join(out)


def _row(line: Line, width: int, palette: Palette, system: Any) -> str:
    """Return a line, `width` cells long."""
    out = []
    for text, role in (*line.spans, (" " * width, "text")):
        out.append(palette.style(line.ground, role).render(palette.text(text[:width]), color_system=system))
        width -= len(text[:width])
    return "".join(out)


def _colours() -> Any:
    """Return how many colours the terminal has, as Rich finds it."""
    from rich.color import ColorSystem

    if os.environ.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit"):
        return ColorSystem.TRUECOLOR
    return ColorSystem.EIGHT_BIT if "256color" in os.environ.get("TERM", "") else ColorSystem.STANDARD
