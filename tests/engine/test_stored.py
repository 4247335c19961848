"""Machine code on disk: shared by copies of equal content, never lost or mixed up, never anybody else's."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rfview.engine import plugin
from rfview.engine.compile import cache, jit, stored, warm
from tests.conftest import PATIENCE_S, REPOSITORY

PROGRAM = "from rfview.engine.compile import jit\n\n@jit.entry\ndef double(x):\n    return 2 * x\n"
CALL = "from cached import double; print(double(4), sum(double.stats.cache_hits.values()))"
NOBODY = 65534
compiles = pytest.mark.skipif(jit.OFF, reason="nothing is compiled")
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
on_posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owner")


def run(folder: Path, program: str, root: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder with the cache `root`."""
    environ = {**os.environ, "RFVIEW_CACHE_DIR": str(root), "PYTHONPATH": f"{folder}{os.pathsep}{REPOSITORY}"}
    return subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, timeout=PATIENCE_S, check=True)


def save_many(folder: Path, number: int, count: int, barrier: Any) -> None:
    """Store files at the same moments as another process."""
    cache.CACHE_FOLDER = folder
    for index in range(count):
        barrier.wait()
        stored.write(f"f-{number}-{index}", b"code of %d %d" % (number, index) * 2000)
        stored.write(f"f-both-{index}", b"code of both" * 2000)


def test_processes_that_store_code_at_the_same_time_lose_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """numba's index lost 17 of 600, and 13 had the code of another."""
    context = multiprocessing.get_context("spawn")
    barrier, count = context.Barrier(2), 150
    both = [context.Process(target=save_many, args=(tmp_path, number, count, barrier)) for number in (0, 1)]
    for process in both:
        process.start()
    for process in both:
        process.join(PATIENCE_S)
    monkeypatch.setattr(cache, "CACHE_FOLDER", tmp_path)
    for index in range(count):
        assert [stored.read(f"f-{number}-{index}") for number in (0, 1)] == [
            b"code of %d %d" % (number, index) * 2000 for number in (0, 1)]
        assert stored.read(f"f-both-{index}") == b"code of both" * 2000
    assert len(list(tmp_path.iterdir())) == 3 * count


@compiles
def test_a_copy_of_equal_content_loads_what_the_first_compiled(tmp_path: Path) -> None:
    for name, text in (("first", PROGRAM), ("copy", PROGRAM), ("edited", PROGRAM.replace("2 * x", "x + x + x"))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "cached.py").write_text(text)
    said = [run(tmp_path / name, CALL, tmp_path / "cache").stdout.split() for name in ("first", "copy", "edited")]
    assert said == [["8", "0"], ["8", "1"], ["12", "0"]]


def others_code(path: Path) -> None:
    os.chown(path, NOBODY, -1)


def open_to_all(path: Path) -> None:
    path.chmod(0o777)


@compiles
@on_posix
@pytest.mark.parametrize(("change", "says"), [(open_to_all, "may be written by others (chmod go-w)"),
                                              pytest.param(others_code, "belongs to another user", marks=as_root)])
@pytest.mark.parametrize("which", ["file", "folder", "root"])
def test_no_code_is_loaded_that_others_may_have_put_there(tmp_path: Path, which: str, change: Callable[[Path], None],
                                                          says: str) -> None:
    """From a file it is replaced; a folder is not used at all, and one sentence says why."""
    (tmp_path / "cached.py").write_text(PROGRAM)
    root = tmp_path / "cache"
    for hits in ("0", "1"):
        assert run(tmp_path, CALL, root).stdout.split() == ["8", hits]
    (folder,) = root.iterdir()
    (file,) = folder.glob("*.code")
    before = file.stat()
    path = {"file": file, "folder": folder, "root": root}[which]
    change(path)
    done = [run(tmp_path, CALL, root) for _ in range(2)]
    again = "1" if which == "file" else "0"
    assert [each.stdout.split() for each in done] == [["8", "0"], ["8", again]]
    assert str(path) in done[0].stderr and says in done[0].stderr and done[0].stderr.count("\n") == 1
    assert done[1].stderr == ("" if which == "file" else done[0].stderr)
    assert (file.stat().st_mtime_ns == before.st_mtime_ns) == (which != "file"), "an inode may be used again"


@on_posix
def test_a_root_that_belongs_to_all_is_used_if_others_cannot_replace_what_is_in_it(tmp_path: Path) -> None:
    """/tmp, and a new folder where each user has a group of their own."""
    (tmp_path / "cached.py").write_text(PROGRAM)
    root = tmp_path / "cache"
    root.mkdir()
    root.chmod(0o1777)
    assert run(tmp_path, CALL, root).stderr == ""
    (folder,) = root.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700


def test_only_our_old_folders_are_removed_and_none_in_use(tmp_path: Path) -> None:
    names = [f"numba-0.6{number}-numpy-2-{number:016x}" for number in range(cache.KEEP_FOLDERS + 3)]
    for number, name in enumerate([*names, "numba-sources", "numba-0.1-numpy-notes"]):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (1000 + number, 1000 + number))
    handle = cache._lock(tmp_path / names[0], "LOCK_SH")
    cache._remove_old(tmp_path)
    os.close(handle)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {names[0], *names[3:], "numba-sources", "numba-0.1-numpy-notes"}


@compiles
def test_an_interrupt_while_code_is_loaded_comes_when_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was lost: LLVM calls back into Python, where exceptions are dropped."""
    loaded: list[Any] = []
    usual = stored.CompileResult._rebuild

    def interrupted(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        loaded.append(usual(*arguments))
        return loaded[-1]

    def double(x: Any) -> Any:
        return 2 * x

    monkeypatch.setattr(cache, "CACHE_FOLDER", tmp_path)
    assert jit.entry(double)(4) == 8
    monkeypatch.setattr(stored.CompileResult, "_rebuild", interrupted)
    with pytest.raises(KeyboardInterrupt):
        jit.entry(double)(4)
    assert len(loaded) == 1


@compiles
def test_a_mark_vouches_only_for_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Other than a mark of content alone, it was believed where the code was not, and a minute passed without a line."""
    monkeypatch.setattr(cache, "CACHE_FOLDER", tmp_path)
    monkeypatch.setattr(cache, "_has_told", False)
    dtype = plugin.build("sram", {}, "any").spec_dtype
    name = f"run-{0:064x}.code"
    assert not warm.is_ready(dtype)
    warm.note_ready(dtype, name)
    assert not warm.is_ready(dtype)
    stored.write(name, b"content")
    assert warm.is_ready(dtype)
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:-1])
    assert not warm.is_ready(dtype) and not (tmp_path / name).exists()
    assert capsys.readouterr().err == f"rfview: {tmp_path / name}: is damaged: it is compiled again\n"


def test_two_files_of_one_design_have_machine_code_of_their_own(tmp_path: Path) -> None:
    """Code on disk finds the design's module by the file's name: the second could not load it, and replaced it each time."""
    plugin.files.write_new(tmp_path / "first_rf.py")
    (tmp_path / "copy_rf.py").write_bytes((tmp_path / "first_rf.py").read_bytes())
    first, copy = (plugin.build(str(tmp_path / name), {}, "any").spec_dtype for name in ("first_rf.py", "copy_rf.py"))
    assert first != copy
