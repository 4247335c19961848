"""Command files: runs debugger commands on a session, one after the other, with text or JSON lines as output."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO

from rfview.engine.errors import InputError, RfviewError
from rfview.sessions.session import Session
from rfview.sessions.commands.reading import MOST_COMMANDS, commands, read_commands
from rfview.sessions.commands.table import ALIASES, Answer, execute
from rfview.sessions.expressions.mistakes import ExpressionError

__all__ = ["MOST_COMMANDS", "commands", "problem_of", "read_commands", "run_lines", "run_script"]
QUOTED = 200        # characters of a wrong command that its error repeats


def problem_of(error: RfviewError, command: str) -> str:
    """Return an error's message without the command or expression at its beginning, which the line quotes already."""
    if isinstance(error, ExpressionError):
        return error.problem
    word, _, rest = command.partition(" ")
    quoted, colon, problem = str(error).partition(": ")
    return problem if colon and f"{ALIASES.get(word, word)} {rest}".startswith(quoted) else str(error)


def _quoted(command: str) -> str:
    return command if len(command) <= QUOTED else f"{command[:QUOTED]}..."


def run_script(session: Session, text: str | Iterable[str]) -> Iterator[Answer]:
    """Yield the answer of each command in turn; raises InputError naming line and command at the first that fails."""
    for number, command in commands(text):
        try:
            answer = execute(session, command)
        except InputError as error:
            raise InputError(f"line {number}, `{_quoted(command)}`: {problem_of(error, command)}") from None
        session = answer.session or session
        yield answer


def run_lines(session: Session, text: str | Iterable[str], *, json: bool = False, out: TextIO | None = None,
              err: TextIO | None = None, answered: Callable[[], None] | None = None) -> int:
    """Run commands; print each answer to `out`, as one JSON object per line with json=True, and errors to `err`.

    answered: called before each answer or error is printed, to clear a progress display. Returns the exit code: 0; 2
    after an invalid command; 3 if the last move ended at a fault of the kernel.
    """
    out, err = out or sys.stdout, err or sys.stderr
    code = 0
    try:
        for answer in run_script(session, text):
            if answered is not None:
                answered()
            if answer.stop is not None:
                code = 3 if answer.stop.reason == "fault" else 0
            line = json_module.dumps(answer.data, ensure_ascii=False) if json else answer.text
            if line:
                print(line, file=out, flush=True)
    except RfviewError as error:
        if answered is not None:
            answered()
        print(json_module.dumps({"error": str(error)}) if json else f"rfview: {error}", file=err, flush=True)
        return error.exit_code
    return code
