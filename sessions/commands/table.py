"""The table of debugger commands: name, arguments, help sentence and what each does to a session.

Scripts, the screens' command line and later front ends run the same table; a new verb is one function with `@verb`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rfview.engine.errors import InputError
from rfview.sessions.commands import arguments
from rfview.sessions.reports import tables as reports
from rfview.sessions.search.breakpoints import Breakpoint
from rfview.sessions.layout import suggest
from rfview.sessions.session import Session, Stop


@dataclass(frozen=True)
class Answer:
    """What a command gives back. text: for people. data: JSON-able. stop: where a move ended, or None.

    session: what the following commands are for, where the command went to another branch.
    """

    text: str
    data: dict[str, Any] = field(default_factory=dict)
    stop: Stop | None = None
    session: Session | None = None


@dataclass(frozen=True)
class Verb:
    """One command: run(session, argument text) does it."""

    name: str
    aliases: tuple[str, ...]
    signature: str
    help: str
    run: Callable[[Session, str], Answer | Stop]


VERBS: dict[str, Verb] = {}
ALIASES: dict[str, str] = {}


def verb(name: str, *aliases: str, signature: str = "", help: str) -> Callable[..., Any]:
    """Add the decorated function to the table."""

    def add(run: Callable[[Session, str], Answer | Stop]) -> Callable[[Session, str], Answer | Stop]:
        VERBS[name] = Verb(name, aliases, signature, help, run)
        ALIASES.update(dict.fromkeys((name, *aliases), name))
        return run

    return add


def execute(session: Session, line: str) -> Answer:
    """Run one command line; raises InputError for an unknown command or wrong arguments.

    A bare place works as goto: `1234`, `50%`, `@mark`.
    """
    word, _, rest = line.strip().partition(" ")
    if word[:1].isdigit() or word[:1] == "@":
        word, rest = "goto", line.strip()
    name = ALIASES.get(word)
    if name is None:
        raise InputError(f"no command {word!r}{suggest(word, ALIASES) or '; `help` lists the commands'}")
    result = VERBS[name].run(session, rest.strip())
    if isinstance(result, Stop):
        data = {"cycle": result.cycle, "reason": result.reason, "text": result.text}
        if result.breakpoint is not None:
            data["breakpoint"] = result.breakpoint
        result = Answer(result.text, data, result)
    return Answer(result.text, {"command": line.strip(), **result.data}, result.stop, result.session)


def help_text() -> str:
    """Return the table of commands as aligned lines."""
    heads = [f"{'|'.join([name, *entry.aliases])} {entry.signature}".strip() for name, entry in VERBS.items()]
    width = min(44, max(map(len, heads)))
    lines = []
    for head, entry in zip(heads, VERBS.values()):
        if len(head) > width:
            lines.append(f"  {head}")
            head = ""
        lines.append(f"  {head:<{width}}  {entry.help}")
    return "\n".join(lines)


def plain(value: Any) -> Any:
    """Return a value as JSON knows it; infinities and NaN become text."""
    if isinstance(value, np.ndarray):
        return [plain(part) for part in value.tolist()]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


# moving


@verb("step", "s", signature="[N]", help="go N cycles forward (default 1)")
def _step(session: Session, text: str) -> Stop:
    return session.step(arguments.count(text, "step"))


@verb("back", "reverse-step", "rs", signature="[N]", help="go N cycles backward (default 1)")
def _back(session: Session, text: str) -> Stop:
    return session.back(arguments.count(text, "back"))


@verb("goto", "g", "run", signature="N|+N|-N|N%|@MARK|start|end", help="go to a cycle, a share of the run or a mark")
def _goto(session: Session, text: str) -> Stop:
    return session.goto(arguments.needed(text, "goto"))


@verb("until", "u", signature="EXPR", help="go forward until the condition holds")
def _until(session: Session, text: str) -> Stop:
    return session.run_until(arguments.needed(text, "until"))


@verb("reverse-until", "runtil", "ru", signature="EXPR", help="go backward until the condition holds")
def _reverse_until(session: Session, text: str) -> Stop:
    return session.reverse_until(arguments.needed(text, "reverse-until"))


@verb("continue", "c", help="go forward to the next breakpoint, or the end")
def _continue(session: Session, text: str) -> Stop:
    return session.continue_()


@verb("reverse-continue", "rc", help="go backward to the previous breakpoint, or the start")
def _reverse_continue(session: Session, text: str) -> Stop:
    return session.reverse_continue()


@verb("stepi", "si", "issue", signature="WARP", help="go forward to the next cycle after an issue of a warp")
def _stepi(session: Session, text: str) -> Stop:
    warp = arguments.number(arguments.needed(text, "stepi").lstrip("w"), "stepi")
    return session.run_until(f"w{warp}.state == issued")


@verb("reverse-stepi", "rsi", signature="WARP", help="go backward to the cycle after a warp's previous issue")
def _reverse_stepi(session: Session, text: str) -> Stop:
    warp = arguments.number(arguments.needed(text, "reverse-stepi").lstrip("w"), "reverse-stepi")
    return session.reverse_until(f"w{warp}.state == issued")


@verb("next", "nextchange", signature="ITEM", help="go forward to where an expression next changes")
def _next(session: Session, text: str) -> Stop:
    return session.next_change(arguments.needed(text, "next"))


@verb("last", "lastchange", signature="ITEM", help="go backward to where an expression last changed")
def _last(session: Session, text: str) -> Stop:
    return session.last_change(arguments.needed(text, "last"))


@verb("earlier", "history-back", help="go to the stop before this one")
def _earlier(session: Session, text: str) -> Stop:
    return session.history_back()


@verb("later", "history-forward", help="go to the stop that `earlier` came from")
def _later(session: Session, text: str) -> Stop:
    return session.history_forward()


# breakpoints


@verb("break", "b", help="stop there when continuing; each takes `if EXPR` too",
      signature="cycle N | pc N [warp W] | line N [warp W] | warp W | stall [NAME] > N [warp W] | unbalanced | if EXPR")
def _break(session: Session, text: str) -> Answer:
    return _add_breakpoint(session, text, False)


@verb("tbreak", "tb", signature="(as break)", help="a breakpoint that is removed at its first stop")
def _tbreak(session: Session, text: str) -> Answer:
    return _add_breakpoint(session, text, True)


def _add_breakpoint(session: Session, text: str, temporary: bool) -> Answer:
    """Read `KIND N [warp W] [if EXPR]`."""
    place, condition = text, ""
    padded = f" {text}"
    if " if " in padded:
        place, _, condition = padded.partition(" if ")
    elif padded.endswith(" if"):
        raise InputError("break if: the condition is missing")
    words = place.replace(">", " ").split()
    if not words and condition:
        point = session.add_breakpoint("if", condition=condition.strip(), temporary=temporary)
    elif words == ["unbalanced"]:
        point = session.add_breakpoint("unbalanced", condition=condition.strip(), temporary=temporary)
    elif words[:1] == ["stall"]:
        point = _add_stall(session, text, words[1:], condition.strip(), temporary)
    else:
        if words and words[0][:1].isdigit():
            words.insert(0, "cycle")
        if len(words) not in (2, 4) or (len(words) == 4 and words[2] != "warp"):
            raise InputError(f"break {text}: expected `break cycle N`, `pc N`, `line N`, `warp N`, `stall [NAME] > N`, "
                             "`unbalanced` or `if EXPR`")  # fmt: skip
        warp = arguments.number(words[3], "break: warp") if len(words) == 4 else None
        point = session.add_breakpoint(words[0], arguments.number(words[1], f"break {words[0]}"), warp=warp,
                                       condition=condition.strip(), temporary=temporary)  # fmt: skip
    return told(point)


def _add_stall(session: Session, text: str, words: list[str], condition: str, temporary: bool) -> Breakpoint:
    """Read `[NAME] N [warp W]`."""
    name = words.pop(0) if words and not words[0].isdigit() else ""
    if len(words) not in (1, 3) or (len(words) == 3 and words[1] != "warp"):
        raise InputError(f"break {text}: expected `break stall [NAME] > N [warp W]`, as in `break stall barrier > 100`")
    warp = arguments.number(words[2].lstrip("w"), "break stall: warp") if len(words) == 3 else None
    return session.add_breakpoint("stall", arguments.number(words[0], "break stall"), item=name, warp=warp,
                                  condition=condition, temporary=temporary)  # fmt: skip


def told(point: Breakpoint) -> Answer:
    """Return the answer that tells of a new breakpoint."""
    note = f" ({point.note})" if point.note else ""
    return Answer(f"breakpoint {point.number}: {point.text}{note}", {"breakpoint": point.number, "place": point.text})


@verb("delete", "d", signature="[N]", help="remove a breakpoint, or all of them")
def _delete(session: Session, text: str) -> Answer:
    numbers = [arguments.number(text, "delete")] if text else list(session.breakpoints)
    for number in numbers:
        session.remove_breakpoint(number)
    return Answer(f"removed {len(numbers)} breakpoint{'s' if len(numbers) != 1 else ''}", {"removed": numbers})


@verb("enable", signature="N", help="switch a breakpoint on")
def _enable(session: Session, text: str) -> Answer:
    number = arguments.number(arguments.needed(text, "enable"), "enable")
    session.enable_breakpoint(number, True)
    return Answer(f"breakpoint {number} is on", {"breakpoint": number, "enabled": True})


@verb("disable", signature="N", help="switch a breakpoint off")
def _disable(session: Session, text: str) -> Answer:
    number = arguments.number(arguments.needed(text, "disable"), "disable")
    session.enable_breakpoint(number, False)
    return Answer(f"breakpoint {number} is off", {"breakpoint": number, "enabled": False})


@verb("ignore", signature="N COUNT", help="pass over the next COUNT hits of a breakpoint")
def _ignore(session: Session, text: str) -> Answer:
    words = text.split()
    if len(words) != 2:
        raise InputError(f"ignore {text}: expected a breakpoint and a count")
    number, count = arguments.number(words[0], "ignore"), arguments.number(words[1], "ignore")
    session.breakpoint(number).ignore = max(0, count)
    data = {"breakpoint": number, "ignore": count}
    return Answer(f"breakpoint {number}: the next {count} hits are passed over", data)


# looking


@verb("print", "p", signature="EXPR", help="show an expression's value at this cycle")
def _print(session: Session, text: str) -> Answer:
    value = session.value(arguments.needed(text, "print"))
    data = {"expression": text, "value": plain(value), "cycle": session.cycle}
    return Answer(f"{text} = {reports.value_text(value)}", data)


@verb("info", "i", signature=" | ".join(reports.TOPICS), help="show a table of the machine at this cycle")
def _info(session: Session, text: str) -> Answer:
    topic, _, rest = text.partition(" ")
    name = reports.ALIASES.get(topic, topic)
    if name not in reports.TOPICS:
        raise InputError(f"info {topic}: no such table{suggest(topic, reports.TOPICS)}; there are "
                         f"{', '.join(reports.TOPICS)}")  # fmt: skip
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
    mark = session.mark(name.lstrip("@"), note.strip())
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
    name = ALIASES.get(text)
    if name is None:
        raise InputError(f"help {text}: no such command{suggest(text, ALIASES)}")
    entry = VERBS[name]
    names = "|".join([name, *entry.aliases])
    return Answer(f"{names} {entry.signature}\n  {entry.help}", {"name": name, "help": entry.help})


from rfview.sessions.commands import branch, capture, find, follow, stop, why  # noqa: E402, F401 - each adds its own
