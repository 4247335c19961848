"""A session's run is checked separately, whether live or recorded; findings have the session's cycles."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from rfview.engine.check.findings import Findings
from rfview.engine.check.functional import CheckedFunctionalSimulator
from rfview.engine.check.machine import run
from rfview.engine.errors import InputError
from rfview.engine.simulator import Simulator
from rfview.sessions import open_session
from rfview.sessions.check import check
from rfview.sessions.commands.table import execute
from rfview.sessions.session import Session
from rfview.sessions.timeline.live import LiveTimeline
from tests.check.cases import CASES, Case, spec_of

ROOT = Path(__file__).resolve().parents[2]
LAUNCH = """
module = "{module}"
[[launch]]
kernel = "{kernel}"
grid = [2]
block = [64]
args = [{{buffer = "out"}}, {{buffer = "data"}}, {{buffer = "raw"}}]
[buffers.out]
shape = [4096]
dtype = "uint32"
zeros = true
[buffers.data]
shape = [4096]
dtype = "uint32"
arange = true
[buffers.raw]
shape = [4096]
dtype = "uint32"
undefined = true
"""


@pytest.fixture
def launch(tmp_path: Path):
    def write(module: str, kernel: str) -> Path:
        path = tmp_path / f"{kernel}.toml"
        path.write_text(LAUNCH.format(module=ROOT / "tests" / "check" / f"{module}.ptx", kernel=kernel))
        return path

    return write


def test_a_run_larger_than_a_pipe_reaches_the_child(launch, tmp_path):
    padded = tmp_path / "padded.ptx"
    source = (ROOT / "tests" / "check" / "shared.ptx").read_text()
    padded.write_text(source + "// a module as long as those of real programs\n" * 10_000)
    path = launch("shared", "read_after_write_bad")
    path.write_text(path.read_text().replace(str(ROOT / "tests" / "check" / "shared.ptx"), str(padded)))
    with open_session(path) as session:
        assert [one.kind for one in check(session).found] == ["race-shared"]


def test_live_and_recorded_runs_have_the_same_findings_at_the_cycle_of_the_access(launch, tmp_path):
    path = launch("shared", "read_after_write_bad")
    done = subprocess.run([sys.executable, "-m", "rfview", "record", path, "-o", tmp_path / "run.rfs"], cwd=ROOT, check=False)
    assert done.returncode == 0
    with open_session(path) as live, open_session(tmp_path / "run.rfs") as recorded:
        found = check(live)
        assert [dataclasses.replace(one, count=0) for one in found.found] == [
            dataclasses.replace(one, count=0) for one in check(recorded).found]
        one = found.found[0]
        assert (one.kind, one.place) == ("race-shared", f"shared+0x{one.address:x}")
        live.goto(one.cycle + 1)    # the state after that cycle: LD/ST has just begun this access
        flights = [flight for flight in live.snapshot().sm.inflight if int(flight.since_cycle) == one.cycle]
        assert (one.warp, one.pc) in [(int(flight.warp), int(flight.pc)) for flight in flights]
        assert execute(live, "check 1").stop.cycle == one.cycle == live.cycle


def test_memory_that_the_launch_file_calls_undefined_is_written_by_nobody(launch):
    with open_session(launch("memory", "global_never_bad")) as session:
        found = check(session).found
    assert [(one.kind, one.place[:4], one.count) for one in found] == [("unwritten-global", "raw[", 128)]


def test_findings_survive_json(launch):
    with open_session(launch("barriers", "ended_bad")) as session:
        found = check(session)
    assert Findings.of_dict(found.as_dict()) == found
    assert found.found[0].other_text.startswith("@P0 ret")


def test_a_branch_with_something_changed_is_not_checked_and_says_why(launch):
    with open_session(launch("shared", "one_warp_bad")) as session:
        session.goto(20)
        branch = execute(session, "fork b1 set latency.int_add=9").session
        with pytest.raises(InputError, match="changed after cycle 0"):
            check(branch)


def test_the_command_numbers_what_it_finds(launch):
    with open_session(launch("lanes", "inactive_bad")) as session:
        assert execute(session, "check").text.splitlines()[0].startswith("  1 inactive-lane: reads the value of lane ")
        with pytest.raises(InputError, match="1 to 1"):
            execute(session, "check 2")


@pytest.mark.nojit
@pytest.mark.parametrize("case", [case for case in CASES if case.name in ("counter", "first_trip", "divergent", "inactive")],
                         ids=lambda case: f"{case.module}.{case.name}")
def test_a_session_goes_to_the_instruction_of_a_warp_that_a_check_by_values_names(case: Case) -> None:
    spec = spec_of(case, "bad")
    findings = run(CheckedFunctionalSimulator(spec)).found
    session = Session(LiveTimeline(Simulator(spec)))
    for one in findings:
        stop = execute(session, one.words()[1]).stop
        assert stop.reason == "condition" and stop.warp is not None
        assert session.value(f"warp[{stop.warp}].pc") == one.pc
        assert session.value(f"warp[{stop.warp}].num_issued") == one.instruction - 1
        assert session.value(f"warp[{stop.warp}].num_issued", stop.cycle + 1) == one.instruction
