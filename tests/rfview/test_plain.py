"""The linear mode reports changes in sentences, at a prompt and from a pipe."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from rfview.engine.errors import InputError
from rfview import plain
from rfview.plain import Linear
from rfview.sentences import census, listed, sentences
from rfview.render.frame import drawn
from rfview.render.panel import Place
from rfview.render.text import Line
from rfview.sessions import open_session
from rfview.sessions.session import Session

REPOSITORY = Path(__file__).parents[2]
RECORDED = REPOSITORY / "rfview" / "learn" / "recorded"


@pytest.fixture
def session() -> Session:
    return open_session(RECORDED / "first.rfs")


def test_warps_are_listed_as_people_name_them() -> None:
    assert listed([3]) == "w3" and listed([3, 4]) == "w3 and w4" and listed([1, 3, 4, 5, 9]) == "w1, w3 to w5 and w9"


def test_every_issue_and_every_change_of_state_is_said(session: Session) -> None:
    names = {entry.code: entry.name for entry in session.info.stalls}
    for cycle in range(1, 200):
        before, after = session.timeline.states(cycle - 1, cycle + 1)
        text = " ".join(sentences(session, cycle - 1, cycle))
        assert text.startswith(f"Cycle {cycle}.") and text.count(" issued ") == len(
            {session.value(f"w{warp}.last_pc", cycle) for warp in range(48) if after[warp] == 0})
        for warp in range(48):
            if after[warp] != before[warp] and names[after[warp]] not in ("issued", "not_selected", "finished", "no_cta"):
                assert names[after[warp]] in text
        kept = sum(after[warp] == before[warp] and names[after[warp]] not in ("issued", "finished", "no_cta")
                   for warp in range(48))
        assert (f"{kept} warp" in text) == bool(kept)


def test_a_long_way_is_summed_up(session: Session) -> None:
    text = " ".join(sentences(session, 100, 300))
    issued = int(session.timeline.stall_totals(300)[0] - session.timeline.stall_totals(100)[0])
    assert f"200 cycles on: {issued} instructions issued in them, mostly long_scoreboard" in text
    assert "200 cycles back" in " ".join(sentences(session, 300, 100))


def test_the_census_has_every_warp_once(session: Session) -> None:
    session.goto(300)
    text = " ".join(census(session))
    states = session.timeline.states(300, 301)[0]
    assert "w32 to w47: no_cta." in text and ("long_scoreboard" in text) == (4 in states)


def talk(session: Session, *lines: str) -> tuple[str, str, Linear]:
    """Return the linear mode's output for some lines, its errors, and the mode itself."""
    out, err = io.StringIO(), io.StringIO()
    linear = Linear(session, out, err)
    for line in lines:
        if not linear.command(line):
            break
    return out.getvalue(), err.getvalue(), linear


def test_commands_move_and_repeat_and_end(session: Session) -> None:
    out, err, linear = talk(session, "step 10", "", "back", "q", "step 100")
    assert session.cycle == 19 and not err and linear.code == 0
    assert "Cycle 10." in out and "Cycle 20." in out and out.splitlines()[-1].startswith("Cycle 19. 1 cycle back")


def test_errors_are_one_line_and_the_session_goes_on(session: Session) -> None:
    out, err, linear = talk(session, "stepp", "warp 99", "step; nonsense; step")
    assert err.count("\n") == 3 and "did you mean step" in err and "warps 0..47" in err
    assert session.cycle == 1 and linear.code == 2


def test_the_warp_of_the_prompt_is_used_by_commands_that_want_one(session: Session) -> None:
    out, _, linear = talk(session, "warp 3", "stepi", "why", "verbose on", "explain wb_drain")
    assert linear.prompt().endswith("w3> ") and session.value("w3.state") == 0
    assert "w3: no_cta" in out and "w3 issued" in out and "HRF section 4.3" in out
    with pytest.raises(InputError, match="warps 0..47"):
        Linear(session, warp=48)


def test_the_end_and_the_reason_of_a_stop_are_said(session: Session) -> None:
    out, _, _ = talk(session, "until w0.state == long_scoreboard", "goto end")
    assert "w0.state == long_scoreboard." in out and "This is the end of the session." in out


def test_lines_come_from_a_pipe() -> None:
    done = subprocess.run([sys.executable, "-m", "rfview", "replay", str(RECORDED / "drain.rfs"), "--plain", "--goto", "9",
                           "--warp", "7"], input="s\nprint cycle\n\nprint 1or 2\nfoo\n", capture_output=True, text=True,
                          cwd=REPOSITORY, check=False)
    assert done.returncode == 2 and "wb_drain" in done.stdout and "cycle = 10" in done.stdout
    assert done.stderr.startswith("error: no command 'foo'") and "Traceback" not in done.stderr


def test_a_stream_without_lines_ends_at_once(session: Session) -> None:
    assert plain.run(session, stream=io.StringIO("")) == 0


def test_a_stream_whose_line_never_ends_is_one_error(session: Session) -> None:
    with open("/dev/zero", encoding="utf-8") as endless, pytest.raises(InputError, match="a line of the input has more than"):
        plain.run(session, stream=endless)


@pytest.mark.parametrize("width,height", [(1, 1), (5, 2), (8, 30), (40, 10)])
def test_panels_laid_out_for_a_larger_screen_are_cut_off(width: int, height: int) -> None:
    """Found by fuzzing keys: a screenshot between a resize and its layout."""
    lines = [Line((("abcdef", ""),))] * 6
    rows = drawn([(Place("why", 3, 4, 6, 6), lines), (Place("code", 60, 20, 9, 9), lines)], width, height)
    assert len(rows) == height and all(len(row) <= width for row in rows)
