"""Tab completion at the prompt: known lines, what a command expects there, else the last word of the line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from rfview.engine.escapes import visible
from rfview.sessions.commands.table import VERBS
from rfview.sessions.expressions.names import FUNCTIONS, UNITS

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo

MOST = 200      # most completions offered for one word
LONGEST = 1000  # characters of a line that is completed; WORD takes quadratic time, and pasted lines can be very long
UNIT = re.compile(rf"([{''.join(UNITS)}])\d*\.\Z")
OR = re.compile(r" \| (?![^\[]*\])")       # not within brackets
KEYWORD = re.compile(r"[a-z]+\Z")
WORD = re.compile(r"[A-Za-z_][\w.]*\Z")


# a design whose parameters are being typed, after `swap`: swap racetrack[preshift=none,po
# settings of a fork; a register whose values are shown, to go to the next one; what a trace's hits fulfil
SETTING = re.compile(r"(?P<before>(?P<verb>fork|rerun) \S+ set (?:\S+ )*)(?P<typed>[\w.]*)\Z")
REGISTER = re.compile(r"(?P<before>heat w\d+\.R)(?P<number>\d+)\Z")
TRACED = re.compile(r"(?:trace|tr) (?P<what>\S+) at \Z")
DESIGN = re.compile(r"(?P<before>swap (?P<design>\w+)\[(?:[^\],]*,)*)(?P<typed>\w*)\Z")


def choices() -> list[str]:
    """Return the beginnings of commands that take one of several words: `break if `, `info warps`."""
    texts = []
    for name, verb in VERBS.items():
        whole = re.fullmatch(r"\[([^\[\]]*)\]", verb.signature)       # the whole argument is optional
        ways = [part.split() for part in OR.split(whole[1] if whole else verb.signature)]
        if len(ways) > 1:
            texts += [f"{name} {words[0]}{' ' if words[1:] else ''}" for words in ways if KEYWORD.match(words[0])]
    return texts


def parameters_of(name: str) -> list[str]:
    """Return "parameter=value" with the default of each parameter of a design; [] for an unknown name."""
    from rfview.engine import plugin as designs
    from rfview.engine.errors import InputError

    try:
        return [f"{entry.name}={entry.default}" for entry in designs.design(name).parameters]
    except InputError:
        return []


class Words:
    """Known lines and the words of one run, and the completions of a line from them."""

    def __init__(self, lines: Iterable[str]):
        """lines: known lines; the first that fits is offered first."""
        self.always = list(dict.fromkeys(lines))
        self.lines = self.always
        self.words: list[str] = []
        self.fields: dict[str, list[str]] = {}
        self.info: RunInfo | None = None
        self.states: list[str] = []
        self.registers = 0

    def learn(self, lines: Iterable[str], info: RunInfo, sm: np.dtype | None = None) -> None:
        """Replace the words of another run by those of this one: lines, and words from its constants and record."""
        self.lines = list(dict.fromkeys([*self.always, *lines]))
        self.states = states = [*info.stall_names.values()]
        self.info = info
        self.registers = int(info.registers_per_thread or 0)
        counted = [*(f"stall.{name}" for name in states), *(f"total.{name}" for name in states),
                   *(f"event.{name}" for name in info.event_names.values())]
        places = [entry.name for entry in (*info.buffers, *info.symbols)]
        names = [*info.parameters, *states, *counted, *places, "cycle", "launch", "rf", *FUNCTIONS]
        self.words = list(dict.fromkeys(visible(str(name)) for name in names))
        registers = [f"R{number}" for number in range(self.registers)]
        if sm is not None:
            self.fields = {short: list(sm[unit].base.names or ()) for short, unit in UNITS.items()}
            self.fields["w"] = [*self.fields.get("w", ()), *registers]

    def completions(self, line: str) -> list[str]:
        """Return the completions of a line, the likeliest first; [] if there are none."""
        if not line or len(line) > LONGEST:
            return []
        whole = [known for known in self.lines if known.startswith(line) and known != line]
        if whole:
            return whole
        if (expected := self._expected(line)) is not None:
            return expected
        match = WORD.search(line)
        if match is None or not re.search(r"\s", line):     # the first word is a command
            return []
        typed, before = match.group(), line[: match.start()]
        head, dot, _ = typed.rpartition(".")
        unit = UNIT.match(head + dot)
        words = [f"{head}.{name}" for name in self.fields.get(unit[1], ())] if unit is not None else self.words
        return [before + word for word in words if word.startswith(typed) and word != typed][:MOST]

    def _settings(self, verb: str) -> list[str]:
        """Return "parameter=" of those that the command can change: `rerun` all, `fork` none that determines the layout."""
        from rfview.sessions.branches.fork import changeable      # for a fast start

        if self.info is None:
            return []
        return [visible(f"{name}=") for name in (changeable(self.info) if verb == "fork" else self.info.parameters)]

    def _expected(self, line: str) -> list[str] | None:
        """Return the completions of a line whose command expects something particular at its end; None if it does not."""
        if within := DESIGN.match(line):
            return [within["before"] + word for word in parameters_of(within["design"]) if word.startswith(within["typed"])]
        if within := SETTING.match(line):
            words = [word for word in self._settings(within["verb"]) if word.startswith(within["typed"])]
            return [within["before"] + word for word in words][:MOST]
        if within := REGISTER.match(line):
            return [f"{within['before']}{number}" for number in range(int(within["number"]) + 1, self.registers)]
        if within := TRACED.match(line):
            what = within["what"]
            hits = [f"{what} == {state}" for state in self.states] if what.endswith(".state") else [f"{what} != 0"]
            return [line + hit for hit in (*hits, "breakpoint ")]
        return None
