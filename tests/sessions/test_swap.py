"""A session's switch to another design or kernel: the new run, its place in it, the way back and the recipe."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rfview.engine.chunk import CHUNK_CYCLES
from rfview.engine.errors import InputError
from rfview.sessions import Session, open_session
from rfview.sessions.compare.issues import IssueLog
from rfview.sessions.branches.fork import way_to
from rfview.sessions.commands.script import run_script
from rfview.sessions.branches.edit import load
from rfview.sessions.branches.swap import swap
from tests.sessions.test_fork import finish, session_of, small  # noqa: F401 - fixtures


@pytest.mark.parametrize("kind", ["live", "recorded"])
def test_a_swapped_run_is_the_run_on_that_design(kind: str, session_of: Callable[..., Session], small: Path) -> None:  # noqa: F811
    session = session_of(kind, design="sram", settings={"sm.num_collectors": 8})
    session.goto(200)
    made = swap(session, "stt", "lrr")
    assert made.session.cycle == 200 and made.warp is None and session.cycle == 200
    fresh = open_session(small, design="stt", scheduler="lrr", settings={"sm.num_collectors": 8})
    ours, theirs = finish(made.session.timeline), finish(fresh.timeline)
    assert ours.last == theirs.last
    for cycle in range(0, ours.last, 97):
        assert ours.at(cycle).same_as(theirs.at(cycle))
    assert ours.info.parameters == theirs.info.parameters


def test_a_papers_machine_comes_and_goes_with_its_design(session_of: Callable[..., Session], small: Path) -> None:  # noqa: F811
    session = session_of("live", design="sram")
    there = swap(session, "hrf").session
    assert there.info.parameters == open_session(small, design="hrf").info.parameters
    back = swap(there, "sram").session
    assert back.info.parameters == session.info.parameters
    assert list(session.family) == ["main", "hrf", "sram"] and back.branch is not None and back.branch.parent == "hrf"


def test_the_place_is_the_warps_same_instruction(session_of: Callable[..., Session]) -> None:  # noqa: F811
    session = session_of("live", design="sram")
    session.goto(400)
    log = IssueLog(session.timeline)
    name = log.name(5, 400)
    assert name is not None
    count = log.issued(name, 400)
    made = swap(session, "stt", warp=5)
    there = IssueLog(made.session.timeline)
    assert made.warp is not None and there.name(made.warp, made.session.cycle) == name
    assert there.issued(name, made.session.cycle) == count and there.issued(name, made.session.cycle - 1) == count - 1
    assert f"{count}th" in made.text


def test_an_empty_slot_is_taken_to_the_same_cycle(session_of: Callable[..., Session]) -> None:  # noqa: F811
    session = session_of("live", design="sram")
    made = swap(session, "stt", warp=3)
    assert made.session.cycle == session.cycle == 0 and made.warp is None


def test_the_recipe_makes_the_branch_again(session_of: Callable[..., Session]) -> None:  # noqa: F811
    session = session_of("live", design="sram")
    lines = "goto 150; swap stt[write_cycles=6] lrr; goto 210; fork slow set stt.write_cycles=9; step 5"
    first = [answer.session for answer in run_script(session, lines) if answer.session][-1]
    again_from = session_of("live", design="sram")
    again = [answer.session for answer in run_script(again_from, "; ".join(way_to(first))) if answer.session][-1]
    assert way_to(first)[-2:] == ["goto 210", "fork slow set stt.write_cycles=9"]
    again.goto(first.cycle)
    assert again.snapshot().same_as(first.snapshot()) and list(again.family) == list(first.family)


@pytest.mark.parametrize(("design", "scheduler", "words"), [
    ("sram", "gto", "already"), ("srma", "", "did you mean sram"), ("stt", "fifo", "no scheduler"),
    ("stt[write=3]", "", "write"),
])
def test_mistakes_name_what_there_is(design: str, scheduler: str, words: str, session_of: Callable[..., Session]) -> None:  # noqa: F811
    session = session_of("live", design="sram")
    with pytest.raises(InputError, match=words):
        swap(session, design, scheduler)
    assert list(session.family) == ["main"]
    with pytest.raises(InputError, match="nnn"):        # longer than the name of a file can be
        load(session, "n" * 1000)


def test_a_recording_that_cannot_run_again_says_what_to_do(recorded: Any) -> None:
    with pytest.raises(InputError, match=r"holds one design.*rfview debug .* --design"):
        swap(Session(recorded), "stt")
    with pytest.raises(InputError, match="rfview debug gemm"):
        load(Session(recorded), "gemm")


def test_a_stopped_swap_leaves_everything_as_it_was() -> None:
    session = open_session("vectoradd", design="sram")
    session.goto(3 * CHUNK_CYCLES)      # progress is asked between chunks
    session.progress = lambda cycle: True
    with pytest.raises(InputError, match="stopped at cycle"):
        swap(session, "stt")
    assert list(session.family) == ["main"] and session.cycle == 3 * CHUNK_CYCLES


def test_another_kernel_keeps_the_machine(session_of: Callable[..., Session], small: Path) -> None:  # noqa: F811
    session = session_of("live", design="stt", scheduler="lrr", settings={"stt.write_cycles": 7, "sm.num_collectors": 8})
    made = load(session, "reduction")
    assert (made.info.name, made.info.design, made.info.scheduler, made.cycle) == ("reduction", "stt", "lrr", 0)
    assert made.info.parameters["stt.write_cycles"] == 7 and made.info.parameters["sm.num_collectors"] == 8
    assert load(session, str(small)).info.kernel == "vectoradd"
    with pytest.raises(InputError, match="no bundled kernel"):
        load(session, "nosuch")
    with pytest.raises(InputError, match="nosuch.toml"):
        load(session, "nosuch.toml")
