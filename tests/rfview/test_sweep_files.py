"""Sweep files: their meaning, every mistake as one error with file and place, and the bars of --plot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rfview import cli
from rfview.engine import kernels
from rfview.engine.errors import InputError
from rfview.engine.plugin import BUILT_IN
from rfview.engine.machine.schedulers import SCHEDULERS
from rfview.sweep import columns, plan

GOOD = {"output": '"results"', "kernels": '["nw"]', "designs": '["sram"]'}


def written(folder: Path, parameters: str = "", **lines: str) -> Path:
    """Write a sweep file and return its path. lines: keys that differ from GOOD, "" to leave one out."""
    path = folder / "sweep.toml"
    text = "".join(f"{key} = {value}\n" for key, value in {**GOOD, **lines}.items() if value)
    path.write_text(text + (f"[parameters]\n{parameters}\n" if parameters else ""))
    return path


def test_the_file_of_the_help_means_what_it_says(tmp_path: Path) -> None:
    text = (plan.__doc__ or "").partition("means.")[2].rpartition("A sweep file is hostile")[0]
    path = tmp_path / "sweep.toml"
    path.write_text(text.replace('"./mine.toml"', '"nw"'))
    found = plan.load(path)
    assert found.output == tmp_path / "results"
    assert len(found.jobs) == 2 * 2 * 3 + 2 * 2 * 3 * 2       # sram; stt, with its parameter
    assert {one.design for one in found.jobs} == {"sram", "stt[stall=bank]"}
    assert {one.job.settings for one in found.jobs if one.design == "sram"} == {
        (("sm.num_collectors", number),) for number in (4, 8, 16)}


def test_all_means_all(tmp_path: Path) -> None:
    path = written(tmp_path, designs='"all"', schedulers='"all"')
    found = plan.load(path).jobs
    assert {one.design for one in found} == set(BUILT_IN) and {one.job.scheduler for one in found} == set(SCHEDULERS)
    found = plan.load(written(tmp_path, kernels='"all"', presets='"all"')).jobs
    assert {one.job.kernel for one in found} == set(kernels.names()) and {"fermi", "gebhart"} <= {one.job.preset for one in found}


def test_paper_is_the_designs_own_and_the_same_job_as_its_name(tmp_path: Path) -> None:
    found = plan.load(written(tmp_path, designs='["rfc"]', schedulers='["paper", "two_level"]', presets='["paper", "gebhart"]'))
    assert len(found.jobs) == 1 and found.same == 3


def test_the_scheduler_of_subcores_can_be_named(tmp_path: Path) -> None:
    (found,) = plan.load(written(tmp_path, schedulers='["cggty"]', presets='["ampere"]')).jobs
    assert (found.job.scheduler, found.job.preset) == ("cggty", "ampere")


def test_paths_are_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rfview.engine.plugin import files

    monkeypatch.chdir(tmp_path)
    files.write_new("my_rf.py")
    inner = tmp_path / "inner"
    inner.mkdir()
    (found,) = plan.load(written(inner, designs='["../my_rf.py[write_cycles=3]"]')).jobs
    assert Path(found.job.design.partition("[")[0]).resolve() == tmp_path / "my_rf.py"
    assert found.design == "../my_rf.py[write_cycles=3]"


def test_an_edited_design_is_another_job(tmp_path: Path) -> None:
    from rfview.engine.plugin import files

    files.write_new(tmp_path / "my_rf.py")
    path = written(tmp_path, designs='["./my_rf.py"]')
    keys = []
    for edit in ("", "\n# a word more\n"):
        (tmp_path / "my_rf.py").write_text((tmp_path / "my_rf.py").read_text() + edit)
        keys.append([one.key for one in plan.load(path).jobs])
    assert keys[0] != keys[1]


@pytest.mark.parametrize(("lines", "parameters", "said"), [
    ({"kernel": '["nw"]'}, "", "kernel: unknown key (did you mean 'kernels'?)"),
    ({"kernels": ""}, "", "kernels: missing"),
    ({"kernels": "[]"}, "", "kernels: expected a list of strings"),
    ({"kernels": "[3]"}, "", "kernels: expected a list of strings"),
    ({"kernels": '"nw"'}, "", "kernels: expected a list of strings"),
    ({"kernels": '["nw", "wn"]'}, "", "kernels[1]: wn: no bundled kernel"),
    ({"kernels": '["nw", "nw"]'}, "", "kernels[1]: 'nw' appears twice"),
    ({"kernels": '["./nothing.toml"]'}, "", "nothing.toml: no such launch file"),
    ({"kernels": '["k.ptx::saxpy"]'}, "", "kernels[0]: k.ptx::saxpy: expected a launch file; rfview capture k.ptx::saxpy"),
    ({"kernels": '["a\\u0000b.toml"]'}, "", "kernels[0]:"),
    ({"size": '"big"'}, "", "size: expected one of small, full"),
    ({"designs": '["sram", "strm"]'}, "", "designs[1]: "),
    ({"designs": '["stt[stall=never]"]'}, "", "designs[0]: stt.stall=never: expected one of"),
    ({"designs": '["stt[nothing=1]"]'}, "", "designs[0]: stt.nothing: no such parameter"),
    ({"designs": '["stt["]'}, "", "designs[0]: "),
    ({"designs": '["./absent.py"]'}, "", "designs[0]: "),
    ({"schedulers": '["gto", "fifo"]'}, "", "schedulers[1]: expected one of"),
    ({"presets": '["volta"]'}, "", "presets[0]: expected one of"),
    ({"presets": "{}"}, "", "presets: expected a list of strings"),
    ({"max_cycles": "0"}, "", "max_cycles: expected an integer in 1.."),
    ({"max_cycles": "true"}, "", "max_cycles: expected an integer in 1.."),
    ({"output": "[]"}, "", "output: expected a string"),
    ({"output": '"a\\u0000b"'}, "", "output: expected the path of a folder"),
    ({}, "sm.num_colectors = [4]", "sm.num_colectors[0]: sm.num_colectors: no such parameter of preset fermi"),
    ({}, "sm.num_collectors = [4, 0]", "sm.num_collectors[1]: sm.num_collectors=0: expected 1.."),
    ({}, "sm.num_collectors = ['four']", "sm.num_collectors[0]: sm.num_collectors=four: expected a whole number"),
    ({}, "sm.num_collectors = []", "sm.num_collectors: expected a value or a list of values, got an empty list"),
    ({}, "sm.num_collectors = [[4]]", "sm.num_collectors[0]: expected a number, a string, true or false"),
    ({}, "sm.num_collectors = [4, 4]", "sm.num_collectors[1]: 4 appears twice"),
    ({}, "sm.num_collectors = 2026-01-01", "sm.num_collectors: expected a number"),
    ({}, "sm.num_collectors.more = [4]", "sm.num_collectors: expected SECTION.KEY"),
    ({}, "sm.num_banks = [8]\n'sm.num_banks' = [4]", "sm.num_banks: appears twice"),
    ({}, "stt.write_cycles = [4]", "stt.write_cycles[0]: neither the machine nor a design of this sweep has"),
    ({}, "loose = [4]", "loose[0]: neither the machine nor a design"),
    ({"designs": '["stt"]'}, "stt.write_cycles = [4, -1]", "stt.write_cycles[1]: stt.write_cycles=-1: "),
    ({}, f"memory.dram_cycles = {list(range(1100))}\nmemory.l2_hit_cycles = {list(range(1, 1100))}", "jobs; a sweep has at most 1,000,000"),
])
def test_every_slip_is_one_error_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: dict[str, str],
                                                parameters: str, said: str) -> None:
    pytest.importorskip("pyarrow", reason="sweeps are kept by pyarrow")
    path = written(tmp_path, parameters, **lines)
    assert cli.main(["sweep", str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and len(captured.err.splitlines()) == 1
    assert str(path) in captured.err and said in captured.err and "--set" not in captured.err and "--design" not in captured.err
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("content", [b"\xff\xfe", b"kernels = [", b"a = " + b"[" * 3000, b"x = " + b"9" * 5000])
def test_what_is_no_toml_is_one_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "sweep.toml").write_bytes(content)
    with pytest.raises(InputError, match=r"sweep\.toml"):
        plan.load(tmp_path / "sweep.toml")
    (tmp_path / "other.toml").write_text('kernels = ["nw"]\ndesigns = ["sram"]\nparameters = 3\n')
    with pytest.raises(InputError, match=r"parameters: expected a table \[parameters\], got 3"):
        plan.load(tmp_path / "other.toml")
    with pytest.raises(InputError, match="no such sweep file"):
        plan.load(tmp_path / "absent.toml")


def filled(folder: Path) -> Path:
    """Return a dataset of a few made-up rows."""
    from rfview.sweep import dataset

    row = dict.fromkeys(columns.BY_NAME) | {"kernel": "nw", "scheduler": "gto", "outcome": "ok", "stalls": {}}
    with dataset.writing(folder / "results") as held:
        for number, (design, banks, ipc) in enumerate([("stt", "16", 0.25), ("stt", "8", 0.75), ("sram", "8", 1.0), ("sram", "16", 2.0)]):
            held.add([row | {"key": str(number), "design": design, "settings": {"sm.num_banks": banks}, "ipc": ipc,
                             "cycles": 10**number, "counts": {"rf_reads": number}}])
        held.add([row | {"key": "x", "design": "sram", "outcome": "failed", "settings": {"sm.num_banks": "8"}}])
        held.add([row | {"key": "y", "design": "sram", "outcome": "misbehaved", "ipc": 9.0, "settings": {}}])
    return folder / "results"


def drawn(capsys: pytest.CaptureFixture[str], folder: Path, text: str, *more: str) -> dict[str, Any]:
    """Return the bars that --plot draws, by label."""
    assert cli.main(["sweep", str(folder), "--plot", text, *more, "--json"]) == 0
    return {bar["label"]: bar["value"] for bar in json.loads(capsys.readouterr().out)["bars"]}


def test_a_plot_has_a_bar_per_group_and_averages_only_what_is_named(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyarrow", reason="sweeps are kept by pyarrow")
    folder = filled(tmp_path)
    assert drawn(capsys, folder, "design,ipc", "--mean", "sm.num_banks") == {"sram": 1.5, "stt": 0.5}
    assert list(drawn(capsys, folder, "sm.num_banks,ipc,design").items()) == [
        ("num_banks=8 sram", 1.0), ("num_banks=8 stt", 0.75), ("num_banks=16 sram", 2.0), ("num_banks=16 stt", 0.25)]
    assert drawn(capsys, folder, "kernel,counts.rf_reads,scheduler", "--mean", "design", "--mean", "sm.num_banks") == {
        "nw gto": 1.5}
    svg = tmp_path / "chart.svg"
    assert cli.main(["sweep", str(folder), "--plot", "design,cycles", "--where", "sm.num_banks=8", "--svg", str(svg)]) == 0
    assert "cycles by design" in capsys.readouterr().out and svg.read_text().startswith("<svg")


@pytest.mark.parametrize(("text", "said"), [
    ("design", "expected x,y,by"), ("a,b,c,d", "expected x,y,by"), ("desing,ipc", "did you mean 'design'"),
    ("design,ipd", "did you mean 'ipc'"), ("design,message", "is not a number of a run"), ("design,stalls.none", "no row has stalls.none"),
    ("design,counts.rf_raeds", "no row has counts.rf_raeds (did you mean 'rf_reads'?)"),
    ("sm.num_bank,ipc,design", "no row has sm.num_bank (did you mean 'sm.num_banks'?)"),
    ("design,counts.rf_reads,", "expected x,y,by"), ("message,ipc", "cannot group by message"),
])
def test_a_plot_that_cannot_be_drawn_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str,
                                                     said: str) -> None:
    pytest.importorskip("pyarrow", reason="sweeps are kept by pyarrow")
    assert cli.main(["sweep", str(filled(tmp_path)), "--plot", text]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and len(captured.err.splitlines()) == 1 and said in captured.err


def test_a_plot_of_a_file_is_of_its_jobs_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyarrow", reason="sweeps are kept by pyarrow")
    filled(tmp_path)
    assert cli.main(["sweep", str(written(tmp_path)), "--plot", "design,ipc"]) == 2
    assert "has no row of a finished run yet" in capsys.readouterr().err
