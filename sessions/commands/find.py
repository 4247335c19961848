"""Debugger commands that search for events of a kind, conditions, or an instruction, or return to before a jump."""

from __future__ import annotations

from rfview.engine.errors import InputError
from rfview.sessions.commands import arguments
from rfview.sessions.search import events
from rfview.sessions.cursor import Stop
from rfview.sessions.session import Session
from rfview.sessions.commands.verb import verb

EVENT = f"{'|'.join(events.KINDS)}|STALL|COUNTER [WARP] [COUNT]"


@verb("next-event", "ne", signature=EVENT, help="go forward to an event of a kind; stay if there is none")
def _next_event(session: Session, text: str) -> Stop:
    return session.next_event(*_event(session, text, "next-event"))


@verb("previous-event", "pe", signature="(as next-event)", help="go backward to an event of a kind")
def _previous_event(session: Session, text: str) -> Stop:
    return session.previous_event(*_event(session, text, "previous-event"))


def _event(session: Session, text: str, what: str) -> tuple[str, int | None, int]:
    """Read `KIND [wN] [COUNT]`."""
    words = arguments.needed(text, what).split()
    warp = None
    if len(words) > 1 and words[1].startswith("w"):
        warp = arguments.warp(session, words.pop(1), what)
    if len(words) > 2:
        raise InputError(f"{what} {text}: expected a kind, a warp as w3, and a count")
    return words[0], warp, arguments.count(words[1] if len(words) > 1 else "", what)


@verb("find", "f", signature="EXPR", help="go forward to a cycle where the condition holds; stay if there is none")
def _find(session: Session, text: str) -> Stop:
    return session.find(arguments.condition(session, arguments.needed(text, "find")))


@verb("reverse-find", "rf", signature="EXPR", help="go backward to a cycle where the condition holds")
def _reverse_find(session: Session, text: str) -> Stop:
    return session.find(arguments.condition(session, arguments.needed(text, "reverse-find")), forward=False)


@verb("next-read", "nr", signature="wN.RN", help="go to the next instruction that reads a register")
def _next_read(session: Session, text: str) -> Stop:
    return session.next_read(arguments.needed(text, "next-read"))


@verb("previous-read", "pr", signature="wN.RN", help="go back to the last instruction that read a register")
def _previous_read(session: Session, text: str) -> Stop:
    return session.next_read(arguments.needed(text, "previous-read"), forward=False)


@verb("run-to", "rt", signature="pc N|line N [warp W]|instruction N cta C warp W [launch L]",
      help="go to where a warp reaches an instruction, later or earlier, or issues its N-th one")
def _run_to(session: Session, text: str) -> Stop:
    if text.startswith("instruction "):
        return _run_to_nth(session, text)
    return session.run_to(*_instruction(session, text, "run-to"))


@verb("reverse-run-to", "rrt", signature="(as run-to)", help="go back to where a warp last reached an instruction")
def _reverse_run_to(session: Session, text: str) -> Stop:
    return session.run_to(*_instruction(session, text, "reverse-run-to"), forward=False)


def _run_to_nth(session: Session, text: str) -> Stop:
    """Read `instruction N cta C warp W [launch L]` and go there; W: in the CTA."""
    words = text.split()
    if words[::2] not in (["instruction", "cta", "warp"], ["instruction", "cta", "warp", "launch"]) or len(words) % 2:
        raise InputError(f"run-to {text}: expected `instruction N cta C warp W`, then `launch L` or nothing")
    first, *rest = (arguments.number(word, "run-to") for word in words[1::2])
    if first < 1 or min(rest) < 0:
        raise InputError(f"run-to {text}: instructions count from 1, CTAs, warps and launches from 0")
    return session.run_to_instruction(first, *rest)


def _instruction(session: Session, text: str, what: str) -> tuple[int, int | None]:
    """Read `pc N [warp W]` or `line N [warp W]` and return the pc and the warp."""
    words = arguments.needed(text, what).split()
    if len(words) not in (2, 4) or words[0] not in ("pc", "line") or (len(words) == 4 and words[2] != "warp"):
        raise InputError(f"{what} {text}: expected `pc N` or `line N`, then `warp W` or nothing")
    warp = arguments.warp(session, words[3], what) if len(words) == 4 else None
    number = arguments.number(words[1], what)
    if words[0] == "pc":
        return number, warp
    pcs = [entry.pc for entry in session.info.program if entry.line >= number]
    if not pcs:
        text = "listing" if session.info.is_machine_code else "PTX"
        raise InputError(f"{what} line {number}: no instruction at or after this line of the {text}")
    return min(pcs), warp


@verb("previous-stop", "jump-back", help="go to where the last jump came from; repeat it to return")
def _previous_stop(session: Session, text: str) -> Stop:
    return session.previous_stop()


@verb("play", signature="N", help="go N cycles forward, or fewer when a breakpoint stops on the way")
def _play(session: Session, text: str) -> Stop:
    return session.play(arguments.count(text, "play"))
