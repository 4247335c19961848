"""The table of all debugger commands, used by scripts, the screens' command line and other front ends.

A new command is one function with `@verb` in the file of its group; a new file is one more import here.
"""

from __future__ import annotations

from rfview.engine.errors import InputError
from rfview.engine.wording import suggest
from rfview.sessions.commands import (  # noqa: F401 - each adds its commands to VERBS, in the order of `help`
    move, breaks, look, capture, check, find, heat, image, follow, branch, relief, stop, why,
)
from rfview.sessions.commands.verb import ALIASES, VERBS, Answer, command_text, help_text
from rfview.sessions.guard import consistent
from rfview.sessions.cursor import Stop
from rfview.sessions.session import Session

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
        result = Answer(result.text, data, result)
    return Answer(result.text, {"command": line.strip(), **result.data}, result.stop, result.session)
