"""The write pipeline: a thread codes while the simulation runs, and both compress and write when they have time.

The simulating thread compresses instead of waiting, so that both cores are busy whichever part of the
work takes longer: coding and compressing take about as long as simulating and logging, or twice that. A third thread
for compressing would need two thirds of this file's code, but takes 2 to 7 % longer.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

Raw = TypeVar("Raw")
Piece = TypeVar("Piece", contravariant=True)
Frame = TypeVar("Frame")

# waiting pieces at which the simulating thread helps to compress, and at which it stops: enough that no thread waits
# for a single piece, few enough to stay in the cache
BACKLOG, LIMIT = 3, 5


class Work(Protocol[Piece, Frame]):
    """The work of a pipeline: `code` pieces in order, `compress` their frames in any order, `write` these in order."""

    def code(self, piece: Piece) -> list[Frame]:
        """Return the frames of a piece."""

    def compress(self, frame: Frame) -> Frame:
        """Return a frame ready to be written; called from several threads."""

    def write(self, frame: Frame) -> None:
        """Write a frame."""


class WritePipeline(Generic[Raw, Frame]):
    """Takes pieces with `put`; all are done when `finish` returns. Either raises the first error."""

    def __init__(self, work: Work[Raw, Frame]):
        self._work = work
        self._pieces: deque[Raw] = deque()
        self._frames: deque[tuple[int, Frame]] = deque()
        self._ready: dict[int, Frame] = {}
        self._numbered = self._written = self._unfinished = 0
        self._is_over = False
        self._error: BaseException | None = None
        self._changed, self._writing = threading.Condition(), threading.Lock()
        self._thread = threading.Thread(target=self._go_on, name="rfview-recorder", daemon=True,
                                        args=(lambda: self._is_over and not self._unfinished, True))
        self._thread.start()

    def put(self, piece: Raw) -> None:
        """Add a piece; if too many are waiting, help to compress first. Raises the error of an earlier piece."""
        with self._changed:
            self._pieces.append(piece)
            self._unfinished += 1
            self._changed.notify_all()
        self._go_on(lambda: len(self._pieces) < (BACKLOG if self._frames else LIMIT))
        self._check()

    def finish(self) -> None:
        """Return when everything is written. Raises the first error."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        self._go_on(lambda: not self._unfinished)
        self._thread.join()
        self._check()

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    def _go_on(self, may_stop: Callable[[], bool], codes: bool = False) -> None:
        """Compress or code, or wait if there is nothing to do, until `may_stop` or an error."""
        try:
            while self._error is None:
                piece = frame = None
                with self._changed:
                    if may_stop():
                        return
                    if codes and self._pieces and len(self._frames) < BACKLOG:
                        piece = self._pieces.popleft()
                    elif self._frames:
                        frame = self._frames.popleft()
                    else:
                        self._changed.wait()
                if piece is not None:
                    self._code(piece)
                elif frame is not None:
                    self._finish_frame(*frame)
        except BaseException as error:      # Ctrl-C too: later frames cannot be written without this one
            with self._changed:
                self._error = self._error or error
                self._changed.notify_all()

    def _code(self, piece: Raw) -> None:
        """Code a piece."""
        made = self._work.code(piece)
        with self._changed:
            self._frames += enumerate(made, self._numbered)
            self._numbered += len(made)
            self._unfinished += len(made) - 1
            self._changed.notify_all()

    def _finish_frame(self, number: int, frame: Frame) -> None:
        """Compress a frame, and write all frames that are ready in order."""
        self._ready[number] = self._work.compress(frame)
        with self._writing:
            while self._written in self._ready:
                self._work.write(self._ready.pop(self._written))
                self._written += 1
                with self._changed:
                    self._unfinished -= 1
                    self._changed.notify_all()
