"""The table of all debugger commands, used by scripts, the screens' command line and other front ends.

A new command is one function with `@verb` in the file of its group; a new file is one more import here.
"""

from __future__ import annotations

from rfview.engine.errors import InputError
from rfview.engine.wording import suggest
from rfview.sessions.commands import (  # noqa: F401 - each adds its commands to VERBS, in the order of `help`
    move, breaks, look, capture, check, find, heat, image, follow, branch, relief, stop, why, after,
)
from rfview.sessions.commands import arguments
from rfview.sessions.commands.reading import commands, read_commands
from rfview.sessions.commands.verb import ALIASES, VERBS, Answer, command_text, help_text, plain, verb
from rfview.sessions.expressions.values import value_text
from rfview.sessions.guard import consistent
from rfview.sessions.cursor import Stop
from rfview.sessions.session import Session

MAX_DEPTH = 8       # of command files that run others
MOVING = ("move", "find", "follow", "branch", "table")   # of commands that may move the cursor, by module
__all__ = ["ALIASES", "VERBS", "Answer", "command_text", "execute", "help_text"]


def execute(session: Session, line: str) -> Answer:
    """Run one command line; raises InputError for an unknown command or wrong arguments.

    A place alone works like goto: `1234`, `50%`, `@mark`.
    """
    word, _, rest = line.strip().partition(" ")
    if word[:1].isdecimal() or word[:1] == "@":
        word, rest = "goto", line.strip()
    name = ALIASES.get(word)
    if name is None:
        raise InputError(f"no command {word!r}{suggest(word, ALIASES) or '; `help` lists the commands'}")
    if rest.strip() and not VERBS[name].signature:
        raise InputError(f"{line.strip()}: `{name}` takes nothing after it")
    with consistent(session.timeline):
        result = VERBS[name].run(session, rest.strip())
    if isinstance(result, Stop):
        session.memo["stop"] = result
        data = {"cycle": result.cycle, "reason": result.reason, "text": result.text}
        if result.breakpoints:
            data["breakpoints"] = list(result.breakpoints)
        result = _with_displays(session, Answer(result.text, data, result))
    return Answer(result.text, {"command": line.strip(), **result.data}, result.stop, result.session)


def _with_displays(session: Session, answer: Answer) -> Answer:
    """Return a stop's answer with the values displayed at each stop, and what the commands of its breakpoints say."""
    lines, data = [answer.text], dict(answer.data)
    for number, expression in session.memo.get("display", {}).items():
        value = session.value(expression)
        lines.append(f"{number}: {expression} = {value_text(value)}")
        data.setdefault("display", []).append({"display": number, "expression": expression, "value": plain(value)})
    for number in answer.stop.breakpoints if answer.stop is not None else ():
        for command in session.memo.get("commands", {}).get(number, ()):
            said = execute(session, command)
            lines.append(said.text)
            data.setdefault("commands", []).append(said.data)
    return Answer("\n".join(lines), data, answer.stop, answer.session)


@verb("display", signature="[EXPR]", help="show an expression's value at every stop; without one, list those shown")
def _display(session: Session, text: str) -> Answer:
    shown: dict[int, str] = session.memo.setdefault("display", {})
    if not text:
        lines = [f"{number}: {expression}" for number, expression in shown.items()]
        data = {str(number): expression for number, expression in shown.items()}
        return Answer("\n".join(lines) or "nothing is displayed", {"display": data})
    value = session.value(text)
    number = max(shown, default=0) + 1
    shown[number] = text
    return Answer(f"{number}: {text} = {value_text(value)}", {"display": number, "expression": text, "value": plain(value)})


@verb("undisplay", signature="N", help="no longer show a value at every stop")
def _undisplay(session: Session, text: str) -> Answer:
    number = arguments.number(arguments.needed(text, "undisplay"), "undisplay")
    if session.memo.get("display", {}).pop(number, None) is None:
        raise InputError(f"undisplay {text}: no value of this number is displayed")
    return Answer(f"display {number} is removed", {"display": number})


@verb("commands", signature="N [COMMAND [then COMMAND ...]]",
      help="run commands at each stop at a breakpoint, such as `commands 1 print w3.R1 then why 3`; none ends that")
def _commands(session: Session, text: str) -> Answer:
    word, _, rest = arguments.needed(text, "commands").partition(" ")
    point = session.breakpoint(arguments.number(word, "commands"))
    parts = [part.strip() for part in rest.split(" then ") if part.strip()]
    for part in parts:
        name = ALIASES.get(part.partition(" ")[0])
        if name is None:
            raise InputError(f"commands {text}: no command {part.partition(' ')[0]!r}; `help` lists the commands")
        if VERBS[name].run.__module__.rpartition(".")[2] in MOVING:
            raise InputError(f"commands {text}: `{part}` may move the cursor from the stop at which it is run")
    session.memo.setdefault("commands", {})[point.number] = tuple(parts)
    said = f"then runs {', '.join(parts)}" if parts else "runs no commands"
    return Answer(f"breakpoint {point.number} {said}", {"breakpoint": point.number, "commands": parts})


@verb("source", signature="FILE", help="run the commands in a file, one a line or separated by ;")
def _source(session: Session, text: str) -> Answer:
    depth = session.memo.get("source", 0)
    if depth >= MAX_DEPTH:
        raise InputError(f"source {text}: files of commands name each other {MAX_DEPTH} deep")
    name = arguments.needed(text, "source")
    here, answers = session, []
    for number, command in commands(read_commands(name)):
        here.memo["source"] = depth + 1
        try:
            answer = execute(here, command)
        except InputError as error:
            raise InputError(f"{name}: line {number}, `{command}`: {error}") from None
        finally:
            here.memo["source"] = depth
        here = answer.session or here
        answers.append(answer)
    data = {"answers": [answer.data for answer in answers]}
    text = "\n".join(answer.text for answer in answers if answer.text)
    return Answer(text, data, answers[-1].stop if answers else None, here if here is not session else None)
