"""The write pipeline: one thread codes and another compresses and writes, while the simulation runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

Raw = TypeVar("Raw")
Piece = TypeVar("Piece", contravariant=True)
Frame = TypeVar("Frame")
Given = TypeVar("Given")
Result = TypeVar("Result")

# unfinished pieces: enough that no thread waits for a single piece, few enough to stay in the cache
LIMIT = 5


class Work(Protocol[Piece, Frame]):
    """The work of a pipeline; each step is done in the order of the pieces."""

    def code(self, piece: Piece) -> list[Frame]:
        """Return the frames of a piece."""

    def write(self, frame: Frame) -> None:
        """Compress and write a frame; called while the next piece is coded."""


class WritePipeline(Generic[Raw, Frame]):
    """Takes pieces with `put`; all are done when `finish` returns. Either raises the first error."""

    def __init__(self, work: Work[Raw, Frame]):
        from concurrent.futures import ThreadPoolExecutor       # start-up: what replays imports this module, too

        self._work = work
        self._coder, self._writer = (ThreadPoolExecutor(1, f"rfview-{name}") for name in ("coder", "writer"))
        self._unfinished: deque[Future[list[Future[None]]]] = deque()
        self._failed: set[Callable[..., object]] = set()     # steps

    def put(self, piece: Raw) -> None:
        """Add a piece; if too many are unfinished, wait for the first of them. Raises the error of an earlier piece."""
        self._unfinished.append(self._coder.submit(self._unless_failed, self._code, piece))
        if len(self._unfinished) > LIMIT:
            self._wait_for_first()

    def finish(self) -> None:
        """Return when everything is written. Raises the first error."""
        try:
            while self._unfinished:
                self._wait_for_first()
        finally:
            self._coder.shutdown()
            self._writer.shutdown()

    def _wait_for_first(self) -> None:
        for frame in self._unfinished[0].result():
            frame.result()
        self._unfinished.popleft()

    def _unless_failed(self, step: Callable[[Given], Result], given: Given) -> Result:
        """Do a step, unless it has failed for an earlier piece: what follows would not be readable without that one."""
        if step in self._failed:
            raise RuntimeError("an earlier piece failed, and its error has not been raised")
        try:
            return step(given)
        except BaseException:
            self._failed.add(step)
            raise

    def _code(self, piece: Raw) -> list[Future[None]]:
        return [self._writer.submit(self._unless_failed, self._work.write, frame) for frame in self._work.code(piece)]
