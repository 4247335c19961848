"""A design as it is run: "stt[stall=bank,write_cycles=3]" and settings, turned into record types and values."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from rfview.engine.plugin import facts, files, host_functions as host, on_subcore
from rfview.engine.plugin.description import Design, Parameter, greatest
from rfview.engine.plugin.finding import find
from rfview.engine.errors import InputError
from rfview.engine.files import read_text
from rfview.engine.events import FIRST_DESIGN_EVENT
from rfview.engine.stalls import STALLS, Stall
from rfview.engine.machine.cores.subcore.stalls import STATES as SUBCORE_STATES
from rfview.engine.machine.cores.subcore.state import CORE, PARAMETERS
from rfview.engine.wording import suggest

COLLECTOR, SUBCORE = "collector", "subcore"     # cores


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


def variant_of(chain: Sequence[str]) -> str:
    """Return the variant, without parameters, that makes a chain of designs, outermost first: "rfc[main=stt]"."""
    return chain[0] if len(chain) == 1 else f"{chain[0]}[main={chain[1]}]"


def _name(text: str) -> str:
    """Return the name of a design given by its name or by the path of its file."""
    text = text.strip()
    return str(files.load(text).DESIGN.name) if files.is_file(text) else text


@dataclass(frozen=True)
class Built:
    """A design ready to run: chain (outermost first), dtypes, and parameter values."""

    chain: tuple[str, ...]
    state_dtype: np.dtype
    spec_dtype: np.dtype
    values: Mapping[str, Any]
    extra_rows: int
    core: str = COLLECTOR

    @property
    def events(self) -> list[tuple[str, str]]:
        """Return the chain's own events in the order of their counters."""
        return [event for name in self.chain for event in find(name).DESIGN.events]

    @property
    def stalls(self) -> list[Stall]:
        """Return the table of warp states: the core's, then the chain's own."""
        of_core = SUBCORE_STATES if self.core == SUBCORE else STALLS
        of_chain = [stall for name in self.chain for stall in find(name).DESIGN.stalls]
        return list(dict.fromkeys((*of_core, *of_chain)))

    @property
    def settings(self) -> dict[str, Any]:
        """Return the machine parameters in which the chain's papers differ, the outermost design last; of Fermi's core."""
        settings: dict[str, Any] = {}
        for name in reversed(self.chain if self.core == COLLECTOR else ()):
            settings |= find(name).DESIGN.settings
        return settings

    @property
    def panels(self) -> Sequence[Mapping[str, Any]]:
        """Return the panels of the outermost design's state on this core."""
        panels: Sequence[Mapping[str, Any]] = find(self.chain[0]).DESIGN.panels
        if self.core == SUBCORE:
            panels = on_subcore.panels(self.chain[0])
        return panels

    @property
    def notes(self) -> list[str]:
        """Return what a run on the sub-core says of its designs: what they mean there, and whose claims these are not."""
        if self.core == COLLECTOR:
            return []
        return [f"{name}: {on_subcore.meaning(name)}" for name in self.chain] + [on_subcore.NOTE]

    @property
    def has_reuse_cache(self) -> bool:
        """Return whether the sub-core keeps its reuse cache: no design of the chain takes its place."""
        return all(getattr(on_subcore.module(name), "REUSE_CACHE", True) for name in self.chain)

    def fill(self, spec: Any, first_row: int = 0) -> None:
        """Write the parameter values into a spec record. first_row: first of the designs' own value rows."""
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


def build(text: str, settings: Mapping[str, Any], engine_hash: str, core: str = COLLECTOR) -> Built:
    """Resolve a variant and its settings ("<design>.<key>" names) into dtypes and values. core: which one it runs on.

    engine_hash becomes part of the spec's dtype, with the hash of the design files, so that an edit makes a new type.
    Raises InputError naming the bad key or value.
    """
    name, variant = parse_variant(text)
    chain = [name]
    given = {f"{name}.{key}": value for key, value in variant.items() if key != "main"} | dict(settings)
    main_name = _name(variant.get("main", "sram"))
    if find(name).DESIGN.takes_main:
        if find(main_name).DESIGN.takes_main:
            raise InputError(f"--design {text}: main={main_name}: {main_name} is itself built over a main file; "
                             "choose one that is not")
        chain.append(main_name)
        _check_main(text, find(name), find(main_name))
    elif "main" in variant:
        raise InputError(f"--design {text}: {name} is not built over another register file")
    values: dict[str, Any] = {}
    for part in chain:
        values |= _values(find(part).DESIGN, given)
    for key in given:
        if key.split(".")[0] in chain and key not in values:
            hint = suggest(key, values) or f"; there are {', '.join(values) or 'none'}"
            raise InputError(f"{key}: no such parameter{hint}")
    if core == SUBCORE:
        on_subcore.check(text, chain, values)
    state: Any = None
    spec: Any = None
    for index in range(len(chain) - 1, -1, -1):
        modules = [find(part) for part in chain[index:]]
        design, own, name = modules[0].DESIGN, modules[0].DESIGN.state, modules[0].DESIGN.name
        if core == SUBCORE:
            modules = list(dict.fromkeys([*modules, *(on_subcore.module(part) for part in chain[index:] if part != "sram")]))
            own, name = on_subcore.state(name), on_subcore.marker(name)
        sources = [Path(str(module.__file__)) for module in modules]
        state, spec = _types(design, own, name, sources, engine_hash, state, spec)
    if core == SUBCORE:
        state, spec = (np.dtype([*((name, dtype[name]) for name in dtype.names), ("core", own)], align=True)
                       for dtype, own in ((state, CORE), (spec, PARAMETERS)))
    extra = sum(find(part).DESIGN.extra_rows for part in chain if core == COLLECTOR or on_subcore.module(part) is find(part))
    return Built(tuple(chain), state, spec, values, extra, core)


def _check_main(text: str, outer: ModuleType, main: ModuleType) -> None:
    """Raise InputError if a design does not fit its main file: names that both have, or hooks that it would ignore."""
    if slips := list(facts.clashes(outer.DESIGN, main.DESIGN, adds_energy=not hasattr(outer, "energy"))):
        raise InputError("\n".join(f"--design {text}: {problem}" for problem in slips))
    unheard = [hook for hook in ("bank_of", "read") if hasattr(outer, hook)]
    if unheard and hasattr(main, "arbitrate") and not hasattr(outer, "arbitrate"):
        raise InputError(f"--design {text}: {main.DESIGN.name} serves reads with its own `arbitrate`, which would not "
                         f"call {outer.DESIGN.name}'s {' and '.join(f'`{hook}`' for hook in unheard)}; "
                         f"write an `arbitrate` in {outer.DESIGN.name} too, or choose another main file")


def _types(design: Design, own: Sequence[Any], name: str, sources: list[Path], engine_hash: str, inner_state: Any,
           inner_spec: Any) -> tuple[Any, Any]:
    """Build the state and spec dtypes of one level of a chain. own: its state; name: of its hooks."""
    # with the file's name: machine code on disk finds the design's module by it
    parts = [file.stem + compiled_part(file, read_text(file)) for file in sources]
    digest = hashlib.sha256("".join([engine_hash, *parts]).encode()).hexdigest()[:16]
    spec = [(f"design_{name}", "u1"), (f"src_{digest}", "u1"), ("first_row", "i4"), ("first_event", "i4")]
    spec += [(parameter.name, parameter.dtype) for parameter in design.parameters if parameter.dtype]
    state = list(own) or [("unused", "u4")]
    if inner_state is not None:
        spec.append(("mrf", inner_spec))
        state.append(("mrf", inner_state))
    return np.dtype(state, align=True), np.dtype(spec, align=True)


@lru_cache
def compiled_part(file: Path, text: str) -> str:
    """Return the part of a design's file that is compiled into the step: edits of the rest need no new compilation.

    For built-in designs the whole file. Otherwise without comments, docstrings, functions called only by the host, and
    DESIGN = Design(...) itself, whose layout of state and parameters is in the dtypes anyway.
    """
    if file.parent == Path(__file__).parents[1] / "designs":
        return text         # parsing them would take longer than starting
    import ast

    dumps = []
    for node in ast.parse(text).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        is_design = any(isinstance(target, ast.Name) and target.id == "DESIGN" for target in targets)
        if is_design or isinstance(node, ast.FunctionDef) and node.name in host.FUNCTIONS:
            continue
        if isinstance(node, ast.FunctionDef) and len(node.body) > 1 and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            dumps.append(ast.dump(node))
    return "\n".join(dumps)


def _values(design: Design, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a design's parameter values, with the given ones converted and checked."""
    values: dict[str, Any] = {}
    for parameter in design.parameters:
        key = f"{design.name}.{parameter.name}"
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
        if isinstance(text, float) and value != text:
            raise ValueError
    except (TypeError, ValueError, OverflowError):      # TypeError: a list
        raise InputError(f"{key}={text}: expected a number like {parameter.default} ({parameter.unit})") from None
    if not parameter.low <= value <= greatest(parameter):        # nor is nan
        raise InputError(f"{key}={text}: {_expected(parameter, value)}")
    return value


def _expected(parameter: Parameter, value: float) -> str:
    """Return which values a parameter may have, for one that is not permitted."""
    if parameter.high is not None:
        return f"expected {parameter.low:,} to {greatest(parameter):,}" + (f" ({parameter.unit})" if parameter.unit else "")
    if value < parameter.low:
        return f"expected {parameter.low:,} or more ({parameter.unit})" if parameter.low else "must not be negative"
    most = greatest(parameter)
    return f"expected at most {most:,.0f} ({parameter.unit})" if value > most else f"expected a number ({parameter.unit})"
