"""The window of values through time: a register's lanes or a buffer's elements by cycle, navigated like a timeline."""

from __future__ import annotations

from typing import Any

from textual import events

from rfview.messages import Clicked
from rfview.render import heat
from rfview.render.text import Line, Row, fill, title
from rfview.screens import requests
from rfview.screens.windows.popup import ValuesWindow, WhyWindow
from rfview.sessions.heat.registers import LANES
from rfview.sessions.heat.strip import STEPS

PER = 8, 3          # initial cycles per column: STEPS[3]


class HeatWindow(ValuesWindow):
    """Requests a strip from the session worker whenever the cursor, the zoom or the size changes, and draws it."""

    ANSWERS = "heat"

    def __init__(self, main: Any, item: str):
        super().__init__(main)
        self.item = item
        self.zoom, self.by_write, self.is_log = PER[1], False, False
        self.lane = 0
        self.view: heat.HeatView | None = None

    def on_resize(self, event: events.Resize) -> None:
        """Request a strip for the new number of columns."""
        self.follow()

    def follow(self) -> None:
        """Request a new strip: the cursor, and with it the strip, has moved."""
        count = self.view.strip.of if self.view is not None else self.FULL
        rows = heat.cells_wanted(self.app.size.height - 2, self.glyphs, count)
        if self.view is None:
            rows = max(rows, LANES)     # a register's lanes are never joined; those that do not fit scroll
        columns = heat.columns_of(self.app.size.width)
        self.main.worker.ask_latest(requests.heat, requests.HeatQuestion(
            self.item, columns, rows, STEPS[self.zoom], self.by_write, self.lane))
        self.paint()

    def answered(self, found: Any) -> None:
        """Show the strip requested; a late answer for another item or lane is ignored."""
        question, strip, moment, cycle = found
        if question.item != self.item or question.lane != self.lane:
            return
        first = self.view is None
        self.view = heat.HeatView(strip, moment, cycle, self.lane, self.by_write, self.is_log, self.glyphs,
                                  self.strips.palette.ascii, tuple(self.main.scene.info.get("program", ())))
        if first and strip.of > 32:
            self.follow()       # the number of lanes is known now
        self.paint()

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the strip, or a note that it is being read."""
        if self.view is None:
            note = self.main.scene.message if self.main.scene.message_kind == "error" else "reading what was written"
            return [title(width, f"{self.item}", "", focus=True, right="Esc closes"),
                    *fill([Row(width).add(f" {note}", "dim").line()], width, height - 1)]
        return heat.render(self.view.at(log=self.is_log), width, height)

    def pressed(self, token: str) -> None:
        """Move in time, go to writes, zoom, change how values are shown."""
        if token in ("left", "right", "h", "H", "L", "pageup", "pagedown"):
            self.by_columns({"left": -1, "h": -1, "right": 1, "pageup": -40, "pagedown": 40, "H": -40, "L": 40}[token])
        elif token in ("s", "S"):
            self.step(token)
        elif token in (".", ","):
            self.main.worker.ask(requests.written, self.item, self.lane, token == ".")
        elif token in ("+", "=", "-"):
            self.zoom = max(0, min(len(STEPS) - 1, self.zoom + (1 if token == "-" else -1)))
            self.by_write = False
            self.follow()
        elif token == "o":
            self.by_write = not self.by_write
            self.follow()
        elif token == "l":
            self.is_log = not self.is_log
            self.paint()
        elif token == "t":
            self.main.worker.ask(requests.heat_kind, self.item)
            self.follow()
        elif token in ("g", "home", "0", "G", "end", "$"):
            self.main.worker.ask(requests.goto, "start" if token in ("g", "home", "0") else "end")
        else:
            self.of_the_focus(token)

    def of_the_focus(self, token: str) -> None:
        """Act on the focused lane: go to its last write, watch it, explain why its warp waits, copy the strip."""
        view = self.view
        if view is None:
            return
        if token == "enter":
            if view.moment.since < 0:
                self.main.say("not written so far; . goes to the next write")
                return
            self.main.worker.ask(requests.goto, view.moment.since)
            if view.moment.warp >= 0:
                self.main.change(warp=view.moment.warp, scroll=0)
            self.dismiss()
        elif token == "w":
            self.main.worker.ask(requests.toggle_watchpoint, self.place())
        elif token == "e":
            if view.moment.warp >= 0:
                self.main.change(warp=view.moment.warp, scroll=0)
            self.dismiss()
            self.main.app.push_screen(WhyWindow(self.main))
        elif token == "y":
            self.app.copy_to_clipboard("\n".join(line.plain.rstrip() for line in self.lines(*self.size_of_it())))
            self.main.say("copied the strip as text", "good")

    def size_of_it(self) -> tuple[int, int]:
        """Return the window's width and height."""
        return self.app.size.width, self.app.size.height - 2

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
            self.main.worker.ask(requests.step, by * STEPS[self.zoom])

    def move(self, by: int) -> None:
        """Focus another lane, `by` rows of the strip further down."""
        if self.view is not None:
            self.choose(self.lane + by * self.view.strip.each)

    def choose(self, lane: int) -> None:
        """Focus a lane."""
        assert self.view is not None
        self.lane = max(0, min(self.view.strip.of - 1, lane))
        self.follow()

    def on_clicked(self, message: Clicked) -> None:
        """Go to the clicked column's cycle, and focus the clicked lane."""
        message.stop()
        if self.view is None:
            return
        width, height = self.size_of_it()
        place = heat.place_at(self.view, width, height, message.x, message.y)
        if place is not None:
            cycle, self.lane = place
            self.main.worker.ask(requests.goto, cycle)
            self.follow()
