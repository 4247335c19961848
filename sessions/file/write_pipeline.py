"""The write pipeline: a thread codes while a simulation runs, and whoever has time compresses and writes.

The simulating thread helps to compress where it would have to wait, so that two cores are both busy whichever part of the
work is the longer one: to code and to compress takes about twice as long as to simulate and log.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

Raw = TypeVar("Raw")
Piece = TypeVar("Piece", contravariant=True)
Frame = TypeVar("Frame")

# pieces that wait before the simulating thread helps to compress, and before it goes no further: enough that nobody waits
# for a single one, few enough to stay in the cache
BACKLOG, LIMIT = 3, 5
# How long one thread may go on in Python before another one has its turn, while a pipeline is open: compiled code that comes
# back must not wait the usual 5 ms.
SWITCH_S = 5e-5


class _Turns:
    """Python's time for a turn, the process's own: short while any pipeline is open."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open = 0
        self._usual = SWITCH_S

    def change(self, more: int) -> None:
        """Count pipelines that open (1) or close (-1)."""
        with self._lock:
            if self._open == 0:
                self._usual = sys.getswitchinterval()
            self._open += more
            sys.setswitchinterval(SWITCH_S if self._open else self._usual)


_turns = _Turns()


class Work(Protocol[Piece, Frame]):
    """What a pipeline does: `code` piece after piece, `compress` for its frames in any order, `write` in order."""

    def code(self, piece: Piece) -> list[Frame]:
        """Return the frames of a piece."""

    def compress(self, frame: Frame) -> Frame:
        """Return a frame ready to be written; called from several threads."""

    def write(self, frame: Frame) -> None:
        """Write a frame."""


class WritePipeline(Generic[Raw, Frame]):
    """Takes pieces in `put`, and has done them all when `finish` returns; an error in any of them is raised by either."""

    def __init__(self, work: Work[Raw, Frame]):
        self._work = work
        self._pieces: deque[Raw] = deque()
        self._frames: deque[tuple[int, Frame]] = deque()
        self._ready: dict[int, Frame] = {}
        self._numbered = self._written = 0
        self._is_coding = self._is_writing = self._is_over = False
        self._error: BaseException | None = None
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._serve, name="rfview-recorder", daemon=True)
        _turns.change(1)
        self._thread.start()

    def put(self, piece: Raw) -> None:
        """Hand over a piece; where too many wait, help to compress first. Raises what went wrong with one before."""
        with self._changed:
            self._pieces.append(piece)
            self._changed.notify_all()
        self._help(lambda: len(self._pieces) < (BACKLOG if self._frames else LIMIT))

    def finish(self) -> None:
        """Return when all is written. Raises what went wrong."""
        try:
            self._help(lambda: not self._pieces and not self._is_coding and self._written == self._numbered)
        finally:
            with self._changed:
                self._is_over = True
                self._pieces.clear()
                self._frames.clear()
                self._changed.notify_all()
            self._thread.join()
            _turns.change(-1)

    def _help(self, may_stop: Callable[[], bool]) -> None:
        """Compress what there is to compress, and wait, until one may stop or something has gone wrong, which is raised."""
        try:
            while self._error is None:
                with self._changed:
                    if may_stop():
                        return
                    frame = self._frames.popleft() if self._frames else None
                    if frame is None and self._error is None:
                        self._changed.wait()
                if frame is not None:
                    self._finish_frame(*frame)
        except BaseException as error:      # Ctrl-C, maybe with a frame in hand: without it nothing more can be written
            self._fail(error)
            raise
        raise self._error

    def _serve(self) -> None:
        """Code the pieces; compress where frames pile up, or nothing is there to code."""
        try:
            while self._error is None:
                piece = frame = None
                with self._changed:
                    if self._pieces and len(self._frames) < BACKLOG:
                        piece, self._is_coding = self._pieces.popleft(), True
                    elif self._frames:
                        frame = self._frames.popleft()
                    elif self._is_over:
                        return
                    else:
                        self._changed.wait()
                if frame is not None:
                    self._finish_frame(*frame)
                elif piece is not None:
                    made = self._work.code(piece)
                    with self._changed:
                        self._frames += enumerate(made, self._numbered)
                        self._numbered += len(made)
                        self._is_coding = False
                        self._changed.notify_all()
        except BaseException as error:
            self._fail(error)

    def _finish_frame(self, number: int, frame: Frame) -> None:
        """Compress a frame, and write what can be written by now."""
        frame = self._work.compress(frame)
        with self._changed:
            self._ready[number] = frame
        while True:
            with self._changed:
                if self._is_writing or self._written not in self._ready:
                    return
                frame, self._is_writing = self._ready.pop(self._written), True
            self._work.write(frame)
            with self._changed:
                self._written, self._is_writing = self._written + 1, False
                self._changed.notify_all()

    def _fail(self, error: BaseException) -> None:
        """Keep the first error for whoever asks next."""
        with self._changed:
            self._error = self._error or error
            self._changed.notify_all()
