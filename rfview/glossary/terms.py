"""Explains every term on the screens, with its source; collects the texts from engine, designs, presets and painters."""

from __future__ import annotations

import difflib
import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine.errors import InputError
from rfview.glossary import own_design, sources
from rfview.render.panels import PANELS

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo

WIDTH = 96
LEAST = 20          # the narrowest width to wrap to, in columns
# beginnings that tell a reader of the screen nothing
RETURNS = re.compile(r"\AReturn the (?:(?:[A-Z]+ )?(?:panel|view)\.|(?:list|window's lines)\.[^\n]*)\s*\n")


@dataclass(frozen=True)
class Term:
    """The explanation of one term. kind: of what; text: the explanation; source: a paper's section or our assumption."""

    name: str
    kind: str
    text: str
    source: str

    def lines(self, width: int = WIDTH) -> list[str]:
        """Return the explanation wrapped to `width` columns, at least LEAST."""
        width = max(width, LEAST)
        out = [f"{self.name}   ({self.kind})"]
        for paragraph in paragraphs(self.text):
            out += ([f"  {line}" for line in paragraph.splitlines()] if is_sample(paragraph) else
                    wrap(paragraph, width - 2, initial_indent="  ", subsequent_indent="  "))
        return [*out, *wrap(f"source: {self.source}", width - 2, initial_indent="  ", subsequent_indent="  ")]


def is_sample(paragraph: str) -> bool:
    """Say whether a paragraph of a painter's docstring shows a part of the screen: it is indented, or has a title's mark."""
    return paragraph.startswith((" ", "▌"))


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a docstring; samples keep their lines."""
    out = []
    for part in text.split("\n\n"):
        lines = part.splitlines()
        out.append(part if is_sample(part) else " ".join(line.strip() for line in lines))
    return [part for part in out if part.strip()]


def states(info: RunInfo | None = None) -> Iterator[Term]:
    """Yield the warp states with those of bundled designs; with a session's info its own, even of an unknown design."""
    from rfview.engine import plugin as designs

    if info is None:
        whose = {stall.name: design.source for design in map(designs.design, designs.BUILT_IN) for stall in design.stalls}
        known = [(stall, whose.get(stall.name, "")) for stall in designs.stalls().values()]
    else:
        known = [(stall, info.design_source) for stall in info.stalls]
    for stall, of in {stall.name: (stall, of) for stall, of in known}.values():
        source = stall.source or f"the design's: {of}"
        yield Term(stall.name, "warp state", f"{stall.glyph} ({stall.ascii})  {stall.sentence}", source)
    for stall in designs.restated() if info is None else ():
        yield Term(stall.name, "warp state, machine code", f"{stall.glyph} ({stall.ascii})  {stall.sentence}", stall.source)


def of_glyph(word: str) -> list[Term]:
    """Return the warp states that a glyph of the screens stands for; [] for words of several characters."""
    return [term for term in states() if len(word) == 1 and word in (term.text[0], term.text[3:4])]


def sentences_of(painter: Any) -> str:
    """Return how to read what a painter draws, from its docstring."""
    return RETURNS.sub("", inspect.getdoc(painter) or "").replace("Return ", "Shows ", 1)


def panels(info: RunInfo | None = None) -> Iterator[Term]:
    """Yield each panel and window with how to read it, then its columns; with a session's info, what is said of its core."""
    shown: list[tuple[str, str, str, Any]] = []
    for name, panel in PANELS.items():
        special = panel.of_machine_code
        if panel.source and not (info is not None and info.is_machine_code and special is not None):
            shown.append((name, "panel", sentences_of(panel.paint), panel))
        if special is not None and (info is None or info.is_machine_code):
            shown.append((name, "panel, machine code", sentences_of(special.paint), special))
    for name, view in sources.VIEWS.items():
        text = view.text or sentences_of(importlib.import_module(f"rfview.render.{view.painter}").render)
        shown.append((name, "window", text, view))
    for name, kind, text, source in shown:
        yield Term(name, kind, text, source.source)
        for column, text, where in source.columns:
            yield Term(f"{name}: {column}", f"column of {name.upper()}", text, where)


def numbers(info: RunInfo | None = None) -> Iterator[Term]:
    """Yield the machine's numbers: of all presets, or those in use in a session."""
    from rfview.engine import config, defaults

    names = defaults.preset_names() if info is None else [info.preset]
    for preset in names:
        machine = config.load_preset(preset)
        for name, number in machine.numbers.items():
            if not machine.reads(name):
                continue
            value, source = number.value, number.source
            if info is not None and (used := info.parameters.get(name, value)) != value:
                source = f"changed for this run; {preset} has {value} ({source})"
                value = used
            yield Term(name, f"number of the machine, preset {preset}", f"{value} {number.unit}", source)


def of_design(name: str, info: RunInfo | None = None) -> Iterator[Term]:
    """Yield a design, its parameters, state, panels, stalls, events, energies and technology; info: values in use."""
    from rfview.engine import plugin as designs

    design = designs.design(name)
    yield Term(name, "register-file design", design.title, design.source)
    for entry in design.parameters:
        value = (info.parameters if info is not None else {}).get(f"{name}.{entry.name}", entry.default)
        choices = f" (one of {', '.join(entry.choices)})" if entry.choices else ""
        yield Term(f"{name}.{entry.name}", f"parameter of {name}", f"{entry.meaning}: {value} {entry.unit}{choices}",
                   f"{name}: {entry.source}")
    for field in design.state:
        yield Term(f"rf.{field[0]}", f"state of {name}", _layout(np.dtype([field])[0]), "recorded in every cycle")
    for panel in design.panels:
        text = f"{panel['kind']} of rf.{panel.get('field', '')}"
        yield Term(f"{name}: {panel['title']}", f"panel of {name}", text, design.source)
    for stall in design.stalls:
        if stall.name not in designs.stalls():
            text = f"{stall.glyph} ({stall.ascii})  {stall.sentence}"
            yield Term(stall.name, f"warp state of {name}", text, stall.source or f"the design's: {design.source}")
    for event, meaning in design.events:
        yield Term(f"event.{event}", f"event counted by {name}", meaning, "counted by the model")
    for event, (energy, source) in (design.energy_pj or {}).items():
        yield Term(f"{name}: energy of {event}", f"energy of {name}", f"{energy:.4g} pJ per event",
                   f"{name}: {source}")
    for key, (value, unit, source) in (design.technology or {}).items():
        yield Term(f"{name}: {key}", f"technology of {name}", f"{value:.6g} {unit}", f"{name}: {source}")


def _layout(dtype: np.dtype) -> str:
    """Return a type in words: its names, if it is a record, and how many there are."""
    fields = dtype.base.names
    what = f"records of {', '.join(fields)}" if fields else str(dtype.base)
    return " x ".join([*map(str, dtype.shape), what])


def of_recorded_design(name: str, info: RunInfo) -> list[Term]:
    """Return the terms of a recorded run's design; one that says so if the design's file is not here."""
    try:
        return list(of_design(name, info))
    except InputError:
        return [Term(name, "register-file design",
                     "Its file is not here, so its parameters and energies cannot be explained; `rfview info FILE.rfs "
                     "--save-designs DIR` writes the one that the recording holds.", "the recording")]


def machine_words() -> Iterator[Term]:
    """Yield the machine's events, the schedulers and the field's technical terms."""
    from rfview.engine.events import EVENTS
    from rfview.engine.machine.schedulers import SCHEDULERS

    for name, meaning in EVENTS:
        yield Term(f"event.{name}", "event", meaning, "counted by the model")
    for row in SCHEDULERS.values():
        yield Term(row.name, "warp scheduler", row.sentence, row.source)
    for name, (text, source) in sources.WORDS.items():
        yield Term(name, "word", text, source)


@lru_cache(maxsize=1)
def all_terms() -> tuple[Term, ...]:
    """Return all terms, of all designs and presets."""
    from rfview.engine import plugin as designs

    terms = [*states(), *panels(), *machine_words(), *numbers()]
    for name in designs.names():
        terms += of_design(name)
    return tuple(terms)


def of_run(info: RunInfo) -> Iterator[Term]:
    """Yield what a run itself says of its design, whose file may not be here: states, parameters and events."""
    where = f"the run, on {info.design}"
    yield from states(info)
    for name, value in info.parameters.items():
        yield Term(name, "parameter of the run", str(value), where)
    for name in info.design_events:
        yield Term(f"event.{name}", "event of the run's design", f"`print event.{name}` counts it", where)


def find(word: str, info: RunInfo | None = None) -> list[Term]:
    """Return the terms with a name, or, if there is none, those whose name or explanation contains the word.

    A name's plural is the name. info: of a run whose own words are used if nothing else has the name.
    """
    needle = word.strip().lower()
    terms = all_terms()
    if info is not None and not any(needle in (term.name.lower(), term.name.lower().split(".")[-1]) for term in terms):
        terms = (*terms, *of_run(info))
    for match in (
        lambda term: term.name.lower() == needle,
        lambda term: f"{term.name.lower()}s" == needle,
        lambda term: term.name.lower().split(".")[-1] == needle or term.name.lower().split(": ")[-1] == needle,
        lambda term: needle in term.name.lower(),
        lambda term: needle in f"{term.kind} {term.text} {term.source}".lower(),
    ):
        if needle and (matching := [term for term in terms if match(term)]):
            return matching
    return []


def near(word: str) -> str:
    """Return the known name closest to a word, "" if none is close."""
    names = {name for term in all_terms() for name in (term.name, term.name.split(".")[-1])}
    return next(iter(difflib.get_close_matches(word.lower(), sorted(names), n=1)), "")


def without_sample(term: Term) -> Term:
    """Return a panel's explanation without its sample."""
    return replace(term, text="\n\n".join(part for part in term.text.split("\n\n") if not is_sample(part)))


def of_window(name: str, width: int = WIDTH) -> list[str]:
    """Return how to read a window and its columns, wrapped to `width` columns, with sources; no sample: it is visible."""
    lines: list[str] = []
    for term in panels():
        if term.name == name or term.name.startswith(f"{name}: "):
            lines += [*without_sample(term).lines(width), ""]
    return lines[:-1]


def text_of(word: str, most: int = 12, width: int = WIDTH, info: RunInfo | None = None) -> list[str]:
    """Return the explanations of a word, wrapped to `width` columns; raises InputError if there is none.

    A word of a design file, such as inst.src, is explained by its code. info: of a run, for the words of its design.
    """
    if code := own_design.code_of(word):
        return code.splitlines()
    terms = find(word, info)
    if not terms:
        close = near(word)
        raise InputError(f"{word}: nothing explains it" + (f"; did you mean {close!r}?" if close else ""))
    lines: list[str] = []
    for term in terms[:most]:
        lines += [*term.lines(width), ""]
    if len(terms) > most:
        lines += [f"{len(terms) - most} more: {', '.join(term.name for term in terms[most : most + 8])} ...", ""]
    return lines[:-1]
