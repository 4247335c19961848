"""The WATCHES panel: what is watched, before and now, and its last cycles as a small plot with its scale."""

from __future__ import annotations

import numpy as np

from rfview.render.panel import LEFT, REST, RIGHT, Content, Grant, Panel, Shape, Spot
from rfview.render.scene import RATE_WINDOW, Scene, Watch
from rfview.render.text import BARS, Line, Row, cut, fill, list_row, number, visible_from
from rfview.render.warps import run_cells

ITEM, KIND, VALUE = 17, 4, 11       # cells of the watched item, its type, a value
WIDE = 70                           # columns from which the previous value is shown, too
MOST = 64                           # cells of a plot


def watches(scene: Scene) -> list[Watch]:
    """Return the watched items, in the order in which they were added."""
    return [point.watch for point in scene.breakpoints if point.watch is not None]


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return the panel.

     WATCHES                      before        now  last 1,024 cycles
    ▸w12.R17[0]      f32          0.4209     0.4216  ▆▆▆▆▆▆▆▂▂▂▂▂▂▂█  0.41 to 0.64
     rf.buffer[0].used                13         14  ▁▂▃▅▆▇█▁▂▃▄▅▆▇█     0 to 19
     w31.state                  wb_drain   wb_drain  █w─█↓━━━━━━━━━━

    A bar is the mean of a stretch, scaled from the least value to the greatest; of several lanes, lane 0 is shown. For a
    state, it is the most common one of the stretch. Underlined: changed in this cycle. Enter lists them all, `,` and `.`
    go to the chosen one's last and next change.
    """
    focus, watched = scene.panel == "watches", watches(scene)
    left = 1 + ITEM + KIND
    now_at = left + VALUE * (1 + (width >= WIDE))
    head = Row(width, "band").add("▌" if focus else " ", "title").add("WATCHES", "title")
    if watched:
        head.right(now_at - VALUE, "before" if width >= WIDE else "", "tinfo").right(now_at, "now", "tinfo")
        head.at(now_at + 2, f"last {number(RATE_WINDOW)} cycles", "tinfo")
    lines = [head.line()]
    if not watched:
        none = (f"nothing is watched{scene.keys.tail('watch_here', 'watches the thing in focus')},",
                f":watch EXPRESSION any other{scene.keys.tail('watches', 'lists what is watched')}")
        lines += [Row(width).add(f" {text}", "dim").line() for text in none]
    first = visible_from(min(scene.watch, len(watched) - 1), len(watched), max(1, height - 1))
    for index, watch in enumerate(watched[first : first + height - 1], first):
        chosen = focus and index == scene.watch
        row = list_row(width, chosen)
        row.add(cut(watch.item, ITEM + (0 if watch.kind else KIND) - 1), "text").at(1 + ITEM, watch.kind, "dim")
        if width >= WIDE:
            row.right(now_at - VALUE, short_value(watch.before, watch), "dim")
        row.right(now_at, short_value(watch.now, watch), "changed" if watch.before != watch.now else "text").to(now_at + 2)
        lines.append(plot(row, scene, watch).line())
    return fill(lines, width, height)


def short_value(text: str, watch: Watch) -> str:
    """Return a value cut to its cells; of a register, the first lane."""
    return cut(text.partition(" ")[0] if watch.kind else text, VALUE - 1)


def plot(row: Row, scene: Scene, watch: Watch) -> Row:
    """Append a plot of a watch's last cycles, in the cells that are left but at most MOST, and its scale."""
    scale = f"  {watch.low} to {watch.high}" if watch.low != watch.high else ""
    cells = min(MOST, len(watch.last), row.width - row.x - len(scale) - 1)
    if cells < 4:
        return row
    parts = [np.array(part) for part in np.array_split(np.array(watch.last), cells)]
    if watch.is_state:
        return row.cells(run_cells(scene, [int(part[-1]) for part in parts], now_last=True))
    known = np.array([part.mean() for part in parts])
    low, high = np.nanmin(known), np.nanmax(known)
    levels = np.nan_to_num(1 + np.rint(7 * (known - low) / (high - low or 1.0)), nan=0.0).astype(int)
    return row.cells((BARS[level], "p:fast") for level in levels.tolist()).add(scale, "dim")


def chosen_item(scene: Scene, count: int | None) -> str:
    """Return the chosen item, else the focused warp's state."""
    watched = watches(scene)
    return watched[min(scene.watch, len(watched) - 1)].item if watched else f"w{scene.warp}.state"


def _rows(content: Content) -> int:
    """Return the rows that all watches take, 0 without any."""
    return 1 + content.watches if content.watches else 0


PANEL = Panel(
    name="watches", title="WATCHES", paint=render, enter="watches", item=chosen_item,
    move=lambda scene, by: {"watch": max(0, min(len(watches(scene)) - 1, scene.watch + by))},
    spots={
        Shape.NORMAL: Spot(LEFT, 3, (Grant(3, lambda content: _rows(content) if content.width >= 160 else 0),)),
        Shape.WIDE: Spot(RIGHT, 5, (Grant(2, lambda content: min(6, _rows(content))),)),
        Shape.TALL: Spot(LEFT, 3, (Grant(9, REST),)),
    },
    source="our assumption: the window of IPC and STALLS; a register's type is how its words read",
    columns=(
        ("before, now", "the value in the previous cycle and in this one, a register's in the type of its words",
         "our types"),
        ("plot", "the mean of each interval of the last 1,024 cycles, from the least to the greatest", "our assumption"),
    ),
)
