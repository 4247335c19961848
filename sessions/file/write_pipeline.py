"""Who codes and compresses while a simulation runs: threads of their own, and its own one where it would have to wait.

So two cores are both busy all the time, whichever part of the work is the longer one; three take one part each.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

Raw = TypeVar("Raw")
Piece = TypeVar("Piece", contravariant=True)
Frame = TypeVar("Frame")

# pieces that wait before the simulating thread lends a hand, and before it goes no further: enough that nobody waits for
# a single one, few enough to stay in the cache
BACKLOG, LIMIT = 3, 5
# how long one thread may go on in Python before another one has its turn
SWITCH_S = 5e-5


class _Turns:
    """Python's time for a turn, the process's own: short from the first crew's begin to the last one's end.

    Compiled code that comes back must not wait the usual 5 ms for another thread's next pause.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._crews = 0
        self._usual = SWITCH_S

    def begin(self) -> None:
        with self._lock:
            if self._crews == 0:
                self._usual = sys.getswitchinterval()
                sys.setswitchinterval(SWITCH_S)
            self._crews += 1

    def end(self) -> None:
        with self._lock:
            self._crews -= 1
            if self._crews == 0:
                sys.setswitchinterval(self._usual)


_turns = _Turns()


class Work(Protocol[Piece, Frame]):
    """What a crew does: `code` for one piece after the other, `squeeze` for its frames in any order, `write` in order."""

    def prepare(self) -> None:
        """Get ready for the first piece; called once, in the thread that codes."""

    def code(self, piece: Piece) -> list[Frame]:
        """Return the frames of a piece."""

    def squeeze(self, frame: Frame) -> Frame:
        """Return a frame ready to be written; called from several threads."""

    def write(self, frame: Frame) -> None:
        """Write a frame."""


class Crew(Generic[Raw, Frame]):
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
        coder, squeezer = (threading.Thread(target=self._serve, args=(codes,), name="rfview-recorder", daemon=True)
                           for codes in (True, False))  # fmt: skip
        self._threads = [coder, squeezer] if (os.cpu_count() or 1) > 2 else [coder]
        _turns.begin()
        for thread in self._threads:
            thread.start()

    def put(self, piece: Raw) -> None:
        """Hand over a piece; where too many wait, lend a hand first. Raises what went wrong with one before."""
        with self._changed:
            self._pieces.append(piece)
            self._changed.notify_all()
        self._help(self._may_go_on)

    def finish(self) -> None:
        """Return when all is written. Raises what went wrong."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        try:
            self._help(lambda: not self._pieces and not self._is_coding and self._written == self._numbered)
        finally:
            self._stop()

    def _may_go_on(self) -> bool:
        return len(self._pieces) < (BACKLOG if self._frames else LIMIT)

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
                    self._squeeze(frame)
        except BaseException as error:      # Ctrl-C, maybe with a frame in hand: without it nothing more can be written
            self._fail(error)
            raise
        raise self._error

    def _stop(self) -> None:
        """End the threads after what they are doing now."""
        with self._changed:
            self._is_over = True
            self._pieces.clear()
            self._frames.clear()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()
        _turns.end()

    def _serve(self, codes: bool) -> None:
        """Compress; who also codes does that first, as long as its frames do not pile up."""
        try:
            if codes:
                self._work.prepare()
            while self._error is None:
                piece = frame = None
                with self._changed:
                    if codes and self._pieces and len(self._frames) < BACKLOG:
                        piece = self._pieces.popleft()
                        self._is_coding = True
                    elif self._frames:
                        frame = self._frames.popleft()
                    elif self._is_over and not self._pieces and not self._is_coding:
                        return
                    else:
                        self._changed.wait()
                        continue
                if frame is not None:
                    self._squeeze(frame)
                elif piece is not None:
                    made = self._work.code(piece)
                    with self._changed:
                        self._frames += enumerate(made, self._numbered)
                        self._numbered += len(made)
                        self._is_coding = False
                        self._changed.notify_all()
        except BaseException as error:
            self._fail(error)

    def _squeeze(self, numbered: tuple[int, Frame]) -> None:
        """Compress a frame, and write what can be written by now."""
        try:
            frame = self._work.squeeze(numbered[1])
            with self._changed:
                self._ready[numbered[0]] = frame
            while True:
                with self._changed:
                    if self._is_writing or self._written not in self._ready:
                        return
                    frame = self._ready.pop(self._written)
                    self._is_writing = True
                self._work.write(frame)
                with self._changed:
                    self._written += 1
                    self._is_writing = False
                    self._changed.notify_all()
        except BaseException as error:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        """Keep the first error for whoever asks next."""
        with self._changed:
            self._error = self._error or error
            self._changed.notify_all()
