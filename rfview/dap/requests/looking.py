"""Handlers that read the state: threads, stack frames, the trees of a stop, sources, disassembly, exceptions."""

from __future__ import annotations

from typing import Any

from rfview.dap.arguments import Arguments
from rfview.dap.conversation import FIRST_WARP, MACHINE, Conversation, Handler, Reply
from rfview.dap.frames import number
from rfview.engine.errors import InputError
from rfview.sessions.why import why

MAX_INSTRUCTIONS = 100_000     # of one disassembly


def threads(conversation: Conversation, arguments: Arguments) -> Reply:
    """List the machine and every warp slot that holds a warp."""
    sm = conversation.session.snapshot().sm
    names = conversation.session.info.stall_names
    resident = int(sm["resident"])
    warps = [{"id": FIRST_WARP + warp, "name": f"w{warp}  {names[int(sm['warp'][warp]['state'])]}"}
             for warp in range(conversation.session.info.num_warps) if resident >> warp & 1]
    return Reply({"threads": [{"id": MACHINE, "name": f"SM  cycle {conversation.session.cycle:,}"}, *warps]})


def stack_trace(conversation: Conversation, arguments: Arguments) -> Reply:
    """Return where a warp is: the lines of its source, then its instruction."""
    thread = arguments.number("threadId")
    warp = conversation.warp(thread)
    if warp is None:
        sm = conversation.session.snapshot().sm
        if not int(sm["resident"]) and not int(sm["launch"]["done_ctas"]):      # where warps will start
            frames = conversation.sources.stack_at(thread, int(sm["launch"]["entry_pc"]), conversation.line_offset)
        else:   # the machine has no source to open
            frames = [{"id": thread, "name": f"cycle {conversation.session.cycle:,}", "line": 0, "column": 0,
                       "presentationHint": "label"}]
    else:
        conversation.thread = thread
        frames = conversation.sources.stack(thread, warp, conversation.line_offset)
    return Reply({"stackFrames": _page(arguments, frames, "startFrame", "levels"), "totalFrames": len(frames)})


def _page(arguments: Arguments, items: list[Any], first: str, count: str) -> list[Any]:
    """Return the part of a list that a request names by two of its arguments; a count of 0 means all that follow."""
    start, number = arguments.number(first, 0), arguments.number(count, 0)
    if start < 0 or number < 0:
        raise InputError(f"{first} and {count}: expected whole numbers of at least 0")
    return items[start: start + number if number else None]


def scopes(conversation: Conversation, arguments: Arguments) -> Reply:
    """Return the trees of a warp or of the machine."""
    return Reply({"scopes": conversation.trees.scopes(conversation.warp_of_frame(arguments.number("frameId")))})


def variables(conversation: Conversation, arguments: Arguments) -> Reply:
    """Return the lines below a line of a tree."""
    children = conversation.trees.children(arguments.number("variablesReference"))
    if wanted := arguments.text("filter", ""):
        children = [line for line in children if line["name"].startswith("[") == (wanted == "indexed")]
    return Reply({"variables": _page(arguments, children, "start", "count")})


def source(conversation: Conversation, arguments: Arguments) -> Reply:
    """Return the text of the PTX, or of a source that has no file."""
    inner = arguments.inner("source")
    return Reply(conversation.sources.content(inner.number("sourceReference", 0) or arguments.number("sourceReference")))


def disassemble(conversation: Conversation, arguments: Arguments) -> Reply:
    """Return instructions before and after an address."""
    first = number(arguments.text("memoryReference")) + arguments.number("offset", 0)
    count = arguments.number("instructionCount")
    if not 0 <= count <= MAX_INSTRUCTIONS:
        raise InputError(f"disassemble: instructionCount: expected 0 to {MAX_INSTRUCTIONS:,}")
    first += arguments.number("instructionOffset", 0)
    instructions = conversation.sources.disassembly(first, count, conversation.line_offset)
    return Reply({"instructions": instructions})


def exception_info(conversation: Conversation, arguments: Arguments) -> Reply:
    """Explain the exception of the last stop: the fault, or why the warp for which it stopped waits."""
    stop = conversation.last_stop
    if stop is None or conversation.reason(stop) != "exception":
        raise InputError("exceptionInfo: the last stop was not an exception")
    body: dict[str, Any] = {"exceptionId": stop.reason, "description": stop.text, "breakMode": "always"}
    if stop.warp is not None:
        state = int(conversation.session.snapshot().sm["warp"][stop.warp]["state"])
        body["exceptionId"] = conversation.session.info.stall_names[state]
        body["details"] = {"message": why(conversation.session, stop.warp).text()}
    return Reply(body)


HANDLERS: dict[str, Handler] = {
    "threads": threads, "stackTrace": stack_trace, "scopes": scopes, "variables": variables, "source": source,
    "disassemble": disassemble, "exceptionInfo": exception_info,
}
