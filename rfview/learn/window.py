"""The window of a guided tour, at the foot of the main screen: some keys answer and turn pages, the others still work."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from rfview import line_history
from rfview.actions import MAIN
from rfview.engine.errors import InputError
from rfview.keys import KeyReader, Pressed
from rfview.learn.page import has_passed, page_lines
from rfview.learn.tour import Lesson, Shown, Tour
from rfview.render.text import Line, fill
from rfview.screens import requests
from rfview.screens.handlers import focus
from rfview.screens.windows.popup import Popup
from rfview.widgets.keyed import Handlers, passed_on
from rfview.widgets.window import WindowView

if TYPE_CHECKING:
    from rfview.screens.desk import Desk

LAST = 1 << 30      # as the first row shown: scrolls to the end of the page
# actions that need a prompt or leave the screen: not available while the window has the keys
NOT_HERE = frozenset({"command", "search", "palette", "quit", "close", "open"})


class TourWindow(Popup):
    """A tour on top of the main screen; the lesson itself runs in the session worker's thread."""

    EDGE = 0    # as wide as the screen, whose lower part it is

    def __init__(self, main: Desk, tour: Tour, begin: Callable[[Tour], None] | None = None):
        """begin: takes the tour after this one, when the reader wants it and this screen is closed; None offers none."""
        super().__init__(main, (400, 12))
        self.tour, self.begin = tour, begin
        self.after = _tour_after(tour) if begin is not None else None
        self.lesson: Lesson | None = None
        self.shown: Shown | None = None
        self.painted: Shown | None = None
        self.chosen = 0
        self.seen = False
        self.message = ""
        self.failure = ""
        self.top = 0            # the first row of the page's body that is shown, if it does not fit
        self.room = 0           # rows of the body that are shown

    def on_mount(self) -> None:
        self.styles.align = ("center", "bottom")
        self.styles.background = "transparent"
        self.turn(0)
        super().on_mount()

    def turn(self, page: int) -> None:
        """Request a page from the session worker."""
        self.main.worker.ask(requests.call, lambda session: self._enter(session, page))

    def _enter(self, session: Any, page: int) -> None:
        """Enter a page, in the session worker's thread."""
        try:
            if self.lesson is None:
                self.lesson = Lesson(self.tour, session)
            self.shown = self.lesson.enter(page)
        except InputError as error:
            self.failure = str(error)

    def follow(self) -> None:
        """Show the page that was entered, or the reader's progress towards the answer."""
        if self.failure:
            self.dismiss()
            self.main.say(self.failure, "error")
            return
        if self.shown is not None and self.shown is not self.painted:
            self.keys.reset()       # a count begun on the page before
            self.painted, self.chosen, self.seen, self.message, self.top = self.shown, 0, False, "", 0
            if self.shown.number == self.shown.count:
                line_history.LineHistory(line_history.path("lessons")).add(self.tour.name)     # for the start screen
            focus.give_keys(self.main, self.shown.panel)
            if self.shown.warp >= 0:
                focus.choose_warp(self.main, self.shown.warp)
        self.paint()

    def cycle(self) -> int:
        """Return the cycle to paint: once reached, the answer stays visible wherever the reader steps."""
        assert self.shown is not None
        here = int(self.main.scene.cycle)
        if not self.seen and self.chosen and has_passed(self.shown, here):
            self.seen, self.top = True, LAST
        return self.shown.target if self.seen else here

    def paint(self) -> None:
        """Fit the window's height to the page and paint it; does nothing before the window exists."""
        if not self.query(WindowView):
            return
        if self.painted is not None:
            width = self.app.size.width
            lines = page_lines(*self._facts(width))
            rows = self.app.size.height
            self.wanted = (width, min(len(lines), max(rows - 6, rows * 2 // 3)))
            self.main.cover(self.wanted[1])
        super().paint()

    def on_unmount(self) -> None:
        self.main.cover(0)

    def _facts(self, width: int) -> tuple[Shown, str, int, int, int, KeyReader, str, str]:
        """Return what the page is painted from."""
        assert self.painted is not None
        return (self.painted, self.tour.title, width, self.cycle(), self.chosen, self.keys, self.message,
                self.after.name if self.after is not None else "")

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the page; if it does not fit, its head and keys stay in place, and the rest can be paged through."""
        if self.painted is None:
            return fill([], width, height)
        facts = self._facts(width)
        lines = page_lines(*facts)
        if len(lines) <= height:
            self.top = self.room = 0
            return lines
        body = lines[1:-2]      # without the blank row above the keys
        self.room = max(1, height - 2)
        if self.top == LAST:    # a new answer is shown from its beginning
            answer = next((place for place, line in enumerate(body) if line.plain.startswith(" =")), len(body))
            self.top = answer if self.seen else len(body)
        self.top = max(0, min(self.top, len(body) - self.room))
        is_end = self.top + self.room >= len(body)
        foot = page_lines(*facts, more="previous_page" if is_end else "next_page")[-1]
        return [lines[0], *body[self.top : self.top + self.room], foot]

    @property
    def shown_message(self) -> str:
        """The message in the last row."""
        return self.message

    def say(self, text: str, kind: str = "info") -> None:
        """Show a message in the last row: the main screen's event row is below this window."""
        self.message = text
        self.paint()

    def key(self, key: str, character: str | None) -> None:
        """Take a key, once there is a page."""
        if self.painted is not None:
            super().key(key, character)

    def filtered(self, token: str) -> bool:
        """Take a digit as the reader's prediction, while one is wanted."""
        assert self.painted is not None
        if is_choice := token.isdecimal() and bool(self.painted.question) and not self.chosen:
            self._choose(int(token))
        return is_choice

    def leave(self, pressed: Pressed) -> None:
        """Close the window; its run stays."""
        self.dismiss()
        self.main.say(f"left the tour; this is its run, all keys work: {self.main.scene.key('help')} help, "
                      f"{self.main.scene.key('quit')} quits (rfview learn {self.tour.name})")

    def page_before(self, pressed: Pressed) -> None:
        """Turn back."""
        assert self.painted is not None
        if self.painted.number > 1:
            self.turn(self.painted.number - 2)

    def scroll_page(self, by: int) -> None:
        """Show the next part of a page that does not fit, or the previous one."""
        self.top += by * self.room
        self.paint()

    def _choose(self, number: int) -> None:
        """Store the reader's prediction."""
        assert self.painted is not None
        if 1 <= number <= len(self.painted.choices):
            self.chosen, self.message, self.top = number, "", LAST
        else:
            self.message = f"1 to {len(self.painted.choices)}"
        self.paint()

    def on(self, pressed: Pressed) -> None:
        """Jump to the answer, or turn the page."""
        assert self.painted is not None
        if self.painted.question and not self.chosen:
            self.message = "first your prediction"
            self.paint()
        elif self.painted.question and not self.seen:
            self.main.worker.ask(requests.goto, self.painted.target)
        elif self.painted.number < self.painted.count:
            self.turn(self.painted.number)
        elif self.after is not None and self.begin is not None:
            self.begin(self.after)
            self.main.leave()
        else:
            self.dismiss()
            key = self.main.scene.key("quit")
            self.main.say(f"end of the tour; this is its run: continue as you like, {key} quits", "good")

    HANDLERS: ClassVar[Handlers] = {
        **passed_on(*(name for name in MAIN if name not in NOT_HERE)),
        "open": on, "page_before": page_before, "close": leave, "quit": leave,
        "next_page": lambda window, pressed: window.scroll_page(1),
        "previous_page": lambda window, pressed: window.scroll_page(-1),
    }


def _tour_after(tour: Tour) -> Tour | None:
    """Return the tour after another, None after the last."""
    from rfview.learn.tours import TOURS    # imports every tour

    names = list(TOURS)
    after = names[names.index(tour.name) + 1 :] if tour.name in names else []
    return TOURS[after[0]] if after else None


def run_tour(tour: Tour, *, ascii_only: bool = False, keymap: dict[str, str] | None = None) -> int:
    """Show a tour in the terminal, and those after it as long as the reader goes on; return the exit code."""
    from rfview.app import run_app
    from rfview.sessions.targets import open_bundled

    wanted = [tour]

    def begin(main: Desk) -> None:
        main.app.push_screen(TourWindow(main, tour, wanted.append))

    code = 0
    while wanted and not code:
        tour = wanted.pop()
        code = run_app(open_bundled(tour.recording), title=tour.title, ascii_only=ascii_only, target=str(tour.recording),
                       keymap=keymap, begin=begin)
    return code
