"""The start screen as lines: four lists, what Enter does, and the keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rfview.engine import defaults
from rfview.keys import Filter, Keys
from rfview.render.text import BARS, Line, Row, bar_rows, cut, fill, hint_row, stretched, title
from rfview.start.items import Item

LISTS = ("RECORDINGS", "LESSONS", "KERNELS", "YOUR OWN")       # in Tab order
INFO = {"RECORDINGS": "{}, newest first", "LESSONS": "five minutes each", "KERNELS": "{} bundled",
        "YOUR OWN": "what rfview runs, and what is here"}
HINTS = (("up down", "choose", 1), "next_list", ("open", "open"), "turn_design",
         ("search", "search all"), "help", ("quit", "leave"))
PROMISE = "no GPU, compiler or toolkit needed"
WIDE, HIGH = 100, 30        # columns and rows from which recordings have three rows and two curves
NAME_CELLS, OWN_CELLS = 18, 26     # widths of the names of kernels and of programs
CURVE = 36
LESSON_ROWS = 11            # a title and ten lessons
PREVIEW = 5                 # rows for the chosen recording's curves, below the list
TALL = (58, 10)             # columns and rows from which a recording has three rows


@dataclass
class Page:
    """What is shown. lists: by name. chosen: number of the chosen item in each. focus: the list that has the keys."""

    lists: dict[str, list[Item]] = field(default_factory=lambda: {name: [] for name in LISTS})
    chosen: dict[str, int] = field(default_factory=lambda: dict.fromkeys(LISTS, 0))
    focus: str = LISTS[0]
    design: str = defaults.DESIGN       # as on the command line
    filter: Filter = field(default_factory=Filter)
    message: str = ""
    kind: str = "dim"

    def shown(self, name: str) -> list[Item]:
        """Return the items of a list that pass the filter."""
        return self.filter.ranked(self.lists[name], lambda item: item.texts)

    @property
    def item(self) -> Item | None:
        """The chosen item."""
        left = self.shown(self.focus)
        return left[min(self.chosen[self.focus], len(left) - 1)] if left else None


def places(width: int, height: int) -> dict[str, tuple[int, int, int, int]]:
    """Return x, y, width and height of each list on a screen of this size."""
    top, bottom = 2, height - 2
    room = bottom - top
    left = (width * 62) // 120
    if width >= WIDE and height >= HIGH:
        upper = max(15, room // 2)
        lessons = min(LESSON_ROWS, upper)
        return {"RECORDINGS": (0, top, left, upper), "LESSONS": (left + 2, top, width - left - 2, lessons),
                "YOUR OWN": (left + 2, top + lessons, width - left - 2, upper - lessons),
                "KERNELS": (0, top + upper, width, room - upper)}
    first = max(2, min(6, room // 4))
    last = max(2, min(6, room // 4))
    middle, half = room - first - last, width // 2
    return {"RECORDINGS": (0, top, width, first), "LESSONS": (0, top + first, half - 1, middle),
            "KERNELS": (half, top + first, width - half, middle), "YOUR OWN": (0, top + first + middle, width, last)}


def lines(page: Page, width: int, height: int, keys: Keys) -> list[Line]:
    """Return the whole screen.

     rfview  a time-travelling visual debugger for GPU register files     no GPU, compiler or toolkit needed
     New here?  Enter opens a recorded run; the first lesson takes five minutes.
    ▌RECORDINGS  4, newest first     issued · lost to the register file     LESSONS  five minutes each
    ▸1 gemm-hrf.rfs            4,002 cycles  ▁▇▃▅▄▃▄▄▅▄▄▄▄▄▄▄▄▃▃▄▄▄▄▆▄▃▄▇     ✓ Why did this warp stop?   7 pages
       gemm · hrf gto             at 2,001    ▁▅▅▅▆▇▃▃▆▆▅▅▅▅▆▇▆▅▆▆▆▆▆▆▆▂▃▆
       2 minutes ago
    """
    head = Row(width, "band").add(" rfview", "title")
    head.add("  a time-travelling visual debugger for GPU register files", "tinfo")
    if width - head.x > len(PROMISE) + 3:
        head.right(width - 1, PROMISE, "tinfo")
    if page.filter.shown:
        hello = Row(width).add(f" {page.filter.shown}", "bold")
    else:
        enter, tab = keys.first("open"), keys.first("next_list")
        hello = Row(width).add(" New here?  ", "text").add(enter, "bold").add(" opens a recorded run;  ", "text")
        hello.add(f"{tab} {enter}", "bold").add(" takes the first lesson.", "text")
    boxes = places(width, height)
    body = {name: _box(page, name, box[2], box[3]) for name, box in boxes.items()}
    rows = [head.line(), hello.line()]
    for y in range(2, height - 2):
        row = Row(width)
        for name in sorted(boxes, key=lambda name: boxes[name][0]):
            x, top, _, size = boxes[name]
            if top <= y < top + size:
                row.to(x)
                row.cells(_grounded(body[name][y - top]))
        rows.append(row.line())
    item = page.item
    message = page.message or (item.effect if item is not None else "nothing matches these letters")
    rows.append(Row(width).add(" ").add(cut(message, width - 2), page.kind if page.message else "dim").line())
    rows.append(hint_row(width, keys.hints(*HINTS)))
    return fill(rows, width, height)


def _grounded(line: Line) -> list[tuple[str, str]]:
    """Return a line's cells with its background as part of their roles: another list continues in the same row."""
    ground = f"~{line.ground}" if line.ground else ""
    return [(char, f"{role}{ground}") for text, role in line.spans for char in text]


def number_at(page: Page, name: str, width: int, height: int, y: int) -> int | None:
    """Return the item in row y of a list, counted from its title; None for the title and blank rows."""
    first, each, items = _window(page, name, width, height)
    number = first + (y - 1) // each
    return number if y > 0 and number < len(items) else None


def _window(page: Page, name: str, width: int, height: int) -> tuple[int, int, list[Item]]:
    """Return the number of the first visible item, the rows per item, and all items that pass the filter."""
    items = page.shown(name)
    each = 3 if name == "RECORDINGS" and width >= TALL[0] and height >= TALL[1] else 1
    room = max(1, (height - 1) // each)
    chosen = min(page.chosen[name], len(items) - 1)
    return max(0, min(chosen - room // 2, len(items) - room)), each, items


def _box(page: Page, name: str, width: int, height: int) -> list[Line]:
    """Return one list: its title, and as many items around the chosen one as fit."""
    first, each, items = _window(page, name, width, height)
    focus, is_tall = page.focus == name, each > 1
    info = f"{INFO[name].format(len(items))}{', on ' + page.design if name == 'KERNELS' else ''}"
    right = "issued · lost to the register file" if is_tall and width - len(info) > 54 else ""
    head = title(width, name, info, focus=focus, right=right)
    room, chosen = max(1, (height - 1) // each), min(page.chosen[name], len(items) - 1)
    rows = [head]
    for number in range(first, min(len(items), first + room)):
        rows += _item(name, items[number], number, width, is_chosen=number == chosen and focus, is_tall=is_tall)
    if is_tall and chosen >= 0 and height - len(rows) > PREVIEW + 1:
        rows = [*fill(rows, width, height - PREVIEW - 1), *_preview(items[chosen], width)]
    return fill(rows, width, height)


def _preview(item: Item, width: int) -> list[Line]:
    """Return a recording's curves over the whole width: its issue rate, and below it the share lost to the register file."""
    if not item.issued:
        return []
    head = Row(width).add(f" {item.name}: ", "faint").add("issued", "fg:issued")
    head.add(" and ", "faint").add("lost to the register file", "fg:register_file")
    top = max(item.issued) or 1.0
    bars = bar_rows((rate / top for rate in stretched(item.issued, width - 2)), PREVIEW - 2)
    last = Row(width).to(1).cells(_curve(item.lost, width - 2, "fg:register_file", 1.0))
    return [head.line(), *(Row(width).to(1).add(bar, "fg:issued").line() for bar in bars), last.line()]


def _item(name: str, item: Item, number: int, width: int, *, is_chosen: bool, is_tall: bool) -> list[Line]:
    """Return the rows of one item."""
    ground = "focus" if is_chosen else ""
    row = Row(width, ground).add("▸" if is_chosen else " ", "bold")
    if name == "RECORDINGS":
        row.add(f"{number + 1} " if number < 9 else "  ", "dim")
        curve = max(0, min(CURVE, width - 44)) if is_tall else 0
        end = width - curve - 2 if curve else width - 1
        if not is_tall:
            (what, where), last = item.more[0], item.right or item.more[1][0]
            free = width - (20 + len(where) if where else 1 + len(last)) - 32     # up to what is at the right
            row.add(cut(item.name, 24), "bold").at(30, cut(what, max(0, free)), "text")
            row.right(width - 20, where, "dim").right(width - 1, last, "dim")
            return [row.line()]
        row.add(cut(item.name, 24), "bold").right(end, item.right, "text").to(end + 1)
        rows = [row.cells(_curve(item.issued, curve, "fg:issued")).line()]
        for index, (left, right) in enumerate(item.more):
            row = Row(width, ground if not index else "").to(3)
            row.add(cut(left, (end - len(right) - 4) if item.lost or right else width - 4), "dim" if index else "text")
            row.right(end, right, "dim")
            if not index and item.lost:
                row.to(end + 1).cells(_curve(item.lost, curve, "fg:register_file", 1.0))
            rows.append(row.line())
        return rows
    if name == "LESSONS":
        row.add("✓ " if item.is_done else "  ", "good").add(cut(item.name, width - 5), "dim" if item.is_done else "text")
        fits = row.x + len(item.right) + 2 < width      # a title tells more than its number of pages
        return [row.right(width - 1, item.right if fits else "", "dim").line()]
    long = OWN_CELLS if name == "YOUR OWN" else NAME_CELLS
    row.add(" ").add(item.name, "bold").to(long + 2).add(" ").add(cut(item.text, width - row.x - 1), "text")
    return [row.line()]


def _curve(values: Sequence[float], width: int, role: str, top: float = 0.0) -> list[tuple[str, str]]:
    """Return bars of values, as high as the highest or `top`."""
    if not values or not width:
        return []
    top = top or max(values) or 1.0
    levels = [max(1 if value > 0.005 else 0, round(value / top * 8)) for value in stretched(values, width)]
    return [(BARS[min(8, level)], role) for level in levels]
