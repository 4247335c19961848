"""Handlers of moves: steps of a warp or the machine, continue forward and backward, pause."""

from __future__ import annotations

from rfview.dap.arguments import Arguments
from rfview.dap.conversation import MACHINE, Conversation, Handler, Reply
from rfview.sessions.cursor import Stop


def step_over(conversation: Conversation, arguments: Arguments) -> Reply:
    """Go to the warp's next line or instruction, or one cycle forward."""
    return _by_step(conversation, arguments, forward=True)


def step_back(conversation: Conversation, arguments: Arguments) -> Reply:
    """Go to the warp's previous line or instruction, or one cycle back."""
    return _by_step(conversation, arguments, forward=False)


def _by_step(conversation: Conversation, arguments: Arguments, *, forward: bool) -> Reply:
    session, thread = conversation.session, arguments.number("threadId")
    warp = conversation.warp(thread)
    if warp is None or arguments.text("granularity", "") == "instruction":
        return Reply(after=lambda: conversation.move(session.step if forward else session.back, thread, is_step=True))
    if session.lines:
        return Reply(after=lambda: conversation.move(lambda: session.next_line(warp, forward), thread, is_step=True))
    go = session.next_event if forward else session.previous_event
    return Reply(after=lambda: conversation.move(lambda: go("issue", warp), thread, is_step=True))


def step_in(conversation: Conversation, arguments: Arguments) -> Reply:
    """Go to the next instruction of a warp whose statements are lines, else one cycle forward."""
    session, thread = conversation.session, arguments.number("threadId")
    warp = conversation.warp(thread)
    if warp is None or not session.lines or arguments.text("granularity", "") == "instruction":
        return Reply(after=lambda: conversation.move(session.step, thread, is_step=True))
    return Reply(after=lambda: conversation.move(lambda: session.next_event("issue", warp), thread, is_step=True))


def step_out(conversation: Conversation, arguments: Arguments) -> Reply:
    """Continue until the warp is in another state."""
    thread = arguments.number("threadId")
    warp = conversation.warp(thread)
    item = "cycle" if warp is None else f"w{warp}.state"
    return Reply(after=lambda: conversation.move(lambda: conversation.session.next_change(item), thread, is_step=True))


def resume(conversation: Conversation, arguments: Arguments) -> Reply:
    """Go to the next breakpoint, or to the end."""
    conversation.warp(arguments.number("threadId", MACHINE))
    return Reply({"allThreadsContinued": True}, lambda: conversation.move(conversation.session.continue_))


def reverse_continue(conversation: Conversation, arguments: Arguments) -> Reply:
    """Go to the previous breakpoint, or to the start."""
    conversation.warp(arguments.number("threadId", MACHINE))
    return Reply(after=lambda: conversation.move(conversation.session.reverse_continue))


def pause(conversation: Conversation, arguments: Arguments) -> Reply:
    """Stop: a move in progress has already ended, and its stop is reported, when this is answered."""
    conversation.pause_asked.clear()
    is_told, conversation.was_interrupted = conversation.was_interrupted, False
    stop = Stop(conversation.session.cycle, "interrupted", "paused")
    return Reply(after=None if is_told else lambda: conversation.stopped(stop))


HANDLERS: dict[str, Handler] = {
    "next": step_over, "stepBack": step_back, "stepIn": step_in, "stepOut": step_out, "continue": resume,
    "reverseContinue": reverse_continue, "pause": pause,
}
