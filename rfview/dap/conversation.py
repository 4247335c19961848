"""One editor's conversation about a session: what is open, the cursor, what the editor knows; moves and stops."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rfview.dap.arguments import Arguments
from rfview.dap.frames import DEPTH, Sources
from rfview.dap.points import EXCEPTIONS, Points
from rfview.dap.progress import Compiling
from rfview.dap.variables import Trees
from rfview.dap.wire import Wire
from rfview.engine.errors import InputError, RfviewError
from rfview.sessions.cursor import Stop
from rfview.sessions.session import Session

MACHINE = 1             # thread of the whole machine
FIRST_WARP = 2          # thread of warp 0
REASONS = {"breakpoint": "breakpoint", "condition": "goto", "change": "data breakpoint", "goto": "goto",
           "interrupted": "pause", "fault": "exception", "start": "entry"}

KINDS = {EXCEPTIONS: "exception", "data": "data breakpoint", "instructions": "instruction breakpoint"}


@dataclass(frozen=True)
class Reply:
    """The answer to a request. after: called after the response, as for a move that ends with an event."""

    body: dict[str, Any] = field(default_factory=dict)
    after: Callable[[], Any] | None = None


Handler = Callable[["Conversation", Arguments], Reply]


class Conversation:
    """The state that request handlers share; the session and what belongs to it exist once it is open."""

    session: Session
    points: Points          # breakpoints that the editor has set
    sources: Sources

    def __init__(self, wire: Wire):
        self.wire = wire
        self.compiling = Compiling(wire)
        self.line_offset = 0        # 1 if the editor counts lines from 0
        self.stop_on_entry = True
        self.pause_asked = threading.Event()
        self.leaving = threading.Event()        # the editor has disconnected or vanished: a long move ends
        self.was_interrupted = False            # whether `pause` ended the last move
        self.is_over = False
        self.thread = 0             # the one that the editor inspected last; 0: none yet
        self.last_stop: Stop | None = None
        self.is_open = False
        self._trees: Trees | None = None
        self._folder = Path()
        self._printed = 0           # the kernel's output before this cycle has been sent

    # what is open

    @property
    def trees(self) -> Trees:
        """The trees of this stop."""
        if self._trees is None:
            self._trees = Trees(self.session)
        return self._trees

    def open(self, session: Session, folder: Path) -> None:
        """Start with a session, in place of any previous one. folder: where source files are searched for."""
        self.close()
        session.progress = lambda cycle: self.pause_asked.is_set() or self.leaving.is_set()
        session.compiling = self.compiling
        self.session, self._trees, self.points, self.is_open = session, None, Points(session), True
        self._folder, self.sources = folder, Sources(session, folder)
        self._printed, self.thread = 0, 0

    def switch_to(self, session: Session, *, keep_trees: bool = False) -> None:
        """Continue with another session of the family, which gets the editor's breakpoints.

        keep_trees: it is at the same cycle, and what the editor has opened keeps its numbers.
        """
        if keep_trees:
            self.trees.session = session
        else:
            self._trees = None
        self.session = session
        self.sources = Sources(session, self._folder)
        self.points.move_to(session)

    def close(self) -> None:
        """Close the session, if one is open."""
        if self.is_open:
            self.session.close()

    # threads

    def warp(self, thread: int) -> int | None:
        """Return the warp of a thread, None for the machine; raises InputError for a thread that does not exist."""
        if not MACHINE <= thread < FIRST_WARP + self.session.info.num_warps:
            raise InputError(f"no thread {thread}: 1 is the machine, 2 + w is warp w")
        return None if thread == MACHINE else thread - FIRST_WARP

    def warp_of_frame(self, frame: int) -> int | None:
        """Return the warp of a frame, None for the machine; raises InputError for a frame that does not exist."""
        return self.warp(frame % DEPTH)

    # moves and stops

    def move(self, go: Callable[[], Stop], thread: int = 0, *, is_step: bool = False) -> None:
        """Make a move and report where it ended. thread: the one moved, 0 for none in particular."""
        self.was_interrupted = False
        try:
            stop = go()
        except RfviewError as error:
            stop = Stop(self.session.cycle, "fault", str(error))
        self.was_interrupted = self.pause_asked.is_set()
        if is_step and stop.reason in ("condition", "change", "goto"):
            stop = replace(stop, reason="step")
        self.stopped(stop, thread)

    def reason(self, stop: Stop) -> str:
        """Return a stop's reason in the protocol's words."""
        kind = self.points.kind(stop.breakpoints)
        if kind in KINDS:
            return KINDS[kind]
        return "pause" if self.was_interrupted else REASONS.get(stop.reason, "step")

    def stopped(self, stop: Stop, thread: int = 0) -> None:
        """Tell the editor that the session has stopped, and what the kernel printed on the way."""
        self._trees, self.last_stop = None, stop
        for cycle, line in self.session.printed():
            if cycle >= self._printed:
                self.wire.event("output", category="stdout", output=line if line.endswith("\n") else line + "\n")
        self._printed = max(self._printed, stop.cycle)
        self.wire.event("stopped", reason=self.reason(stop), description=stop.text, text=stop.text,
                        threadId=self._thread_of(stop, thread), allThreadsStopped=True,
                        hitBreakpointIds=self.points.known(stop.breakpoints))

    def _thread_of(self, stop: Stop, thread: int) -> int:
        """Return a stop's thread: the warp that was hit, else the thread moved, else the last one or a resident one."""
        resident = int(self.session.snapshot().sm["resident"])
        if stop.warp is not None and resident >> stop.warp & 1:
            return FIRST_WARP + stop.warp
        if thread:
            return thread
        if self.thread >= FIRST_WARP and resident >> (self.thread - FIRST_WARP) & 1:
            return self.thread
        return FIRST_WARP + (resident & -resident).bit_length() - 1 if resident else MACHINE
