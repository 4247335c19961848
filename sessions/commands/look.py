"""Debugger commands that show and name: values, tables, the current place, marks, and the list of commands."""

from __future__ import annotations

from rfview.engine.errors import InputError
from rfview.engine.wording import suggest
from rfview.sessions.commands import arguments
from rfview.sessions.commands.verb import ALIASES, VERBS, Answer, command_text, help_text, plain, verb
from rfview.sessions.reports import tables as reports
from rfview.sessions.expressions.values import value_text
from rfview.sessions.session import Session


@verb("print", "p", signature="EXPR", help="show an expression's value at this cycle")
def _print(session: Session, text: str) -> Answer:
    value = session.value(arguments.needed(text, "print"))
    data = {"expression": text, "value": plain(value), "cycle": session.cycle}
    return Answer(f"{text} = {value_text(value)}", data)


@verb("info", "i", signature=" | ".join(reports.TOPICS), help="show a table of the machine at this cycle")
def _info(session: Session, text: str) -> Answer:
    topic, _, rest = text.partition(" ")
    name = reports.ALIASES.get(topic, topic)
    if name not in reports.TOPICS:
        wrong = f"info {topic}: no such table{suggest(topic, reports.TOPICS)}; there are" if topic else "info: name a table:"
        raise InputError(f"{wrong} {', '.join(reports.TOPICS)}")
    if rest and name != "registers":
        raise InputError(f"info {text}: `info {topic}` takes nothing after it; for a warp: "
                         "`info registers 3`, `print w3.state`")
    report, data = reports.TOPICS[name](session, rest.strip())
    return Answer(report, {"cycle": session.cycle, name: plain(data)})


@verb("when", "w", help="say which cycle this is, of how many")
def _when(session: Session, text: str) -> Answer:
    report, data = reports.time(session, "")
    return Answer(report, data)


@verb("mark", "m", "bookmark", signature="NAME [NOTE]", help="name this cycle; `goto @NAME` comes back")
def _mark(session: Session, text: str) -> Answer:
    name, _, note = arguments.needed(text, "mark").partition(" ")
    note = note.strip()
    if len(note) > 1 and note[0] == note[-1] and note[0] in "\"'":
        note = note[1:-1]
    mark = session.mark(name.lstrip("@"), note)
    return Answer(f"@{mark.name} is cycle {mark.cycle:,}", {"mark": mark.name, "cycle": mark.cycle, "note": mark.note})


@verb("unmark", signature="NAME", help="remove a mark")
def _unmark(session: Session, text: str) -> Answer:
    name = arguments.needed(text, "unmark").lstrip("@")
    session.marks.remove(name)
    return Answer(f"@{name} is removed", {"mark": name})


@verb("help", "h", signature="[COMMAND]", help="explain the commands, or one of them")
def _help(session: Session, text: str) -> Answer:
    if not text:
        return Answer(help_text(), {"commands": {name: entry.help for name, entry in VERBS.items()}})
    if not (described := command_text(text)):
        raise InputError(f"help {text}: no such command{suggest(text, ALIASES)}; `rfview help TERM`, or :help TERM on "
                         "the screen, explains everything else")
    return Answer(described, {"name": ALIASES[text], "help": VERBS[ALIASES[text]].help})
