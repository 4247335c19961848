"""The register-file designs: one file each, one line here.

Others are given by the path of their file (files.py), or by packages with an entry point rfview.designs.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from engine import hooks
from engine.designs import files
from engine.errors import InputError
from engine.events import FIRST_DESIGN_EVENT
from engine.stalls import STALLS, Stall

BUILT_IN = ("sram", "stt", "hcrf", "hrf", "rfc", "single_buffer", "edram", "racetrack")


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
    panels: plain dicts. takes_main: whether it is built over another main register file (rfc). A module may also have
    energy(run) -> {"dynamic", "leakage", "refresh"} in pJ (default: table_energy) and area_mm2(values) -> float.
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
    takes_main: bool = False
    paper_scheduler: str = "gto"
    paper_preset: str = "fermi"


@dataclass(frozen=True)
class Run:
    """What energy is computed from: event counts by name, cycles, clock, the design's parameter values, and the preset."""

    counts: Mapping[str, int]
    cycles: int
    clock_mhz: float
    values: Mapping[str, Any]
    preset: str = "fermi"

    def leakage_pj(self, milliwatts: float) -> float:
        """Return the energy of a constant power over the run."""
        return milliwatts * 1e3 * self.cycles / self.clock_mhz


def table_energy(found: Design, run: Run) -> dict[str, float]:
    """Return dynamic, leakage and refresh energy in pJ: counts x energy_pj, and cycles x technology["leakage_mw"]."""
    dynamic = sum(run.counts.get(name, 0) * pj for name, (pj, _) in (found.energy_pj or {}).items())
    leakage = run.leakage_pj((found.technology or {}).get("leakage_mw", (0.0, "mW", ""))[0])
    return {"dynamic": dynamic, "leakage": leakage, "refresh": 0.0}


def energy(chain: tuple[str, ...], run: Run) -> dict[str, float]:
    """Return the energy of a run under the outermost design of a chain, its own way or by its table; with the total."""
    outer = find(chain[0])
    own = getattr(outer, "energy", None)
    parts: dict[str, float] = own(run) if own else table_energy(outer.DESIGN, run)
    return {**parts, "total": sum(parts.values())}


@lru_cache
def _installed() -> Mapping[str, str]:
    """Return name -> module of the designs that installed packages bring."""
    from importlib.metadata import entry_points     # slow to import, and asked only for names that are not built in

    return {point.name: point.module for point in entry_points(group="rfview.designs")}


def names() -> tuple[str, ...]:
    """Return every known design: ours, then foreign ones."""
    foreign = sorted({*_installed(), *files.known()})
    return BUILT_IN + tuple(name for name in foreign if name not in BUILT_IN)


@lru_cache
def module(name: str) -> ModuleType:
    """Import a design's module and register its hooks; raises InputError for an unknown name."""
    if name in BUILT_IN:
        found = importlib.import_module(f"engine.designs.{name}")
    else:
        if name in (paths := files.known()):
            return files.load(paths[name])
        if name not in _installed():
            close = difflib.get_close_matches(name, names(), 2)
            hint = f"; did you mean {' or '.join(close)}?" if close else ""
            raise InputError(f"no register-file design {name!r}: there are {', '.join(names())}{hint}; a design file is "
                             "given by its path, as ./my_rf.py, or named in RFVIEW_DESIGNS")  # fmt: skip
        found = importlib.import_module(_installed()[name])
        _check(found)
    hooks.register(name, found)
    return found


def design(name: str) -> Design:
    """Return the description of a design."""
    found: Design = find(name).DESIGN
    return found


def add(name: str, found: ModuleType) -> None:
    """Make a design known to this process without installing it (tests, notebooks); InputError names its slips."""
    _check(found)
    sys.modules.setdefault(found.__name__, found)  # cached machine code asks for its module by name
    use(name, found)


def use(name: str, found: ModuleType) -> None:
    """Let a name stand for this design, which has been checked, from now on."""
    hooks.register(name, found)
    _ADDED[name] = found


def _check(found: ModuleType) -> None:
    """Refuse a foreign design that does not keep to the hook interface."""
    from engine.designs import conformance

    conformance.check(found)


_ADDED: dict[str, ModuleType] = {}


def find(name: str) -> ModuleType:
    """Return a design's module, one added to this process first."""
    return _ADDED[name] if name in _ADDED else module(name)


def parse_variant(text: str) -> tuple[str, dict[str, str]]:
    """Split "stt[stall=bank,write_cycles=3]" into the name and its settings; raises InputError.

    For a path, "./my_rf.py[...]", the file is read and its design's name returned.
    """
    name, bracket, rest = text.partition("[")
    settings: dict[str, str] = {}
    if bracket:
        if not rest.endswith("]"):
            raise InputError(f"--design {text}: expected NAME[key=value,...]")
        for part in filter(None, rest[:-1].split(",")):
            key, equals, value = part.partition("=")
            if not equals:
                raise InputError(f"--design {text}: expected key=value, found {part!r}")
            settings[key.strip()] = value.strip()
    return _name(name), settings


def _name(text: str) -> str:
    """Return the name of a design that is given by its name or by the path of its file."""
    text = text.strip()
    return str(files.load(text).DESIGN.name) if files.is_file(text) else text


@dataclass(frozen=True)
class Built:
    """A design made ready to run: chain (outermost first), dtypes, and the filled parameter values."""

    chain: tuple[str, ...]
    state_dtype: np.dtype
    spec_dtype: np.dtype
    values: Mapping[str, Any]
    extra_rows: int

    @property
    def events(self) -> list[tuple[str, str]]:
        """Return the chain's own events in the order of their counters."""
        return [event for name in self.chain for event in find(name).DESIGN.events]

    @property
    def stalls(self) -> list[Stall]:
        """Return the table of warp states: the machine's, then the chain's own."""
        own = {stall.code: stall for name in self.chain for stall in find(name).DESIGN.stalls}
        return [*STALLS, *own.values()]

    @property
    def settings(self) -> dict[str, Any]:
        """Return the machine parameters that the chain's papers have otherwise, the outermost design last."""
        found: dict[str, Any] = {}
        for name in reversed(self.chain):
            found |= find(name).DESIGN.settings
        return found

    def fill(self, spec: Any, first_row: int = 0) -> None:
        """Write the parameter values into a spec record; first_row: where the designs' own value rows begin."""
        first_event = FIRST_DESIGN_EVENT
        for level, name in enumerate(self.chain):
            spec.first_row = first_row
            spec.first_event = first_event
            first_row += find(name).DESIGN.extra_rows
            first_event += len(find(name).DESIGN.events)
            for parameter in find(name).DESIGN.parameters:
                if parameter.dtype:
                    value = self.values[f"{name}.{parameter.name}"]
                    number = parameter.choices.index(value) if parameter.choices else value
                    _set(spec, parameter.name, number)
            if level + 1 < len(self.chain):
                spec = spec.mrf


def build(text: str, settings: Mapping[str, Any], engine_hash: str) -> Built:
    """Resolve a variant and its settings ("<design>.<key>" names) into dtypes and values.

    engine_hash goes into the spec's dtype with the hash of the design files, so that an edit is a new type (a new compile).
    Raises InputError naming the bad key or value.
    """
    name, variant = parse_variant(text)
    chain = [name]
    given = {f"{name}.{key}": value for key, value in variant.items() if key != "main"} | dict(settings)
    main_name = _name(variant.get("main", "sram"))
    if find(name).DESIGN.takes_main:
        chain.append(main_name)
    elif "main" in variant:
        raise InputError(f"--design {text}: {name} is not built over another register file")
    values: dict[str, Any] = {}
    for part in chain:
        values |= _values(find(part).DESIGN, given)
    for key in given:
        if key.split(".")[0] in chain and key not in values:
            close = difflib.get_close_matches(key, values, 2)
            raise InputError(f"{key}: no such parameter{'; did you mean ' + ' or '.join(close) + '?' if close else ''}")
    state: Any = None
    spec: Any = None
    for index in range(len(chain) - 1, -1, -1):
        part = find(chain[index])
        sources = [Path(str(find(inner).__file__)) for inner in chain[index:]]
        state, spec = _types(part.DESIGN, sources, engine_hash, state, spec)
    extra = sum(find(part).DESIGN.extra_rows for part in chain)
    return Built(tuple(chain), state, spec, values, extra)


def _types(found: Design, sources: list[Path], engine_hash: str, inner_state: Any, inner_spec: Any) -> tuple[Any, Any]:
    """Build the state and spec dtypes of one level of a chain."""
    parts = [_compiled_part(file, file.read_text(encoding="utf-8")) for file in sources]
    digest = hashlib.sha256("".join([engine_hash, *parts]).encode()).hexdigest()[:16]
    spec = [(f"design_{found.name}", "u1"), (f"src_{digest}", "u1"), ("first_row", "i4"), ("first_event", "i4")]
    spec += [(parameter.name, parameter.dtype) for parameter in found.parameters if parameter.dtype]
    state = list(found.state) or [("unused", "u4")]
    if inner_state is not None:
        spec.append(("mrf", inner_spec))
        state.append(("mrf", inner_state))
    return np.dtype(state, align=True), np.dtype(spec, align=True)


HOST_FUNCTIONS = ("why", "energy", "area_mm2")


@lru_cache
def _compiled_part(file: Path, text: str) -> str:
    """Return what of a design's file can go into the compiled step: an edit of the rest needs no new compile.

    Of built-in designs all of it. Left out are comments, docstrings, the functions that only the host calls, and
    DESIGN = Design(...) itself, whose layout of state and parameters is in the dtypes anyway.
    """
    if file.parent == Path(__file__).parent:
        return text         # to parse them takes longer than to start
    import ast

    kept = []
    for node in ast.parse(text).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        is_design = any(isinstance(target, ast.Name) and target.id == "DESIGN" for target in targets)
        if is_design or isinstance(node, ast.FunctionDef) and node.name in HOST_FUNCTIONS:
            continue
        if isinstance(node, ast.FunctionDef) and len(node.body) > 1 and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            kept.append(ast.dump(node))
    return "\n".join(kept)


def _values(found: Design, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a design's parameter values with the given ones converted and checked."""
    values: dict[str, Any] = {}
    for parameter in found.parameters:
        key = f"{found.name}.{parameter.name}"
        values[key] = _convert(key, parameter, given[key]) if key in given else parameter.default
    return values


def _set(spec: Any, name: str, value: Any) -> None:
    """Write one value into a spec record: a number, or a list into the first places of an array field."""
    if isinstance(value, list):
        getattr(spec, name)[: len(value)] = value
    elif not isinstance(value, str):
        setattr(spec, name, value)


def _convert(key: str, parameter: Parameter, text: Any) -> Any:
    """Turn a setting's text into the parameter's type."""
    if parameter.convert:
        try:
            return parameter.convert(text)
        except ValueError as error:
            raise InputError(f"{key}={text}: {error}") from None
    if parameter.choices:
        if str(text) not in parameter.choices:
            raise InputError(f"{key}={text}: expected one of {', '.join(parameter.choices)}")
        return str(text)
    word = {"true": 1, "on": 1, "yes": 1, "false": 0, "off": 0, "no": 0}.get(str(text).lower())
    try:
        value = word if word is not None else type(parameter.default)(text)
    except ValueError:
        raise InputError(f"{key}={text}: expected a number like {parameter.default} ({parameter.unit})") from None
    if not parameter.low <= value <= greatest(parameter):        # nor is nan
        raise InputError(f"{key}={text}: {_expected(parameter, value)}")
    return value


def greatest(parameter: Parameter) -> float:
    """Return the greatest value that a parameter may have: its own, or what its field in the spec record holds."""
    if parameter.high is not None:
        return parameter.high
    kind = np.dtype(parameter.dtype or "f8")
    return float(np.iinfo(kind).max) if kind.kind in "iu" else float("inf")


def _expected(parameter: Parameter, value: float) -> str:
    """Say which values a parameter may have, to one that it may not."""
    if parameter.high is not None:
        return f"expected {parameter.low:,} to {parameter.high:,} ({parameter.unit})"
    if value < parameter.low:
        return f"expected {parameter.low:,} or more ({parameter.unit})" if parameter.low else "must not be negative"
    most = greatest(parameter)
    return f"expected at most {most:,.0f} ({parameter.unit})" if value > most else f"expected a number ({parameter.unit})"


def locates(chain: Iterable[str]) -> bool:
    """Say whether a chain of designs may keep a register's newest value elsewhere than in its main row."""
    return any(hasattr(find(name), "locate") for name in chain)


def in_main_rows(spec: Mapping[str, Any]) -> bool:
    """Say whether every register's newest value is in its main row; spec: a run's info["design_spec"].

    A design that is not at hand can be shown all the same where the run says so itself.
    """
    return not (spec["locates"] if "locates" in spec else locates(spec["chain"]))


def locate(snapshot: Any, warp: int, reg: int) -> np.ndarray:
    """Return the (32,) u4 newest value of a register in a snapshot, from wherever the design keeps each lane."""
    spec = snapshot.info["design_spec"]
    if in_main_rows(spec):
        return np.array(snapshot.rows[int(snapshot.sm["warp"][warp]["reg_base"]) + reg])
    record = spec_record(spec, int(snapshot.info["main_rows"]))
    rows = [int(hooks.locate(snapshot.sm, snapshot.rf, record, warp, reg, lane)) for lane in range(32)]
    return np.array(snapshot.rows[rows, np.arange(32)])


_RECORDS: dict[str, Any] = {}


def spec_record(spec: Mapping[str, Any], first_row: int) -> Any:
    """Rebuild a design's parameter record from the chain and the plain values that a run's info holds; kept for reuse."""
    chain = list(spec["chain"])
    key = repr((chain, [id(find(name)) for name in chain], sorted(spec["values"].items()), first_row))
    if key not in _RECORDS:
        variant = chain[0] if len(chain) == 1 else f"{chain[0]}[main={chain[1]}]"
        built = build(variant, spec["values"], "recorded")
        record = np.zeros(1, built.spec_dtype).view(np.recarray)[0]
        built.fill(record, first_row)
        _RECORDS[key] = record
    return _RECORDS[key]
