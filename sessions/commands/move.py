"""Debugger commands that move in time: steps, places, conditions, changes, breakpoints reached."""

from __future__ import annotations

from rfview.sessions.commands import arguments
from rfview.sessions.commands.verb import verb
from rfview.sessions.cursor import Stop
from rfview.sessions.session import Session


@verb("step", "s", signature="[N]", help="go N cycles forward (default 1)")
def _step(session: Session, text: str) -> Stop:
    return session.step(arguments.count(text, "step"))


@verb("back", "reverse-step", "rs", signature="[N]", help="go N cycles backward (default 1)")
def _back(session: Session, text: str) -> Stop:
    return session.back(arguments.count(text, "back"))


@verb("goto", "g", "run", signature="N|+N|-N|N%|@MARK|start|end", help="go to a cycle, a share of the run or a mark")
def _goto(session: Session, text: str) -> Stop:
    return session.goto(arguments.needed(text, "goto"))


@verb("restart", help="go to the first cycle; breakpoints stay")
def _restart(session: Session, text: str) -> Stop:
    return session.goto("start")


@verb("until", "u", signature="EXPR", help="go forward until the condition holds")
def _until(session: Session, text: str) -> Stop:
    return session.run_until(arguments.condition(session, arguments.needed(text, "until")))


@verb("reverse-until", "runtil", "ru", signature="EXPR", help="go backward until the condition holds")
def _reverse_until(session: Session, text: str) -> Stop:
    return session.reverse_until(arguments.condition(session, arguments.needed(text, "reverse-until")))


@verb("continue", "c", help="go forward to the next breakpoint, or the end")
def _continue(session: Session, text: str) -> Stop:
    return session.continue_()


@verb("reverse-continue", "rc", help="go backward to the previous breakpoint, or the start")
def _reverse_continue(session: Session, text: str) -> Stop:
    return session.reverse_continue()


@verb("stepi", "si", "issue", signature="WARP", help="go forward to the next cycle after an issue of a warp")
def _stepi(session: Session, text: str) -> Stop:
    warp = arguments.warp(session, arguments.needed(text, "stepi"), "stepi")
    return session.run_until(f"w{warp}.state == issued")


@verb("reverse-stepi", "rsi", signature="WARP", help="go backward to the cycle after a warp's previous issue")
def _reverse_stepi(session: Session, text: str) -> Stop:
    warp = arguments.warp(session, arguments.needed(text, "reverse-stepi"), "reverse-stepi")
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


@verb("next-line", "nl", signature="WARP [N]", help="go forward to where a warp reaches another source line")
def _next_line(session: Session, text: str) -> Stop:
    return _by_line(session, text, "next-line", True)


@verb("previous-line", "pl", signature="WARP [N]", help="go backward to where a warp reached another source line")
def _previous_line(session: Session, text: str) -> Stop:
    return _by_line(session, text, "previous-line", False)


def _by_line(session: Session, text: str, what: str, forward: bool) -> Stop:
    """Read `WARP [N]` and go there."""
    warp, _, times = arguments.needed(text, what).partition(" ")
    return session.next_line(arguments.warp(session, warp, what), forward, arguments.count(times.strip(), what))
