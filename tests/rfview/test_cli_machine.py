"""The commands that run the machine, each called as a user would: summary, exit codes, recording, scripts."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rfview.engine.config import load_preset
from rfview.engine.launch import load_launch_file
from rfview.engine.launch.placement import place
from rfview.engine.ptx import load_module
from rfview import cli
from tests.conftest import PATIENCE_S
from tests.rfview.terminal import processor_s

Run = Callable[..., subprocess.CompletedProcess[str]]
BAD = Path(__file__).resolve().parent.parent / "corpus" / "bad"
KEYS = {
    "kernel", "design", "scheduler", "preset", "parameters", "seed", "launches", "registers_per_thread", "cycles",
    "warp_instructions", "thread_instructions", "ipc", "warp_cycles", "issued", "stalls", "war_stalls", "counts",
    "energy_pj", "verified", "mismatches", "wall_s", "version",
}


@pytest.fixture(scope="module")
def recording(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a recording of the small launch file."""
    path = tmp_path_factory.mktemp("recording") / "small.rfs"
    assert cli.main(["record", str(small), "-o", str(path)]) == 0
    return path


def summary_of(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, object]:
    """Run `rfview run ... --json` and return its object."""
    assert cli.main(["run", *words, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_json_has_every_key_and_its_sums_balance(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary = summary_of(capsys, str(small))
    assert set(summary) >= KEYS
    assert summary["issued"] + sum(summary["stalls"].values()) == summary["warp_cycles"]
    assert summary["verified"] is None and summary["mismatches"] == []
    assert set(summary["energy_pj"]) == {"dynamic", "leakage", "refresh", "total"}


def test_a_wrong_result_is_exit_1_and_names_the_first_element(capsys: pytest.CaptureFixture[str]) -> None:
    summary = summary_of(capsys, str(BAD / "not_verified.toml"), code=1)
    assert summary["verified"] is False and summary["mismatches"][0]["name"] == "data"
    assert cli.main(["run", str(BAD / "not_verified.toml")]) == 1
    assert "NOT VERIFIED" in capsys.readouterr().out


def test_a_misbehaving_kernel_is_exit_3_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", str(BAD / "out_of_bounds_write.toml")]) == 3
    error = capsys.readouterr().err.splitlines()
    assert len(error) == 1 and "out_of_bounds_write" in error[0] and "warp" in error[0] and "lane" in error[0]


def test_the_cycle_limit_is_exit_3_and_says_how_to_raise_it(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", str(small), "--max-cycles", "20"]) == 3
    assert "--max-cycles" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "part"), [
    (["--design", "no_such"], "no_such"),
    (["--design", "stt[stall=never]"], "never"),
    (["--design", "stt[stal=bank]"], "stt.stall"),
    (["--scheduler", "fifo"], "fifo"),
    (["--preset", "kepler"], "kepler"),
    (["--set", "sm.num_bank=8"], "sm.num_banks"),
    (["--set", "sm.num_banks=99"], "99"),
    (["--set", "sm.num_banks=four"], "four"),
])
def test_a_machine_that_cannot_be_is_exit_2(words: list[str], part: str, small: Path,
                                            capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", str(small), *words]) == 2
    error = capsys.readouterr().err.splitlines()
    assert len(error) == 1 and part in error[0]


def test_variants_schedulers_and_settings_reach_the_machine(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary = summary_of(capsys, str(small), "--design", "stt[stall=bank]", "--scheduler", "lrr",
                         "--set", "stt.write_cycles=9", "--set", "sm.num_collectors=4")
    assert summary["design"].startswith("stt") and summary["scheduler"] == "lrr"
    assert summary["parameters"]["stt.write_cycles"] == 9 and summary["parameters"]["sm.num_collectors"] == 4


def test_options_of_compilation_reach_the_machine_and_are_said(small: Path, tmp_path: Path,
                                                               capsys: pytest.CaptureFixture[str]) -> None:
    words = "schedule,addresses=32,numbering=banks,registers=12"
    summary = summary_of(capsys, str(small), "--compile", words, "--set", "kernel.aim_registers=11")
    assert summary["parameters"]["kernel.addresses"] == "32" and summary["parameters"]["kernel.schedule"] == "on"
    assert summary["parameters"]["kernel.aim_registers"] == 11      # --set is more specific
    assert cli.main(["run", str(small), "--compile", words]) == 0
    assert f"compiled with          {words}" in capsys.readouterr().out
    assert cli.main(["record", str(small), "--compile", words, "-o", str(tmp_path / "x.rfs")]) == 0
    capsys.readouterr()
    assert cli.main(["info", str(tmp_path / "x.rfs"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["compilation"] == words
    assert cli.main(["compare", str(small), "--designs", "sram", "--compile", words, "--json", "--workers", "1"]) == 0
    capsys.readouterr()
    assert cli.main(["run", str(small), "--compile", "registers=99"]) == 2
    assert "expected a whole number of 0..63" in capsys.readouterr().err


def test_buffers_are_saved_as_numpy_files(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", str(small), "--save-buffers", str(tmp_path / "new" / "folder")]) == 0
    saved = np.load(tmp_path / "new" / "folder" / "data.npy")
    assert saved.dtype == np.int32 and saved.shape == (128,)


def test_names_that_are_too_long_or_equal_but_for_case_are_saved_as_files_that_differ(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["k" * 300, "k" * 301, "data", "DATA", "sym_counter"]
    (tmp_path / "k.ptx").write_text((BAD / "copy.ptx").read_text().replace(".visible", ".global .u32 counter;\n.visible", 1))
    (tmp_path / "k.toml").write_text("module = 'k.ptx'\n[[launch]]\nkernel = 'copy'\ngrid = [1]\nblock = [32]\n"
                                     "args = [{buffer = 'data'}, {value = 1}]\n" + "".join(
        f"[buffers.{name}]\nshape = [64]\ndtype = 'int32'\nvalue = {place}\n" for place, name in enumerate(names)))
    assert cli.main(["run", str(tmp_path / "k.toml"), "--save-buffers", str(tmp_path / "out")]) == 0, capsys.readouterr().err
    saved = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert len(saved) == len(names) + 2 and len({name.lower() for name in saved}) == len(saved), saved
    assert {"data.npy", "sym_counter.npy", "sym_counter_2.npy"} < set(saved)
    values = sorted(int(np.load(tmp_path / "out" / name).reshape(-1)[-1]) for name in saved)
    assert values == [0, 0, 0, 1, 2, 3, 4], "each file has its own variable"


def test_a_file_that_cannot_be_saved_is_said_before_the_run(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                            capsys: pytest.CaptureFixture[str]) -> None:
    from rfview.engine.simulator import Simulator

    monkeypatch.setattr(Simulator, "step", lambda *_: pytest.fail("it ran"))
    (tmp_path / "out" / "data.npy").mkdir(parents=True)
    assert cli.main(["run", str(small), "--save-buffers", str(tmp_path / "out")]) == 2
    assert "data.npy: is a folder; expected the name of a file" in capsys.readouterr().err


def test_a_recording_says_what_it_holds(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["info", str(recording), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["design"] == "sram" and facts["cycles"] > 10 and facts["warnings"] == []
    assert cli.main(["info", str(recording)]) == 0
    assert "bytes per cycle" in capsys.readouterr().out


def test_a_recording_of_a_fault_is_kept_and_exit_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "fault.rfs"
    assert cli.main(["record", str(BAD / "trap.toml"), "-o", str(path)]) == 3
    assert "trap" in capsys.readouterr().err
    assert cli.main(["info", str(path), "--json"]) == 0
    assert "trap" in json.loads(capsys.readouterr().out)["fault"]


def test_scripts_answer_in_text_and_json(recording: Path, small: Path, tmp_path: Path,
                                         capsys: pytest.CaptureFixture[str]) -> None:
    commands = tmp_path / "commands"
    commands.write_text("# first ten cycles\nstep 10; when\nprint cycle\n")
    assert cli.main(["script", str(recording), "-x", str(commands)]) == 0
    recorded = capsys.readouterr().out
    assert "cycle" in recorded and "10" in recorded
    assert cli.main(["script", str(small), "-x", str(commands)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == recorded.splitlines()[-1]
    assert cli.main(["script", str(recording), "--json", "-c", "step 3; print cycle"]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert answers[-1]["value"] == 3


def test_a_script_stops_at_the_first_bad_command(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["script", str(recording), "-c", "step; print no_such_name; print cycle"]) == 2
    captured = capsys.readouterr()
    assert "no_such_name" in captured.err and captured.err.count("\n") == 1


def test_replay_and_debug_without_a_terminal_print_the_screen(recording: Path, small: Path,
                                                              rfview_process: Run) -> None:
    for words in (["replay", str(recording)], ["debug", str(small)]):
        done = rfview_process(*words, "--goto", "50%")
        assert done.returncode == 0, done.stderr
        assert "WARPS" in done.stdout and "try: rfview" in done.stdout
        screen = done.stdout.split("\nThis is ")[0].splitlines()
        assert len(screen) <= 41 and max(map(len, screen)) <= 120


def test_plain_rfview_without_a_terminal_prints_the_bundled_session(rfview_process: Run, tmp_path: Path) -> None:
    done = rfview_process(cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "WARPS" in done.stdout and "try: rfview" in done.stdout


def test_replay_never_imports_numba(recording: Path, repository: Path) -> None:
    import sys

    code = (f"import sys; from rfview.cli import main; code = main(['replay', {str(recording)!r}, '--goto', '50%'])\n"
            "assert code == 0 and 'numba' not in sys.modules and 'llvmlite' not in sys.modules")
    done = subprocess.run([sys.executable, "-c", code], cwd=repository, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_interrupted_run_ends_at_once_without_a_traceback(repository: Path) -> None:
    import signal
    import sys
    import time

    # days of simulation, so that it cannot end by itself before the signal comes
    words = [sys.executable, "-m", "rfview", "run", str(BAD / "endless_loop.toml"), "--max-cycles", "1000000000000"]
    child = subprocess.Popen(words, cwd=repository, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    try:
        while processor_s(child.pid) < 1.5:     # start-up and loading the machine take a third of that
            assert child.poll() is None
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        _, error = child.communicate(timeout=PATIENCE_S)
    finally:
        child.kill()        # else it runs for days
    assert "Traceback" not in error and "interrupted" in error and child.returncode == 130, error


def test_a_launch_file_to_begin_from_runs_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ptx = tmp_path / "mine.ptx"
    ptx.write_text((BAD.parent / "two_kernels" / "two_kernels.sm75.ptx").read_text())
    assert cli.main(["kernels", "--new", str(ptx)]) == 0
    said = capsys.readouterr().out
    assert "mine.toml: runs " in said and "the module also has" in said
    spec = load_launch_file(tmp_path / "mine.toml")
    place(spec, load_module(ptx), load_preset("fermi"), 1024)
    assert cli.main(["kernels", "--new", str(ptx)]) == 2 and "already exists" in capsys.readouterr().err
    assert cli.main(["kernels", "--new", "mine.cu"]) == 2 and "nvcc -ptx" in capsys.readouterr().err
