"""Checks the type of every part of a Design: texts, numbers, names, pairs, integer fields.

conformance.py runs this first: the other checks, and the views, rely on what is checked here.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from rfview.engine.config import load_preset
from rfview.engine.defaults import preset_names
from rfview.engine.errors import InputError
from rfview.engine.machine.schedulers import SCHEDULERS
from rfview.engine.plugin.description import Parameter
from rfview.engine.state import MAX_ROWS

TEXTS = ("title", "source", "lens", "event", "paper_scheduler", "paper_preset")
LISTS = ("parameters", "state", "events", "stalls", "panels", "tracks", "places")
# list -> the types of an entry's parts, and an example
ENTRIES: dict[str, tuple[tuple[Any, ...], str]] = {
    "events": ((str, str), '("my_reads", "what it counts")'),
    "tracks": ((str, str, (int, float)), '("in use", "popcount(rf.used)", 32)'),
    "places": ((str, tuple, tuple), '("cache", ("cache_reads",), ("cache_writes",))'),
}
OURS = ("first_row", "first_event", "mrf", "main")      # names that records and variants use already


def slips(design: Any) -> Iterator[str]:
    """Yield a sentence for every part of a Design that does not have its documented type."""
    for name in TEXTS:
        if not isinstance(getattr(design, name), str):
            yield f"{name} is {getattr(design, name)!r}, expected a string"
    for name in ("takes_main", "is_lossy"):
        if not isinstance(getattr(design, name), bool):
            yield f"{name} is {getattr(design, name)!r}, expected True or False"
    for name in LISTS:
        if isinstance(getattr(design, name), (str, Mapping)) or not isinstance(getattr(design, name), Iterable):
            yield f"{name} is {getattr(design, name)!r}, expected a tuple with a comma after each entry"
            return
    if not isinstance(design.extra_rows, int) or not 0 <= design.extra_rows < MAX_ROWS:
        yield f"extra_rows is {design.extra_rows!r}, expected a whole number from 0 to {MAX_ROWS - 1}"
    if design.paper_scheduler not in SCHEDULERS:
        yield f"paper_scheduler {design.paper_scheduler!r}, expected one of {', '.join(SCHEDULERS)}"
    if design.paper_preset not in preset_names():
        yield f"paper_preset {design.paper_preset!r}, expected one of {', '.join(preset_names())}"
    else:
        yield from _setting_slips(design)
    yield from _name_slips(design)
    for what, (kinds, example) in ENTRIES.items():
        for entry in getattr(design, what):
            fits = isinstance(entry, tuple) and len(entry) == len(kinds)
            if not fits or not all(isinstance(part, kind) for part, kind in zip(entry, kinds)):
                yield f"{what}: {entry!r}, expected {example}"
    for what, size, example in (("energy_pj", 2, '(200.0, "its source")'), ("technology", 3, '(100.0, "mW", "its source")')):
        yield from _table_slips(what, getattr(design, what), size, example)
    for panel in design.panels:
        if not isinstance(panel, Mapping) or not isinstance(panel.get("title"), str):
            yield f"panel {panel!r}: expected {{\"kind\": .., \"title\": \"a text\", \"field\": ..}}"


def _setting_slips(design: Any) -> Iterator[str]:
    """Yield the settings that the machine does not have, or that have an impossible value."""
    if not isinstance(design.settings, Mapping):
        yield f'settings is {design.settings!r}, expected a table such as {{"sm.num_banks": 8}}'
        return
    config = load_preset(design.paper_preset)
    for name, value in design.settings.items():
        try:
            config.with_setting(name, value)
        except InputError as error:
            yield f"settings: {str(error).removeprefix('--set ')}"


def _name_slips(design: Any) -> Iterator[str]:
    """Yield invalid names, names with two meanings, and state that does not consist of numbers."""
    for what, entries in (("parameter", design.parameters), ("field of the state", design.state), ("event", design.events),
                          ("stall", design.stalls)):
        names = [getattr(entry, "name", entry[0] if isinstance(entry, tuple) and entry else entry) for entry in entries]
        for name in dict.fromkeys(map(str, names)):
            if name in OURS:
                yield f"{what} {name!r}: this name is already taken"
            elif not name.isidentifier():
                yield f"{what} {name!r}: a name is made of letters, digits and _"
            elif list(map(str, names)).count(name) > 1:
                yield f"{what} {name!r} appears twice"
    for parameter in design.parameters:
        if not isinstance(parameter, Parameter):
            yield f"parameter {parameter!r}: expected Parameter(name, default, unit, source, meaning)"
        elif not all(isinstance(choice, str) for choice in parameter.choices):
            yield f"parameter {parameter.name!r}: its choices {parameter.choices!r} are not all strings"
    for field in design.state:
        try:
            dtype = np.dtype([field])
            kinds = set(_kinds(dtype))
        except (TypeError, ValueError):
            continue        # reported with the layout of all
        if not kinds <= set("uif"):
            yield f"field of the state {field[0]!r} does not hold numbers as NumPy's dtypes u1 to u8, i1 to i8, f4 and f8 do"
        elif not dtype.itemsize:
            yield f"field of the state {field[0]!r} has no elements"
    for stall in design.stalls:
        if any(unicodedata.east_asian_width(glyph) in "WF" for glyph in str(getattr(stall, "glyph", ""))):
            yield f"stall {stall.name!r}: its glyph {stall.glyph!r} takes two cells"


def _kinds(dtype: np.dtype) -> Iterator[str]:
    """Yield the types of all numbers in a record."""
    if dtype.names is None:
        yield dtype.base.kind
    for name in dtype.names or ():
        yield from _kinds(dtype[name].base)


def _table_slips(what: str, table: Any, size: int, example: str) -> Iterator[str]:
    """Yield the entries of a table that are not a finite number with its texts."""
    if table is not None and not isinstance(table, Mapping):
        yield f"{what} is {table!r}, expected a table of {example} by name"
        return
    for name, entry in (table or {}).items():
        if not (isinstance(entry, tuple) and len(entry) == size and isinstance(entry[0], (int, float))
                and math.isfinite(entry[0]) and all(isinstance(text, str) for text in entry[1:])):
            yield f"{what} of {name!r} is {entry!r}, expected {example}"
