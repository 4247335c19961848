"""The write pipeline: a thread codes while a simulation runs, and whoever has time compresses and writes.

The simulating thread helps to compress where it would have to wait, so that two cores are both busy whichever part of the
work is the longer one: to code and to compress takes about as long as to simulate and log, or twice that. A third thread
that compresses, all by itself, would make do with two thirds of this file, but takes 2 to 7 % longer.
"""

from __future__ import annotations

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
        self._numbered = self._written = self._unfinished = 0
        self._is_over = False
        self._error: BaseException | None = None
        self._changed, self._writing = threading.Condition(), threading.Lock()
        self._thread = threading.Thread(target=self._go_on, name="rfview-recorder", daemon=True,
                                        args=(lambda: self._is_over and not self._unfinished, True))
        self._thread.start()

    def put(self, piece: Raw) -> None:
        """Hand over a piece; where too many wait, help to compress first. Raises what went wrong with one before."""
        with self._changed:
            self._pieces.append(piece)
            self._unfinished += 1
            self._changed.notify_all()
        self._go_on(lambda: len(self._pieces) < (BACKLOG if self._frames else LIMIT))
        self._check()

    def finish(self) -> None:
        """Return when all is written. Raises what went wrong."""
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
        """Compress what there is to compress, or code, and wait where there is nothing, until one may stop or has to."""
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
        except BaseException as error:      # in the simulating thread Ctrl-C, too: without its frame no other can be written
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
        """Compress a frame, and write what can be written by now."""
        self._ready[number] = self._work.compress(frame)
        with self._writing:
            while self._written in self._ready:
                self._work.write(self._ready.pop(self._written))
                self._written += 1
                with self._changed:
                    self._unfinished -= 1
                    self._changed.notify_all()
