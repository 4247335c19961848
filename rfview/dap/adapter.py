"""Answers an editor's requests with the verbs of a session.

Thread 1 is the machine, thread 2 + w is warp w. What the protocol calls a statement is one line of the warp's source where
its PTX tells lines, else one instruction; its instruction granularity is one cycle. A stop names the warp that a breakpoint
stopped for, or else the one that the editor looked at last.

| request                  | here                                                                             |
|--------------------------|----------------------------------------------------------------------------------|
| launch                   | program: a session file, launch file or bundled kernel; design, scheduler, ...   |
| next, stepBack           | next or previous line, else issue, of the warp; one cycle for the machine        |
| stepIn, stepOut          | next issue where there are lines, else one cycle; next change of the warp's state|
| continue, reverseContinue| to the next or previous breakpoint, watchpoint or exception                      |
| exceptions               | a warp waits for the register file; accounts that do not add up                  |
| data breakpoints         | any line of a tree, and any expression                                           |
| evaluate                 | debugger commands in the console, expressions everywhere, %r1 and R2 of a frame  |
| setVariable              | a branch from here with the register changed; `branch main` leads back           |
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from rfview.engine.errors import InputError, RfviewError
from rfview.engine.stalls import STALLS
from rfview.dap.arguments import Arguments
from rfview.dap.frames import DEPTH, Sources, number
from rfview.dap.points import EXCEPTIONS, Make, Points
from rfview.dap.progress import Compiling
from rfview.dap.values import changed, completions, evaluated
from rfview.dap.variables import Trees
from rfview.dap.wire import EditorGone, Wire
from rfview.sessions.lines.report import stall_names
from rfview.sessions.cursor import Stop
from rfview.sessions.session import Session
from rfview.sessions.targets import open_session
from rfview.sessions.why import why
from rfview.sessions.commands.table import ALIASES, execute

MACHINE = 1             # thread of the whole machine
FIRST_WARP = 2          # thread of warp 0
UNBALANCED = "unbalanced"
MOST_INSTRUCTIONS = 100_000     # of one disassembly
HIT_DIGITS = 15         # digits of the longest hit condition
INTERNAL = "internal error"
REASONS = {"breakpoint": "breakpoint", "condition": "goto", "change": "data breakpoint", "goto": "goto",
           "interrupted": "pause", "fault": "exception", "start": "entry"}  # fmt: skip
UNLAUNCHED = ("initialize", "launch", "attach", "disconnect", "terminate")     # what is answered before a launch


def capabilities() -> dict[str, Any]:
    """Return what the adapter can do, in the protocol's words."""
    able = ("ConfigurationDoneRequest", "StepBack", "SteppingGranularity", "ConditionalBreakpoints",
            "HitConditionalBreakpoints", "DataBreakpoints", "EvaluateForHovers", "TerminateRequest",
            "DelayedStackTraceLoading", "CompletionsRequest", "ExceptionInfoRequest", "DisassembleRequest",
            "InstructionBreakpoints", "SetVariable", "RestartRequest")  # fmt: skip
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
        self._points: Points | None = None
        self._last: Stop | None = None
        self._thread = 0        # the one that the editor looked at last; 0: none yet
        self._printed = 0
        self._line_offset = 0
        self._compiling = Compiling(wire)
        self._stop_on_entry = True
        self._sources: Sources | None = None
        self._folder = Path()
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
        self._points, self._folder = Points(session), Path(program).parent
        self._sources = Sources(session, self._folder)
        self._printed, self._thread = 0, 0
        return {}, lambda: self._wire.event("initialized")

    on_attach = on_launch

    def on_configurationDone(self, arguments: Arguments) -> Any:
        """Begin: stay at the first cycle, or go to the first breakpoint."""
        if self._stop_on_entry:
            return {}, lambda: self._stopped(Stop(self._now.cycle, "start", "the first cycle"))
        return {}, lambda: self._move(self._now.continue_)

    def on_restart(self, arguments: Arguments) -> Any:
        """Go back to the first cycle and begin anew."""
        self._now.goto(self._now.timeline.first)
        return self.on_configurationDone(arguments)

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
        names = stall_names(self._now.info)
        resident = int(sm["resident"])
        warps = [{"id": FIRST_WARP + warp, "name": f"w{warp}  {names[int(sm['warp'][warp]['state'])]}"}
                 for warp in range(len(sm["warp"])) if resident >> warp & 1]  # fmt: skip
        return {"threads": [{"id": MACHINE, "name": f"SM  cycle {self._now.cycle:,}"}, *warps]}, None

    def on_stackTrace(self, arguments: Arguments) -> Any:
        """Return where a warp is: the lines of its source, then its instruction."""
        thread = arguments.number("threadId")
        warp = self._warp(thread)
        if warp is None:
            launch = self._now.snapshot().sm["launch"]
            if not int(self._now.snapshot().sm["resident"]) and not int(launch["done_ctas"]):   # where warps will begin
                frames = self._files.stack_at(thread, int(launch["entry_pc"]), self._line_offset)
                return {"stackFrames": frames, "totalFrames": len(frames)}, None
            # of the machine there is nothing to open
            frame = {"id": thread, "name": f"cycle {self._now.cycle:,}", "line": 0, "column": 0, "presentationHint": "label"}
            return {"stackFrames": [frame], "totalFrames": 1}, None
        self._thread = thread
        frames = self._files.stack(thread, warp, self._line_offset)
        first, levels = arguments.number("startFrame", 0), arguments.number("levels", 0)
        if first < 0 or levels < 0:
            raise InputError("stackTrace: startFrame and levels: expected whole numbers of at least 0")
        return {"stackFrames": frames[first: first + levels if levels else None], "totalFrames": len(frames)}, None

    def on_scopes(self, arguments: Arguments) -> Any:
        """Return the trees of a warp or of the machine."""
        return {"scopes": self._shown.scopes(self._warp_of_frame(arguments.number("frameId")))}, None

    def on_variables(self, arguments: Arguments) -> Any:
        """Return what is below a line of a tree."""
        return {"variables": self._shown.children(arguments.number("variablesReference"))}, None

    def on_source(self, arguments: Arguments) -> Any:
        """Return the text of the PTX, or of a source that is in no file."""
        inner = arguments.inner("source")
        return self._files.content(inner.number("sourceReference", 0) or arguments.number("sourceReference")), None

    def on_disassemble(self, arguments: Arguments) -> Any:
        """Return instructions around one."""
        first = number(arguments.text("memoryReference")) + arguments.number("offset", 0)
        count = arguments.number("instructionCount")
        if not 0 <= count <= MOST_INSTRUCTIONS:
            raise InputError(f"disassemble: instructionCount: expected 0 to {MOST_INSTRUCTIONS:,}")
        found = self._files.disassembly(first + arguments.number("instructionOffset", 0), count, self._line_offset)
        return {"instructions": found}, None

    def on_evaluate(self, arguments: Arguments) -> Any:
        """Run a debugger command of the console, or evaluate an expression in a frame."""
        text = arguments.text("expression").strip()
        word = text.split(" ")[0]
        if arguments.text("context", "") == "repl" and (word in ALIASES or word[:1].isdigit() or word[:1] == "@"):
            answer = execute(self._now, text)
            if answer.session is not None:
                self._take(answer.session)
                self._trees = None
            stop = answer.stop or (None if answer.session is None else Stop(answer.session.cycle, "goto", answer.text))
            after = None if stop is None else lambda: self._stopped(stop)
            return {"result": answer.text, "variablesReference": 0}, after
        warp = self._warp_of_frame(arguments.number("frameId")) if "frameId" in arguments else None
        return evaluated(self._now, self._shown, warp, text), None

    def on_completions(self, arguments: Arguments) -> Any:
        """Return what a line of the console may become."""
        text = arguments.text("text").split("\n")[0]
        return {"targets": completions(self._now, text[: max(0, arguments.number("column", len(text) + 1) - 1)])}, None

    def on_setVariable(self, arguments: Arguments) -> Any:
        """Change a register: the session goes on as a branch from here."""
        name, value = arguments.text("name"), arguments.text("value")
        expression = self._shown.expression(arguments.number("variablesReference"), name)
        branch = changed(self._now, expression, value)
        self._take(branch)
        self._shown.session = branch
        made = branch.branch
        assert made is not None

        def tell() -> None:
            text = f"on branch {made.text}; `branch {made.parent}` goes back\n"
            self._wire.event("output", category="console", output=text)
            self._wire.event("invalidated", areas=["variables", "stacks"])

        shown = evaluated(branch, self._shown, None, expression)
        return {"value": shown["result"], "variablesReference": shown["variablesReference"]}, tell

    def _take(self, session: Session) -> None:
        """Go on with another session of the family, which gets the editor's breakpoints."""
        self._session = session
        self._sources = Sources(session, self._folder)
        self._set.move_to(session)

    @property
    def _set(self) -> Points:
        assert self._points is not None
        return self._points

    @property
    def _shown(self) -> Trees:
        if self._trees is None:
            self._trees = Trees(self._now)
        return self._trees

    @property
    def _files(self) -> Sources:
        assert self._sources is not None
        return self._sources

    def _warp_of_frame(self, frame: int) -> int | None:
        """Return the warp of a frame, None for the machine; raises InputError for a frame that there is not."""
        return self._warp(frame % DEPTH)

    def _warp(self, thread: int) -> int | None:
        """Return the warp of a thread, None for the machine; raises InputError for a thread that there is not."""
        if not MACHINE <= thread < FIRST_WARP + len(self._now.snapshot().sm["warp"]):
            raise InputError(f"no thread {thread}: 1 is the machine, 2 + w is warp w")
        return None if thread == MACHINE else thread - FIRST_WARP

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
            return {}, lambda: self._move(session.step if forward else session.back, thread, is_step=True)
        if session.lines:
            return {}, lambda: self._move(lambda: session.next_line(warp, forward), thread, is_step=True)
        go = session.next_event if forward else session.previous_event
        return {}, lambda: self._move(lambda: go("issue", warp), thread, is_step=True)

    def on_stepIn(self, arguments: Arguments) -> Any:
        """Go to the next instruction of a warp whose statements are lines, else one cycle on."""
        thread = arguments.number("threadId")
        warp = self._warp(thread)
        if warp is None or not self._now.lines or arguments.text("granularity", "") == "instruction":
            return {}, lambda: self._move(self._now.step, thread, is_step=True)
        return {}, lambda: self._move(lambda: self._now.next_event("issue", warp), thread, is_step=True)

    def on_stepOut(self, arguments: Arguments) -> Any:
        """Go on until the warp is in another state."""
        thread = arguments.number("threadId")
        warp = self._warp(thread)
        item = "cycle" if warp is None else f"w{warp}.state"
        return {}, lambda: self._move(lambda: self._now.next_change(item), thread, is_step=True)

    def on_continue(self, arguments: Arguments) -> Any:
        """Go to the next breakpoint, or the end."""
        self._warp(arguments.number("threadId", MACHINE))
        return {"allThreadsContinued": True}, lambda: self._move(self._now.continue_)

    def on_reverseContinue(self, arguments: Arguments) -> Any:
        """Go to the previous breakpoint, or the start."""
        self._warp(arguments.number("threadId", MACHINE))
        return {}, lambda: self._move(self._now.reverse_continue)

    def on_pause(self, arguments: Arguments) -> Any:
        """Stop: a move that was under way has ended already when this is answered."""
        self._pause.clear()
        told, self._interrupted = self._interrupted, False
        return {}, None if told else lambda: self._stopped(Stop(self._now.cycle, "interrupted", "paused"))

    def on_exceptionInfo(self, arguments: Arguments) -> Any:
        """Say why the last stop was one: the fault, or why the warp that was stopped for waits."""
        stop = self._last
        if stop is None or self._reason(stop) != "exception":
            raise InputError("exceptionInfo: the last stop was not an exception")
        body: dict[str, Any] = {"exceptionId": stop.reason, "description": stop.text, "breakMode": "always"}
        if stop.warp is not None:
            state = int(self._now.snapshot().sm["warp"][stop.warp]["state"])
            body["exceptionId"] = stall_names(self._now.info)[state]
            body["details"] = {"message": why(self._now, stop.warp).text()}
        return body, None

    def _move(self, go: Callable[[], Stop], thread: int = 0, *, is_step: bool = False) -> None:
        """Make a move and tell where it ended."""
        self._interrupted = False
        try:
            stop = go()
        except RfviewError as error:
            stop = Stop(self._now.cycle, "fault", str(error))
        self._interrupted = self._pause.is_set()
        if is_step and stop.reason in ("condition", "change", "goto"):
            stop = replace(stop, reason="step")
        self._stopped(stop, thread)

    def _reason(self, stop: Stop) -> str:
        """Return a stop's reason in the protocol's words."""
        if self._set.is_exception(stop.breakpoint):
            return "exception"
        return "pause" if self._interrupted else REASONS.get(stop.reason, "step")

    def _stopped(self, stop: Stop, thread: int = 0) -> None:
        """Tell the editor that the session stands at another cycle, and what the kernel printed on the way.

        thread: the one that was moved, 0 for none in particular.
        """
        self._trees, self._last = None, stop
        for cycle, line in self._now.printed():
            if cycle >= self._printed:
                self._wire.event("output", category="stdout", output=line if line.endswith("\n") else line + "\n")
        self._printed = max(self._printed, stop.cycle)
        self._wire.event("stopped", reason=self._reason(stop), description=stop.text, text=stop.text,
                         threadId=self._thread_of(stop, thread), allThreadsStopped=True,
                         hitBreakpointIds=self._set.known(stop.breakpoint))  # fmt: skip

    def _thread_of(self, stop: Stop, thread: int) -> int:
        """Return the thread that a stop is about: of the warp that was hit, else the one moved, else one that there is."""
        resident = int(self._now.snapshot().sm["resident"])
        if stop.warp is not None and resident >> stop.warp & 1:
            return FIRST_WARP + stop.warp
        if thread:
            return thread
        if self._thread >= FIRST_WARP and resident >> (self._thread - FIRST_WARP) & 1:
            return self._thread
        return FIRST_WARP + (resident & -resident).bit_length() - 1 if resident else MACHINE

    # stopping there

    def on_setBreakpoints(self, arguments: Arguments) -> Any:
        """Replace the breakpoints of a source; lines without an instruction are refused one by one."""
        source, wanted, files = arguments.inner("source"), arguments.objects("breakpoints"), self._files
        try:
            path = files.which(source.text("path", source.text("name", "")), source.number("sourceReference", 0))
        except InputError as error:
            return {"breakpoints": [{"verified": False, "message": str(error)} for _ in wanted]}, None

        def make(session: Session, point: Arguments) -> Any:
            place = files.place(path, point.number("line") + self._line_offset)
            return session.add_breakpoint(**place, condition=point.text("condition", ""), ignore=_ignored(point))

        results = self._set.replace(f"source {path}", wanted, make)
        for result in results:
            if (point := result.pop("point", None)) is not None:
                result["line"] = files.line_of(point) - self._line_offset
        return {"breakpoints": results}, None

    def on_setInstructionBreakpoints(self, arguments: Arguments) -> Any:
        """Replace the breakpoints at instructions."""
        return self._replace("instructions", arguments.objects("breakpoints"), lambda session, point: session.add_breakpoint(
            "pc", number(point.text("instructionReference")) + point.number("offset", 0),
            condition=point.text("condition", ""), ignore=_ignored(point)))  # fmt: skip

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
        return self._replace("data", arguments.objects("breakpoints"), lambda session, point: session.watch(
            point.text("dataId"), point.text("condition", ""), ignore=_ignored(point)))  # fmt: skip

    def on_setExceptionBreakpoints(self, arguments: Arguments) -> Any:
        """Stop where a warp begins to wait for these reasons, or where accounts do not add up."""
        return self._replace(EXCEPTIONS, arguments.texts("filters"), lambda session, name: (
            session.break_on_unbalanced() if name == UNBALANCED
            else session.add_breakpoint("if", condition=f"any(w.state == {name})")))  # fmt: skip

    def _replace(self, kind: str, wanted: list[Any], make: Make) -> Any:
        """Replace the breakpoints of a kind."""
        results = self._set.replace(kind, wanted, make)
        for result in results:
            result.pop("point", None)
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
