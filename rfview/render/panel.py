"""What a panel is: its painter, its place on each shape of screen, what is where in it, what its keys do, its sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple

from rfview.render.scene import Scene
from rfview.render.text import Line

Painter = Callable[[Scene, int, int], list[Line]]       # (scene, width, height) -> exactly `height` lines
Facts = Mapping[str, object]                            # fields of the view, with new values

LEFT, RIGHT = 0, 1
REST = 1 << 20      # rows: all that are left


class Shape(Enum):
    """The shapes of screens; render/layout.py says which one a size has."""

    NARROW, MEDIUM, LOW, NORMAL, WIDE, TALL = range(6)


class Place(NamedTuple):
    """A panel's rectangle in cells."""

    panel: str
    x: int
    y: int
    width: int
    height: int


class Content(NamedTuple):
    """What of a run decides how much room panels need.

    slots: warp slots that the run can fill. lens: columns that the design's lens would fill. watches: items watched.
    width: of the screen.
    """

    slots: int = 48
    lens: int = 0
    watches: int = 0
    width: int = 0


@dataclass(frozen=True)
class Grant:
    """Rows for a panel. In a column, grants are made in the order of their ranks, from 1, as long as rows are left.

    rows: the panel has at most so many after it; a function of the content if they depend on it. whole: all of them, or
    none. leaves: rows that it leaves to later grants. halves: it takes at most half of what is left. A panel that the first
    of its grants has not shown gets no others.
    """

    rank: int
    rows: int | Callable[[Content], int]
    whole: bool = False
    leaves: int = 0
    halves: bool = False


@dataclass(frozen=True)
class Spot:
    """A panel's place on one shape of screen: its column, its order in it from the top, and its grants.

    beside: it is to the right of the panel above it, in the same rows, with about so many cells of the column's width.
    """

    column: int
    order: int
    grants: tuple[Grant, ...] = ()
    beside: int = 0


class Hit(NamedTuple):
    """What a click on a panel means: new facts of the view, a cycle to go to, a warp to focus.

    single, double: what else a click and a double click do, an action and its argument; "": nothing.
    """

    view: Facts = MappingProxyType({})
    cycle: int | None = None
    warp: int | None = None
    single: tuple[str, str] = ("", "")
    double: tuple[str, str] = ("zoom", "")
    takes_focus: bool = True


def next_warp(scene: Scene, by: int) -> Facts:
    """Choose a warp further down (by > 0) or up: even ones first, then odd ones, as WARPS lists them."""
    count = scene.now.num_warps if scene.now else 1
    order = [*range(0, count, 2), *range(1, count, 2)]
    return {"warp": order[max(0, min(count - 1, order.index(scene.warp) + by))], "scroll": 0, "line": -1}


class About(NamedTuple):
    """What `K` and `rfview help` say of a panel.

    paint: whose docstring explains how to read it. source, columns: of what it shows; (a part of it, its explanation, its
    source) each.
    """

    paint: Callable[..., object]
    source: str
    columns: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One panel, an object in its painter's file; render/panels.py lists them all.

    paint: its painter, whose docstring explains how to read it. title: "" for rows that cannot have the focus.
    source, columns: as in About. of_machine_code: what is said instead in a run of machine code, if that differs.
    spots: where it is, by shape; on other shapes Tab with `z`, Alt and a digit, and `:panel NAME` show it. is_alone: it
    takes the whole screen below the overview instead.

    at(scene, place, x, y): what is there, relative to the place; move(scene, by): what j and k choose; steps: actions that
    they do instead. enter: the action of Enter. item(scene, count): the focused item as an expression; count: typed before.
    values: the item has values through time. warp(scene): whose reasons `e` explains, None for the focused one.
    line(scene): the source line that breakpoints and runs go to, None for CODE's cursor.
    hints: the footer's actions, () for the general ones. is_axis: time runs across it, and the wheel steps.
    columns_of(width): columns of time that the session worker gathers for it; stays_gathered: also once it is closed again.
    overlaid: how it shows a second run, "" not
    at all, "machine", "warp" that of the focused warp, "design" only if both register files are of one kind.
    facts(scene): (what, value) pairs of the focused thing, once there is a machine; terms: what else `K` explains
    (glossary/focus), before the panel itself if terms_first.
    """

    name: str
    paint: Painter
    title: str = ""
    source: str = ""
    columns: tuple[tuple[str, str, str], ...] = ()
    of_machine_code: About | None = None
    spots: Mapping[Shape, Spot] = field(default_factory=dict)
    is_alone: bool = False
    at: Callable[[Scene, Place, int, int], Hit] = lambda scene, place, x, y: Hit()
    move: Callable[[Scene, int], Facts] = next_warp
    steps: tuple[str, str] | None = None
    enter: str = "zoom"
    item: Callable[[Scene, int | None], str] = lambda scene, count: f"w{scene.warp}.state"
    values: bool = False
    warp: Callable[[Scene], int | None] = lambda scene: None
    line: Callable[[Scene], int | None] = lambda scene: None
    hints: tuple[str, ...] = ()
    is_axis: bool = False
    columns_of: Callable[[int], int] | None = None
    stays_gathered: bool = False
    overlaid: str = ""
    facts: Callable[[Scene], list[tuple[str, str]]] = lambda scene: []
    terms: str = ""
    terms_first: bool = False
