"""The write pipeline codes and writes in order; its caller gets the errors of all steps."""

from __future__ import annotations

import random
import threading
import time

import pytest

from rfview.sessions.file.write_pipeline import LIMIT, WritePipeline

PIECES = 60


class Trace:
    """Work whose pieces are numbers; piece n gives n % 3 frames, and every step takes a varying time."""

    def __init__(self, fail_in: str = "", slow: str = ""):
        self.fail_in, self.slow = fail_in, slow
        self.coded: list[int] = []
        self.written: list[tuple[int, int]] = []
        self._order = random.Random(3)

    def _work(self, step: str, number: int) -> None:
        time.sleep(0.003 if step == self.slow else self._order.random() * 0.001)
        if step == self.fail_in and number == 7:
            raise OSError(28, "no room left")

    def code(self, piece: int) -> list[tuple[int, int]]:
        self._work("code", piece)
        self.coded.append(piece)
        return [(piece, part) for part in range(piece % 3)]

    def write(self, frame: tuple[int, int]) -> None:
        self._work("write", frame[0])
        self.written.append(frame)


def run(work: Trace) -> None:
    pipeline: WritePipeline[int, tuple[int, int]] = WritePipeline(work)
    try:
        for piece in range(PIECES):
            pipeline.put(piece)
            assert piece + 1 - len(work.coded) <= LIMIT + 1
    finally:
        pipeline.finish()


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(("rfview-coder", "rfview-writer"))]


@pytest.mark.parametrize("slow", ("", "code", "write"))
def test_everything_is_written_in_order(slow: str) -> None:
    work = Trace(slow=slow)
    run(work)
    assert work.coded == list(range(PIECES))
    assert work.written == [(piece, part) for piece in range(PIECES) for part in range(piece % 3)]
    assert not threads()


@pytest.mark.parametrize("step", ("code", "write"))
def test_what_goes_wrong_is_told_and_ends_the_threads(step: str) -> None:
    work = Trace(fail_in=step)
    with pytest.raises(OSError, match="no room left"):
        run(work)
    assert len(work.written) < PIECES - 10 and not threads()
    assert work.written == [(piece, part) for piece in range(PIECES) for part in range(piece % 3)][: len(work.written)]
