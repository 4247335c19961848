"""Branches: without a change bit for bit the parent, and with one exactly what the change says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import structs
import numpy as np
import pytest

from rfview.sessions.branches.fork import drop, fork
from rfview.engine import kernels
from rfview.engine.errors import InputError
from rfview.sessions import Session, open_session
from rfview.sessions.compare import Comparison
from rfview.engine import plugin
from rfview.sessions.branches.fork import changeable
from rfview.sessions.timeline.live import LiveTimeline
from rfview.sessions.file.writer import record
from rfview.sessions.commands.script import run_lines, run_script
from rfview.sessions.commands.table import execute
from rfview.sessions.timeline.base import Timeline

# designs with a parameter that can change in the middle of a run
DESIGNS = [name for name in plugin.BUILT_IN if any(entry.is_live for entry in plugin.design(name).parameters)]
SMALL = """module = "vectoradd.ptx"
[[launch]]
kernel = "vectoradd"
grid = [8]
block = [256]
args = [{buffer = "a"}, {buffer = "b"}, {buffer = "c"}, {value = 2000}]
[buffers.a]
file = "a.npy"
[buffers.b]
shape = [2000]
dtype = "float32"
random = {seed = 2, low = -1.0, high = 1.0}
[buffers.c]
shape = [2000]
dtype = "float32"
zeros = true
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a launch file of eight CTAs of vectoradd, one of whose buffers is in a separate file."""
    folder = tmp_path_factory.mktemp("fork")
    (folder / "vectoradd.ptx").write_bytes(kernels.path("vectoradd").with_suffix(".ptx").read_bytes())
    np.save(folder / "a.npy", np.linspace(-3, 5, 2000, dtype=np.float32))
    (folder / "small.toml").write_text(SMALL)
    return folder / "small.toml"


def simulator(path: Path, **machine: Any) -> Any:
    from rfview.engine.launch import load_launch_file
    from rfview.engine.simulator import Simulator

    return Simulator(load_launch_file(path), **machine)


@pytest.fixture
def session_of(small: Path, tmp_path: Path) -> Callable[..., Session]:
    """Return a function that opens the small kernel live or recorded."""

    def make(kind: str, **machine: Any) -> Session:
        if kind == "live":
            return open_session(small, **machine)
        record(simulator(small, **machine), tmp_path / "run.rfs", chunk_cycles=300)
        return open_session(tmp_path / "run.rfs")

    return make


def finish(timeline: Timeline) -> Timeline:
    timeline.extend(1 << 30)
    return timeline


def result(timeline: Timeline) -> np.ndarray:
    """Return the buffer c at the end of the run."""
    variable = next(entry for entry in timeline.info.buffers if entry.name == "c")
    return timeline.at(timeline.last).memory[variable.word :][: variable.bytes // 4].view(np.float32)


def assert_same_from(branch: Timeline, parent: Timeline, cycle: int, step: int = 61) -> None:
    """Assert that both have the same states from a cycle to the end, memory and registers included."""
    assert branch.last == parent.last > cycle
    for at in [*range(cycle, parent.last, step), parent.last]:
        assert branch.at(at).same_as(parent.at(at)), at
    begin = max(branch.first, parent.first)
    assert (branch.states(begin, branch.last + 1) == parent.states(begin, branch.last + 1)).all()


@pytest.mark.parametrize("design", ["sram", "stt", "hrf"])
@pytest.mark.parametrize("kind", ["live", "recorded"])
def test_a_branch_with_nothing_changed_is_its_parent_bit_for_bit(kind: str, design: str, session_of: Any) -> None:
    session = session_of(kind, design=design)
    end = finish(session.timeline).last
    for number, cycle in enumerate((0, 1, 333, end // 2, end - 1)):
        session.goto(cycle)
        branch = fork(session, f"b{number}")
        assert (branch.cycle, branch.timeline.first, session.cycle) == (cycle, cycle, cycle)
        assert_same_from(finish(branch.timeline), session.timeline, cycle)
        assert not branch.branch.changes and branch.timeline.info.parameters == session.info.parameters
    assert list(session.family) == ["main", "b0", "b1", "b2", "b3", "b4"]


@pytest.mark.parametrize(("design", "settings"), [
    ("stt", {"stt.write_cycles": 8}), ("stt", {"stt.stall": "bank", "latency.fp_add": 9}),
    ("sram", {"sm.num_collectors": 4, "memory.bytes_per_cycle": 5.5, "memory.l1_hit_cycles": 60}),
])
def test_a_parameter_changed_at_cycle_0_gives_the_run_that_begins_with_it(
    design: str, settings: dict[str, Any], small: Path, session_of: Any
) -> None:
    branch = fork(session_of("recorded", design=design), "other", settings)
    fresh = finish(LiveTimeline(simulator(small, design=design, settings=settings)))
    assert_same_from(finish(branch.timeline), fresh, 0)
    assert branch.info.parameters == fresh.info.parameters
    assert branch.timeline.last != session_of("recorded", design=design).timeline.last


def test_a_parameter_changed_in_mid_run_counts_from_there_on(session_of: Any) -> None:
    session = session_of("live", design="stt")
    session.goto(400)
    slow, fast = (fork(session, f"w{cycles}", {"stt.write_cycles": cycles}) for cycles in (12, 1))
    for member in (session, slow, fast):
        finish(member.timeline)
    assert fast.timeline.last < session.timeline.last < slow.timeline.last
    assert slow.timeline.at(400).same_as(session.timeline.at(400))
    found = Comparison(session.timeline, slow.timeline).first_divergence()
    assert found is not None and found.cycle >= 400 and found.late == "B"
    for member in (slow, fast):
        comparison = Comparison(session.timeline, member.timeline)
        assert comparison.memory_equal() and comparison.first_value_difference() is None
    assert slow.branch.text == "w12: from main at cycle 400, stt.write_cycles 4 → 12"


def store_of(session: Session) -> tuple[int, int, int]:
    """Return (cycle, warp slot, source register) of the first store that issues with all lanes."""
    log = Comparison(session.timeline, session.timeline).logs[0]
    issues = log.between(0, session.timeline.last)
    program = session.info.program
    at = next(index for index, pc in enumerate(issues.pc) if program[pc].mnemonic == "st")
    sources = [reg for reg in program[int(issues.pc[at])].src if reg != 255]
    return int(issues.cycle[at]), int(issues.slot[at]), sources[-1]


@pytest.mark.parametrize("design", ["sram", "hrf", "rfc", pytest.param("hcrf", marks=pytest.mark.slow),
                                    pytest.param("racetrack", marks=pytest.mark.slow),
                                    pytest.param("single_buffer", marks=pytest.mark.slow),
                                    pytest.param("edram", marks=pytest.mark.slow)])
def test_a_register_changed_before_its_store_changes_that_element_alone(design: str, session_of: Any) -> None:
    session = session_of("live", design=design)
    finish(session.timeline)
    cycle, warp, reg = store_of(session)
    session.goto(cycle)
    before = session.snapshot().register(warp, reg)
    branch = fork(session, "poked", {f"w{warp}.R{reg}[7]": "-2.5", f"w{warp}.r{reg}[9]": 0x40490FDB})
    after = branch.snapshot().register(warp, reg)
    assert [change.old for change in branch.branch.changes] == [before[7], before[9]]
    assert np.flatnonzero(before != after).tolist() == [7, 9]
    finish(branch.timeline)
    assert branch.timeline.last == session.timeline.last
    ours, theirs = result(session.timeline), result(branch.timeline)
    changed = np.flatnonzero(ours != theirs)
    assert len(changed) == 2 and changed[1] - changed[0] == 2
    assert theirs[changed].tolist() == [-2.5, np.float32(np.pi)]
    value = Comparison(session.timeline, branch.timeline).first_value_difference()
    assert value is not None and value.place == f"c[{changed[0]}]" and value.cycle_a == value.cycle_b > cycle


OTHER = {"stall": "bank", "remap": "off", "early_remap": "issue_only", "partial": "rmw", "pending_writes": "collector", "allocate": "all",
         "replacement": "lru", "error_mode": "none", "read_ports": "1", "inner": "rr", "suspend": "marked",
         "parity": "prefer", "write_ports": 2, "outer": "next"}


def another(key: str, old: Any) -> Any:
    """Return a value for a parameter that differs from `old`."""
    section, name = key.split(".")
    if name in OTHER or old == "paper":
        return OTHER.get(name, "table")
    if section in DESIGNS and old in (0, 1):
        return 1 - old
    return old * 2 + 1 if section in ("latency", "initiation", "memory") else old + 1


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_every_parameter_that_can_change_leaves_the_results_right(design: str, session_of: Any) -> None:
    """A design's own, and in turn the machine's: each of these on two designs."""
    session = session_of("live", design=design)
    finish(session.timeline)
    expected = result(session.timeline)
    session.goto(session.timeline.last // 3)
    for number, key in enumerate(changeable(session.info)):
        if key.split(".")[0] not in DESIGNS and (number - DESIGNS.index(design)) % len(DESIGNS) > 1:
            continue
        old = session.info.parameters[key]
        branch = fork(session, f"b{number}", {key: another(key, old)})
        finish(branch.timeline)
        assert branch.timeline.fault is None, key
        assert np.array_equal(result(branch.timeline), expected), key
        drop(session, f"b{number}")     # the number of branches is limited


@pytest.mark.parametrize(("changes", "part"), [
    ({"sm.num_banks": 8}, r"determines the machine.s layout .* --set sm.num_banks=8. What can change:.*latency"),
    ({"stt.write_cycle": 8}, "did you mean stt.write_cycles"),
    ({"stt.stall": "never"}, "expected one of pipeline, bank"),
    ({"w0.R99[1]": 8}, "the kernel has R0"),
    ({"w0.R1[32]": 8}, "lanes 0..31"),
    ({"w47.R1[1]": 8}, "w47: this warp slot holds no warp at cycle 0"),
    ({"w0.R1[1]": "x"}, "expected a whole number"),
    ({"w0.R1[1]": 1 << 32}, "32 bits"),
])
def test_what_cannot_be_changed_is_said(changes: dict[str, Any], part: str, session_of: Any) -> None:
    session = session_of("recorded", design="stt")
    if "w0.R99[1]" in changes:
        session.goto(100)
    with pytest.raises(InputError, match=part):
        fork(session, "b", changes)
    assert list(session.family) == ["main"]


def test_names_ends_and_stops_are_checked(session_of: Any) -> None:
    session = session_of("recorded")
    session.goto("end")
    with pytest.raises(InputError, match="the run ends here"):
        fork(session, "b")
    session.goto(500)
    for name in ("main", "", "a b", "9"):
        with pytest.raises(InputError):
            fork(session, name)
    session.progress = lambda cycle: True
    with pytest.raises(InputError, match="stopped at cycle"):
        fork(session, "b")


def test_a_recording_that_runs_otherwise_now_is_refused(session_of: Any) -> None:
    session = session_of("recorded")
    header = session.timeline.header
    header.memory = header.memory.copy()
    header.memory[int(session.info.buffers[0].word)] ^= 1
    session.goto(500)
    with pytest.raises(InputError, match="is not what was recorded"):
        fork(session, "b")
    session.timeline.info = structs.replace(session.info, launch_toml="")
    with pytest.raises(InputError, match="contains no launch file"):
        fork(session, "b")


def test_scripts_fork_go_between_branches_and_compare(session_of: Any) -> None:
    session = session_of("recorded", design="stt")
    lines = "goto 300; fork slow set stt.write_cycles=9; step 7; when; branch main; when; branch slow; compare; branch"
    answers = list(run_script(session, lines))
    assert answers[1].data["changes"] == [{"name": "stt.write_cycles", "old": 4, "new": 9}]
    assert [answer.data["cycle"] for answer in (answers[3], answers[5])] == [307, 300]
    data = answers[7].data
    assert [run["target"] for run in data["runs"]] == ["main", "slow"]
    assert data["parameters"] == {"stt.write_cycles": [4, 9]} and data["memory_equal"] is True
    assert data["runs"][1]["cycles"] > data["runs"][0]["cycles"]
    assert answers[8].data["here"] == "slow"
    json.dumps([answer.data for answer in answers])


@pytest.mark.parametrize("line", ["compare", "branch nobody", "fork", "fork b set", "fork b stt.write_cycles=2",
                                  "fork b set stt.write_cycles", "fork b; compare b"])
def test_bad_commands_end_a_script_with_exit_2(line: str, session_of: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_lines(session_of("live", design="stt"), line) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "design"), [("histogram", "hcrf"), ("reduction", "stt"), ("nw", "rfc"),
                                                ("gemm", "racetrack"), ("scalarprod", "edram")])
def test_unchanged_branches_of_bundled_kernels_end_as_their_parents(kernel: str, design: str, tmp_path: Path) -> None:
    path = tmp_path / "run.rfs"
    record(simulator(kernels.path(kernel), design=design), path)
    session = open_session(path)
    session.goto("37%")
    branch = fork(session, "same")
    assert_same_from(finish(branch.timeline), session.timeline, session.cycle, step=997)


def test_branches_of_recordings_tell_how_far_compiling_is(small: Path, tmp_path: Path, monkeypatch: Any) -> None:
    from rfview.engine.compile import warm

    record(simulator(small), tmp_path / "a.rfs", max_cycles=400)
    monkeypatch.setattr(warm, "is_ready", lambda dtype: False)
    monkeypatch.setattr(warm, "compile_in_child", lambda design, progress, preset: progress(0.5, f"compiling {design}"))
    session = open_session(tmp_path / "a.rfs")
    told: list[tuple[float, str]] = []
    session.compiling = lambda share, text: told.append((share, text))
    session.goto(100)
    branch = fork(session, "b1")
    assert set(told) == {(0.5, "compiling sram")} and branch.compiling is session.compiling


def test_branches_are_bounded_and_can_be_dropped(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rfview.sessions.branches import fork as module

    monkeypatch.setattr(module, "MAX_BRANCHES", 3)
    session = open_session(small)
    session.goto(20)
    child = fork(session, "a", {"w0.R1": 1})
    child.goto(30)
    fork(child, "b", {"w0.R1": 2})
    with pytest.raises(InputError, match="fork c: there are already 3 branches, the maximum; `drop NAME` removes one"):
        fork(session, "c")
    with pytest.raises(InputError, match="drop a: other branches were forked from it .b."):
        module.drop(session, "a")
    with pytest.raises(InputError, match="drop main: no branch has this name; there are a, b"):
        module.drop(session, "main")
    with pytest.raises(InputError, match="drop b: this is the branch you are on"):
        module.drop(session.family["b"], "b")
    assert execute(session, "drop b").data["left"] == ["main", "a"]
    fork(session, "c")
