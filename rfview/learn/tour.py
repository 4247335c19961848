"""Guided tours and how they run: pages that ask for a prediction, move in time, and compute the answer there.

All numbers in a page's text, and the conditions that decide which choice is right, are expressions of the session
language, evaluated at the page's cycle; no value is written down. `$name` stands for a value named with `let`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine import defaults
from rfview.engine.errors import InputError

if TYPE_CHECKING:
    from rfview.sessions.session import Session

FOLDER = Path(__file__).parent
SLOT = re.compile(r"\{([^{}]+?)(?::(\w+))?\}")
NAME = re.compile(r"\$(\w+)")


@dataclass(frozen=True)
class Page:
    """One page of a tour.

    go: commands that lead here. let: name -> expression, evaluated after them; of a value per warp or lane, it is the
    number of the first true one. text, question, answer: `{expression}` or `{expression:format}` (state, code, hex,
    ratio) is replaced by its value. choices: (text, condition at the answer's cycle); exactly one must hold.
    then: commands that lead to the answer. claims: conditions that must hold after `go`; always: in every
    cycle of the run (checked by tests). panel: gets the focus. warp: expression for the warp to focus.
    """

    title: str
    text: str
    source: str = ""
    go: tuple[str, ...] = ()
    let: Mapping[str, str] = field(default_factory=dict)
    claims: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    panel: str = "warps"
    warp: str = ""
    question: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    then: tuple[str, ...] = ()
    answer: str = ""


@dataclass(frozen=True)
class Tour:
    """A tour: name, title, a one-sentence summary, its pages, and its run (a kernel of kernels/, machine options).

    recorded_as: the tour with the same run, whose recording this one uses; "" for its own. preset: of the machine.
    """

    name: str
    title: str
    sentence: str
    pages: tuple[Page, ...]
    kernel: str
    design: str
    scheduler: str
    settings: Mapping[str, str] = field(default_factory=dict)
    recorded_as: str = ""
    preset: str = defaults.PRESET

    @property
    def recording(self) -> Path:
        """The bundled recording of the run."""
        return FOLDER / "recorded" / f"{self.recorded_as or self.name}.rfs"

    @property
    def launch(self) -> Path:
        """The launch file of the run."""
        return FOLDER / "kernels" / f"{self.kernel}.toml"

    def machine_options(self) -> list[str]:
        """Return the command-line options for the run's machine."""
        settings = [word for name, value in self.settings.items() for word in ("--set", f"{name}={value}")]
        return ["--design", self.design, "--scheduler", self.scheduler, "--preset", self.preset, *settings]


@dataclass(frozen=True)
class Shown:
    """A page as its reader sees it, with values filled in. start, target: cycles of the question and of its answer.

    right: number of the right choice, from 1; 0 without a question. chosen: the reader's choice, 0 = none yet.
    """

    number: int
    count: int
    title: str
    text: str
    source: str
    panel: str
    warp: int
    question: str
    choices: tuple[str, ...]
    right: int
    answer: str
    start: int
    target: int
    chosen: int = 0


class Lesson:
    """A tour of a session: computes each page when it is entered, and remembers its cycle and named values."""

    def __init__(self, tour: Tour, session: Session):
        self.tour, self.session = tour, session
        self.names: dict[str, int] = {}
        self.index = -1
        self._entries: list[tuple[int, dict[str, int]]] = []
        self._left: list[int] = [session.timeline.first]     # the cycle where each page ends, and the next begins

    def enter(self, index: int) -> Shown:
        """Go to the next page or one seen before, and return it; raises InputError if its claims do not hold."""
        page = self.tour.pages[index]
        if index < len(self._entries):
            cycle, names = self._entries[index]
            self.session.goto(cycle)
            self.names = dict(names)
        else:
            assert index == len(self._entries), "pages are entered in order"
            self.session.goto(self._left[index])
            self._run(page.go)
            for name, expression in page.let.items():
                self.names[name] = self._number(expression)
            self._entries.append((self.session.cycle, dict(self.names)))
        self.index = index
        for claim in page.claims:
            if not self.value(claim):
                raise self._broken(f"`{self._with_names(claim)}` does not hold")
        start = self.session.cycle
        text, question, source = self.fill(page.text), self.fill(page.question), page.source
        warp = self._number(page.warp) if page.warp else -1
        target, right, answer, choices = self._ahead(page)
        self._left[index + 1 :] = [target]
        return Shown(index + 1, len(self.tour.pages), page.title, text, source, page.panel, warp, question, choices, right,
                     answer, start, target)

    def _ahead(self, page: Page) -> tuple[int, int, str, tuple[str, ...]]:
        """Compute the answer to the page's question and go back; return (cycle, right choice, answer, choices)."""
        start = self.session.cycle
        texts = tuple(self.fill(text) for text, _ in page.choices)
        self._run(page.then)
        holding = [number for number, (_, condition) in enumerate(page.choices, 1) if self.value(condition)]
        if page.choices and len(holding) != 1:
            raise self._broken(f"{len(holding)} of {len(page.choices)} choices hold at cycle {self.session.cycle:,}")
        facts = self.session.cycle, holding[0] if holding else 0, self.fill(page.answer), texts
        self.session.goto(start)
        return facts

    def see(self, shown: Shown) -> None:
        """Go to the cycle of the page's answer."""
        self.session.goto(shown.target)

    # expressions

    def value(self, expression: str) -> Any:
        """Return an expression's value at the current cycle, with named values filled in."""
        return self.session.value(self._with_names(expression))

    def _with_names(self, text: str) -> str:
        unknown = [name for name in NAME.findall(text) if name not in self.names]
        if unknown:
            raise self._broken(f"${unknown[0]} has no value")
        return NAME.sub(lambda match: str(self.names[match[1]]), text)

    def _number(self, expression: str) -> int:
        """Return an expression's value as an integer; for an array, the index of its first true element."""
        value = self.value(expression)
        if isinstance(value, np.ndarray):
            if not value.any():
                raise self._broken(f"`{self._with_names(expression)}` holds nowhere")
            return int(np.argmax(value != 0))
        return int(value)

    def fill(self, text: str) -> str:
        """Return a text with its {expressions} replaced by their values at the current cycle."""
        return SLOT.sub(lambda match: self._said(self.value(match[1]), match[2] or ""), text)

    def _said(self, value: Any, form: str) -> str:
        info = self.session.info
        if form == "state":
            return next((entry.name for entry in info.stalls if entry.code == int(value)), f"state {value}")
        if form == "code":
            return info.program[int(value)].text
        if form == "hex":
            return f"0x{int(value):08x}"
        if form == "ratio":
            return f"{value:.2f}"
        if isinstance(value, bool):
            return "yes" if value else "no"
        return f"{value:.7g}" if isinstance(value, float) else f"{value:,}"

    def _run(self, commands: tuple[str, ...]) -> None:
        """Run commands; raises InputError if a search among them finds nothing."""
        from rfview.sessions.commands.table import execute

        for command in commands:
            answer = execute(self.session, self._with_names(command))
            wanted = command.split()[0] not in ("goto", "g")
            if wanted and answer.stop is not None and answer.stop.reason in ("not found", "end", "start", "fault"):
                raise self._broken(f"`{self._with_names(command)}`: {answer.stop.text}")

    def _broken(self, what: str) -> InputError:
        page = max(0, len(self._entries) - 1 if self.index < 0 else self.index) + 1
        return InputError(f"tour {self.tour.name}, near page {page}: {what}; the run is not the one it was written for")


def run_text(lesson: Lesson, say: Any, ask: Any = None) -> int:
    """Print a tour as text with say(line); ask(shown) returns the reader's choice, without `ask` there is none.

    Returns the number of right predictions.
    """
    from textwrap import wrap

    def paragraphs(text: str, indent: str = "  ") -> None:
        for part in text.split("\n"):
            for line in wrap(part, 92) or [""]:
                say(f"{indent}{line}".rstrip())

    right = 0
    for index in range(len(lesson.tour.pages)):
        shown = lesson.enter(index)
        say(f"{shown.number} of {shown.count}  {shown.title}   (cycle {shown.start:,})")
        paragraphs(shown.text)
        if shown.source:
            paragraphs(f"source: {shown.source}")
        if shown.question:
            say("")
            paragraphs(shown.question, "? ")
            for number, choice in enumerate(shown.choices, 1):
                say(f"  {number}  {choice}")
            chosen = ask(shown) if ask is not None else 0
            lesson.see(shown)
            right += chosen == shown.right
            verdict = "" if not chosen else "right. " if chosen == shown.right else "not so. "
            say(f"= cycle {shown.target:,}: {verdict}{shown.right}  {shown.choices[shown.right - 1]}")
            paragraphs(shown.answer)
        say("")
    return right
