"""Recipes on the command line: written, inspected, opened live, filled; incompatible options are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rfview import cli

CORPUS = Path(__file__).parent.parent / "corpus"


def said(capsys: pytest.CaptureFixture[str], *words: Any, code: int = 0) -> str:
    """Run a command and check its exit code; return its output, or its error if it failed."""
    assert cli.main([str(word) for word in words]) == code
    captured = capsys.readouterr()
    return captured.out if code == 0 else captured.err.strip().splitlines()[-1]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a recipe of two small kernels with a parameter changed."""
    path = tmp_path_factory.mktemp("cli") / "two.rfr"
    launch = next((CORPUS / "two_kernels").glob("*.toml"))
    assert cli.main(["record", str(launch), "--recipe", "-o", str(path), "--set", "sm.num_collectors=4"]) == 0
    return path


def test_a_recipe_is_looked_into_filled_and_opened(written: Path, tmp_path: Path,
                                                   capsys: pytest.CaptureFixture[str]) -> None:
    facts = json.loads(said(capsys, "info", written, "--json"))
    assert facts["design"] == "sram" and facts["verified"] is True and facts["finished"] is True
    assert "keyframe sums" in said(capsys, "info", written)
    filled = json.loads(said(capsys, "record", "--fill", written, "-o", tmp_path / "two.rfs", "--json"))
    assert filled["finished"] is True and filled["cycles"] == facts["cycles"]
    recorded = json.loads(said(capsys, "info", tmp_path / "two.rfs", "--json"))
    assert (recorded["verified"], recorded["cycles"], recorded["warnings"]) == (True, facts["cycles"], [])
    commands = "goto 10; print w0.pc; print w0.state; continue; print cycle"
    live, replayed = (said(capsys, "script", file, "-c", commands) for file in (written, tmp_path / "two.rfs"))
    assert live == replayed and f"cycle = {facts['cycles']}" in live
    assert "This is" in said(capsys, "debug", written, "--goto", "40")


def test_the_names_of_the_files_follow_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                  capsys: pytest.CaptureFixture[str]) -> None:
    launch = next((CORPUS / "two_kernels").glob("*.toml"))
    monkeypatch.chdir(tmp_path)
    said(capsys, "record", launch, "--recipe")
    said(capsys, "record", "--fill", f"{launch.stem}.rfr")
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{launch.stem}.rfr", f"{launch.stem}.rfs"]


def test_the_fault_of_a_kernel_is_kept_in_its_recipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.rfr"
    launch = CORPUS / "bad" / "out_of_bounds_write.toml"
    error = said(capsys, "record", launch, "--recipe", "-o", path, code=3)
    assert f"(what ran before is in {path})" in error
    again = said(capsys, "record", "--fill", path, "-o", tmp_path / "bad.rfs", code=3)
    assert again.replace("bad.rfs", "bad.rfr") == error
    assert json.loads(said(capsys, "info", path, "--json"))["fault"] in error
    said(capsys, "info", tmp_path / "bad.rfs")


@pytest.mark.parametrize("words", [["script", "-c", "step"], ["export", "--to", "csv"], ["check"], ["debug"], ["lines"]])
def test_a_recording_is_not_shown_on_another_machine(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    recording = CORPUS.parents[1] / "sessions" / "recorded" / "first.rfs"
    assert "the recording fixes its machine; leave out --design" in said(capsys, *words, recording, "--design", "hrf", code=2)


@pytest.mark.parametrize(("words", "error"), [
    (["record"], "expected a launch file or a bundled kernel's name, or --fill"),
    (["record", "vectoradd", "--fill", "RECIPE"], "the recipe contains its kernel; leave out vectoradd"),
    (["record", "--fill", "RECIPE", "--recipe"], "the recipe contains its kernel; leave out --recipe"),
    (["record", "--fill", "RECIPE", "--set", "sm.num_collectors=8"], "fixes its machine; leave out --set"),
    (["record", "--fill", "RECIPE", "--max-cycles", "8"], "fixes its machine; leave out --max-cycles"),
    (["debug", "RECIPE", "--design", "stt"], "fixes its machine; leave out --design"),
    (["script", "RECIPE", "--scheduler", "lrr", "-c", "step"], "fixes its machine; leave out --scheduler"),
    (["record", "vectoradd", "-o", "x.rfr"], "a recipe is written with --recipe"),
    (["record", "vectoradd", "--recipe", "-o", "x.rfs"], "the name of a recipe ends in .rfr"),
    (["record", "--fill", "RECIPE", "-o", "x.rfr"], "a recipe is written with --recipe"),
    (["record", "RECIPE"], "a recipe is not a kernel; open it with rfview debug"),
    (["run", "RECIPE"], "a recipe is not a kernel; open it with rfview debug"),
    (["replay", "RECIPE"], "to run it live: rfview debug"),
    (["record", "--fill", "gone.rfr"], "cannot open the recipe"),
    (["info", "gone.rfr"], "cannot open the recipe"),
    (["debug", "gone.rfr"], "cannot open the recipe"),
])
def test_what_does_not_go_together_is_one_clear_error(words: list[str], error: str, written: Path,
                                                      capsys: pytest.CaptureFixture[str]) -> None:
    assert error in said(capsys, *(str(written) if word == "RECIPE" else word for word in words), code=2)
