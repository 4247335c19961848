"""The linear mode: a prompt instead of a screen; after every command, sentences that say what has changed.

For screen readers, pipes and logs. Nothing is redrawn, nothing depends on colour or position.

    (rfv) 5% 42 w0> s
    Cycle 43. w3 issued add.f32 R2, R5, R4. w1 began to wait: long_scoreboard, R5 miss. 30 warps continue as before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TextIO

from rfview.engine.errors import InputError, RfviewError
from rfview.render.operation import waits_for
from rfview.sentences import census, sentences, view
from rfview.sessions.guard import consistent
from rfview.sessions.warps import check_warp, parse_warp

if TYPE_CHECKING:
    from rfview.sessions.session import Session

BAD_INPUT, FAULT = 2, 3
LONGEST_LINE = 1 << 20      # characters of a line of input; /dev/zero, say, never ends one


class Linear:
    """The read-evaluate-print loop of the linear mode over one session."""

    def __init__(self, session: Session, out: TextIO | None = None, err: TextIO | None = None, warp: int = 0):
        self.session = session
        self.out, self.err = out or sys.stdout, err or sys.stderr
        self.warp = 0
        self.choose(warp)
        self.verbose = False
        self.repeat = ""
        self.code = 0

    def say(self, lines: Iterable[str]) -> None:
        """Print lines and flush: the reader may wait for each."""
        for line in lines:
            print(line, file=self.out)
        self.out.flush()

    def choose(self, warp: int) -> None:
        """Select the warp for the prompt and for commands that take one; raises InputError if it does not exist."""
        check_warp(warp, self.session.info.num_warps)
        self.warp = warp

    def prompt(self) -> str:
        """Return the prompt: share of the run, cycle, warp."""
        timeline, cycle = self.session.timeline, self.session.cycle
        share = (cycle - timeline.first) * 100 // max(1, timeline.last - timeline.first)
        return f"(rfv) {share}% {cycle:,} w{self.warp}> "

    def greet(self) -> None:
        """Introduce the linear mode."""
        info, timeline = self.session.info, self.session.timeline
        kind = "recorded" if timeline.closed else "live"
        self.say([f"{info.kernel} on {info.design}, scheduler {info.scheduler}, {kind}, "
                  f"cycles {timeline.first:,} to {timeline.last:,}{'' if timeline.closed else ' so far'}.",
                  "s steps, back steps back, help lists the commands, q ends.",
                  " ".join([f"Cycle {self.session.cycle:,}.", *census(self.session)])])

    def command(self, line: str) -> bool:
        """Execute one line; return False if it ends the session. Errors are printed, and remembered in `code`."""
        from rfview.sessions.commands.script import commands

        text = line.strip() or self.repeat
        self.repeat = text
        for _, part in commands(text):
            if part in ("q", "quit", "exit"):
                return False
            try:
                self._do(part)
            except RfviewError as error:
                self.code = error.exit_code
                print(f"error: {error}", file=self.err, flush=True)
                break
        return True

    def _do(self, part: str) -> None:
        """Execute one command: one of the linear mode's own, else a debugger command."""
        word, _, rest = part.partition(" ")
        rest = rest.strip()
        own: dict[str, Callable[[str], None]] = {"warp": self._warp, "verbose": self._verbose, "explain": self._explain}
        if word in own:
            own[word](rest)
            return
        if word in ("stepi", "si", "issue", "rsi", "reverse-stepi", "why") and not rest:
            part = f"{word} {self.warp}"
        from rfview.sessions.commands.table import execute

        before = self.session.cycle
        answer = execute(self.session, part)
        self.session = answer.session or self.session
        if answer.stop is None:
            self.say(answer.text.splitlines())
            return
        after = self.session.cycle
        if answer.stop.reason not in ("step", "goto"):
            self.say([answer.text[:1].upper() + answer.text[1:].rstrip(".") + "."])
        if answer.stop.reason == "fault":
            self.code = FAULT
        if after != before:
            self.say([" ".join(sentences(self.session, before, after))])
            if self.verbose:
                self.say(census(self.session))

    def _warp(self, rest: str) -> None:
        self.choose(parse_warp(rest, "warp"))
        scene = view(self.session, self.session.cycle)
        look = scene.look(scene.machine.state[self.warp])
        entry = scene.machine.instruction(scene.machine.pc[self.warp])
        detail = waits_for(scene, self.warp)
        self.say([f"w{self.warp}: {look.name}{f', {detail}' if detail else ''}. {look.sentence}"
                  + (f" Its next instruction is {entry.text}, {entry.where}." if entry else "")])

    def _verbose(self, rest: str) -> None:
        if rest not in ("on", "off"):
            raise InputError(f"verbose {rest}: expected on or off")
        self.verbose = rest == "on"
        self.say(census(self.session) if self.verbose else [])

    def _explain(self, rest: str) -> None:
        from rfview.glossary import terms

        self.say(terms.text_of(rest or "issued", info=self.session.info))


def lines_of(stream: TextIO, prompt: Callable[[], str], is_terminal: bool) -> Iterator[str]:
    """Yield the lines to execute; prompts if a person types them."""
    while True:
        if is_terminal:
            try:
                yield input(prompt())
            except EOFError:
                return
            except KeyboardInterrupt:
                print()
        else:
            line = stream.readline(LONGEST_LINE)
            if not line:
                return
            if len(line) == LONGEST_LINE:
                raise InputError(f"a line of the input has more than {LONGEST_LINE:,} characters; expected commands")
            if line.strip():
                yield line


def run(session: Session, *, warp: int = 0, stream: TextIO | None = None, first: Iterable[str] = ()) -> int:
    """Run the linear mode until its input ends; return the exit code, to which a person's typing errors do not count.

    first: commands executed before the first line is read.
    """
    source = stream or sys.stdin
    is_terminal = stream is None and sys.stdin.isatty()
    if is_terminal:
        _history()
    linear = Linear(session, warp=warp)
    with consistent(session.timeline):
        linear.greet()
        for line in first:
            linear.command(line)
        linear.repeat = ""
        for line in lines_of(source, linear.prompt, is_terminal):
            if not linear.command(line):
                break
    return 0 if is_terminal and linear.code == BAD_INPUT else linear.code


def _history() -> None:
    """Let ↑ recall lines, if Python has readline."""
    try:
        import readline  # noqa: F401
    except ImportError:
        return
