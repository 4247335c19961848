"""Handlers of the console, of expressions in a frame, and of changed registers, which make a branch of the run."""

from __future__ import annotations

from rfview.dap import values
from rfview.dap.arguments import Arguments
from rfview.dap.conversation import Conversation, Handler, Reply
from rfview.engine.errors import InputError
from rfview.sessions.commands.table import ALIASES, execute
from rfview.sessions.cursor import Stop
from rfview.sessions.reports import held


def evaluate(conversation: Conversation, arguments: Arguments) -> Reply:
    """Run a debugger command of the console, or evaluate an expression in a frame."""
    text = arguments.text("expression").strip()
    word = text.split(" ")[0]
    if arguments.text("context", "") == "repl" and (word in ALIASES or word[:1].isdecimal() or word[:1] == "@"):
        answer = execute(conversation.session, text)
        if answer.session is not None:
            conversation.switch_to(answer.session)
        stop = answer.stop or (None if answer.session is None else Stop(answer.session.cycle, "goto", answer.text))
        after = None if stop is None else lambda: conversation.stopped(stop)
        return Reply({"result": answer.text, "variablesReference": 0}, after)
    warp = conversation.warp_of_frame(arguments.number("frameId")) if "frameId" in arguments else None
    cost = _cost(conversation, arguments) if arguments.text("context", "") == "hover" else ""
    try:
        found = values.evaluated(conversation.session, conversation.trees, warp, text)
    except InputError:
        if not cost:
            raise
        return Reply({"result": cost, "variablesReference": 0})
    return Reply({**found, "result": f"{found['result']}\n{cost}"} if cost else found)


def _cost(conversation: Conversation, arguments: Arguments) -> str:
    """Return what the line under the pointer waited and caused up to here, with why; "" if the editor names none."""
    if "line" not in arguments or "source" not in arguments:
        return ""
    source, session = arguments.inner("source"), conversation.session
    try:
        path = conversation.sources.which(source.text("path", source.text("name", "")), source.number("sourceReference", 0))
    except InputError:      # a file that is not the program's
        return ""
    first, cycle = session.timeline.first, session.cycle
    if not first < cycle <= first + held.FARTHEST:
        return ""
    if session.memo.get("hover", ("",))[0] != cycle:
        session.memo["hover"] = cycle, *held.costs_of(session, first, cycle)
    _, costs, resident = session.memo["hover"]
    line = arguments.number("line") + conversation.line_offset
    return next((held.holder(place, cost, resident).text + " of the warp-cycles so far" for place, cost in costs
                 if cost.line is not None and (cost.line.path, cost.line.line) == (path, line)), "")


def completions(conversation: Conversation, arguments: Arguments) -> Reply:
    """Return the completions of a line in the console."""
    text = arguments.text("text").split("\n")[0]
    before_cursor = text[: max(0, arguments.number("column", len(text) + 1) - 1)]
    return Reply({"targets": values.completions(conversation.session, before_cursor)})


def set_variable(conversation: Conversation, arguments: Arguments) -> Reply:
    """Change a register: the session continues as a branch from here."""
    name, value = arguments.text("name"), arguments.text("value")
    expression = conversation.trees.expression(arguments.number("variablesReference"), name)
    branch = values.changed(conversation.session, expression, value)
    conversation.switch_to(branch, keep_trees=True)
    made = branch.branch
    assert made is not None

    def tell() -> None:
        text = f"on branch {made.text}; `branch {made.parent}` goes back\n"
        conversation.wire.event("output", category="console", output=text)
        conversation.wire.event("invalidated", areas=["variables", "stacks"])

    shown = values.evaluated(branch, conversation.trees, None, expression)
    return Reply({"value": shown["result"], "variablesReference": shown["variablesReference"]}, tell)


HANDLERS: dict[str, Handler] = {
    "evaluate": evaluate, "completions": completions, "setVariable": set_variable,
}
