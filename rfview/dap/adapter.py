"""Answers an editor's requests, in order: reads each, calls its handler from the table, sends the result.

Thread 1 is the machine, thread 2 + w is warp w. The protocol's statement is one line of the warp's source if the PTX
has line information, else one instruction; its instruction granularity is one cycle. A stop names the warp for which a
breakpoint stopped, or else the one that the editor inspected last.

| request                  | meaning here                                                                     |
|--------------------------|----------------------------------------------------------------------------------|
| launch                   | program: a session file, launch file or bundled kernel; design, scheduler, ...   |
| next, stepBack           | next or previous line, else issue, of the warp; one cycle for the machine        |
| stepIn, stepOut          | next issue if there are lines, else one cycle; next change of the warp's state   |
| continue, reverseContinue| to the next or previous breakpoint, watchpoint or exception                      |
| exceptions               | a warp waits for the register file; warp-cycles or energy do not add up          |
| data breakpoints         | on any line of a tree, and any expression                                        |
| evaluate                 | debugger commands in the console, expressions everywhere, %r1 and R2 of a frame  |
| setVariable              | a branch from here with the register changed; `branch main` leads back           |
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from typing import Any

from rfview.dap.arguments import Arguments
from rfview.dap.conversation import MACHINE, Conversation
from rfview.dap.requests.table import BEFORE_LAUNCH, REQUESTS
from rfview.dap.wire import EditorGone, Wire
from rfview.engine.errors import InputError, RfviewError

INTERNAL = "internal error"
LEAVE_S = 30.0      # for each request still to be answered when the editor disconnects


class Adapter:
    """Serves one editor: the caller's thread answers; a second one reads, so that `pause` can interrupt a long move."""

    def __init__(self, wire: Wire):
        self._wire = wire
        self._conversation = Conversation(wire)
        self._requests: queue.Queue[dict[str, Any] | BaseException | None] = queue.Queue()
        self._answered = threading.Event()      # a request, or all of them
        self._is_over = False

    def serve(self) -> None:
        """Answer until the editor disconnects; raises InputError if it sends something that is not a message."""
        threading.Thread(target=self._read, daemon=True, name="rfview-dap").start()
        try:
            while not self._conversation.is_over and (request := self._requests.get()) is not None:
                if isinstance(request, BaseException):
                    raise request
                self._answer(request)
                self._answered.set()
        finally:
            self._conversation.close()
            self._is_over = True
            self._answered.set()

    def _read(self) -> None:
        leaves = False
        try:
            for message in self._wire.messages():
                if message.get("command") == "pause":
                    self._conversation.pause_asked.set()
                if leaves := message.get("command") == "disconnect":
                    self._conversation.leaving.set()
                self._requests.put(message)
                if leaves:
                    break       # a thread still reading standard input would disturb the interpreter's exit
        except Exception as error:      # raised again by the thread that answers, which would otherwise wait forever
            self._requests.put(error)
        self._conversation.leaving.set()
        self._requests.put(None)
        while leaves and not self._is_over:
            if not self._answered.wait(LEAVE_S):
                os._exit(0)     # compiled code that does not end, as a loop in a hook: nothing else can stop it
            self._answered.clear()

    def _answer(self, request: dict[str, Any]) -> None:
        """Call the handler of a request and respond; an error becomes the response."""
        given = request.get("command")
        command = given if isinstance(given, str) else ""
        handler = REQUESTS.get(command)
        if request.get("type") != "request" or handler is None:
            self._wire.respond(request, error=f"rfview does not support the request {command[:80]!r}")
            return
        try:
            if not self._conversation.is_open and command not in BEFORE_LAUNCH:
                raise InputError(f"{command}: nothing has been launched yet")
            reply = handler(self._conversation, Arguments(command, request.get("arguments")))
        except EditorGone:
            raise
        except Exception as error:
            self._wire.respond(request, error=_sentence(error))
            if command in ("launch", "attach"):
                self._wire.event("terminated")
            return
        self._wire.respond(request, reply.body)
        if reply.after is not None:
            self._follow_up(reply.after)

    def _follow_up(self, after: Callable[[], Any]) -> None:
        """Do what follows a response; an error is reported as a stop at the cursor, since the editor waits for one."""
        try:
            after()
        except EditorGone:
            raise
        except Exception as error:
            text = _sentence(error)
            self._wire.event("stopped", reason="exception", description=text, text=text, threadId=MACHINE,
                             allThreadsStopped=True, hitBreakpointIds=[])


def _sentence(error: Exception) -> str:
    """Return an error's message for the editor; an internal error is named as such, or raised with RFVIEW_TRACEBACK."""
    if isinstance(error, RfviewError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename is not None else str(error.strerror or error)
    if isinstance(error, MemoryError):
        return "out of memory"
    if isinstance(error, RecursionError):
        return "the request is nested too deeply"
    if os.environ.get("RFVIEW_TRACEBACK"):
        raise error
    return f"{INTERNAL}: {type(error).__name__}: {error} (RFVIEW_TRACEBACK=1 shows where)"
