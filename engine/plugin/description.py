"""A register-file design as data: what a design file says of itself in DESIGN."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Parameter:
    """A number of a design: default, unit, and the table it comes from (or "assumed: why").

    low, high: the least and the greatest value there may be, by default 0 and what dtype holds. choices: for words, in
    the order of the integers that the design sees. convert: for values that are neither words nor plain numbers; turns a
    setting's text into the value kept in info (a list fills an array field, a word leaves the field at 0) and raises
    ValueError saying what it expects; it must give back a value that is converted already. is_live: the hooks look it up
    each time and keep nothing that depends on it, so that `fork .. set` may change it in mid-run.
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

    state: dtype list of what it keeps, whatever is not in it cannot be rewound. extra_rows: value rows of its own places,
    rows spec.first_row ... of the row array. events: (name, meaning), counted in sm.events[spec.first_event + k].
    stalls: foreign stall rows, codes from 32 on. settings: machine parameters that the paper's machine has otherwise
    ("sm.num_banks": 2). energy_pj: event name -> (pJ per event, source). technology: name -> (value, unit, source).
    panels: plain dicts. takes_main: whether it is built over another main register file (rfc). is_lossy: whether values may
    lose bits, so that a wrong result of a kernel is what it is about, not a failure.

    What views show of it: tracks: (name, expression, most it can be; 0: not said, -1: a count that grows) of TIMELINE;
    heights are shares of the most in the stretch that is shown. places: (name, events that read there, events that write
    there), the columns of a comparison; by default the main file and every place with events PLACE_reads, PLACE_writes.
    event: what it does by itself that one key goes to: "refresh", "shift", "transfer" or "flush". lens: who draws it in
    REGISTER FILE, a module of rfview.render.lenses or "module:function" of (scene, width, height); by default its panels.

    A module may also have energy(run) -> {"dynamic", "leakage", "refresh"} in pJ (default: table_energy), area_mm2(values)
    -> float, node_nm(values, preset) -> int, and why(trail, moment, rf, refusal), which explains a refusal.
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
    """Return the greatest value that a parameter may have: its own, or what its field in the spec record holds."""
    if parameter.high is not None:
        return parameter.high
    kind = np.dtype(parameter.dtype or "f8")
    return float(np.iinfo(kind).max) if kind.kind in "iu" else float("inf")
