"""Checks of DESIGN: consistent stalls, events, energy and panels, and correctly spelt names.

Part of conformance.py. Such a mistake would not stop a run: an energy would be 0, a stall nameless, a panel empty.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from rfview.engine.plugin.description import greatest
from rfview.engine.events import EVENTS
from rfview.engine.machine.cores.subcore.stalls import STALLS as SUBCORE_STALLS
from rfview.engine.stalls import FIRST_DESIGN_CODE, FIRST_FOREIGN_CODE, MAX_CODES, SLOW_STT_WRITE, STALLS, Stall

MAX_EVENTS = 32                         # counters after the machine's own
MARKS = ("glyph", "ascii")      # what tells stalls apart on the screens
FAMILIES = tuple(dict.fromkeys(stall.family for stall in (*STALLS, SLOW_STT_WRITE)))
PANELS = {"grid": ("per", "glyphs", "max"), "table": ("per", "show"), "values": ("unit", "show")}     # kind -> its own keys
NAMED = re.compile(r"\b(rf|event)\.(\w+)")                # names in expressions
SHOWS = ("registers", "hex")
PER = ("bank", "warp")                    # what the first dimension counts: only existing ones are shown


def slips(design: Any) -> Iterator[str]:
    """Yield a sentence for everything in a Design that is inconsistent in itself or with the machine."""
    yield from _stall_slips(design.stalls)
    for parameter in design.parameters:
        yield from _parameter_slips(parameter)
    own = [name for name, _ in design.events]
    known = {name for name, _ in EVENTS}
    if len(own) > MAX_EVENTS:
        yield f"{len(own)} events, at most {MAX_EVENTS}"
    for name in dict.fromkeys(own):
        if own.count(name) > 1 or name in known:
            yield f"event {name!r} already exists"
    waits = {f"{stall.name}_wait_cycles" for stall in (*STALLS, *design.stalls)}
    for name in design.energy_pj or {}:
        # over a main file, that one's events count as well: only a design on its own can be checked
        if not design.takes_main and name not in {*own, *known, *waits}:
            yield f"energy_pj of {name!r}, which is not an event{hint(name, {*own, *known})}"
    for panel in design.panels:
        yield from _panel_slips(design, panel)
    yield from _view_slips(design, {*own, *known})


def _view_slips(design: Any, events: set[str]) -> Iterator[str]:
    """Yield what is wrong with tracks, places and the event of a key. events: everything the design counts."""
    if design.event and not any(design.event in name for name, _ in design.events):
        named = ", ".join(name for name, _ in design.events) or "none"
        yield f"event {design.event!r}, which is not part of the name of one of its own events: {named}"
    if design.takes_main:
        return      # names of its main file may be used as well
    for name, *lists in design.places:
        for event in (event for events_of in lists for event in events_of):
            if event not in events:
                yield f"place {name!r} counts {event!r}, which is not an event{hint(event, events)}"
    state = [str(field[0]) for field in design.state]
    for name, expression, _ in design.tracks:
        for what, word in NAMED.findall(expression):
            if word not in (state if what == "rf" else events):
                there = "its state has no" if what == "rf" else "there is no event"
                yield f"track {name!r}: {there} {word!r}{hint(word, state if what == 'rf' else events)}"


def counted_twice(design: Any) -> Iterator[str]:
    """Yield events charged twice by a design over a main file: its table is added to the main file's energy."""
    for name in design.energy_pj or {}:
        if design.takes_main and name in {event for event, _ in EVENTS}:
            yield (f"energy_pj of {name!r}, which the main file's energy already includes; charge the design's own events, "
                   "or write energy(run)")


def clashes(outer: Any, main: Any, *, adds_energy: bool) -> Iterator[str]:
    """Yield what a design and its main file may not both have: one would hide the other, or be charged twice.

    adds_energy: whether the design's energy is its table's, which is added to the main file's energy.
    """
    own, mains = ([name for name, _ in design.events] for design in (outer, main))
    if len(own) + len(mains) > MAX_EVENTS:
        yield f"{len(own)} events, and {len(mains)} of {main.name}; together at most {MAX_EVENTS}"
    for name in own:
        if name in mains:
            yield f"event {name!r} is also the name of an event of {main.name}; give it another"
    for stall in outer.stalls:
        for other in main.stalls if stall not in main.stalls else ():
            if stall.code == other.code or stall.name == other.name:
                yield (f"stall {stall.name!r}, code {stall.code}, clashes with {main.name}'s {other.name!r}, code "
                       f"{other.code}; both must differ")
            for what in MARKS:
                if getattr(stall, what) == getattr(other, what):
                    yield (f"stall {stall.name!r}: {what} {getattr(stall, what)!r} is also that of {main.name}'s "
                           f"{other.name!r}")
    for name in outer.energy_pj or {}:
        if adds_energy and name in mains:
            yield (f"energy_pj of {name!r}, an event of {main.name}, whose energy already includes it; charge the design's "
                   "own events, or write energy(run)")


def _parameter_slips(parameter: Any) -> Iterator[str]:
    """Yield what is wrong with a parameter's default, which is not checked again later."""
    what, default = f"parameter {parameter.name!r}", parameter.default
    if parameter.choices:
        if default not in parameter.choices:
            yield f"{what}: the default {default!r} is not one of its choices {', '.join(parameter.choices)}"
    elif parameter.convert is None:
        if not isinstance(default, (int, float)):
            yield f"{what}: the default {default!r} is not a number; words need choices=(..), other values convert="
        elif isinstance(default, float) and parameter.dtype and np.dtype(parameter.dtype).kind in "iu":
            yield (f"{what}: the default {default} is not a whole number, and hooks would see only its whole part; "
                   'add dtype="f8"')
        elif not parameter.low <= default <= greatest(parameter):
            yield f"{what}: the default {default} is not in {parameter.low} to {greatest(parameter):.0f}"


def _stall_slips(stalls: Iterable[Any]) -> Iterator[str]:
    """Yield what is wrong with the design's own stall reasons; the machine's may be used but not redefined."""
    machines = (*STALLS, *SUBCORE_STALLS)
    codes = {stall.code: stall.name for stall in machines}
    marks = {(what, getattr(stall, what)): stall.name for stall in machines for what in MARKS}
    for stall in stalls:
        if not isinstance(stall, Stall):
            yield f"stall {stall!r}: expected Stall(code, name, short, glyph, ascii, family, sentence)"
            continue
        if not FIRST_DESIGN_CODE <= stall.code < MAX_CODES:
            yield f"stall {stall.name!r}: code {stall.code}, expected {FIRST_FOREIGN_CODE} to {MAX_CODES - 1}"
        elif stall.code in codes:
            yield f"stall {stall.name!r}: code {stall.code} is already {codes[stall.code]!r}"
        if stall.name in codes.values():
            yield f"stall {stall.name!r}: the name is taken"
        if len(stall.glyph) != 1 or len(stall.ascii) != 1:
            yield f"stall {stall.name!r}: glyph and ascii must be one character each"
        for what in MARKS:
            mark = (what, getattr(stall, what))
            if mark in marks:
                yield f"stall {stall.name!r}: {what} {mark[1]!r} is already that of {marks[mark]!r}"
            marks[mark] = stall.name
        if stall.family not in FAMILIES:
            yield f"stall {stall.name!r}: family {stall.family!r}, expected one of {', '.join(FAMILIES)}"
        codes[stall.code] = stall.name


def _panel_slips(design: Any, panel: Any) -> Iterator[str]:
    """Yield what is wrong with one panel of the screen."""
    title = f"panel {panel.get('title', panel.get('field', ''))!r}"
    kind = panel.get("kind")
    if kind not in PANELS:
        yield f"{title}: kind {kind!r}, expected one of {', '.join(PANELS)}"
        return
    allowed = ("kind", "title", "field", *PANELS[kind])
    for key in panel:
        if key not in allowed:
            yield f"{title}: a {kind} has no {key!r}; it takes {', '.join(allowed)}"
    if panel.get("show", SHOWS[0]) not in SHOWS:
        yield f"{title}: show {panel['show']!r}, expected one of {', '.join(SHOWS)}"
    if panel.get("per", PER[0]) not in PER:
        yield f"{title}: per {panel['per']!r}, expected one of {', '.join(PER)}"
    layout = np.dtype(list(design.state) or [("unused", "u4")])
    for name in str(panel.get("field", "")).split("."):
        if name == "mrf" and design.takes_main:
            return
        if layout.names is None or name not in layout.names:
            yield f"{title}: no field {panel.get('field')!r} in the state{hint(name, layout.names or ())}"
            return
        layout = layout[name].base


def hint(name: str, there: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" if one of the names that exist is close to an unknown one, else ""."""
    near = difflib.get_close_matches(name, list(there), 1)
    return f"; did you mean {near[0]!r}?" if near else ""
