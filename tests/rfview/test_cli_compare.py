"""`rfview compare`: lists of variants, one machine for all, the numbers of the table, and errors."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

import pytest

from rfview.engine.errors import InputError
from rfview.engine.plugin import files
from rfview import cli
from rfview.commands import compare, compare_recordings, fair


def table(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, object]:
    """Run a comparison in this process and return its JSON object."""
    assert cli.main(["compare", *words, "--json", "--workers", "1"]) == code
    return json.loads(capsys.readouterr().out)


def test_commas_inside_brackets_do_not_split() -> None:
    assert compare.split_list("sram, stt[stall=bank,m=3],hrf") == ["sram", "stt[stall=bank,m=3]", "hrf"]
    assert compare.split_list("sram,sram") == ["sram"]
    for text in ("", ",", "stt[stall=bank", "stt]", "stt[[a]]"):
        with pytest.raises(InputError):
            compare.split_list(text)


def test_hrf_in_the_list_means_one_scheduler_for_all() -> None:
    shared, notes = fair.shared_settings(["sram", "hrf[power_gating=true]"], "fermi", {})
    assert shared == {"sm.num_schedulers": 1} and "because hrf[power_gating=true] does" in notes[0]
    presets = "designs run on preset fermi; the presets of the papers are "
    assert notes[1:] == [presets + "hrf for hrf[power_gating=true]"]
    assert fair.shared_settings(["sram", "hrf"], "fermi", {"sm.num_schedulers": "2"}) == ({}, [presets + "hrf for hrf"])
    assert fair.shared_settings(["sram", "stt"], "fermi", {}) == ({}, [presets + "hrf for stt"])
    assert fair.shared_settings(["sram", "hrf"], "hrf", {})[1] == []      # sram is of no paper
    assert fair.shared_settings(["sram", "hrf"], "ampere", {})[0] == {}   # whose sub-cores no paper speaks of


def test_runs_side_by_side_share_what_a_paper_requires_of_their_core() -> None:
    def shared(*targets: str) -> dict:
        return compare_recordings.fair_settings(Namespace(targets=list(targets), preset="fermi", settings=[], launch_files={}))

    assert shared("gemm@sram", "gemm@hrf") == {"fermi": {"sm.num_schedulers": 1}}
    assert shared("gemm@sram::gtx480", "gemm@hrf") == dict.fromkeys(("gtx480", "fermi"), {"sm.num_schedulers": 1})
    assert shared("gemm@sram::ampere", "gemm@hrf") == {"ampere": {}, "fermi": {"sm.num_schedulers": 1}}
    assert shared("gemm@sram", "gemm@hrf::ampere") == {"fermi": {}, "ampere": {}}


def test_a_design_given_by_its_file_has_an_exit_code(tmp_path: Path) -> None:
    own = tmp_path / "my_rf.py"
    assert cli.main(["designs", "--new", str(own)]) == 0
    row = {"design": f"{own}[write_cycles=3]", "misbehaved": None, "verified": False}
    try:
        assert compare.exit_code({"rows": [row]}) == 1 and compare.exit_code({"rows": [row | {"verified": True}]}) == 0
    finally:
        files.forget()


def test_two_designs_over_a_small_kernel(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = table(capsys, str(small), "--designs", "sram,stt[stall=bank,write_cycles=9]", "--schedulers", "gto,lrr")
    rows = found["rows"]
    assert [(row["design"], row["scheduler"]) for row in rows] == [
        ("sram", "gto"), ("stt[stall=bank,write_cycles=9]", "gto"), ("sram", "lrr"),
        ("stt[stall=bank,write_cycles=9]", "lrr")]
    sram, stt = rows[:2]
    assert sram["ipc_over_sram"] == 1
    assert sram["energy_over_baseline"] == pytest.approx(1) and sram["eda"] == pytest.approx(1)
    assert stt["cycles"] >= sram["cycles"] and stt["output"]["same_bits"]
    assert stt["ipc_over_sram"] == pytest.approx(sram["cycles"] / stt["cycles"])
    assert stt["accesses"]["STT-RAM"] == sram["accesses"]["SRAM"]
    for row in rows:
        assert row["issued"] + sum(row["stalls"].values()) == row["warp_cycles"]
        assert row["num_schedulers"] == 2 and row["registers_per_thread"] == found["registers_per_thread"]
        energy = row["energy_pj"]
        assert energy["total"] == pytest.approx(energy["dynamic"] + energy["leakage"] + energy["refresh"])
    power = (sram["energy_pj"]["total"] / sram["cycles"]) / (stt["energy_pj"]["total"] / stt["cycles"])
    assert stt["eda"] == pytest.approx(power * stt["ipc_over_sram"] * 0.194 / 0.038)


def test_areas_in_hcrfs_figure_of_merit_are_those_of_whole_register_files(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Section V-B: 88 % of SRAM's area with crossbar and periphery, as in Table IV, where the bare arrays are 72 %."""
    found = table(capsys, str(small), "--designs", "hcrf,rfc")
    hcrf, rfc = found["rows"]
    assert hcrf["eda"] == pytest.approx(1 / (0.88 * hcrf["energy_over_baseline"]))     # power x time is energy
    assert rfc["energy_not_given"] == ["leakage"] and hcrf["energy_not_given"] == []


def test_the_text_names_registers_schedulers_and_places(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", str(small), "--designs", "stt", "--workers", "1", "--set", "stt.write_cycles=6"]) == 0
    text = capsys.readouterr().out
    assert "registers per thread" in text and "2 schedulers" in text and "STT-RAM" in text and "same bits" in text
    assert "sram ran as the reference" in text


def test_designs_without_a_baseline_share_one_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "row_of", lambda variant, result, sram: {
        "design": variant, "baseline": None, "own_settings": {}, "energy_assumed": [], "node_nm": None})
    result = {"kernel": "k", "preset": "fermi", "registers_per_thread": 4, "launches": 1, "version": "", "nudged": [],
              "setting_notes": [], "compile_notes": [], "shape": {"machine": {"sm.num_schedulers": 2}}}
    named = ("sram", "a", "b")
    schedulers = ("gto", "lrr")
    found = compare.table_of(named, schedulers, {(name, one): result for name in named for one in schedulers})
    assert len(found["notes"]) == 1 and found["notes"][0].endswith("(technology sram_read_pj, sram_write_pj, sram_leakage_mw; "
                                                                   "rfview help design): sram, a, b")


@pytest.mark.parametrize(("words", "part"), [
    (["a.rfs", "b.rfs"], "a.rfs: cannot open"),
    (["a.rfs"], "name a second run"),
    (["vectoradd@stt:fifo", "vectoradd"], "fifo"),
    (["vectoradd@nothing", "vectoradd"], "nothing"),
    (["vectoradd@nothing"], "nothing"),
    (["vectoradd", "--designs", "stt[stall=never]"], "never"),
    (["vectoradd", "--designs", "sram,nothing"], "nothing"),
    (["vectoradd", "--designs", "stt[stall=bank"], "brackets"),
    (["vectoradd", "--schedulers", "fifo"], "fifo"),
    (["vectoradd", "--designs", "sram,stt", "--set", "hcrf.remap=off"], "hcrf"),
    (["vectoradd", "--designs", "sram,stt", "--set", "stt.stal=bank"], "stt.stal"),
    (["vectoradd", "--preset", "paper"], "fermi"),
    (["nokernel", "bfs"], "nokernel"),
])
def test_bad_lists_are_one_line(words: list[str], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and len(captured.err.splitlines()) == 1 and part in captured.err


def test_two_runs_made_now_have_the_table_s_machine(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", f"{small}@sram", f"{small}@hrf", "--json"]) == 0
    told = capsys.readouterr()
    differing = json.loads(told.out)["machines_differ_in"]
    assert "every design runs with sm.num_schedulers = 1" in told.err
    assert "sm.num_schedulers" not in differing and differing["sm.num_banks"] == [16, 2]
