"""Command files: run debugger commands over a session, one after the other, as text or as JSON lines."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO

from rfview.engine.errors import InputError, RfviewError
from rfview.sessions.session import Session
from rfview.sessions.commands.table import ALIASES, Answer, execute, help_text
from rfview.sessions.expressions.mistakes import ExpressionError

__all__ = ["commands", "help_text", "run_lines", "run_script"]


def commands(text: str | Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield (line number, command) of command text: `;` and newlines separate, `#` begins a comment."""
    lines = text.splitlines() if isinstance(text, str) else text
    for number, line in enumerate(lines, 1):
        for part in line.partition("#")[0].split(";"):
            if part.strip():
                yield number, part.strip()


def problem_of(error: RfviewError, command: str) -> str:
    """Return what an error says, without the command or the expression that it begins with: the line quotes them."""
    if isinstance(error, ExpressionError):
        return error.problem
    word, _, rest = command.partition(" ")
    quoted, colon, problem = str(error).partition(": ")
    return problem if colon and f"{ALIASES.get(word, word)} {rest}".startswith(quoted) else str(error)


def run_script(session: Session, text: str | Iterable[str]) -> Iterator[Answer]:
    """Yield the answer of each command in turn; raises InputError naming line and command at the first that fails."""
    for number, command in commands(text):
        try:
            answer = execute(session, command)
        except InputError as error:
            raise InputError(f"line {number}, `{command}`: {problem_of(error, command)}") from None
        session = answer.session or session
        yield answer


def run_lines(session: Session, text: str | Iterable[str], *, json: bool = False, out: TextIO | None = None,
              err: TextIO | None = None, answered: Callable[[], None] | None = None) -> int:
    """Run commands, print each answer to `out`, one JSON object per line with json=True, errors to `err`.

    answered: called before each answer or error is printed, to take away what tells of progress.
    Returns the exit code: 0; 2 after a command that cannot be used; 3 when the last move ended at the kernel's fault.
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
