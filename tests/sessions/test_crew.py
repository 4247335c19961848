"""A crew codes in order, compresses in any and writes in order; what goes wrong is told to who gave it the work."""

from __future__ import annotations

import os
import random
import sys
import threading
import time

import pytest

from rfview.sessions.file.write_pipeline import LIMIT, Crew

PIECES = 60


class Trace:
    """Work whose pieces are numbers; each gives as many frames as it says, after a while that differs."""

    def __init__(self, fail_in: str = "", slow: str = ""):
        self.fail_in, self.slow = fail_in, slow
        self.coded: list[int] = []
        self.written: list[tuple[int, int]] = []
        self.squeezers: set[str] = set()
        self.prepared: list[str] = []
        self._order = random.Random(3)

    def _work(self, step: str, number: int) -> None:
        time.sleep(0.003 if step == self.slow else self._order.random() * 0.001)
        if step == self.fail_in and number == 7:
            raise OSError(28, "no room left")

    def prepare(self) -> None:
        assert not self.coded
        self.prepared.append(threading.current_thread().name)
        self._work("prepare", 7)

    def code(self, piece: int) -> list[tuple[int, int]]:
        self._work("code", piece)
        self.coded.append(piece)
        return [(piece, part) for part in range(piece % 3)]

    def squeeze(self, frame: tuple[int, int]) -> tuple[int, int]:
        self.squeezers.add(threading.current_thread().name)
        self._work("squeeze", frame[0])
        return frame

    def write(self, frame: tuple[int, int]) -> None:
        self._work("write", frame[0])
        self.written.append(frame)


def run(work: Trace) -> None:
    crew: Crew[int, tuple[int, int]] = Crew(work)
    try:
        for piece in range(PIECES):
            crew.put(piece)
            assert piece + 1 - len(work.coded) <= LIMIT
    finally:
        crew.finish()


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "rfview-recorder"]


@pytest.mark.parametrize("cores", (1, 2, 8))
@pytest.mark.parametrize("slow", ("", "code", "squeeze", "write"))
def test_everything_is_written_in_order(cores: int, slow: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    work = Trace(slow=slow)
    run(work)
    assert work.coded == list(range(PIECES)) and work.prepared == ["rfview-recorder"]
    assert work.written == [(piece, part) for piece in range(PIECES) for part in range(piece % 3)]
    assert not threads()


def test_who_would_have_to_wait_lends_a_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    work = Trace(slow="squeeze")
    run(work)
    assert work.squeezers == {"rfview-recorder", threading.current_thread().name}


@pytest.mark.parametrize("cores", (2, 8))
@pytest.mark.parametrize("step", ("prepare", "code", "squeeze", "write"))
def test_what_goes_wrong_is_told_and_ends_the_threads(cores: int, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    work = Trace(fail_in=step)
    with pytest.raises(OSError, match="no room left"):
        run(work)
    assert len(work.written) < PIECES - 10 and not threads()
    assert work.written == [(piece, part) for piece in range(PIECES) for part in range(piece % 3)][: len(work.written)]


def test_the_process_gets_its_turns_back_from_crews_that_overlap() -> None:
    usual = sys.getswitchinterval()
    one: Crew[int, tuple[int, int]] = Crew(Trace())
    other: Crew[int, tuple[int, int]] = Crew(Trace())
    one.finish()
    assert sys.getswitchinterval() < usual
    other.finish()
    assert sys.getswitchinterval() == usual
