"""The debugger command that records a part of a session: from here to a later stop, or between two given places."""

from __future__ import annotations

from rfview.engine.errors import InputError
from rfview.sessions.branches.capture import capture, check
from rfview.sessions.file.writer import RecordResult
from rfview.sessions.session import Session
from rfview.sessions.commands.verb import Answer, verb


@verb("capture", signature="FILE.rfs [from PLACE to PLACE] | stop",
      help="record from this cycle on; `capture stop` then writes the file, up to the cursor")
def _capture(session: Session, text: str) -> Answer:
    words = text.split()
    if words == ["stop"]:
        return _stop(session)
    if len(words) == 5 and (words[1], words[3]) == ("from", "to"):
        first, last = (session.resolve(word) for word in (words[2], words[4]))
        return _answer(capture(session, words[0], first, last), first)
    if len(words) != 1 or not words[0].endswith(".rfs"):
        raise InputError(f"capture {text}: expected `capture FILE.rfs`, `capture FILE.rfs from 100 to @a` or `capture stop`")
    check(words[0])
    session.memo["capture"] = (words[0], session.cycle)
    return Answer(f"capturing into {words[0]} from cycle {session.cycle:,} on; `capture stop` writes it up to the cursor",
                  {"file": words[0], "first": session.cycle})


def _stop(session: Session) -> Answer:
    """Write what was captured."""
    if "capture" not in session.memo:
        raise InputError("capture stop: nothing is being captured; `capture FILE.rfs` begins")
    path, first = session.memo["capture"]
    answer = _answer(capture(session, path, first, session.cycle), first)
    del session.memo["capture"]
    return answer


def _answer(result: RecordResult, first: int) -> Answer:
    data = {"file": str(result.path), "first": first, "cycles": result.cycles, "bytes": result.file_bytes}
    return Answer(f"{result.path}: cycles {first:,} to {first + result.cycles:,} in {result.file_bytes:,} bytes", data)
