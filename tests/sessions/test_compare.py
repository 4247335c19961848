"""Comparing two runs: first divergence, alignment and lead against brute force over every recorded state."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from rfview.engine import kernels
from rfview.engine.errors import InputError
from rfview.engine.stalls import LONG_SCOREBOARD
from rfview.sessions.compare import Comparison, WarpName, report, report_text
from rfview.sessions.compare import machines
from rfview.sessions.timeline.live import LiveTimeline
from rfview.sessions.file.writer import record
from rfview.sessions.timeline.opening import open_recording
from rfview.sessions.timeline.replay import RecordedTimeline
from rfview.sessions.timeline.base import Timeline
from tests.sessions.double import make_info

CYCLES = 2048
KERNELS = ("vectoradd", "reduction", "histogram")
CLOCK_PTX = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %d<4>;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d2, %r1, 4;
  add.s64 %d3, %d1, %d2;
  mul.lo.u32 %r2, %r1, 3;
  add.u32 %r3, %r2, 5;
  mov.u32 %r4, %clock;
  setp.gt.u32 %p1, %r4, LIMIT;
  @%p1 bra LATE;
  add.u32 %r3, %r3, 1;
LATE:
  st.global.u32 [%d3], %r4;
  st.global.u32 [%d3+512], %r3;
  ret;
}
"""
CLOCK_TOML = """module = "k.ptx"
[[launch]]
grid = [1]
block = [128]
args = [{buffer = "out"}]
[buffers.out]
shape = [256]
dtype = "uint32"
zeros = true
"""


def simulator(path: Path, **machine: Any) -> Any:
    from rfview.engine.launch import load_launch_file
    from rfview.engine.simulator import Simulator

    return Simulator(load_launch_file(path), **machine)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., RecordedTimeline]:
    """Return a function that records the beginning of a bundled kernel under a design, once each."""
    folder = tmp_path_factory.mktemp("compare")

    @lru_cache
    def make(kernel: str, design: str) -> RecordedTimeline:
        path = folder / f"{kernel}-{design}.rfs"
        record(simulator(kernels.path(kernel), design=design), path, max_cycles=CYCLES, chunk_cycles=300)
        return open_recording(path)

    return make


@lru_cache     # of recordings that are made once each
def every_issue(timeline: Timeline) -> dict[tuple[int, int, int], tuple[int, int]]:
    """Return (launch, warp in grid, n) -> (cycle, pc), read from the whole state of every cycle."""
    found = {}
    for cycle in range(timeline.first + 1, timeline.last + 1):
        sm = timeline.at(cycle).sm
        for slot in np.flatnonzero((sm["warp"]["last_issue_cycle"] == cycle - 1) & (sm["warp"]["num_issued"] > 0)).tolist():
            warp = sm["warp"][slot]
            cta = sm["cta"][int(warp["cta"])]
            number = int(cta["id"]) * int(sm["launch"]["warps_per_cta"]) + int(warp["warp_in_cta"])
            found[int(sm["launch"]["index"]), number, int(warp["num_issued"])] = (cycle - 1, int(warp["last_pc"]))
    return found


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_first_divergence_of_sram_and_stt_is_the_one_found_by_brute_force(kernel: str, recording: Any) -> None:
    a, b = recording(kernel, "sram"), recording(kernel, "stt")
    ours, theirs = every_issue(a), every_issue(b)
    assert len(ours) > 200 and len(theirs) > 200
    never = CYCLES + 1
    differing = []
    for key in {*ours, *theirs}:
        cycles = [issues.get(key, (never, 0))[0] for issues in (ours, theirs)]
        if cycles[0] != cycles[1]:
            differing.append((min(cycles), key))
    expected, key = min(differing)
    found = Comparison(a, b).first_divergence()
    assert found is not None
    assert (found.cycle, (*found.name, found.n)) == (expected, key)
    for issue, issues in ((found.a, ours), (found.b, theirs)):
        assert (issue is None and key not in issues) or (issue.cycle, issue.pc) == issues[key]
    late = b if found.late == "B" else a
    assert (issues := theirs if late is b else ours).get(key, (never,))[0] > expected and issues is not None
    assert found.state == int(late.at(expected + 1).sm["warp"][found.slot]["state"]) != 0


@pytest.mark.parametrize("kernel", KERNELS[:2])
def test_alignment_and_lead_are_those_of_brute_force(kernel: str, recording: Any) -> None:
    a, b = recording(kernel, "sram"), recording(kernel, "stt")
    comparison = Comparison(a, b)
    ours, theirs = every_issue(a), every_issue(b)
    for launch, warp, n in list(theirs)[::7]:
        for issue, issues in zip(comparison.align(WarpName(launch, warp), n), (ours, theirs)):
            assert (issue.cycle, issue.pc) == issues[launch, warp, n] if issue else (launch, warp, n) not in issues
    assert comparison.align(0, 10_000) == (None, None) and comparison.align(9999, 1) == (None, None)
    orders = [sorted(cycle for cycle, _ in issues.values()) for issues in (ours, theirs)]
    assert comparison.common == min(map(len, orders))
    for lead in (*comparison.lead(10), comparison.lead_at(1), comparison.lead_at(77)):
        assert (lead.cycle_a, lead.cycle_b) == (orders[0][lead.count - 1], orders[1][lead.count - 1])
        assert lead.lag == lead.cycle_b - lead.cycle_a
    assert comparison.lead(10)[-1].count == comparison.common
    assert comparison.lead_at(10**6).cycle_a == -1


def test_locking_by_warp_shows_the_same_number_of_issued_instructions(recording: Any) -> None:
    a, b = recording("vectoradd", "sram"), recording("vectoradd", "stt")
    comparison = Comparison(a, b)
    for slot in (0, 9):
        for cycle in range(0, 900, 37):
            name = comparison.logs[0].name(slot, cycle)
            if name is None:
                continue
            there = comparison.counterpart(0, cycle, name)
            issued = int(a.at(cycle).sm["warp"][slot]["num_issued"])
            at_b = comparison.logs[1].slot(name, there)
            assert at_b is None or int(b.at(there).sm["warp"][at_b]["num_issued"]) == issued or there == b.last
    for cycle in (0, 1, 500, 901):
        there = comparison.counterpart(1, cycle)
        before = comparison.logs[1].before(cycle)
        assert comparison.logs[0].before(there) >= before and (there == 0 or comparison.logs[0].before(there - 1) <= before)


def test_next_divergence_stops_where_a_warp_loses_or_wins_time(recording: Any) -> None:
    a, b = recording("vectoradd", "sram"), recording("vectoradd", "stt")
    comparison = Comparison(a, b)
    ours, theirs = every_issue(a), every_issue(b)
    lags = [theirs[0, 3, n][0] - ours[0, 3, n][0] for n in range(1, 15) if (0, 3, n) in theirs and (0, 3, n) in ours]
    expected = [n + 1 for n, lag in enumerate(lags) if lag != (lags[n - 1] if n else 0)]
    found = []
    n = 0
    while (pair := comparison.next_divergence(WarpName(0, 3), n)) is not None and pair[0].n <= len(lags):
        n = pair[0].n
        found.append(n)
    assert found == expected and len(found) > 3
    back = comparison.next_divergence(WarpName(0, 3), found[-1], forward=False)
    assert back is not None and back[0].n == found[-2]


def test_a_run_does_not_diverge_from_itself_nor_a_recording_from_its_live_run(recording: Any) -> None:
    a = recording("histogram", "sram")
    same = Comparison(a, a)
    assert same.first_divergence() is None and all(lead.lag == 0 for lead in same.lead())
    assert same.first_path_difference() is None and same.first_value_difference() is None
    live = LiveTimeline(simulator(kernels.path("histogram")))
    live.extend(CYCLES - 1500)
    comparison = Comparison(a, live)
    assert comparison.first_divergence() is None and comparison.memory_equal() is None
    live.extend(CYCLES)
    assert comparison.first_divergence() is None and comparison.common == a.stall_totals(CYCLES)[0]


def clock_runs(folder: Path, limit: int) -> tuple[LiveTimeline, LiveTimeline]:
    """Return the whole runs under sram and stt of a kernel that reads the clock and branches on it."""
    (folder / "k.toml").write_text(CLOCK_TOML)
    (folder / "k.ptx").write_text(CLOCK_PTX.replace("LIMIT", str(limit)))
    runs = [LiveTimeline(simulator(folder / "k.toml", design=design)) for design in ("sram", "stt")]
    for run in runs:
        run.extend(1 << 30)
    return runs[0], runs[1]


def test_other_paths_and_other_values_are_found_where_the_program_reads_the_clock(tmp_path: Path) -> None:
    free, _ = clock_runs(tmp_path, 1 << 30)
    limit = max(int(value) for value in free.simulator.buffers()["out"][:128])
    a, b = clock_runs(tmp_path, limit)
    comparison = Comparison(a, b)
    assert comparison.memory_equal() is False
    ours, theirs = every_issue(a), every_issue(b)
    expected = min((min(ours[key][0], theirs[key][0]), key) for key in ours
                   if key in theirs and ours[key][1] != theirs[key][1])
    split = comparison.first_path_difference()
    assert split is not None and (*split.name, split.n) == expected[1] and split.a.pc != split.b.pc
    value = comparison.first_value_difference()
    assert value is not None and value.place.startswith("out[") and value.value_a != value.value_b
    index = int(value.place[4:-1])
    memory = [run.simulator.buffers()["out"] for run in (a, b)]
    assert (value.value_a, value.value_b) == (memory[0][index], memory[1][index])
    word = int(a.info.buffers[0].word) + index
    for run, cycle in ((a, value.cycle_a), (b, value.cycle_b)):
        assert cycle is not None
        assert run.memory_column(word, cycle, cycle + 2).tolist() == [0, run.simulator.buffers()["out"][index]]


def test_runs_of_other_programs_are_refused(recording: Any) -> None:
    with pytest.raises(InputError, match="kernels differ, vectoradd and reduction"):
        Comparison(recording("vectoradd", "sram"), recording("reduction", "sram"))


def test_other_data_and_unfinished_runs_are_noted(recording: Any, tmp_path: Path) -> None:
    a, _ = clock_runs(tmp_path, 5)
    (tmp_path / "k.toml").write_text(CLOCK_TOML.replace("zeros = true", "value = 7"))
    b = LiveTimeline(simulator(tmp_path / "k.toml"))
    assert "the runs begin with different data in memory" in Comparison(a, b).notes
    cut = Comparison(recording("vectoradd", "sram"), recording("vectoradd", "stt"))
    assert cut.memory_equal() is None       # the recordings do not reach the end of the run
    assert cut.notes == [f"{name} ends at cycle {CYCLES:,}, before its kernel does" for name in "AB"]


def test_the_summary_says_who_waits_for_what(recording: Any) -> None:
    a, b = recording("vectoradd", "sram"), recording("vectoradd", "stt")
    data = report.compare_data(Comparison(a, b), ("a.rfs", "b.rfs"))
    assert [run["cycles"] for run in data["runs"]] == [CYCLES, CYCLES]
    for run, timeline in zip(data["runs"], (a, b)):
        assert run["warp_cycles"] == CYCLES * timeline.info.num_warps
        assert run["stalls"]["long_scoreboard"] == int((timeline.states(1, CYCLES + 1) == LONG_SCOREBOARD).sum())
    assert data["first_divergence"]["cause"]["state"] == "stt_write"
    assert data["parameters"] == {"stt.stall": [None, "pipeline"], "stt.write_cycles": [None, 4]}
    text = report_text.compare_text(data, a.info)
    assert data["first_divergence"]["cause"]["resource"] in text and "resource: STT-RAM bank" in text
    assert "in B it waits: stt_write" in text and "lead and lag" in text and "B−A" in text
    several = report_text.multiples_text(report.multiples_data([a, b, a], ["a", "b", "a"]))
    assert "3 runs" in several and several.count("stt") >= 2


def test_energies_of_different_technologies_get_no_ratio() -> None:
    run = {"cycles": 10, "instructions": 4, "ipc": 0.4, "energy_pj": 3e6, "warp_cycles": 40, "stalls": {"wait": 36}}
    runs = [{"run": "A", "node_nm": 32, **run}, {"run": "B", "node_nm": 11, **run, "energy_pj": 9e3}]
    lines = report_text.totals_text(runs).splitlines()
    energy = next(line for line in lines if line.startswith("RF energy"))
    assert energy.split()[-3:] == ["3", "0.009", "–"]
    assert next(line for line in lines if "technology" in line).split() == ["technology", "32", "nm", "11", "nm"]
    runs[1]["node_nm"] = 32
    assert "×0.003" in report_text.totals_text(runs) and "technology" not in report_text.totals_text(runs)


def test_what_the_machines_differ_in_is_said_first() -> None:
    """Machines with one scheduler and with two are no comparison of register files, unless the report says so."""
    base = structs.replace(make_info(), scheduler="gto",
                           parameters={"sm.num_schedulers": 2, "latency.sfu": 8, "hrf.entries": 4})
    other = structs.replace(base, scheduler="lrr", design="stt",
                            parameters={"sm.num_schedulers": 1, "latency.sfu": 8, "stt.write_cycles": 9})
    assert machines.differences([base, base]) == {} and machines.sentence({}) == ""
    found = machines.differences([base, other, base])
    assert found == {"scheduler": ["gto", "lrr", "gto"], "sm.num_schedulers": [2, 1, 2]}, "a design's own numbers are the design"
    assert machines.reach_beyond_designs(found) and not machines.reach_beyond_designs({"stt.write_cycles": [4, 6]})
    assert machines.sentence(found) == "the machines differ in: scheduler gto | lrr | gto, sm.num_schedulers 2 | 1 | 2"
    many = {f"sm.n{index}": [0, None] for index in range(7)}
    assert machines.sentence(many).endswith("sm.n3 0 | – and 3 more")
