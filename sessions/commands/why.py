"""The debugger command `why [WARP] [CYCLE]`."""

from __future__ import annotations

from rfview.engine.errors import InputError
from rfview.sessions.commands import arguments
from rfview.sessions.session import Session
from rfview.sessions.commands.verb import Answer, verb
from rfview.sessions.why import why


@verb("why", signature="[WARP] [CYCLE]", help="say why a warp does not issue, down to the hardware that holds it up")
def _why(session: Session, text: str) -> Answer:
    """Explain a warp (default: that of the last stop, else the one stalled longest) at a cycle (default: the cursor)."""
    words = text.split()
    if len(words) > 2:
        raise InputError(f"why {text}: expected at most a warp and a cycle, for example `why 7 1200`")
    warp = arguments.warp(session, words[0], "why") if words else arguments.warp_of_last_stop(session)
    chain = why(session, warp, arguments.number(words[1], "why: cycle") if len(words) > 1 else None)
    return Answer(chain.text(), chain.data())
