"""Following errors: every arrival against a comparison of whole states in every cycle, and errors if there is none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rfview.sessions.branches.fork import fork
from rfview.engine.errors import InputError
from rfview.sessions import Session, open_session
from rfview.sessions.branches.follow import Flow, follow, lost_bits
from rfview.sessions.commands.script import run_script
from rfview.sessions.timeline.base import Timeline
from tests.sessions.test_fork import session_of, small, store_of  # noqa: F401 - fixtures

HORNER = Path(__file__).resolve().parents[2] / "rfview" / "learn" / "kernels" / "horner.toml"


@pytest.fixture(scope="module")
def horner() -> Session:
    """Return a session of a run that loses bits, at the first loss."""
    session = open_session(HORNER, design="edram", settings={"edram.error_mode": "literal"})
    session.run_until("event.bits_lost > 0")
    return session


def differences(ours: Timeline, right: Timeline, begin: int, end: int) -> list[tuple[int, str, int, int]]:
    """Return (cycle, 'row' or 'word', index, lane) of everything that begins to differ, from whole states."""
    found = []
    for cycle in range(begin, end + 1):
        pair = ours.at(cycle), right.at(cycle)
        before = (ours.at(cycle - 1), right.at(cycle - 1)) if cycle > begin else None
        for kind, name in (("row", "rows"), ("word", "memory")):
            wrong = getattr(pair[0], name) != getattr(pair[1], name)
            was = getattr(before[0], name) != getattr(before[1], name) if before else np.zeros_like(wrong)
            found += [(cycle, kind, *where) if len(where) == 2 else (cycle, kind, *where, 0)
                      for where in np.argwhere(wrong & ~was).tolist()]
    return found


def arrived(flow: Flow, session: Session) -> list[tuple[int, str, int, int]]:
    """Return a flow's arrivals in the form of `differences`."""
    info = session.info
    registers = int(session.snapshot(flow.begin).sm["launch"]["registers"])
    words = {f"{one.name}[{index}]": one.word + index for one in info.buffers for index in range(one.bytes // 4)}
    out = []
    for arrival in flow.arrivals:
        if arrival.lanes:
            warp, reg = arrival.place[1:].split(".R")
            out += [(arrival.cycle, "row", int(warp) * registers + int(reg), lane) for lane in range(32)
                    if arrival.lanes >> lane & 1]
        else:
            out.append((arrival.cycle, "word", words[arrival.place], 0))
    return out


def test_lost_bits_are_followed_to_the_output(horner: Session) -> None:
    flow = follow(horner)
    _, right, _ = lost_bits(horner)
    horner.goto(flow.begin)
    twin = fork(horner, f"right{len(horner.family)}", right).timeline
    twin.extend(1 << 30)
    expected = differences(horner.timeline, twin, flow.begin, horner.timeline.last)
    assert sorted(arrived(flow, horner)) == sorted(expected) and flow.num_arrivals == len(flow.arrivals)
    assert [arrival.kind for arrival in flow.arrivals] == ["lost", "register", "register", "global"]
    assert all(horner.info.program[arrival.pc].mnemonic in ("fma", "st") for arrival in flow.arrivals[1:])
    store, (output,) = flow.first_store, flow.outputs
    assert store is not None and store.place == f"results[{output.first}]" and output.wrong == 1
    error = np.array([store.value, store.right], np.uint32).view(np.float32).astype(float)
    assert output.largest == pytest.approx(abs(error[0] - error[1]) / abs(error[1])) and flow.parted is None


def test_commands_go_from_one_place_to_the_next(horner: Session) -> None:
    horner.goto(1100)
    lines = "follow; follow store; follow back; follow back; follow next; goto start; follow back"
    answers = list(run_script(horner, lines))
    cycles = [arrival["cycle"] for arrival in answers[0].data["follow"]["arrivals"]]
    assert [answer.data["cycle"] for answer in answers[1:5]] == [cycles[-1], cycles[-2], cycles[-3], cycles[-2]]
    assert answers[6].data["reason"] == "not found" and "nothing earlier" in answers[6].text
    assert "first wrong store" in answers[0].text and "results[" in answers[1].text and "decayed" in answers[0].text


@pytest.mark.parametrize("kind", ["live", "recorded"])
def test_another_register_value_is_followed(kind: str, session_of: Callable[..., Session]) -> None:  # noqa: F811
    session = session_of(kind, design="sram")
    session.timeline.extend(1 << 30)
    cycle, warp, reg = store_of(session)
    session.goto(cycle)
    flow = follow(session, {f"w{warp}.R{reg}[7]": "-2.5"})
    assert [output.wrong for output in flow.outputs] == [1] and flow.outputs[0].name == "c"
    store = flow.first_store
    assert store is not None and store.right == 0xC0200000 and store.pc is not None
    assert session.info.program[store.pc].mnemonic == "st"
    assert session.cycle == cycle and list(session.family) == ["main"]


def test_a_value_that_decides_a_branch_parts_the_runs(session_of: Callable[..., Session]) -> None:  # noqa: F811
    session = session_of("live", design="sram")
    program = session.info.program
    setp = next(entry for entry in program if entry.mnemonic == "setp")
    reg = next(reg for reg in setp.src if reg != 255)
    session.run_until(f"w0.pc == {setp.pc} and not (w0.sb_write >> {reg}) & 1")
    flow = follow(session, {f"w0.R{reg}": 0x7FFFFFFF})      # an index beyond the array: the whole warp exits
    assert flow.parted is not None and flow.end == flow.parted - 1
    assert flow.outputs and flow.outputs[0].name == "c"


def test_mistakes_say_what_to_do(session_of: Callable[..., Session], horner: Session) -> None:  # noqa: F811
    session = session_of("live", design="sram")
    for lines, words in (("follow", "loses no bits"), ("follow next", "nothing is followed yet"),
                         ("follow w0.R1", "registers with other values"), ("follow sm.num_collectors=4", "fork"),
                         ("goto 5; follow w0.R99=1", "R99")):
        with pytest.raises(InputError, match=words):
            list(run_script(session, lines))
    horner.goto(3)
    with pytest.raises(InputError, match="no bit is lost up to cycle 3"):
        follow(horner)


@pytest.mark.parametrize("patience", range(2))
def test_a_follow_can_be_stopped_wherever_it_is(horner: Session, patience: int) -> None:
    """The search for the loss and the comparison both report progress."""
    horner.goto(horner.timeline.last)
    left = patience

    def stop(cycle: int) -> bool:
        nonlocal left
        left -= 1
        return left < 0

    horner.progress = stop
    try:
        with pytest.raises(InputError, match="follow: stopped at cycle|fork: stopped"):
            follow(horner)
    finally:
        horner.progress = None
