"""Debugger commands that watch, count and trace: watch, condition, trace, stats."""

from __future__ import annotations

import re

from rfview.engine.wording import plural
from rfview.sessions.commands import arguments
from rfview.sessions.lines import report
from rfview.sessions.reports import statistics, tables as reports
from rfview.sessions.reports.tracing import trace
from rfview.sessions.expressions.values import value_text
from rfview.sessions.session import Session
from rfview.sessions.commands.breaks import answer_of
from rfview.sessions.commands.verb import Answer, plain, verb

STRETCH = re.compile(r"\sfrom\s+(?P<first>\S+)(?:\s+to\s+(?P<last>\S+))?\s*\Z")
SHOWN_ROWS = 200


@verb("watch", "wa", signature="ITEM [if EXPR]", help="stop where an item changes: w3.R12[5], bank[2].queue, mem[A + 16]")
def _watch(session: Session, text: str) -> Answer:
    return _add_watch(session, text, temporary=False)


@verb("twatch", signature="(as watch)", help="a watchpoint that is removed at its first stop")
def _twatch(session: Session, text: str) -> Answer:
    return _add_watch(session, text, temporary=True)


@verb("rwatch", signature="wN.RN [if EXPR]", help="stop after each instruction that reads a register")
def _rwatch(session: Session, text: str) -> Answer:
    return _add_access(session, text, "read")


@verb("awatch", signature="wN.RN [if EXPR]", help="stop where a register is read or changes")
def _awatch(session: Session, text: str) -> Answer:
    return _add_access(session, text, "access")


def _add_access(session: Session, text: str, kind: str) -> Answer:
    item, _, text = arguments.needed(text, "rwatch").partition(" if ")
    condition = arguments.condition(session, text.strip())
    return answer_of(session.add_breakpoint(kind, item=item.strip(), condition=condition))


def _add_watch(session: Session, text: str, *, temporary: bool) -> Answer:
    item, _, condition = arguments.needed(text, "watch").partition(" if ")
    return answer_of(session.watch(item, arguments.condition(session, condition.strip()), temporary=temporary))


@verb("condition", "cond", signature="N [EXPR]", help="give a breakpoint another condition, or none")
def _condition(session: Session, text: str) -> Answer:
    word, _, condition = arguments.needed(text, "condition").partition(" ")
    number = arguments.number(word, "condition")
    session.set_condition(number, arguments.condition(session, condition.strip()))
    point = session.breakpoint(number)
    return Answer(f"breakpoint {number}: {point.text}", {"breakpoint": number, "condition": point.condition})


@verb("trace", "tr", signature="EXPR[, EXPR...] [at EXPR | at breakpoint N] [from PLACE [to PLACE]]",
      help="list every past hit with the values there; without `at` every change")
def _trace(session: Session, text: str) -> Answer:
    arguments.needed(text, "trace")
    first = last = None
    if stretch := STRETCH.search(text):
        first, last = stretch["first"], stretch["last"]
        text = text[: stretch.start()]
    what, _, where = text.partition(" at ")
    at: str | int = where.strip()
    if str(at).startswith("breakpoint "):
        at = arguments.number(str(at).removeprefix("breakpoint "), "trace at breakpoint")
    result = trace(session, split(what), at, first, last)
    rows = [[f"{cycle:,}", *map(value_text, values)] for cycle, values in
            zip(result.cycles[:SHOWN_ROWS], result.rows, strict=False)]
    hits = len(result.cycles)
    lines = [f"{'more than ' if result.more else ''}{plural(hits, 'hit')}"
             f"{f' of {result.condition}' if result.condition else ''} up to cycle {result.reached:,}"]
    if rows:
        lines.append(reports.table(["cycle", *result.expressions], rows))
    if hits > SHOWN_ROWS:
        lines.append(f"... {hits - SHOWN_ROWS:,} more; `from PLACE to PLACE` narrows it, --json has them all")
    return Answer("\n".join(lines), {"trace": plain(result.data())})


@verb("stats", "st", signature="[PLACE [PLACE]]", help="IPC, stalls, accesses and energy between two cycles or marks")
def _stats(session: Session, text: str) -> Answer:
    result = statistics.stats(session, *arguments.places(text, "stats"))
    return Answer(statistics.as_text(result), {"stats": plain(result.data())})


@verb("lines", signature="[PLACE [PLACE]]", help="what each source line cost between two cycles or marks")
def _lines(session: Session, text: str) -> Answer:
    result = report.line_report(session, *arguments.places(text, "lines"))
    return Answer(report.as_text(result), {"lines": plain(result.data())})


@verb("summary", "sum", help="what limited the run so far, in at most five sentences, with what would lift it")
def _summary(session: Session, text: str) -> Answer:
    from rfview.sessions.summary.summarise import summarise     # start-up

    result = summarise(session)
    return Answer(result.text(), {"summary": plain(result.data())})


def split(text: str) -> list[str]:
    """Split a text at its commas, except those inside brackets."""
    parts, depth, start = [], 0, 0
    for index, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]
