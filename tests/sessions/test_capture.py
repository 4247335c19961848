"""Parts of a run, stored or as recordings of their own: the states of the whole run, and errors for places that do not exist."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from rfview.engine.errors import InputError
from rfview.sessions import Session, open_session
from rfview.sessions.branches.capture import part_of
from rfview.sessions.file.writer import Budget, RecordResult, record
from rfview.sessions.timeline.filling import fill_part, hull
from rfview.sessions.timeline.opening import open_recording
from rfview.sessions.timeline.live import LiveTimeline
from rfview.sessions.timeline.verify import verify
from rfview.sessions.commands.script import run_script
from tests.sessions.test_fork import session_of, simulator, small  # noqa: F401 - fixtures


def stored(machine: object, path: Path, begin: str, end: str) -> RecordResult:
    """Record a run of which a part is stored."""
    return record(machine, path, budget=part_of(LiveTimeline(machine), begin, end))


@pytest.mark.parametrize(("begin", "end"), [
    ("300", "512"), ("", "77"), ("1,100", ""), ("any(w.state == barrier) or cycle > 90", ""), ("launch 0", "cycle > 40"),
])
def test_a_recording_that_stores_a_part_has_the_states_of_the_whole(begin: str, end: str, small: Path, tmp_path: Path) -> None:  # noqa: F811
    whole = open_session(small, design="stt")
    whole.goto("end")
    result = stored(simulator(small, design="stt"), tmp_path / "part.rfs", begin, end)
    with open_session(tmp_path / "part.rfs") as part:
        first, last = part.timeline.stored_from, part.timeline.stored_until
        assert (result.begun, result.stored, result.cycles) == (first, last - first, whole.timeline.last) and last > first
        assert (part.timeline.first, part.timeline.last) == (0, whole.timeline.last)
        for cycle in [*range(0, whole.timeline.last, 83), first, last, whole.timeline.last]:
            assert part.timeline.at(cycle).same_as(whole.timeline.at(cycle))
        assert (part.timeline.states(0, part.timeline.last + 1) == whole.timeline.states(0, part.timeline.last + 1)).all()
        whole.goto("start")
        for condition in ("bank[0].queue > 1", "any(w.state == barrier)", "stall.wait > 3"):
            found = [[session.find(condition, forward) for session in (part, whole)] for forward in (True, True, False, True)]
            assert all(ours.cycle == theirs.cycle for ours, theirs in found)
        assert not list(verify(part.timeline))
        expected = {"300": 300, "": 0, "1,100": 1100, "launch 0": 0}
        assert first == expected.get(begin, first)
        if begin.startswith("any"):
            assert first == 91
        assert last == {"512": 512, "77": 77, "cycle > 40": 41}.get(end, whole.timeline.last)


@pytest.mark.parametrize(("begin", "end", "words"), [
    ("9,000,000", "", "the run ends at cycle"), ("cycle < 0", "", "not met"), ("500", "400", "not after cycle 500"),
    ("w9.nothing > 3", "", "nothing"), ("launch 7", "", "--from launch 7: not met"),
])
def test_places_that_are_none_are_named(begin: str, end: str, words: str, small: Path, tmp_path: Path) -> None:  # noqa: F811
    with pytest.raises(InputError, match=words):
        stored(simulator(small), tmp_path / "part.rfs", begin, end)
    assert not list(tmp_path.glob("*.rfs"))


def test_a_part_is_stored_later_with_the_keyframes_and_lines_that_the_file_has(small: Path, tmp_path: Path) -> None:  # noqa: F811
    path, other = tmp_path / "run.rfs", tmp_path / "other.rfs"
    stored(simulator(small), path, "600", "900")
    with closing(open_recording(path)) as recording:
        end, keyframes = recording.last, recording.keyframe_cycles
        with pytest.raises(InputError, match="stores cycles 600 to 900.*--from 600 --to 1500, or another file"):
            hull(recording, Budget(first=1_000, last=1_500))
        fill_part(recording, path, hull(recording, Budget(first=800, last=1_000)))
        fill_part(recording, other, Budget(first=1_000, last=1_100))
    whole = open_session(small)
    whole.goto("end")
    for file, first, last in ((path, 600, 1_000), (other, 1_000, 1_100)):
        with open_session(file) as part:
            assert (part.timeline.stored_from, part.timeline.stored_until, part.timeline.last) == (first, last, end)
            assert part.timeline.keyframe_cycles == keyframes and part.timeline.warnings == []
            assert part.timeline.printed(end) == whole.timeline.printed(end)
            for cycle in (0, 599, first, 850, last - 1, last, last + 1, end):
                assert part.timeline.at(cycle).same_as(whole.timeline.at(cycle))


@pytest.mark.parametrize("kind", ["live", "recorded"])
def test_capture_here_and_stop_there(kind: str, session_of: Callable[..., Session], tmp_path: Path) -> None:  # noqa: F811
    session = session_of(kind, design="sram")
    file = tmp_path / "part.rfs"
    answers = list(run_script(session, f"goto 250; capture {file}; goto 700; capture stop; mark a; goto 400; "
                                       f"capture {tmp_path}/two.rfs from 400 to @a"))
    assert (answers[3].data["first"], answers[3].data["cycles"]) == (250, 450) and "capture" not in session.memo
    for path, first, last in ((file, 250, 700), (tmp_path / "two.rfs", 400, 700)):
        with open_session(path) as part:
            assert (part.timeline.first, part.timeline.last) == (first, last)
            for cycle in range(first, last + 1, 50):
                assert part.timeline.at(cycle).same_as(session.timeline.at(cycle))


@pytest.mark.parametrize(("lines", "words"), [
    ("capture stop", "nothing is being captured"), ("capture", "expected"), ("capture x.txt", "expected"),
    ("capture {0}/a.rfs from 5 to 9,000,000", "9,?000,?000"), ("capture {0}/a.rfs from x to 5", "goto x"),
    ("capture /nowhere/x.rfs", "no folder"), ("goto 90; capture {0}/a.rfs; goto 20; capture stop", "not after cycle 90"),
])
def test_mistakes(lines: str, words: str, session_of: Callable[..., Session], tmp_path: Path) -> None:  # noqa: F811
    with pytest.raises(InputError, match=words):
        list(run_script(session_of("live", design="sram"), lines.format(tmp_path)))
