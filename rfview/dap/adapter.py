"""Answers an editor's requests with the verbs of a session.

Thread 1 is the machine, thread 2 + w is warp w. What the protocol calls a statement is one instruction of the warp; its
instruction granularity is one cycle.

| request                  | here                                                                             |
|--------------------------|----------------------------------------------------------------------------------|
| launch                   | program: a session file, launch file or bundled kernel; design, scheduler, ...   |
| next, stepBack           | next or previous issue of the warp; one cycle for the machine                    |
| stepIn, stepOut          | one cycle; the next change of the warp's state                                   |
| continue, reverseContinue| to the next or previous breakpoint, watchpoint or exception                      |
| exceptions               | a warp waits for the register file; accounts that do not add up                  |
| data breakpoints         | any line of a tree, and any expression                                           |
| evaluate                 | debugger commands in the console, expressions everywhere                         |
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rfview.engine.errors import InputError, RfviewError
from rfview.engine.stalls import STALLS
from rfview.dap.arguments import Arguments
from rfview.dap.progress import Compiling
from rfview.dap.variables import Trees
from rfview.dap.wire import EditorGone, Wire
from rfview.sessions.session import Session, Stop
from rfview.sessions.targets import open_session
from rfview.sessions.commands.table import ALIASES, execute

MACHINE = 1             # thread of the whole machine
FIRST_WARP = 2          # thread of warp 0
SOURCE = 1              # the kernel's PTX, where it is in no file
UNBALANCED = "unbalanced"
HIT_DIGITS = 15         # digits of the longest hit condition
INTERNAL = "internal error"
REASONS = {"breakpoint": "breakpoint", "condition": "goto", "change": "data breakpoint", "goto": "goto",
           "interrupted": "pause", "fault": "exception", "start": "entry"}  # fmt: skip
UNLAUNCHED = ("initialize", "launch", "attach", "disconnect", "terminate")     # what is answered before a launch


def capabilities() -> dict[str, Any]:
    """Return what the adapter can do, in the protocol's words."""
    able = ("ConfigurationDoneRequest", "StepBack", "SteppingGranularity", "ConditionalBreakpoints",
            "HitConditionalBreakpoints", "DataBreakpoints", "EvaluateForHovers", "TerminateRequest",
            "DelayedStackTraceLoading")  # fmt: skip
    waits = [{"filter": stall.name, "label": f"A warp waits: {stall.name}", "default": False}
             for stall in STALLS if stall.family == "register_file"]  # fmt: skip
    waits.append({"filter": UNBALANCED, "label": "Warp-cycles or energy do not add up", "default": False})
    return {**{f"supports{name}": True for name in able}, "exceptionBreakpointFilters": waits}


class Adapter:
    """One editor's conversation about one session.

    Requests are answered in order by the caller's thread; a second one reads them, so that `pause` reaches a long move.
    """

    def __init__(self, wire: Wire):
        self._wire = wire
        self._requests: queue.Queue[dict[str, Any] | BaseException | None] = queue.Queue()
        self._pause = threading.Event()
        self._leaving = threading.Event()       # the editor has disconnected or vanished: a long move ends
        self._interrupted = False
        self._session: Session | None = None
        self._trees: Trees | None = None
        self._points: dict[str, list[int]] = {"source": [], "data": [], "exception": []}
        self._printed = 0
        self._line_offset = 0
        self._compiling = Compiling(wire)
        self._stop_on_entry = True
        self._file: Path | None = None
        self._over = False

    def serve(self) -> None:
        """Answer until the editor disconnects; raises InputError when it sends what is no message."""
        threading.Thread(target=self._read, daemon=True, name="rfview-dap").start()
        try:
            while not self._over and (request := self._requests.get()) is not None:
                if isinstance(request, BaseException):
                    raise request
                self._answer(request)
        finally:
            if self._session is not None:
                self._session.close()

    def _read(self) -> None:
        try:
            for message in self._wire.messages():
                if message.get("command") == "pause":
                    self._pause.set()
                if leaves := message.get("command") == "disconnect":
                    self._leaving.set()
                self._requests.put(message)
                if leaves:
                    break       # a thread that still reads standard input would disturb the interpreter's end
        except Exception as error:      # raised again by the thread that answers, which would wait for ever otherwise
            self._requests.put(error)
        self._leaving.set()
        self._requests.put(None)

    def _answer(self, request: dict[str, Any]) -> None:
        """Run the method of a request's name and respond; an error becomes the response."""
        given = request.get("command")
        command = given if isinstance(given, str) else ""
        method: Callable[[Arguments], Any] | None = getattr(self, f"on_{command}", None)
        if request.get("type") != "request" or method is None:
            self._wire.respond(request, error=f"rfview does not know the request {command[:80]!r}")
            return
        try:
            if self._session is None and command not in UNLAUNCHED:
                raise InputError(f"{command}: nothing is launched yet")
            body, after = method(Arguments(command, request.get("arguments"))) or ({}, None)
        except EditorGone:
            raise
        except Exception as error:
            self._wire.respond(request, error=_sentence(error))
            if command in ("launch", "attach"):
                self._wire.event("terminated")
            return
        self._wire.respond(request, body)
        if after is not None:
            self._go_on(after)

    def _go_on(self, after: Callable[[], Any]) -> None:
        """Do what follows a response; an error is told as a stop where the session stands: the editor waits for one."""
        try:
            after()
        except EditorGone:
            raise
        except Exception as error:
            text = _sentence(error)
            self._wire.event("stopped", reason="exception", description=text, text=text, threadId=MACHINE,
                             allThreadsStopped=True, hitBreakpointIds=[])  # fmt: skip

    # beginning and end

    def on_initialize(self, arguments: Arguments) -> Any:
        """Say what can be done."""
        self._line_offset = 0 if arguments.flag("linesStartAt1", True) else 1
        self._compiling.has_bar = arguments.flag("supportsProgressReporting", False)
        return capabilities(), None

    def on_launch(self, arguments: Arguments) -> Any:
        """Open what `program` names; the editor then sends its breakpoints."""
        program = arguments.text("program", "")
        if not program:
            raise InputError('launch: "program" is missing: a session file, a launch file or a bundled kernel\'s name')
        stop_on_entry = arguments.flag("stopOnEntry", True)
        session = open_session(program, progress=self._compiling, **_machine(arguments))
        if self._session is not None:
            self._session.close()
        session.progress, session.compiling = lambda cycle: self._pause.is_set() or self._leaving.is_set(), self._compiling
        self._session, self._trees, self._stop_on_entry = session, None, stop_on_entry
        self._points = {kind: [] for kind in self._points}
        self._file = self._source_file(Path(program))
        self._printed = 0
        return {}, lambda: self._wire.event("initialized")

    on_attach = on_launch

    def on_configurationDone(self, arguments: Arguments) -> Any:
        """Begin: stay at the first cycle, or go to the first breakpoint."""
        if self._stop_on_entry:
            return {}, lambda: self._stopped(Stop(self._now.cycle, "start", "the first cycle"), MACHINE)
        return {}, lambda: self._move(self._now.continue_, MACHINE)

    def on_disconnect(self, arguments: Arguments) -> Any:
        """End the conversation."""
        self._over = True
        return {}, None

    def on_terminate(self, arguments: Arguments) -> Any:
        """End the run."""
        return {}, lambda: self._wire.event("terminated")

    # looking

    @property
    def _now(self) -> Session:
        assert self._session is not None
        return self._session

    def on_threads(self, arguments: Arguments) -> Any:
        """List the machine and every warp slot that holds a warp."""
        sm = self._now.snapshot().sm
        names = {int(stall["code"]): stall["name"] for stall in self._now.info["stalls"]}
        resident = int(sm["resident"])
        warps = [{"id": FIRST_WARP + warp, "name": f"w{warp}  {names[int(sm['warp'][warp]['state'])]}"}
                 for warp in range(len(sm["warp"])) if resident >> warp & 1]  # fmt: skip
        return {"threads": [{"id": MACHINE, "name": f"SM  cycle {self._now.cycle:,}"}, *warps]}, None

    def on_stackTrace(self, arguments: Arguments) -> Any:
        """Return where a warp is: one frame; functions have been inlined or keep their own stack in local memory."""
        thread = arguments.number("threadId")
        frame: dict[str, Any] = {"id": thread, "name": f"cycle {self._now.cycle:,}", "line": 0, "column": 0}
        warp = self._warp(thread)
        if warp is not None:
            program = self._now.info["program"]
            pc = int(self._now.snapshot().sm["warp"][warp]["pc"])
            if pc >= len(program):
                return {"stackFrames": [], "totalFrames": 0}, None
            frame |= {"name": program[pc]["text"], "line": program[pc]["line"] - self._line_offset, "column": 1,
                      "source": self._source(), "instructionPointerReference": hex(pc)}  # fmt: skip
        return {"stackFrames": [frame], "totalFrames": 1}, None

    def on_scopes(self, arguments: Arguments) -> Any:
        """Return the trees of a warp or of the machine."""
        return {"scopes": self._shown.scopes(self._warp(arguments.number("frameId")))}, None

    def on_variables(self, arguments: Arguments) -> Any:
        """Return what is below a line of a tree."""
        return {"variables": self._shown.children(arguments.number("variablesReference"))}, None

    def on_source(self, arguments: Arguments) -> Any:
        """Return the kernel's PTX."""
        return {"content": self._now.info["ptx"][0]["text"], "mimeType": "text/x-ptx"}, None

    def on_evaluate(self, arguments: Arguments) -> Any:
        """Run a debugger command of the console, or evaluate an expression."""
        text = arguments.text("expression").strip()
        word = text.split(" ")[0]
        if arguments.text("context", "") == "repl" and (word in ALIASES or word[:1].isdigit() or word[:1] == "@"):
            answer = execute(self._now, text)
            if answer.session is not None:
                self._session = answer.session
            stop = answer.stop
            after = None if stop is None else lambda: self._stopped(stop, MACHINE)
            return {"result": answer.text, "variablesReference": 0}, after
        return {"result": str(self._now.value(text)), "variablesReference": 0}, None

    @property
    def _shown(self) -> Trees:
        if self._trees is None:
            self._trees = Trees(self._now)
        return self._trees

    def _warp(self, thread: int) -> int | None:
        """Return the warp of a thread, None for the machine; raises InputError for a thread that there is not."""
        if not MACHINE <= thread < FIRST_WARP + len(self._now.snapshot().sm["warp"]):
            raise InputError(f"no thread {thread}: 1 is the machine, 2 + w is warp w")
        return None if thread == MACHINE else thread - FIRST_WARP

    def _source_file(self, program: Path) -> Path | None:
        """Return the PTX file beside the launch file, if its text is the one that runs."""
        ptx = self._now.info["ptx"][0]
        path = program.parent / ptx["path"]
        try:
            return path.resolve() if path.read_text(encoding="utf-8") == ptx["text"] else None
        except (OSError, UnicodeDecodeError):
            return None

    def _source(self) -> dict[str, Any]:
        """Name the PTX: its file, or a reference that `source` answers."""
        name = self._now.info["ptx"][0]["path"]
        return {"name": name, "path": str(self._file)} if self._file else {"name": name, "sourceReference": SOURCE}

    # moving

    def on_next(self, arguments: Arguments) -> Any:
        """Go to the warp's next instruction, or one cycle on."""
        return self._by_step(arguments, forward=True)

    def on_stepBack(self, arguments: Arguments) -> Any:
        """Go to the warp's previous instruction, or one cycle back."""
        return self._by_step(arguments, forward=False)

    def _by_step(self, arguments: Arguments, *, forward: bool) -> Any:
        session, thread = self._now, arguments.number("threadId")
        warp = self._warp(thread)
        if warp is None or arguments.text("granularity", "") == "instruction":
            return {}, lambda: self._move(session.step if forward else session.back, thread)
        go = session.next_event if forward else session.previous_event
        return {}, lambda: self._move(lambda: go("issue", warp), thread)

    def on_stepIn(self, arguments: Arguments) -> Any:
        """Go one cycle on."""
        thread = arguments.number("threadId")
        self._warp(thread)
        return {}, lambda: self._move(self._now.step, thread)

    def on_stepOut(self, arguments: Arguments) -> Any:
        """Go on until the warp is in another state."""
        thread = arguments.number("threadId")
        warp = self._warp(thread)
        item = "cycle" if warp is None else f"w{warp}.state"
        return {}, lambda: self._move(lambda: self._now.next_change(item), thread)

    def on_continue(self, arguments: Arguments) -> Any:
        """Go to the next breakpoint, or the end."""
        thread = arguments.number("threadId", MACHINE)
        self._warp(thread)
        return {"allThreadsContinued": True}, lambda: self._move(self._now.continue_, thread)

    def on_reverseContinue(self, arguments: Arguments) -> Any:
        """Go to the previous breakpoint, or the start."""
        thread = arguments.number("threadId", MACHINE)
        self._warp(thread)
        return {}, lambda: self._move(self._now.reverse_continue, thread)

    def on_pause(self, arguments: Arguments) -> Any:
        """Stop: a move that was under way has ended already when this is answered."""
        self._pause.clear()
        told, self._interrupted = self._interrupted, False
        return {}, None if told else lambda: self._stopped(Stop(self._now.cycle, "interrupted", "paused"), MACHINE)

    def _move(self, go: Callable[[], Stop], thread: int) -> None:
        """Make a move and tell where it ended."""
        self._interrupted = False
        try:
            stop = go()
        except RfviewError as error:
            stop = Stop(self._now.cycle, "fault", str(error))
        self._interrupted = self._pause.is_set()
        self._stopped(stop, thread)

    def _stopped(self, stop: Stop, thread: int) -> None:
        """Tell the editor that the session stands at another cycle, and what the kernel printed on the way."""
        self._trees = None
        for cycle, line in self._now.printed():
            if cycle >= self._printed:
                self._wire.event("output", category="stdout", output=line if line.endswith("\n") else line + "\n")
        self._printed = max(self._printed, stop.cycle)
        point = [] if stop.breakpoint is None else [stop.breakpoint]
        reason = "pause" if self._interrupted else REASONS.get(stop.reason, "step")
        self._wire.event("stopped", reason=reason, description=stop.text, text=stop.text,
                         threadId=thread, allThreadsStopped=True, hitBreakpointIds=point)  # fmt: skip

    # stopping there

    def on_setBreakpoints(self, arguments: Arguments) -> Any:
        """Replace the breakpoints of the PTX; lines without an instruction are refused one by one."""
        wanted, source = arguments.objects("breakpoints"), arguments.inner("source")
        name = self._now.info["ptx"][0]["path"]
        given = source.text("path", source.text("name", ""))
        if source.number("sourceReference", 0) != SOURCE and Path(given).name != name:
            text = f"the kernel is in {name}"
            return {"breakpoints": [{"verified": False, "message": text} for _ in wanted]}, None
        return self._replace("source", wanted, lambda point: self._now.add_breakpoint(
            "line", point.number("line") + self._line_offset, condition=point.text("condition", ""),
            ignore=_ignored(point)))  # fmt: skip

    def on_dataBreakpointInfo(self, arguments: Arguments) -> Any:
        """Say whether a line of a tree, or an expression, can be watched."""
        name = arguments.text("name")
        reference = arguments.number("variablesReference", 0)
        expression = self._shown.expression(reference, name) if reference else name
        try:
            self._now.value(expression)
        except InputError as error:
            return {"dataId": None, "description": str(error)}, None
        return {"dataId": expression, "description": expression, "accessTypes": ["write"]}, None

    def on_setDataBreakpoints(self, arguments: Arguments) -> Any:
        """Replace the watchpoints."""
        return self._replace("data", arguments.objects("breakpoints"), lambda point: self._now.watch(
            point.text("dataId"), point.text("condition", ""), ignore=_ignored(point)))  # fmt: skip

    def on_setExceptionBreakpoints(self, arguments: Arguments) -> Any:
        """Stop where a warp begins to wait for these reasons, or where accounts do not add up."""
        return self._replace("exception", arguments.texts("filters"), lambda name: (
            self._now.break_on_unbalanced() if name == UNBALANCED
            else self._now.add_breakpoint("if", condition=f"any(w.state == {name})")))  # fmt: skip

    def _replace(self, kind: str, wanted: list[Any], make: Callable[[Any], Any]) -> Any:
        """Remove the breakpoints of a kind and make others; each that cannot be made says why."""
        session = self._now
        for number in self._points[kind]:
            if number in session.breakpoints:
                session.remove_breakpoint(number)
        self._points[kind] = []
        results = []
        for point in wanted:
            try:
                made = make(point)
            except InputError as error:
                results.append({"verified": False, "message": str(error)})
            else:
                self._points[kind].append(made.number)
                results.append({"id": made.number, "verified": True})
                if kind == "source":    # a line without an instruction stands for the next one that has
                    results[-1]["line"] = session.info["program"][made.pcs[0]]["line"] - self._line_offset
        return {"breakpoints": results}, None


def _ignored(point: Arguments) -> int:
    """Return how many hits a breakpoint lets pass: its hit condition is the hit that stops, counted from 1."""
    text = point.text("hitCondition", "1").strip()
    if not (text.isascii() and text.isdigit() and len(text) <= HIT_DIGITS) or int(text) < 1:
        raise InputError(f"hit condition {text[:80]!r}: expected a whole number of at least 1, the hit that stops")
    return int(text) - 1


def _machine(arguments: Arguments) -> dict[str, Any]:
    """Return the machine that a launch asks for, as keyword arguments of open_session."""
    found: dict[str, Any] = {name: arguments.text(name) for name in ("design", "scheduler", "preset") if name in arguments}
    if "max_cycles" in arguments:
        found["max_cycles"] = arguments.number("max_cycles")
        if found["max_cycles"] < 1:
            raise InputError("launch: max_cycles: expected a whole number of at least 1")
    if "settings" in arguments:
        found["settings"] = arguments.settings("settings")
    return found


def _sentence(error: Exception) -> str:
    """Return what an editor shows of an error; one of rfview's own is called so, or raised with RFVIEW_TRACEBACK."""
    if isinstance(error, RfviewError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename is not None else str(error.strerror or error)
    if isinstance(error, MemoryError):
        return "out of memory"
    if isinstance(error, RecursionError):
        return "what was asked for is nested too deeply"
    if os.environ.get("RFVIEW_TRACEBACK"):
        raise error
    return f"{INTERNAL}: {type(error).__name__}: {error} (RFVIEW_TRACEBACK=1 shows where)"
