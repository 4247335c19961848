"""A register-file design as data: the contents of DESIGN in a design file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Parameter:
    """A parameter of a design: default, unit, and the table it comes from (or "assumed: why").

    unit: "file" if `convert` takes the name of a file, which it reads. low, high: the smallest and largest permitted
    value, by default 0 and what dtype holds. choices: for words, in the order of the integers that hooks see. convert:
    for values that are neither words nor plain numbers; turns a setting's text into the value kept in info (a list fills
    an array field, a word leaves the field at 0) and raises ValueError with what it expects; it must return already
    converted values unchanged. is_live: the hooks look it up each time and keep nothing that depends on it, so that
    `fork .. set` may change it during a run.
    """

    name: str
    default: Any
    unit: str
    source: str
    meaning: str
    choices: tuple[str, ...] = ()
    dtype: str = "i4"
    convert: Callable[[Any], Any] | None = None
    low: float = 0
    high: float | None = None
    is_live: bool = False


@dataclass(frozen=True)
class Design:
    """A register-file design as data; its hooks are functions of the same module.

    state: dtype list of its state; anything not in it cannot be rewound. extra_rows: number of value rows of its own,
    rows spec.first_row ... of the row array. events: (name, meaning), counted in sm.events[spec.first_event + k].
    stalls: its own stall reasons, codes from 32 on. settings: machine parameters in which the paper's machine
    differs ("sm.num_banks": 2). energy_pj: event name -> (pJ per event, source). technology: name -> (value,
    unit, source). panels: plain dicts. takes_main: whether it is built over another main register file (like
    rfc). is_lossy: whether values may lose bits, so that a kernel's wrong result is expected, not a failure.

    For views: tracks: (name, expression, maximum; 0: unknown, -1: a growing count) in TIMELINE; heights are relative
    to the largest value in the visible range. places: (name, events that read there, events that write there),
    columns of comparisons; by default the main file and every place with events PLACE_reads, PLACE_writes. event:
    what it does by itself and a key goes to, such as "refresh": part of the names of its events. lens: what draws it in
    REGISTER FILE, a module of rfview.render.lenses or "module:function" of (scene, width, height); by default `render`
    of its own file, else its panels.

    A module may also have energy(run) -> {"dynamic", "leakage", "refresh"} in pJ (default: table_energy), area_mm2(values)
    -> float, node_nm(values, preset) -> int, why(trail, moment, rf, refusal), which explains a refusal, holder(at, refused),
    whose access keeps it busy, floors(counts, values, config), the cycles that its banks need at least, lifts(values,
    config), what would shorten the waits of its states, and render(scene, width, height) -> Lines, which draws REGISTER
    FILE.
    """

    name: str
    title: str
    source: str
    parameters: tuple[Parameter, ...]
    state: tuple[Any, ...]
    extra_rows: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    events: tuple[tuple[str, str], ...] = ()
    stalls: tuple[Any, ...] = ()
    energy_pj: Mapping[str, tuple[float, str]] | None = None
    technology: Mapping[str, tuple[float, str, str]] | None = None
    panels: tuple[Mapping[str, Any], ...] = ()
    tracks: tuple[tuple[str, str, float], ...] = ()
    places: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = ()
    event: str = ""
    lens: str = ""
    takes_main: bool = False
    is_lossy: bool = False
    paper_scheduler: str = "gto"
    paper_preset: str = "fermi"


def greatest(parameter: Parameter) -> float:
    """Return the largest value that a parameter may have: its own limit, or that of its field in the spec record."""
    kind = np.dtype(parameter.dtype or "f8")
    most = int(np.iinfo(kind).max) if kind.kind in "iu" else float("inf")
    return most if parameter.high is None else min(parameter.high, most)
