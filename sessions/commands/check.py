"""The debugger command that checks the run: `check` lists the findings, `check N` goes to one of them."""

from __future__ import annotations

from rfview.engine.check.findings import Findings
from rfview.engine.errors import InputError
from rfview.engine.wording import numbered
from rfview.sessions.check import check
from rfview.sessions.commands.verb import Answer, verb
from rfview.sessions.cursor import Stop
from rfview.sessions.session import Session


@verb("check", signature="[N]", help="races, unwritten reads, barriers and lane masks of the whole run; go to finding N")
def _check(session: Session, text: str) -> Answer | Stop:
    findings = check(session)
    if not text:
        return Answer(text_of(findings), {"check": findings.as_dict()})
    if not text.isdecimal() or not 1 <= int(text) <= len(findings.found):
        raise InputError(f"check {text}: expected the number of a finding, 1 to {len(findings.found)}" if findings.found else
                         f"check {text}: nothing was found")
    return session.goto(findings.found[int(text) - 1].cycle)


def text_of(findings: Findings) -> str:
    """Return the findings as text, numbered, and their number."""
    return f"{numbered([one.as_text() for one in findings.found], findings.more)} in {findings.length}"
