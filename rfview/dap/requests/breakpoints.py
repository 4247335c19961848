"""Handlers of breakpoints at lines and instructions, on data and on exceptions: each replaces those of its kind."""

from __future__ import annotations

import re
from typing import Any

from rfview.dap.arguments import Arguments
from rfview.dap.conversation import Conversation, Handler, Reply
from rfview.dap.frames import number
from rfview.dap.points import EXCEPTIONS, Make
from rfview.engine.errors import InputError
from rfview.sessions.session import Session

UNBALANCED = "unbalanced"       # the exception filter for warp-cycles or energy that do not add up
WHOLE_REGISTER = re.compile(r"w\d+\.R\d+\Z")
ACCESSES = {"write": "", "read": "read", "readWrite": "access"}     # of the protocol; kinds of breakpoints, "" for a watch
HIT_DIGITS = 15         # digits of the longest hit condition


def set_breakpoints(conversation: Conversation, arguments: Arguments) -> Reply:
    """Replace the breakpoints of a source; lines without an instruction are refused individually."""
    source, wanted, files = arguments.inner("source"), arguments.objects("breakpoints"), conversation.sources
    try:
        path = files.which(source.text("path", source.text("name", "")), source.number("sourceReference", 0))
    except InputError as error:
        return Reply({"breakpoints": [{"verified": False, "message": str(error)} for _ in wanted]})

    def make(session: Session, point: Arguments) -> Any:
        place = files.place(path, point.number("line") + conversation.line_offset)
        return session.add_breakpoint(**place, condition=point.text("condition", ""), ignore=_ignored(point))

    results = conversation.points.replace(f"source {path}", wanted, make)
    for result in results:
        if (point := result.pop("point", None)) is not None:
            result["line"] = files.line_of(point) - conversation.line_offset
    return Reply({"breakpoints": results})


def set_instruction_breakpoints(conversation: Conversation, arguments: Arguments) -> Reply:
    """Replace the breakpoints at instructions."""

    def make(session: Session, point: Arguments) -> Any:
        pc = number(point.text("instructionReference")) + point.number("offset", 0)
        return session.add_breakpoint("pc", pc, condition=point.text("condition", ""), ignore=_ignored(point))

    return _replace(conversation, "instructions", arguments.objects("breakpoints"), make)


def data_breakpoint_info(conversation: Conversation, arguments: Arguments) -> Reply:
    """Say whether a line of a tree, or an expression, can be watched."""
    name = arguments.text("name")
    reference = arguments.number("variablesReference", 0)
    expression = conversation.trees.expression(reference, name) if reference else name
    try:
        conversation.session.expression(expression).check_change()
    except InputError as error:
        return Reply({"dataId": None, "description": str(error)})
    kinds = ["read", "write", "readWrite"] if WHOLE_REGISTER.match(expression) else ["write"]
    return Reply({"dataId": expression, "description": expression, "accessTypes": kinds})


def set_data_breakpoints(conversation: Conversation, arguments: Arguments) -> Reply:
    """Replace the watchpoints: on changes or, of a register, on instructions that read it, or on both."""
    def make(session: Session, point: Arguments) -> Any:
        item, condition, ignore = point.text("dataId"), point.text("condition", ""), _ignored(point)
        access = point.text("accessType", "write")
        if access not in ACCESSES:
            raise InputError(f"accessType {access[:80]!r}: expected one of {', '.join(ACCESSES)}")
        kind = ACCESSES[access]
        return session.watch(item, condition, ignore=ignore) if not kind else session.add_breakpoint(
            kind, item=item, condition=condition, ignore=ignore)

    return _replace(conversation, "data", arguments.objects("breakpoints"), make)


def set_exception_breakpoints(conversation: Conversation, arguments: Arguments) -> Reply:
    """Stop where a warp starts to wait for one of these reasons, or where warp-cycles or energy do not add up."""
    return _replace(conversation, EXCEPTIONS, arguments.texts("filters"), lambda session, name: (
        session.break_on_unbalanced() if name == UNBALANCED
        else session.add_breakpoint("if", condition=f"any(w.state == {name})")))


def _replace(conversation: Conversation, kind: str, wanted: list[Any], make: Make) -> Reply:
    """Replace the breakpoints of a kind."""
    results = conversation.points.replace(kind, wanted, make)
    for result in results:
        result.pop("point", None)
    return Reply({"breakpoints": results})


def _ignored(point: Arguments) -> int:
    """Return how many hits a breakpoint ignores: its hit condition is the number, from 1, of the hit that stops."""
    text = point.text("hitCondition", "1").strip()
    if not (text.isascii() and text.isdecimal() and len(text) <= HIT_DIGITS) or int(text) < 1:
        raise InputError(f"hit condition {text[:80]!r}: expected a whole number of at least 1, the hit that stops")
    return int(text) - 1


HANDLERS: dict[str, Handler] = {
    "setBreakpoints": set_breakpoints, "setInstructionBreakpoints": set_instruction_breakpoints,
    "dataBreakpointInfo": data_breakpoint_info, "setDataBreakpoints": set_data_breakpoints,
    "setExceptionBreakpoints": set_exception_breakpoints,
}
