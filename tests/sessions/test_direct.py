"""The compiled reader: it reads what the plain one does, breaks on no damage, and loads only for who goes on seeking."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rfview.sessions import codec as codec_room
from rfview.engine.compile import jit
from rfview.engine import kernels
from rfview.engine.launch import load_launch_file
from rfview.engine.simulator import Simulator
from rfview.sessions.codec import codec, direct, reading
from rfview.sessions.codec.changes import StoredChanges
from rfview.sessions.file.opening import open_recording
from rfview.sessions.file.writer import record
from rfview.sessions.timeline.replay import RecordedTimeline
from tests.sessions.conftest import CHUNK
from tests.sessions.double import Double

GOLDEN = Path(__file__).parent / "golden"
SHORT = 6       # cycles
# whether a byte in the streams' sizes or in one behind the keyframe's is changed, which one, and into what
EDITS = st.lists(st.tuples(st.booleans(), st.integers(0), st.integers(0, 255)), min_size=1, max_size=3)


@pytest.mark.parametrize("design", ("sram", "stt", "hrf", "rfc", "hcrf", "edram", "racetrack"))
def test_real_runs_read_as_by_the_plain_reader(design: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.rfs"
    record(Simulator(load_launch_file(kernels.path("reduction")), design=design), path, max_cycles=3000, chunk_cycles=1024)
    order = random.Random(7)
    with closing(open_recording(path)) as plain, closing(open_recording(path)) as direct_:
        for cycle in [0, 1, 1023, 1024, 1025, plain.last, *(order.randint(0, plain.last) for _ in range(60))]:
            expected = plain.at(cycle)
            with monkeypatch.context() as patch:
                patch.setattr(reading.READER, "state_at", direct.state_at)
                assert direct_.at(cycle).same_as(expected), cycle


@pytest.mark.parametrize("number", (2, 3, 4))
def test_files_of_before_are_left_to_the_plain_reader(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(reading.READER, "state_at", lambda *args: asked.append(args) or direct.state_at(*args))
    with closing(open_recording(GOLDEN / f"format{number}.rfs")) as timeline:
        assert int(timeline.at(333).sm.events[0]) == 544
    assert len(asked) == (number == 4)


def in_python() -> object:
    """Return the reader as Python runs it, which says where compiled code would go out of bounds."""
    return direct.state_at if jit.OFF else direct.state_at.py_func


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a recording with chunks of few changes, which Python reads soon."""
    path = tmp_path_factory.mktemp("direct") / "short.rfs"
    record(Double(5 * SHORT), path, chunk_cycles=SHORT)
    return path


@settings(max_examples=200, deadline=None)
@given(edits=EDITS, offset=st.integers(0, SHORT))
def test_damaged_bytes_are_refused_or_read_alike(short: Path, edits: list[tuple[bool, int, int]], offset: int) -> None:
    """The check sum of a chunk is right here: only what its numbers say of each other is wrong."""
    with closing(open_recording(short)) as timeline:
        stored = timeline.decoded(3).chunk
        damaged = bytearray(stored._state_bytes)
        head = 8 * len(codec.STATE)
        low = head + sum(count * width for count, width, _ in list(stored._state.values())[:2])
        for in_head, place, byte in edits:
            damaged[place % head if in_head else low + place % (len(damaged) - low)] = byte
        blob = np.frombuffer(bytes(damaged), np.uint8)
        base, first, cycles = timeline.header.state, stored.first_cycle, stored.num_cycles
        answers = []
        for read in (in_python(), direct.state_at):
            words, sums = base.copy(), np.zeros(40, np.int64)
            with np.errstate(all="ignore"):     # as words of the machine do, NumPy's wrap, and would warn
                answers.append((read(blob, first, cycles, offset, words, 96, sums), words.tolist(), sums.tolist()))
        assert answers[0] == answers[1]
        expected = plain_state(damaged, timeline, first, cycles, offset)
        if answers[0][0] and expected is not None:
            assert answers[0][1] == expected.tolist()


def plain_state(blob: bytearray, timeline: RecordedTimeline, first: int, cycles: int, offset: int) -> np.ndarray | None:
    """Return the state as the plain reader reads it, or None where it finds damage."""
    try:
        stored = codec.streams(bytes(blob), codec.STATE)
        words = timeline.header.state.copy()
        words[np.cumsum(codec.unpack(stored["key_step"]))] ^= codec.unpack(stored["key_bits"])
        StoredChanges(stored, words.copy(), first, cycles).apply(words, offset)
    except (KeyError, TypeError, ValueError, IndexError):
        return None
    return words


def test_it_is_loaded_after_so_many_chunks(recorded: RecordedTimeline, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []
    reader = reading.Reader(after=3)
    monkeypatch.setattr(reader, "load", lambda: loaded.append(True))
    monkeypatch.setattr(reading, "READER", reader)
    for cycle in (5, 6, CHUNK + 5, 7, CHUNK + 6):
        recorded.at(cycle)
    assert not loaded
    for number in range(2, 9):
        recorded.at(CHUNK * number + 5)
    for thread in threading.enumerate():
        if thread.name == reading.THREAD:
            thread.join()
    assert loaded == [True]


@pytest.mark.skipif(jit.OFF, reason="nothing is compiled")
@pytest.mark.parametrize("case, loads", (("compiled", True), ("not compiled", False), ("run by Python", False)))
def test_it_is_loaded_only_where_it_is_compiled(case: str, loads: bool, file: Path, tmp_path: Path) -> None:
    if loads:
        subprocess.run([sys.executable, "-m", "rfview.sessions.codec.warm"], check=True, timeout=300)
    code = ("import sys; from rfview.sessions import open_session\n"
            "from rfview.sessions.codec import reading\n"
            "s = open_session(sys.argv[1]); s.goto(20); s.snapshot(); s.value('w3.R1')\n"
            "assert 'numba' not in sys.modules; reading.READER.load()\n"
            "print(reading.READER.state_at is not None)")  # fmt: skip
    changed = {"not compiled": {"RFVIEW_CACHE_DIR": str(tmp_path)}, "run by Python": {"NUMBA_DISABLE_JIT": "1"}}
    environ = os.environ | changed.get(case, {})
    result = subprocess.run([sys.executable, "-c", code, str(file)], env=environ, capture_output=True, text=True,
                            timeout=300, check=False)  # fmt: skip
    assert result.stdout.strip() == str(loads), result.stderr


def test_a_broken_numba_takes_nothing_from_a_replay(recorded: RecordedTimeline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rfview.sessions.codec.warm", None)
    monkeypatch.delattr(codec_room, "warm", raising=False)
    reader = reading.Reader(after=1)
    reader.load()
    assert reader.state_at is None
    monkeypatch.setattr(reading, "READER", reader)
    assert recorded.at(5).cycle == 5
