"""Windows that show a table: statistics between two places, and the past hits of a tracepoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rfview.keys import Pressed
from rfview.render import statistics
from rfview.render.text import Line, Row, cut, fill, hint_row, list_row, number, visible_from
from rfview.screens import requests
from rfview.screens.windows.popup import STEPS, Popup
from rfview.sessions.expressions.types import lanes_text
from rfview.sessions.expressions.values import value_text
from rfview.sessions.reports.statistics import Statistics
from rfview.widgets.keyed import Handlers, Words, pages

if TYPE_CHECKING:
    from rfview.screens.desk import Desk


class StatisticsWindow(Popup):
    """IPC, states, accesses and energy between two places: the start, marks, the cursor, the end."""

    ANSWERS = "statistics"
    ABOUT = "statistics"

    def __init__(self, main: Desk, ends: tuple[int, int] | None = None):
        super().__init__(main, (116, 36))
        self.statistics: Statistics | None = None
        self.fixed = ends
        self.left, self.right = self.first_choice()

    def places(self) -> list[tuple[str, int]]:
        """Return (name, cycle) of the places at which an end can be, in order of time."""
        scene = self.main.scene
        named = [("start", scene.first), *self.marks(), ("cursor", scene.cycle), ("end", scene.last)]
        return sorted(dict.fromkeys(named), key=lambda place: place[1])

    def marks(self) -> list[tuple[str, int]]:
        """Return the marks in the cycles that there are; a file of marks may be from a longer recording."""
        scene = self.main.scene
        return [(name, cycle) for name, cycle in scene.marks if scene.first <= cycle <= scene.last]

    def first_choice(self) -> tuple[str, str]:
        """Return the two marks around the cursor; with one mark, it and the cursor; with none, the start and the cursor."""
        scene, marks = self.main.scene, self.marks()
        before = [name for name, cycle in marks if cycle <= scene.cycle]
        after = [name for name, cycle in marks if cycle > scene.cycle]
        if len(marks) >= 2:
            return (before[-1], after[0]) if before and after else (marks[-2][0], marks[-1][0]) if before else (
                marks[0][0], marks[1][0])
        if marks and marks[0][1] != scene.cycle:
            return marks[0][0], "cursor"
        return ("start", "cursor") if scene.cycle > scene.first else ("start", "end")

    def ends(self) -> tuple[tuple[str, int], tuple[str, int]]:
        """Return both ends as (name, cycle)."""
        if self.fixed is not None:
            return ("cycle", self.fixed[0]), ("cycle", self.fixed[1])
        cycles = dict(self.places())
        return (self.left, cycles.get(self.left, self.main.scene.first)), (
            self.right, cycles.get(self.right, self.main.scene.cycle))

    def follow(self) -> None:
        """Request the numbers, again if an end has moved with the cursor."""
        (_, left), (_, right) = self.ends()
        if left == right:
            self.statistics = None
        elif self.statistics is None or (self.statistics.first, self.statistics.last) != tuple(sorted((left, right))):
            self.main.worker.ask(requests.statistics, left, right)
        self.paint()

    def answered(self, answer: Statistics) -> None:
        """Show the numbers requested."""
        self.statistics = answer
        self.paint()

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the table and the keys."""
        hints = self.keys.hints("left_end_back", "right_end_back", ("down", "scroll"), ("step", "step"), ("copy", "copy"),
                                "close")
        names = tuple(f"{name} {number(cycle)}" for name, cycle in self.ends())
        body = statistics.render(self.main.scene, self.statistics, (names[0], names[1]), width, height - 1, self.selected)
        return [*body, hint_row(width, hints)]

    def count(self) -> int:
        """Return the number of rows that can be scrolled."""
        return len(self.statistics.states) + len(self.statistics.counts) if self.statistics else 1

    def move_end(self, is_left: bool, by: int) -> None:
        """Move an end to the next or previous place."""
        places = [name for name, _ in self.places()]
        self.fixed = None
        name = self.left if is_left else self.right
        at = places.index(name) if name in places else 0
        name = places[max(0, min(len(places) - 1, at + by))]
        self.left, self.right = (name, self.right) if is_left else (self.left, name)
        self.follow()

    def copy_table(self, pressed: Pressed) -> None:
        """Copy the numbers."""
        if self.statistics is not None:
            from rfview.sessions.reports.statistics import as_text

            self.copy(as_text(self.statistics), "the statistics as text")

    HANDLERS: ClassVar[Handlers] = {
        "left_end_back": lambda window, pressed: window.move_end(True, -(pressed.count or 1)),
        "left_end_on": lambda window, pressed: window.move_end(True, pressed.count or 1),
        "right_end_back": lambda window, pressed: window.move_end(False, -(pressed.count or 1)),
        "right_end_on": lambda window, pressed: window.move_end(False, pressed.count or 1),
        "copy": copy_table, **STEPS, **Popup.HANDLERS,
    }
    WORDS: ClassVar[Words] = {**Popup.WORDS, "copy": "copy as text"}


class TraceWindow(Popup):
    """The past hits of a tracepoint, one per row; Enter goes there. data: the JSON form of tracing.Trace."""

    ABOUT = "hits"

    def __init__(self, main: Desk, data: dict[str, Any]):
        super().__init__(main, (min(116, 20 + 25 * len(data["expressions"])), 30))
        self.data = data
        cycles = data["cycles"]
        self.selected = max(0, sum(cycle <= main.scene.cycle for cycle in cycles) - 1)
        self.order = list(range(len(cycles)))
        self.sorted_by = 0

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the visible rows and the keys."""
        data = self.data
        hits = f"{len(data['cycles']):,}{'+' if data['more'] else ''} hits"
        what = f"of {data['at']}" if data["at"] else "every change"
        heading = Row(width, "band").add("▌", "title").add("TRACE", "title").add(f"  {hits} {what}", "tinfo")
        names = Row(width).right(14, "cycle", "title")
        ends = self.columns(width)
        for name, start in zip(data["expressions"], ends, strict=True):
            names.at(start, cut(name, max(8, (width - 18) // len(ends)) - 1), "title")
        rows = height - 3
        first = visible_from(self.selected, len(self.order), rows)
        lines = [self.row(width, index, ends, at == self.selected)
                 for at, index in enumerate(self.order) if first <= at < first + rows]
        hints = self.keys.hints(("open", "go there"), "sort", ("copy", "copy"), "close")
        return [heading.line(), names.line(), *fill(lines, width, rows), hint_row(width, hints)]

    def columns(self, width: int) -> list[int]:
        """Return the cell at which each expression's column begins."""
        count = max(1, len(self.data["expressions"]))
        return [17 + index * max(8, (width - 18) // count) for index in range(count)]

    def row(self, width: int, index: int, starts: list[int], chosen: bool) -> Line:
        """Return the row of one hit."""
        cycle = self.data["cycles"][index]
        row = list_row(width, chosen)
        row.right(14, number(cycle), "bold" if cycle == self.main.scene.cycle else "text")
        for start, value in zip(starts, self.data["rows"][index], strict=True):
            room = max(8, (width - 18) // len(starts)) - 1
            row.at(start, cut(lanes_text(value, room), room), "text")
        return row.line()

    def count(self) -> int:
        """Return the number of hits."""
        return len(self.order)

    def open(self, pressed: Pressed) -> None:
        """Go to the chosen hit."""
        if self.order:
            self.main.worker.ask(requests.goto, self.data["cycles"][self.order[self.selected]])
            self.dismiss()

    def sort(self, pressed: Pressed) -> None:
        """Sort by the next column."""
        self.sorted_by = (self.sorted_by + 1) % (1 + len(self.data["expressions"]))
        key = self.sorted_by - 1
        self.order = sorted(range(len(self.order)), key=lambda index: (
            0 if key < 0 else self.data["rows"][index][key], self.data["cycles"][index]))
        self.paint()

    def copy_table(self, pressed: Pressed) -> None:
        """Copy the hits in the order shown."""
        head = "\t".join(["cycle", *self.data["expressions"]])
        rows = ["\t".join([str(self.data["cycles"][index]), *map(value_text, self.data["rows"][index])])
                for index in self.order]
        self.copy("\n".join([head, *rows]), "the table, tab-separated")

    HANDLERS: ClassVar[Handlers] = {"open": open, "sort": sort, "copy": copy_table, **Popup.HANDLERS, **pages(20)}
    WORDS: ClassVar[Words] = {**Popup.WORDS, "open": "go to the hit", "copy": "copy, tab-separated"}
