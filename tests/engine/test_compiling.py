"""numba, as patched by numba_parts.py, generates machine code only for entry points, with the same results."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rfview.engine.compile import jit
from rfview.engine.compile.device import device
from tests.conftest import PATIENCE_S

ROOT = Path(__file__).parent.parent.parent
pytestmark = pytest.mark.skipif(jit.OFF, reason="nothing is compiled")


def test_only_entry_points_become_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    from rfview.engine.compile.numba_parts import Base, Library

    whole: dict[str, bool] = {}
    linkage: dict[str, dict[str, str]] = {}
    finalize: Any = Library._finalize_final_module
    optimize: Any = Base._optimize_final_module

    def noted(library: Any) -> None:
        whole[library.name] = not library.is_part
        finalize(library)

    def looked_at(library: Any) -> None:
        found = (each for each in library._final_module.functions if not each.is_declaration)
        linkage[library.name.rpartition(".")[2]] = {each.name: each.linkage.name for each in found}
        optimize(library)

    monkeypatch.setattr(Library, "_finalize_final_module", noted)
    monkeypatch.setattr(Base, "_optimize_final_module", looked_at)

    @device
    def doubled(x: Any) -> Any:
        return 2 * x

    @device
    def sum_of_doubles(values: Any) -> Any:
        total = 0
        for value in values:
            total += doubled(value)
        return total

    @jit.numba.njit
    def run(values: Any) -> Any:
        return sum_of_doubles(values) + doubled(1)

    values = np.arange(10)
    assert run(values) == run.py_func(values) == 92
    ours = {name.rpartition(".")[2]: is_whole for name, is_whole in whole.items()}
    assert (ours["run"], ours["sum_of_doubles"], ours["doubled"]) == (True, False, False), whole
    parts = [how for name, how in linkage["run"].items() if "doubled" in name or "sum_of_doubles" in name]
    assert len(parts) >= 2 and set(parts) == {"internal"}, "LLVM need not keep a copy of a part, nor its unused arguments"


def test_a_recursive_function_runs_from_another() -> None:
    """If a function calls itself, numba looks up its machine code."""

    @jit.numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)
    def factorial(n: Any) -> Any:
        return 1 if n <= 1 else n * factorial(n - 1)

    @jit.numba.njit
    def run(n: Any) -> Any:
        return factorial(n)

    assert run(10) == 3_628_800


def test_what_is_in_the_cache_runs_without_what_compiles(tmp_path: Path) -> None:
    """A second process loads and runs; it can still compile if it has to."""
    (tmp_path / "cached.py").write_text(
        "from rfview.engine.compile import jit\n\n@jit.entry\ndef total(values):\n    found = 0\n    for value in values:\n"
        "        found += value\n    return found\n"
    )
    program = ("import sys, numpy as np; from cached import total; print(total(np.arange(5)));"
               "print('numba.cpython.numbers' in sys.modules); print(total(np.arange(5.0)))")
    environ = {**os.environ, "RFVIEW_CACHE_DIR": str(tmp_path), "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    run = partial(subprocess.run, [sys.executable, "-c", program], env=environ, capture_output=True, text=True, timeout=PATIENCE_S)
    printed = [run().stdout for _ in range(3)]
    assert [text.split() for text in printed] == [["10", "True", "10.0"], ["10", "False", "10.0"], ["10", "False", "10.0"]]


@pytest.mark.parametrize("content", [b"", b"rubbish", None])
def test_a_damaged_file_of_the_cache_is_made_again(tmp_path: Path, content: bytes | None) -> None:
    """None: the file is truncated in the middle."""
    (tmp_path / "cached.py").write_text("from rfview.engine.compile import jit\n\n@jit.entry\ndef double(x):\n    return 2 * x\n")
    program = "from cached import double; print(double(4), sum(double.stats.cache_hits.values()))"
    environ = {**os.environ, "RFVIEW_CACHE_DIR": str(tmp_path), "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    run = partial(subprocess.run, [sys.executable, "-c", program], env=environ, capture_output=True, text=True, timeout=PATIENCE_S)
    assert run().stdout.split() == ["8", "0"]
    (damaged,) = tmp_path.rglob("*.code")
    damaged.write_bytes(damaged.read_bytes()[: damaged.stat().st_size // 2] if content is None else content)
    assert [run().stdout.split() for _ in range(2)] == [["8", "0"], ["8", "1"]]


def test_a_disk_that_is_full_loses_no_run(tmp_path: Path) -> None:
    """It ended the run with `No space left on device`, after a minute of compiling."""
    program = """
import errno, os
from rfview.engine.compile import cache, jit, stored

def full(*arguments):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

stored.write = full

@jit.entry
def double(x):
    return 2 * x

print(double(4), double(4.0))
stored.mark(cache.CACHE_FOLDER / "all.ready", ["code"])
"""
    (tmp_path / "uncached.py").write_text(program)
    environ = {**os.environ, "RFVIEW_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = subprocess.run([sys.executable, tmp_path / "uncached.py"], env=environ, capture_output=True, text=True,
                          timeout=PATIENCE_S, check=False)
    assert done.stdout.split() == ["8", "8.0"]
    assert done.stderr.count("\n") == 1 and "cache: compiled code cannot be kept there (No space left on device)" in done.stderr
    assert not list(tmp_path.rglob("*.ready")), "the next run compiles again, with its progress"


def test_bitcode_from_the_cache_is_read_where_it_is_linked(tmp_path: Path) -> None:
    """Machine code runs without bitcode; a caller of the function is compiled with it, even in a process that loaded it."""
    (tmp_path / "cached.py").write_text("from rfview.engine.compile import jit\n\n@jit.entry\ndef double(x):\n    return 2 * x\n")
    program = """
import rfview.engine.compile.numba_parts as compiling
from rfview.engine.compile import jit
from tests.conftest import PATIENCE_S
from cached import double
reads, usual = [], compiling.parse_bitcode
compiling.parse_bitcode = lambda bitcode: reads.append(1) or usual(bitcode)
print(double(4), len(reads), sum(double.stats.cache_hits.values()))

@jit.numba.njit
def quadruple(x):
    return double(double(x))

print(quadruple(4), len(reads))
"""
    environ = {**os.environ, "RFVIEW_CACHE_DIR": str(tmp_path), "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    run = partial(subprocess.run, [sys.executable, "-c", program], env=environ, capture_output=True, text=True, timeout=PATIENCE_S)
    assert [run().stdout.split() for _ in range(2)] == [["8", "0", "0", "16", "0"], ["8", "0", "1", "16", "1"]]
