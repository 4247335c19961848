"""Unmodified Python scripts: launches of numba-cuda and Triton, caught without a GPU."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import types
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from rfview.capture.interpreter import python_of
from rfview.capture.python import hooks, torch_on_cpu, versions
from rfview.engine.errors import InputError
from tests.capture.test_programs import has_nvdisasm

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
NUMBA, TRITON = HERE / "scripts" / "numba_kernels.py", HERE / "scripts" / "triton_rows.py"
COMPILED = HERE / "scripts" / "triton_compiled.py"


def is_missing(*names: str) -> bool:
    return any(importlib.util.find_spec(name) is None for name in names)


needs_numba = pytest.mark.skipif(is_missing("numba_cuda"), reason="needs numba-cuda: pip install 'rfview[test-capture]'")
needs_triton = pytest.mark.skipif(is_missing("triton", "torch"), reason="needs Triton and torch: the extra [test-capture]")


def rfview(*words: object, cwd: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.run([sys.executable, "-m", "rfview", *map(str, words)], cwd=cwd, env=environment, capture_output=True,
                          text=True, check=False)


@pytest.mark.skipif(not has_nvdisasm(), reason="needs nvdisasm to read machine code")
@pytest.mark.parametrize("command", ["record", "debug"])
def test_machine_code_on_fermis_core_is_refused_before_the_program_runs(command: str, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("print('it ran')")
    done = rfview(command, "--isa", "sm_80", "--launch", "0", "app.py", cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == "" and "that of preset fermi; add --preset ampere" in done.stderr


@needs_numba
def test_a_numba_script_finds_its_own_checks_passed_and_launches_have_its_names(tmp_path: Path) -> None:
    done = rfview("launches", "--json", tmp_path / "list.json", "--", NUMBA, "100")
    assert done.returncode == 3 and "all right" in done.stdout, (done.stdout, done.stderr)
    rows = json.loads((tmp_path / "list.json").read_text())["list"]
    names = [row["kernel"] for row in rows]
    assert any("saxpy" in name for name in names) and any("matmul" in name for name in names) and len(rows) >= 4


@needs_numba
def test_a_launch_of_numba_becomes_a_folder_that_runs_alone_in_as_many_cycles(tmp_path: Path) -> None:
    done = rfview("launches", "--json", tmp_path / "list.json", "--", NUMBA, "100")
    rows = json.loads((tmp_path / "list.json").read_text())["list"]
    done = rfview("capture", "--launch", "1", "-o", tmp_path / "taken", "--", NUMBA, "100")
    assert done.returncode == 3, done.stderr
    text = (tmp_path / "taken" / "launch.toml").read_text()
    assert '[buffers."a"]' in text and '[buffers."c"]' in text
    assert np.load(tmp_path / "taken" / "c_after.npy").dtype == np.float32
    alone = rfview("run", tmp_path / "taken" / "launch.toml", "--json")
    assert alone.returncode == 0, alone.stderr
    result = json.loads(alone.stdout)
    assert result["cycles"] == rows[1]["cycles"] and result["verified"]


def test_an_event_of_torch_is_over_once_it_is_recorded() -> None:
    kind = torch_on_cpu.Interface(types.SimpleNamespace(now_ms=2.5)).Event
    begin, end = kind(enable_timing=True), kind(enable_timing=True)
    begin.record()
    with pytest.raises(RuntimeError, match="must be recorded"):
        begin.elapsed_time(end)
    end.record()
    assert begin.elapsed_time(end) == 0 and end.query() is True and end.wait() is None


@needs_triton
def test_a_triton_script_with_tensors_on_cuda_is_recorded_with_its_lines(tmp_path: Path,
                                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))    # Triton's own cache may hold an earlier checkout's paths
    path = tmp_path / "rows.rfs"
    done = rfview("record", "-o", path, "--launch", "softmax_rows", "--", TRITON)
    assert done.returncode == 3 and "all right" in done.stdout, (done.stdout, done.stderr)
    lines = rfview("lines", path)
    assert "e = tl.exp(x - tl.max(x, axis=0))" in lines.stdout, (lines.stdout, lines.stderr)


@needs_triton
def test_torch_compile_runs_functions_as_they_are_and_says_so_once(tmp_path: Path,
                                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    done = rfview("launches", "--json", tmp_path / "list.json", "--", COMPILED)
    assert done.returncode == 3 and "all right" in done.stdout, (done.stdout, done.stderr)
    assert done.stderr.count("torch.compile compiles nothing here") == 1
    assert [row["kernel"] for row in json.loads((tmp_path / "list.json").read_text())["list"]] == ["double"] * 5


def test_functions_put_in_a_module_are_objects_of_their_own_with_its_names() -> None:
    module = types.ModuleType("some.module")
    module.first = len      # type: ignore[attr-defined]
    for name in ("first", "second"):
        torch_on_cpu.put(module, name, torch_on_cpu.nothing)
    assert module.first is not module.second and module.first(1, key=2) is None
    assert (module.first.__qualname__, module.second.__name__, module.first.__module__) == ("first", "second", "some.module")
    assert module.first.__doc__ == len.__doc__ and module.second.__doc__ is None


def test_a_script_that_loses_its_connection_ends_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "lost.py").write_text("""
import gc
client = next(one for one in gc.get_objects() if type(one).__name__ == "Client")
client.reply(2, bytes(1 << 17))
""")
    done = rfview("launches", tmp_path / "lost.py")
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
    assert "rfview: error: the connection to rfview was lost" in done.stderr and "131,072 bytes; at most" in done.stderr


def test_a_hook_that_fails_runs_again_once_its_module_can_be_hooked() -> None:
    ran: list[str] = []

    def hook() -> None:
        ran.append("hook")
        if len(ran) == 1:
            raise versions.UnknownVersion("too new")

    finder = hooks.AfterImport({"json": hook, "not_imported": hook})
    with pytest.raises(versions.UnknownVersion):
        finder.run_imported()
    for _ in range(2):
        finder.run_imported()
    assert ran == ["hook", "hook"]


def test_a_block_whose_framework_is_refused_says_so_each_time(tmp_path: Path) -> None:
    script = tmp_path / "block.py"
    script.write_text("""
import sys, types, rfview
from rfview.capture.python import versions
from rfview.engine.errors import InputError
from tests.capture.test_programs import has_nvdisasm

sys.modules["triton"] = types.ModuleType("triton")
versions.TESTED["triton"] = ("0.0.1",)
for _ in range(2):
    try:
        with rfview.capture(launch="f"):
            pass
    except InputError as error:
        print(error)
""")
    done = subprocess.run([sys.executable, script], env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, capture_output=True,
                          text=True, check=False)
    first, second = done.stdout.splitlines()
    assert first == second and "triton" in first, (done.stdout, done.stderr)


@needs_numba
def test_a_block_takes_the_launches_of_this_process(tmp_path: Path) -> None:
    script = tmp_path / "block.py"
    script.write_text("""
import sys, numpy as np, rfview
from numba import cuda
from rfview.engine.errors import InputError
from tests.capture.test_programs import has_nvdisasm

@cuda.jit
def add(x, by):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += by

x = np.arange(70, dtype=np.int32)
with rfview.capture(launch="add:1", output=sys.argv[1], design="hrf") as taken:
    add[2, 64](x, 1)
    add[2, 64](x, 2)
assert (x == np.arange(70) + 3).all() and len(taken.rows) == 2, taken.rows
session = taken.session()
session.goto("end")
assert session.cycle and session.info.design == "hrf" and all(row["is_estimate"] for row in taken.rows)
with rfview.capture(launch="add:0", every_cycle=True, design="hrf") as simulated:
    add[2, 64](x, 1)
again = simulated.session()
again.goto("end")
assert again.cycle == simulated.rows[0]["cycles"] and simulated.rows[0]["instructions"] == taken.rows[0]["instructions"]
try:
    with rfview.capture(launch="sub"):
        add[2, 64](x, 1)
except InputError as error:
    assert "sub" in str(error) and "add" in str(error), error
else:
    raise AssertionError("a launch that never came")
""")
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run([sys.executable, script, tmp_path / "add.rfs"], env=environment, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    assert rfview("info", tmp_path / "add.rfs").returncode == 0


def test_a_script_without_launches_runs_as_under_python(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("NAME = 'beside'\n")
    script = tmp_path / "plain.py"
    script.write_text("import sys\nimport beside\nassert not [m for m in sys.modules if m.startswith('rfview')]\n"
                      "print(__name__, sys.argv[1:], beside.NAME)\nsys.exit(5)\n")
    for words in ([script], ["--", script], ["--design", "stt", script]):
        done = rfview("launches", *words, "one", "--two", "-h", "", "--json")
        assert done.returncode == 5 and "__main__ ['one', '--two', '-h', '', '--json'] beside" in done.stdout, done.stderr
        assert "--json stands behind" in done.stderr or words[0] == "--"
    done = rfview("launches", "--", script, "one", "--two")
    assert done.returncode == 5 and "__main__ ['one', '--two'] beside" in done.stdout, done.stderr
    tool = tmp_path / "tool"
    tool.write_text("#!/usr/bin/env python3\n" + script.read_text())
    tool.chmod(0o755)
    done = rfview("launches", "--", tool, "one", "--two")
    assert done.returncode == 5 and "__main__ ['one', '--two'] beside" in done.stdout, done.stderr
    script.write_text("def broken():\n    raise ValueError('of its own')\nbroken()\n")
    done = rfview("launches", script)
    assert done.returncode == 1 and "ValueError: of its own" in done.stderr and "plain.py" in done.stderr
    assert "runpy" not in done.stderr and "start.py" not in done.stderr


@pytest.mark.parametrize(("found", "said"), [("0.31.0", "numba-cuda 0.31.0 cannot be captured: numba-cuda 0.30 is known"),
                                             ("0.3", "cannot be captured"), (None, "is not installed")])
def test_releases_that_nobody_tried_are_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch, found: str | None,
                                                              said: str) -> None:
    def version(package: str) -> str:
        if found is None:
            raise metadata.PackageNotFoundError(package)
        return found

    monkeypatch.setattr(versions.metadata, "version", version)
    with pytest.raises(versions.UnknownVersion, match=said):
        versions.check("numba-cuda")


@pytest.mark.parametrize(("package", "found"), [(package, found) for package, releases in versions.TESTED.items()
                                                for found in releases])
def test_the_tested_releases_are_known(monkeypatch: pytest.MonkeyPatch, package: str, found: str) -> None:
    asked: list[str] = []
    monkeypatch.setattr(versions.metadata, "version", lambda name: asked.append(name) or found)
    versions.check(package)     # raises UnknownVersion for an unknown release
    assert asked == [package]


def test_hooks_wait_for_a_module_and_run_once_behind_its_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "framework_to_come.py").write_text("VALUE = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    seen: list[int] = []
    hook = hooks.AfterImport({"framework_to_come": lambda: seen.append(sys.modules["framework_to_come"].VALUE)})
    monkeypatch.setattr(sys, "meta_path", [hook, *sys.meta_path])
    module = importlib.import_module("framework_to_come")
    assert isinstance(module, types.ModuleType) and seen == [1]
    importlib.reload(module)
    assert seen == [1]
    del sys.modules["framework_to_come"]


def test_a_scripts_python_is_the_named_one_its_own_the_environments_or_ours(tmp_path: Path,
                                                                            monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "s.py"
    script.write_text("print()\n")
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    assert python_of(script, None) == sys.executable
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path))
    assert python_of(script, None) == str(python)
    script.write_text(f"#!{sys.executable}\n")
    assert python_of(script, None) == sys.executable
    assert python_of(script, str(python)) == str(python)
    with pytest.raises(InputError, match="--python /no/such"):
        python_of(script, "/no/such")


@needs_triton
def test_source_files_are_found_in_the_scripts_folder_from_any_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    done = rfview("record", "-o", tmp_path / "rows.rfs", "--launch", "softmax_rows", "--", TRITON, cwd=tmp_path)
    assert done.returncode == 3, (done.stdout, done.stderr)
    assert "e = tl.exp(x - tl.max(x, axis=0))" in rfview("lines", tmp_path / "rows.rfs").stdout


@needs_numba
def test_numba_kernels_have_source_lines_without_an_option(tmp_path: Path) -> None:
    assert "lineinfo" not in NUMBA.read_text()
    done = rfview("record", "-o", tmp_path / "saxpy.rfs", "--launch", "0", "--", NUMBA, "100")
    assert done.returncode == 3, (done.stdout, done.stderr)
    lines = json.loads(rfview("lines", tmp_path / "saxpy.rfs", "--json").stdout)["lines"]
    assert sum(bool(line["source"]) and line["issued"] > 0 for line in lines) >= 2
