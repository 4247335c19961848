"""The command line without the machine: overview, errors in one line, exit codes, help, lists."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rfview import __version__, cli
from rfview.commands import options, progress
from rfview.sessions.cursor import Stop
from rfview.sessions.session import Session

Run = Callable[..., subprocess.CompletedProcess[str]]
RECORDING = Path(__file__).resolve().parents[2] / "sessions" / "recorded" / "first.rfs"


def fails(capsys: pytest.CaptureFixture[str], *words: str, code: int = 2) -> str:
    """Run a command that must fail; return its one-line error without the prefix."""
    assert cli.main(list(words)) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert len(lines) == 1 and lines[0].startswith("rfview: error: "), captured.err
    return lines[0].removeprefix("rfview: error: ")


def test_version_and_overview_name_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"rfview {__version__}\n"
    assert cli.main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"  {name} " in text for name in cli.COMMANDS) and max(map(len, text.splitlines())) <= 100
    assert text.index("begin with: rfview learn first") < text.index(next(iter(cli.GROUPS)))


@pytest.mark.parametrize("name", list(cli.COMMANDS))
def test_every_command_has_help_and_refuses_unknown_options(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([name, "--help"]) == 0
    assert f"usage: rfview {name}" in capsys.readouterr().out
    assert cli.main([name, "--no-such-option"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_misspelt_words_bring_the_nearest_known_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean 'run'?" in fails(capsys, "rnu", "gemm")
    assert "did you mean --design?" in fails(capsys, "run", "gemm", "--desgin", "stt")
    assert "did you mean 'gemm'?" in fails(capsys, "run", "gem")
    assert "did you mean 'stalls'?" in fails(capsys, "help", "stals")
    assert "did you mean stt?" in fails(capsys, "designs", "sst")
    assert "did you mean gto?" in fails(capsys, "run", "gemm", "--scheduler", "gtoo")
    assert "to run it live: rfview debug vectoradd" in fails(capsys, "replay", "vectoradd")
    assert "`rfview kernels` describes kernels" in fails(capsys, "info", "vectoradd")
    assert "rfview replay x.rfs" in fails(capsys, "x.rfs")
    assert "rfview run x.toml" in fails(capsys, "x.toml")


@pytest.mark.parametrize(("words", "part"), [
    (["run"], "FILE|NAME"),
    (["run", "no/such.toml"], "no/such.toml"),
    (["run", "gemm.rfs"], "rfview replay gemm.rfs"),
    (["run", "kernel.ptx"], "rfview kernels --new kernel.ptx"),
    (["run", "gemm", "extra"], "unexpected argument 'extra'"),
    (["run", "gemm", "--max-cycles", "0"], "at least 1"),
    (["run", "gemm", "--max-cycles", "many"], "'many'"),
    (["run", "gemm", "--set", "num_banks=4"], "SECTION.KEY=VALUE"),
    (["run", "gemm", "--set", "sm.num_banks"], "SECTION.KEY=VALUE"),
    (["replay"], "FILE.rfs"),
    (["replay", "no-such.rfs"], "no-such.rfs"),
    (["replay", "gemm.toml"], "rfview debug gemm.toml"),
    (["replay", str(RECORDING), "--plain", "--overlay", "b.rfs"], "--overlay: only the screen"),
    (["replay", str(RECORDING), "--overlay", "b.rfs"], "--overlay: only the screen"),
    (["info", "no-such.rfs"], "no-such.rfs"),
    (["script", "no-such.rfs", "-c", "when"], "no-such.rfs"),
    (["script", "no-such.rfs"], "-x"),
    (["script", "no-such.rfs", "-x", "no-such-commands"], "no-such-commands"),
    (["record", "gemm", "-o", "no/such/folder/x.rfs"], "no/such/folder"),
    (["record", "gemm", "-o", "."], "is a folder"),
    (["warm", "no_such_design"], "no_such_design"),
])
def test_bad_input_is_one_line_and_exit_2(words: list[str], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert part in fails(capsys, *words)


def test_files_that_are_not_what_they_should_be(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    noise = tmp_path / "noise.rfs"
    noise.write_bytes(bytes(range(256)) * 40)
    for words in (["replay", str(noise)], ["info", str(noise)], ["script", str(noise), "-c", "when"]):
        assert "noise.rfs" in fails(capsys, *words)
    assert "noise.toml" in fails(capsys, "run", str(noise.rename(tmp_path / "noise.toml")))
    binary = tmp_path / "commands"
    binary.write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in fails(capsys, "script", "gemm", "-x", str(binary))


def test_an_output_that_cannot_be_made_is_said_before_anything_runs(capsys: pytest.CaptureFixture[str],
                                                                    tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("x")
    assert str(in_the_way) in fails(capsys, "run", "gemm", "--save-buffers", str(in_the_way / "below"))


def test_settings_keep_the_last_of_equal_keys() -> None:
    assert options.settings_of(["sm.num_banks=8", "stt.stall=bank", "sm.num_banks=4"]) == {
        "sm.num_banks": "4", "stt.stall": "bank"}


def test_an_unexpected_error_is_one_line_too(capsys: pytest.CaptureFixture[str],
                                             monkeypatch: pytest.MonkeyPatch) -> None:
    from rfview.commands import kernels

    def broken() -> list[dict[str, object]]:
        raise RuntimeError("out of cheese")

    monkeypatch.setattr(kernels, "listing", broken)
    assert "internal error: RuntimeError: out of cheese" in fails(capsys, "kernels", code=70)


def test_a_missing_package_is_named_with_what_to_do(capsys: pytest.CaptureFixture[str],
                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    from rfview.commands import kernels

    def broken() -> list[dict[str, object]]:
        raise ModuleNotFoundError("No module named 'msgpack'", name="msgpack")

    monkeypatch.setattr(kernels, "listing", broken)
    error = fails(capsys, "kernels")
    assert "lacks the package msgpack" in error and sys.executable in error and "pip install ." in error


def test_an_interruption_is_130(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from rfview.commands import kernels

    def interrupted() -> list[dict[str, object]]:
        raise stop

    monkeypatch.setattr(kernels, "listing", interrupted)
    stop = KeyboardInterrupt()
    assert fails(capsys, "kernels", code=130) == "interrupted"
    stop.add_note("; a.partial.rfs has its first 8 cycles")
    assert fails(capsys, "kernels", code=130) == "interrupted; a.partial.rfs has its first 8 cycles"


def test_a_reader_that_goes_away_is_no_error(repository: Path) -> None:
    done = subprocess.run(f"{sys.executable} -m rfview help stalls | true", shell=True, cwd=repository,
                          capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


def test_kernels_and_designs_as_text_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["kernels", "--json"]) == 0
    names = [row["name"] for row in json.loads(capsys.readouterr().out)]
    assert {"vectoradd", "gemm", "bfs"} <= set(names)
    assert cli.main(["kernels"]) == 0
    assert all(name in capsys.readouterr().out for name in ["gemm"])
    assert cli.main(["designs", "--json"]) == 0
    assert {"sram", "stt"} <= {row["name"] for row in json.loads(capsys.readouterr().out)}
    assert cli.main(["designs", "stt"]) == 0
    text = capsys.readouterr().out
    assert "write_cycles" in text and "pipeline | bank" in text and "--set stt." in text


@pytest.mark.parametrize("topic", ["launch", "keys", "commands", "expressions", "stalls", "schedulers", "exit",
                                   "environment", "run"])
def test_help_topics_have_text(topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["help", topic]) == 0
    assert len(capsys.readouterr().out.splitlines()) >= 4


def test_the_launch_file_in_the_help_is_a_launch_file(tmp_path: Path) -> None:
    import numpy as np

    from rfview.engine.launch import load_launch_file
    from rfview.glossary.topics import LAUNCH

    text = "\n".join(line[2:] for line in LAUNCH.splitlines() if line.startswith("  "))
    (tmp_path / "saxpy.toml").write_text(text)
    (tmp_path / "saxpy.ptx").write_text("")
    for name, size in (("y", 16384), ("table", 4), ("y_expected", 16384)):
        np.save(tmp_path / f"{name}.npy", np.zeros(size, "f4"))
    assert load_launch_file(tmp_path / "saxpy.toml").launches[0].grid == (64, 1, 1)


def test_progress_without_a_terminal_is_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.bar() as report:
        for step in range(100):
            report(step / 100, "compiling sram")
    assert capsys.readouterr().err == "rfview: compiling sram\n"


def test_a_script_says_what_it_waits_for(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def slow(session: Session, count: int = 1) -> Stop:
        assert session.compiling is not None and session.progress is not None
        session.compiling(0.25, "compiling the machine")
        session.compiling(1.0, "compiling the machine")
        session.progress(9000)
        return Stop(0, "step", "done")

    monkeypatch.setattr(Session, "step", slow)
    monkeypatch.setattr("rfview.commands.progress.QUIET_SECONDS", 0)
    monkeypatch.setattr("rfview.commands.script.PATIENCE_S", 0)
    assert cli.main(["script", str(RECORDING), "-c", "step"]) == 0
    captured = capsys.readouterr()
    assert captured.err.splitlines() == ["rfview: compiling the machine, 25%", "rfview: at cycle 9,000"]
    assert captured.out.splitlines() == ["done"]


def test_a_paper_s_workloads_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["kernels", "--paper", "racetrack"]) == 0
    text = capsys.readouterr().out
    assert "split_sort" in text and "mri-gridding" in text and "cache-sensitive" in text and "vectoradd" not in text
    assert "hrf, rfc, hcrf, edram, racetrack" in fails(capsys, "kernels", "--paper", "sram")
