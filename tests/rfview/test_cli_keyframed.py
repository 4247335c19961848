"""Keyframed recordings on the command line: budgets, what is said of them, filling; incompatible options are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rfview import cli

CORPUS = Path(__file__).parent.parent / "corpus"
LAUNCH = next((CORPUS / "two_kernels").glob("*.toml"))


def said(capsys: pytest.CaptureFixture[str], *words: Any, code: int = 0) -> str:
    """Run a command and check its exit code; return its output, or its error if it failed."""
    assert cli.main([str(word) for word in words]) == code
    captured = capsys.readouterr()
    return captured.out if code == 0 else captured.err.strip().splitlines()[-1]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a recording without chunks of two small kernels with a parameter changed."""
    path = tmp_path_factory.mktemp("cli") / "two.rfs"
    assert cli.main(["record", str(LAUNCH), "--budget", "0", "-o", str(path), "--set", "sm.num_collectors=4"]) == 0
    return path


def test_it_is_looked_into_shown_and_filled(written: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = json.loads(said(capsys, "info", written, "--json"))
    assert (facts["verified"], facts["finished"], facts["chunks"], facts["keyframes"]) == (True, True, 0, 1)
    filled = json.loads(said(capsys, "record", "--fill", written, "-o", tmp_path / "all.rfs", "--json"))
    assert filled["finished"] is True and filled["cycles"] == filled["stored_cycles"] == facts["cycles"]
    whole = json.loads(said(capsys, "info", tmp_path / "all.rfs", "--json"))
    assert (whole["verified"], whole["cycles"], whole["warnings"]) == (True, facts["cycles"], [])
    commands = "goto 10; print w0.pc; print w0.state; continue; print cycle"
    again, stored = (said(capsys, "script", file, "-c", commands) for file in (written, tmp_path / "all.rfs"))
    assert again == stored and f"cycle = {facts['cycles']}" in again
    for file, name in ((written, "a.csv"), (tmp_path / "all.rfs", "b.csv")):
        said(capsys, "export", file, "--to", "csv", "-o", tmp_path / name)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert "This is" in said(capsys, "replay", written, "--goto", "40")


def test_a_budget_is_said_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "a.rfs"
    text = said(capsys, "record", "vectoradd", "--budget", "4,000", "-o", out)
    assert "after the first 4,096 cycles, cycles are simulated again from 3 keyframes" in text
    small = json.loads(said(capsys, "record", "vectoradd", "--budget", "1MB", "-o", out, "--json"))
    assert 2048 < small["stored_cycles"] < small["cycles"] and small["bytes"] < 3_000_000
    assert "simulated again" not in said(capsys, "record", LAUNCH, "--full", "-o", out)


def test_the_fault_of_a_kernel_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, launch = tmp_path / "bad.rfs", CORPUS / "bad" / "out_of_bounds_write.toml"
    error = said(capsys, "record", launch, "--budget", "0", "-o", path, code=3)
    assert f"(what ran before is in {path})" in error
    again = said(capsys, "record", "--fill", path, "-o", tmp_path / "all.rfs", code=3)
    assert again.replace("all.rfs", "bad.rfs") == error
    assert json.loads(said(capsys, "info", path, "--json"))["fault"] in error


def test_a_part_of_it_is_stored_at_once_or_later_in_its_file_or_another(tmp_path: Path,
                                                                        capsys: pytest.CaptureFixture[str]) -> None:
    part, none = ["--from", "20,000", "--to", "21,000"], tmp_path / "none.rfs"
    for name, words in (("none", ["vectoradd", "--budget", "0"]), ("other", ["--fill", none, *part]), ("direct", ["vectoradd", *part])):
        text = said(capsys, "record", *words, "-o", tmp_path / f"{name}.rfs")
    assert "cycles 20,000 to 21,000 are stored, others are simulated again from" in text
    said(capsys, "record", "--fill", none, *part)
    facts = [json.loads(said(capsys, "info", tmp_path / f"{name}.rfs", "--json")) for name in ("none", "other", "direct")]
    assert {(one["chunks_begin"], one["chunks_end"], one["last_cycle"], one["verified"], *one["warnings"]) for one in facts} == {
        (20_000, 21_000, facts[0]["last_cycle"], True)}
    for name in ("none", "other", "direct"):
        said(capsys, "export", tmp_path / f"{name}.rfs", "--to", "csv", "--first", "19990", "--last", "21010", "-o",
             tmp_path / f"{name}.csv")
    assert len({(tmp_path / f"{name}.csv").read_bytes() for name in ("none", "other", "direct")}) == 1
    assert "the run ends" in said(capsys, "record", "--fill", none, "--from", "1,000,000", code=2)
    said(capsys, "record", "--fill", none)
    assert json.loads(said(capsys, "info", none, "--json"))["chunks_end"] == facts[0]["last_cycle"]


@pytest.mark.parametrize("words", [["script", "-c", "step"], ["export", "--to", "csv"], ["check"], ["debug"], ["lines"]])
def test_a_recording_is_not_shown_on_another_machine(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    recording = CORPUS.parents[1] / "sessions" / "recorded" / "first.rfs"
    assert "the recording fixes its machine; leave out --design" in said(capsys, *words, recording, "--design", "hrf", code=2)


@pytest.mark.parametrize(("words", "error"), [
    (["record"], "expected a launch file or a bundled kernel's name, or --fill"),
    (["record", "vectoradd", "--fill", "FILE"], "the recording contains its kernel; leave out vectoradd"),
    (["record", "--fill", "FILE", "--set", "sm.num_collectors=8"], "fixes its machine; leave out --set"),
    (["record", "--fill", "FILE", "--max-cycles", "8"], "fixes its machine; leave out --max-cycles"),
    (["record", "vectoradd", "--full", "--budget", "8"], "leave out one of them"),
    (["record", "vectoradd", "--from", "8", "--budget", "8"], "leave out --full and --budget"),
    (["record", "vectoradd", "--budget", "much"], "expected cycles, as 5,000,000, or a size, as 2GB"),
    (["record", "--fill", "gone.rfs"], "cannot open the recording"),
    (["info", "gone.rfs"], "cannot open the recording"),
])
def test_what_does_not_go_together_is_one_clear_error(words: list[str], error: str, written: Path,
                                                      capsys: pytest.CaptureFixture[str]) -> None:
    assert error in said(capsys, *(str(written) if word == "FILE" else word for word in words), code=2)
