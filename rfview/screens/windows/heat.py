"""The window of values through time: a register's lanes or a buffer's elements by cycle, navigated like a timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual import events

from rfview.keys import Pressed
from rfview.render import heat
from rfview.render.grid import HeatView
from rfview.render.text import Line
from rfview.screens import requests
from rfview.screens.windows.grid import FULL, GridWindow
from rfview.screens.windows.why import WhyWindow
from rfview.sessions.heat.registers import LANES
from rfview.sessions.heat.strip import STEPS as SCALES
from rfview.widgets.keyed import Handler, Handlers, Words

if TYPE_CHECKING:
    from rfview.screens.desk import Desk

ZOOM = 3            # at first a column is SCALES[3] = 10 cycles


def columns(by: int) -> Handler:
    """Go forward (by > 0) or back by a number of columns; a count repeats it."""
    return lambda window, pressed: window.by_columns(by * (pressed.count or 1))


class HeatWindow(GridWindow):
    """Requests a strip from the session worker whenever the cursor, the zoom or the size changes, and draws it."""

    ABOUT = "heat"

    ANSWERS = "heat"
    READING = "reading what was written"
    view: HeatView | None

    def __init__(self, main: Desk, item: str):
        super().__init__(main, item)
        self.item = item
        self.zoom, self.by_write, self.is_log = ZOOM, False, False
        self.lane = 0

    def on_resize(self, event: events.Resize) -> None:
        """Request a strip for the new number of columns."""
        self.follow()

    def follow(self) -> None:
        """Request a new strip: the cursor, and with it the strip, has moved."""
        width, height = self.room
        rows = heat.cells_wanted(height, self.glyphs, self.view.strip.of if self.view is not None else FULL)
        if self.view is None:
            rows = max(rows, LANES)     # a register's lanes are never joined; those that do not fit scroll
        columns = heat.columns_of(width)
        self.main.worker.ask_latest(requests.heat, requests.HeatQuestion(
            self.item, columns, rows, SCALES[self.zoom], self.by_write, self.lane))
        self.paint()

    def answered(self, answer: Any) -> None:
        """Show the strip requested; a late answer for another item or lane is ignored."""
        question, strip, moment, cycle = answer
        if question.item != self.item or question.lane != self.lane:
            return
        first = self.view is None
        self.view = HeatView(strip, moment, cycle, self.lane, self.by_write, program=self.main.scene.info.program,
                             glyphs=self.glyphs, ascii=self.strips.palette.ascii)
        if first and strip.of > LANES:
            self.follow()       # the number of lanes is known now
        self.paint()

    def painted(self, width: int, height: int) -> list[Line]:
        """Return the strip's lines."""
        assert self.view is not None
        return heat.render(self.view.at(log=self.is_log), width, height, self.keys)

    def change_zoom(self, by: int) -> None:
        """Show more (by > 0) or fewer cycles in a column."""
        self.zoom = max(0, min(len(SCALES) - 1, self.zoom + by))
        self.by_write = False
        self.follow()

    def switch_columns(self, pressed: Pressed) -> None:
        """Make a column a write, or a stretch of cycles."""
        self.by_write = not self.by_write
        self.follow()

    def switch_scale(self, pressed: Pressed) -> None:
        """Make colours logarithmic, or linear."""
        self.is_log = not self.is_log
        self.paint()

    def next_type(self, pressed: Pressed) -> None:
        """Read the words as the next type."""
        self.main.worker.ask(requests.heat_kind, self.item)
        self.follow()

    def with_lane(self, pressed: Pressed) -> None:
        """Go to the focused lane's last write, watch it, explain why its warp waits, or copy the strip."""
        view = self.view
        if view is None:
            return
        if pressed.action == "watch_here":
            self.main.worker.ask(requests.toggle_watchpoint, self.place())
        elif pressed.action == "copy":
            self.copy("\n".join(line.plain.rstrip() for line in self.lines(*self.room)), "the strip as text")
        elif pressed.action == "open" and view.moment.since < 0:
            after = self.keys.first("next_change")
            self.main.say("not written so far" + (f"; {after} goes to the next write" if after else ""))
        else:
            self.leave(view.moment.since if pressed.action == "open" else -1, view.moment.warp)
            if pressed.action == "why":
                self.main.app.push_screen(WhyWindow(self.main))

    def place(self) -> str:
        """Return the focused lane or element as an expression."""
        assert self.view is not None
        if "[" in self.view.strip.item:
            return f"mem[{self.view.strip.item.partition('[')[0]} + {self.first_byte()}]"
        return f"{self.view.strip.item}[{self.lane}]"

    def first_byte(self) -> int:
        """Return the byte offset of the focused element in its buffer."""
        assert self.view is not None
        size = int("".join(filter(str.isdigit, self.view.strip.kind)) or 32) // 8
        return (self.lane + int(self.view.strip.rows[0])) * size

    def by_columns(self, by: int) -> None:
        """Go forward (by > 0) or back by columns."""
        if self.view is None:
            return
        strip = self.view.strip
        here = strip.column_of(self.main.scene.cycle)
        if self.by_write and here >= 0:
            at = max(0, min(len(strip.edges) - 2, here + by))
            self.main.worker.ask(requests.goto, int(strip.edges[at]))
        else:
            self.main.worker.ask_sum(requests.step, by * SCALES[self.zoom])

    def move(self, by: int) -> None:
        """Focus another lane, `by` rows of the strip further down."""
        if self.view is not None:
            self.choose(self.lane + by * self.view.strip.each)

    def choose(self, lane: int) -> None:
        """Focus a lane."""
        assert self.view is not None
        self.lane = max(0, min(self.view.strip.of - 1, lane))
        self.follow()

    def choose_at(self, x: int, y: int) -> None:
        """Go to the cycle of the column drawn at a place, and focus the lane."""
        assert self.view is not None
        if (place := heat.place_at(self.view, *self.room, x, y)) is not None:
            cycle, self.lane = place
            self.main.worker.ask(requests.goto, cycle)
            self.follow()

    HANDLERS: ClassVar[Handlers] = {
        "column_back": columns(-1), "column_on": columns(1), "columns_back": columns(-40), "columns_on": columns(40),
        **GridWindow.HANDLERS,
        "next_change": lambda window, pressed: window.main.worker.ask(requests.written, window.item, window.lane, True),
        "last_change": lambda window, pressed: window.main.worker.ask(requests.written, window.item, window.lane, False),
        "zoom_in": lambda window, pressed: window.change_zoom(-1), "zoom_out": lambda window, pressed: window.change_zoom(1),
        "by_write": switch_columns, "log_scale": switch_scale, "value_type": next_type,
        **dict.fromkeys(("open", "watch_here", "why", "copy"), with_lane),
    }
    WORDS: ClassVar[Words] = {
        **GridWindow.WORDS, "down": "the next / previous lane or element",
        "next_change": "the next / last write of the lane", "zoom_in": "fewer / more cycles in a column",
        "open": "go to the write of the value at the cursor",
        "watch_here": "watch the lane", "why": "why the warp that wrote it waits", "copy": "copy as text",
    }
