"""Parts of a run as separate recordings: the same states as the whole run, and errors for places that do not exist."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rfview.engine.errors import InputError
from rfview.sessions import Session, open_session
from rfview.sessions.branches.capture import record_part
from rfview.sessions.timeline.live import LiveTimeline
from rfview.sessions.commands.script import run_script
from tests.sessions.test_fork import session_of, simulator, small  # noqa: F401 - fixtures


@pytest.mark.parametrize(("begin", "end"), [
    ("300", "512"), ("", "77"), ("1,100", ""), ("any(w.state == barrier) or cycle > 90", ""), ("launch 0", "cycle > 40"),
])
def test_a_part_holds_the_states_of_the_whole(begin: str, end: str, small: Path, tmp_path: Path) -> None:  # noqa: F811
    whole = open_session(small, design="stt")
    whole.goto("end")
    result = record_part(LiveTimeline(simulator(small, design="stt")), tmp_path / "part.rfs", begin, end)
    with open_session(tmp_path / "part.rfs") as part:
        first, last = part.timeline.first, part.timeline.last
        assert result.cycles == last - first > 0
        for cycle in [*range(first, last, 83), last]:
            assert part.timeline.at(cycle).same_as(whole.timeline.at(cycle))
        assert (part.timeline.states(first, last + 1) == whole.timeline.states(first, last + 1)).all()
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
        record_part(LiveTimeline(simulator(small)), tmp_path / "part.rfs", begin, end)
    assert not list(tmp_path.glob("*.rfs"))


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
