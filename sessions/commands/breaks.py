"""Debugger commands that set, enable, disable and delete breakpoints."""

from __future__ import annotations

import re

from rfview.engine.errors import InputError
from rfview.engine.wording import plural
from rfview.sessions.commands import arguments
from rfview.sessions.commands.verb import Answer, verb
from rfview.sessions.search.breakpoints import Breakpoint
from rfview.sessions.search.kinds import KINDS
from rfview.sessions.session import Session

PLACES = ("cycle N", "pc N [warp W]", "line N [warp W]", "FILE:LINE [warp W]", "warp W", "stall [NAME] > N [warp W]",
          "unbalanced", "if EXPR")
SOURCE = re.compile(r"(?P<place>.+:[0-9]{1,9})(?: +warp +(?P<warp>\S+))?\Z")


@verb("break", "b", help="stop there when continuing; each takes `if EXPR` too", signature=" | ".join(PLACES))
def _break(session: Session, text: str) -> Answer:
    return _add_breakpoint(session, text, temporary=False)


@verb("tbreak", "tb", signature="(as break)", help="a breakpoint that is removed at its first stop")
def _tbreak(session: Session, text: str) -> Answer:
    return _add_breakpoint(session, text, temporary=True)


def _add_breakpoint(session: Session, text: str, *, temporary: bool) -> Answer:
    """Read `KIND N [warp W] [if EXPR]`."""
    place, condition = text, ""
    padded = f" {text}"
    if " if " in padded:
        place, _, condition = padded.partition(" if ")
    elif padded.endswith(" if"):
        raise InputError("break if: the condition is missing")
    condition = arguments.condition(session, condition.strip())
    words = place.replace(">", " ").split()
    if not words and condition:
        point = session.add_breakpoint("if", condition=condition, temporary=temporary)
    elif words == ["unbalanced"]:
        point = session.add_breakpoint("unbalanced", condition=condition, temporary=temporary)
    elif words[:1] == ["stall"]:
        point = _add_stall(session, text, words[1:], condition, temporary)
    elif SOURCE.match(place.strip()):
        point = _add_source(session, place.strip(), condition, temporary)
    else:
        if words and words[0][:1].isdecimal():
            words.insert(0, "cycle")
        is_known = bool(words) and words[0] in KINDS and KINDS[words[0]].takes_number
        if not is_known or len(words) not in (2, 4) or (len(words) == 4 and words[2] != "warp"):
            raise InputError(f"break {text}: expected {' | '.join(PLACES)}")
        warp = arguments.warp(session, words[3], "break") if len(words) == 4 else None
        read = arguments.number if words[0] != "warp" else lambda word, what: arguments.warp(session, word, what)
        point = session.add_breakpoint(words[0], read(words[1], f"break {words[0]}"), warp=warp,
                                       condition=condition, temporary=temporary)
    return answer_of(point)


def _add_source(session: Session, place: str, condition: str, temporary: bool) -> Breakpoint:
    """Read `FILE:LINE [warp W]`."""
    match = SOURCE.match(place)
    assert match is not None
    warp = None if match["warp"] is None else arguments.warp(session, match["warp"], "break")
    return session.add_breakpoint("source", item=match["place"], warp=warp, condition=condition, temporary=temporary)


def _add_stall(session: Session, text: str, words: list[str], condition: str, temporary: bool) -> Breakpoint:
    """Read `[NAME] N [warp W]`."""
    name = words.pop(0) if words and not words[0].isdecimal() else ""
    if len(words) not in (1, 3) or (len(words) == 3 and words[1] != "warp"):
        raise InputError(f"break {text}: expected `break stall [NAME] > N [warp W]`, as in `break stall barrier > 100`")
    warp = arguments.warp(session, words[2], "break stall") if len(words) == 3 else None
    return session.add_breakpoint("stall", arguments.number(words[0], "break stall"), item=name, warp=warp,
                                  condition=condition, temporary=temporary)


def answer_of(point: Breakpoint) -> Answer:
    """Return the answer for a new breakpoint."""
    note = f" ({point.note})" if point.note else ""
    return Answer(f"breakpoint {point.number}: {point.text}{note}", {"breakpoint": point.number, "place": point.text})


@verb("delete", "d", signature="[N]", help="remove a breakpoint, or all of them")
def _delete(session: Session, text: str) -> Answer:
    numbers = [arguments.number(text, "delete")] if text else list(session.breakpoints)
    for number in numbers:
        session.remove_breakpoint(number)
    return Answer(f"removed {plural(len(numbers), 'breakpoint')}", {"removed": numbers})


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


@verb("ignore", signature="N COUNT", help="skip the next COUNT hits of a breakpoint")
def _ignore(session: Session, text: str) -> Answer:
    words = text.split()
    if len(words) != 2:
        raise InputError(f"ignore {text}: expected a breakpoint and a count")
    number, count = arguments.number(words[0], "ignore"), arguments.number(words[1], "ignore")
    session.breakpoint(number).ignore = max(0, count)
    data = {"breakpoint": number, "ignore": count}
    return Answer(f"breakpoint {number}: the next {count} hits are skipped", data)
