"""The REGISTER FILE panel: the lens that the current design names (Design.lens), else its panels and banks."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from rfview.engine.wording import plural
import numpy as np

from rfview.engine import plugin as designs
from rfview.engine import state as layout_of_state
from rfview.engine.errors import InputError
from rfview.render.lenses import banks, panels, subcore
from rfview.render.panel import RIGHT, About, Facts, Grant, Hit, Panel, Place, Shape, Spot
from rfview.render.scene import Scene
from rfview.render.text import Line, Row, cut, fill, title, wrap

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo

Places = Callable[[Any, int], list[tuple[str, str]]]    # (machine, warp) -> (text, role) of each register
Painter = Callable[[Scene, int, int], list[Line]]

WIDE = 58
MAX_NUMBERS = 8         # shown of a design's field for one bank
WHOLE = 18              # rows of the whole lens
LEAST_OF_STATE = 2      # rows below a sub-core that a design's panels need
PANEL_ROWS = 6          # a design's panels get three quarters of the lens, at least this many rows; its banks the rest


def base_design(design: str) -> str:
    """Return the design's name without its variant or its main file: "stt[stall=bank]" is stt, "rfc+sram" is rfc."""
    return design.partition("[")[0].partition("+")[0]


def lens_design(info: RunInfo) -> str:
    """Return the design whose lens shows a run: on the sub-core, where designs keep another state, that of `sram`."""
    return "sram" if info.is_machine_code else base_design(info.design)


def design_name(info: RunInfo) -> str:
    """Return a run's design with the parameters that differ from their defaults: "stt[stall=bank]"."""
    design = info.design
    usual = _defaults(base_design(design))
    words = [f"{key.partition('.')[2]}={value}" for key, value in info.parameters.items()
             if key in usual and value != usual[key]]
    return f"{design}[{','.join(words)}]" if words and "[" not in design else design


def run_name(info: RunInfo) -> str:
    """Return a run's design, with the parameters that differ from their defaults, and its scheduler."""
    return f"{design_name(info)} {info.scheduler}"


def _drawn_by(design: str) -> tuple[Any, Painter | None, str]:
    """Return the module of a design's lens, its painter, and what is wrong with a lens that cannot be used."""
    try:
        return _drawn_by_module(designs.find(design))
    except InputError:
        return None, None, ""       # not installed here


@lru_cache(maxsize=16)
def _drawn_by_module(own: Any) -> tuple[Any, Painter | None, str]:
    """Return the same of a design's module, which is another one once its file has been changed and loaded again."""
    lens = own.DESIGN.lens
    if not lens:
        return (own, _painter_in(own, "render"), "") if hasattr(own, "render") else (None, None, "")
    name, _, function = lens.partition(":")
    try:
        module = import_module(name if function else f"rfview.render.lenses.{name}")
        return module, _painter_in(module, function) if function else module.render, ""
    except Exception as error:      # a foreign design's lens can raise anything
        return None, None, f"lens {lens!r}: {error}"


def _painter_in(module: ModuleType, name: str) -> Painter:
    """Return the painter in a design's own file or lens, a function `name`; it raises InputError, which names the line."""
    @wraps(getattr(module, name))
    def painter(scene: Scene, width: int, height: int) -> list[Line]:
        lines = designs.host_functions.call(module, name, scene, width, height)
        if not isinstance(lines, list) or not all(isinstance(line, Line) for line in lines):
            raise InputError(f"{designs.host_functions.whose(module)}, {name}: expected a list of Lines, as "
                             "Row(width).line() makes them")
        return lines

    return painter


def problem_of(design: str) -> str:
    """Return what is wrong with the lens that a design names, "" if it can be used."""
    return _drawn_by(design)[2]


def painter_of(design: str) -> Painter | None:
    """Return the painter that Design.lens names; None if the design is shown by its panels or is not installed."""
    return _drawn_by(design)[1]


def headings_of(design: str) -> tuple[tuple[tuple[int, str], ...], str]:
    """Return the column headings of a design's lens, shown in the title: (HEADINGS, LAST_HEADING) of its module."""
    module = _drawn_by(design)[0]
    return getattr(module, "HEADINGS", ()), getattr(module, "LAST_HEADING", "")


def columns_of(design: str) -> int:
    """Return how many columns a design's lens would fill if there were room: ROOMY of its module, 0 if not given."""
    return int(getattr(_drawn_by(design)[0], "ROOMY", 0))


def places_of(design: str) -> Places | None:
    """Return the function that says where a design keeps a warp's values: `places_of` of its lens's module, or None."""
    places: Places | None = getattr(_drawn_by(design)[0], "places_of", None)
    return places


def small(scene: Scene, width: int) -> list[Line]:
    """Return the register file in at most four rows, for small multiples: `small` of its lens's module, else the banks."""
    module = _drawn_by(lens_design(scene.info))[0]
    painted: list[Line] = getattr(module, "small", banks.small)(scene, width)
    return painted


@lru_cache(maxsize=16)
def _defaults(design: str) -> dict[str, Any]:
    """Return the design's parameters with their defaults, {} if it is not installed."""
    try:
        parameters = designs.design(design).parameters
    except InputError:
        return {}
    return {f"{design}.{parameter.name}": parameter.default for parameter in parameters}


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return the lens: title with fixed facts, places, this cycle's accesses, totals.

     REGISTER FILE  sram   16 banks × 64 rows of 1,024 bits
      0  ··□···▲·········   ▲ R12 w12   2 w31 w9
      1  ·······■········
     ...
     ▲ read ▼ write ■ wanted □ due · held   9 of 16 busy   queue 5

    A design without its own lens is shown by its data panels, then by its banks.
    """
    if scene.now is not None and scene.info.is_machine_code:
        heading = title(width, "REGISTER FILE", subcore.title_of(scene, width), focus=scene.panel == "lens")
        body = subcore.render(scene, width, height - 1)
        if scene.info.panels and height - len(body) - 2 >= LEAST_OF_STATE:
            body += [Row(width).line(), *panels.render(scene, width, height - len(body) - 2)]
        return fill([heading, *body], width, height)
    design = scene.info.design
    info = name = design_name(scene.info)
    if width >= WIDE and scene.info.design_title:
        info = f"{info}   {scene.info.design_title}"
    if width >= WIDE and scene.now is not None:
        size = f"{scene.now.num_banks} banks × {scene.now.config['rows_per_bank']} rows"
        info += f", {size}" if len(info) + len(size) + 20 <= width else ""
    columns, last = headings_of(lens_design(scene.info)) if width >= WIDE else ((), "")
    if columns:
        row = Row(width, "band").add("▌" if scene.panel == "lens" else " ", "title").add("REGISTER FILE", "title")
        room = columns[0][0] - row.x - 3
        row.add("  ").add(name if len(name) <= room else cut(base_design(design), room), "tinfo")
        for column, text in columns:
            row.at(column, text, "tinfo")
        heading = row.right(width - 1, last, "tinfo").line()
    else:
        heading = title(width, "REGISTER FILE", info, focus=scene.panel == "lens")
    if scene.now is None:
        return fill([heading], width, height)
    _, painter, problem = _drawn_by(lens_design(scene.info))
    if painter is not None:
        try:
            return fill([heading, *painter(scene, width, height - 1)], width, height)
        except InputError as error:     # in a design's own file
            problem = str(error)
    body = [Row(width).add(f" {text}", "bad").line() for text in wrap(problem, width - 2)]
    body += panels.render(scene, width, max(PANEL_ROWS, (height - 1) * 3 // 4))
    left = height - 1 - len(body)
    if left >= 3:
        body += banks.render(scene, width, left)
    return fill([heading, *body], width, height)


def chosen_bank(scene: Scene) -> int:
    """Return the number of the chosen bank; on a sub-core it is one of the focused warp's two."""
    return subcore.chosen_bank(scene) if scene.now is not None and scene.info.is_machine_code else scene.bank


def moved(scene: Scene, by: int) -> Facts:
    """Choose a bank further down (by > 0) or up."""
    if scene.info.is_machine_code:
        return {"bank": max(0, min(subcore.BANKS - 1, scene.bank % subcore.BANKS + by))}
    return {"bank": max(0, min((scene.now.num_banks if scene.now else 1) - 1, scene.bank + by))}


def hit(scene: Scene, place: Place, x: int, y: int) -> Hit:
    """Return the bank clicked."""
    if scene.info.is_machine_code:
        bank = subcore.bank_at(place.width, y)
        return Hit({} if bank is None else {"bank": bank})
    return Hit({"bank": y - 1} if 1 <= y <= (scene.now.num_banks if scene.now else 0) else {})


def warp_at_bank(scene: Scene) -> int | None:
    """Return a warp that waits for the chosen bank, else the one it serves, or None; the focused warp goes first."""
    machine = scene.now
    if machine is None:
        return None
    chosen = chosen_bank(scene)
    waiting = [warp for bank, _, warp in banks.requests(machine) if bank == chosen]
    owner = machine.banks[chosen]
    if owner["activity"] != layout_of_state.BANK_IDLE and owner["owner_warp"] < machine.num_warps:
        waiting.append(owner["owner_warp"])
    return scene.warp if scene.warp in waiting else next(iter(waiting), None)


def facts(scene: Scene) -> list[tuple[str, str]]:
    """Return the facts of the chosen bank."""
    machine = scene.machine
    number = scene.bank
    if scene.info.is_machine_code:
        return subcore.facts(scene)
    if number >= len(machine.banks):
        return []
    rows = [(f"bank {number}", f"at cycle {machine.cycle:,}"), ("now", banks.doing(machine, number))]
    wanted = [f"w{warp}" for which, _, warp in banks.requests(machine) if which == number]
    rows.append(("wanted by", " ".join(dict.fromkeys(wanted)) or "nobody"))
    held = int((machine.warp_places[0] == number).sum())
    rows.append(("holds", f"{plural(held, 'register')} of {plural(len(machine.resident_warps), 'warp')}"))
    record = machine.snapshot.rf
    for name in record.dtype.names or ():
        values = np.asarray(record[name])
        is_per_bank = values.dtype.names is None and values.ndim and len(values) == machine.num_banks
        if is_per_bank and values[number].size <= MAX_NUMBERS:
            rows.append((f"rf.{name}", " ".join(str(int(one)) for one in values[number].ravel())))
    return rows


PANEL = Panel(
    name="lens", title="REGISTER FILE", paint=render, overlaid="design", facts=facts, terms="design", warp=warp_at_bank,
    move=moved, item=lambda scene, count: f"bank[{chosen_bank(scene)}].queue", at=hit,
    spots={
        Shape.NARROW: Spot(RIGHT, 1, (Grant(1, 10),)),
        Shape.MEDIUM: Spot(RIGHT, 1, (Grant(1, 10), Grant(2, WHOLE, whole=True))),
        Shape.LOW: Spot(RIGHT, 1, (Grant(1, 10), Grant(2, WHOLE, whole=True), Grant(4, WHOLE))),
        **dict.fromkeys((Shape.NORMAL, Shape.WIDE, Shape.TALL), Spot(RIGHT, 1, (Grant(1, WHOLE),))),
    },
    source="the design's paper, named below",
    columns=(
        ("rows", "banks or entries, by number; nothing moves", "the design's paper"),
        ("queue", "requests that wait for the bank after this cycle's arbitration", "HC-RF section IV"),
    ),
    of_machine_code=About(
        subcore.render, "MICRO'25 section 5: a sub-core's stages, ports and queues",
        (
            ("issue, Control, Allocate", "the instruction that issued in this cycle; those that wait to pass the two stages "
             "behind, with the bank that refuses one", "MICRO'25 section 5.1"),
            ("reads", "who has each bank's read port now and in the next three cycles; j and k choose a bank",
             "MICRO'25 section 5.3: register r is in bank r & 1"),
            ("reuse", "registers in the reuse cache, per operand position: of the even bank, then of the odd one",
             "MICRO'25 section 5.3.1"),
            ("results", "writes to the banks that are booked", "MICRO'25 section 5.3"),
            ("memory", "credits taken, and accesses that wait for the memory pipeline", "MICRO'25 section 5.4"),
        ),
    ),
)
