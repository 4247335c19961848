"""Handlers of start and end: the adapter's capabilities, launch, restart, disconnect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rfview.dap import target
from rfview.dap.arguments import Arguments
from rfview.dap.conversation import Conversation, Handler, Reply
from rfview.dap.requests.breakpoints import UNBALANCED
from rfview.engine import plugin as designs
from rfview.sessions.cursor import Stop


def initialize(conversation: Conversation, arguments: Arguments) -> Reply:
    """Return the adapter's capabilities."""
    conversation.line_offset = 0 if arguments.flag("linesStartAt1", True) else 1
    conversation.compiling.has_bar = arguments.flag("supportsProgressReporting", False)
    return Reply(_capabilities())


def launch(conversation: Conversation, arguments: Arguments) -> Reply:
    """Open the session named by `program`; the editor then sends its breakpoints."""
    stop_on_entry = arguments.flag("stopOnEntry", True)
    session = target.opened(arguments, conversation.compiling)
    conversation.stop_on_entry = stop_on_entry
    conversation.open(session, Path(arguments.text("program")).parent)
    return Reply(after=lambda: conversation.wire.event("initialized"))


def configuration_done(conversation: Conversation, arguments: Arguments) -> Reply:
    """Start: stay at the first cycle, or go to the first breakpoint."""
    if conversation.stop_on_entry:
        return Reply(after=lambda: conversation.stopped(Stop(conversation.session.cycle, "start", "the first cycle")))
    return Reply(after=lambda: conversation.move(conversation.session.continue_))


def restart(conversation: Conversation, arguments: Arguments) -> Reply:
    """Go back to the first cycle and start again."""
    conversation.session.goto(conversation.session.timeline.first)
    return configuration_done(conversation, arguments)


def disconnect(conversation: Conversation, arguments: Arguments) -> Reply:
    """End the conversation."""
    conversation.is_over = True
    return Reply()


def terminate(conversation: Conversation, arguments: Arguments) -> Reply:
    """End the run."""
    return Reply(after=lambda: conversation.wire.event("terminated"))


def _capabilities() -> dict[str, Any]:
    """Return the adapter's capabilities, in the protocol's terms."""
    able = ("ConfigurationDoneRequest", "StepBack", "SteppingGranularity", "ConditionalBreakpoints",
            "HitConditionalBreakpoints", "DataBreakpoints", "EvaluateForHovers", "TerminateRequest",
            "DelayedStackTraceLoading", "CompletionsRequest", "ExceptionInfoRequest", "DisassembleRequest",
            "InstructionBreakpoints", "SetVariable", "RestartRequest")
    waits = [{"filter": stall.name, "label": f"A warp waits: {stall.name}", "default": False}
             for stall in designs.stalls().values() if stall.family == "register_file"]
    waits.append({"filter": UNBALANCED, "label": "Warp-cycles or energy do not add up", "default": False})
    return {**{f"supports{name}": True for name in able}, "exceptionBreakpointFilters": waits}


HANDLERS: dict[str, Handler] = {
    "initialize": initialize, "launch": launch, "attach": launch, "configurationDone": configuration_done,
    "restart": restart, "disconnect": disconnect, "terminate": terminate,
}
