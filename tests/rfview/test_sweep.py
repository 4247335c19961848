"""`rfview sweep`: each row written once, adding and resuming, kills and signals, two at once, and reading meanwhile."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rfview import cli
from rfview.engine import files
from rfview.engine.errors import InputError
from rfview.sweep import columns, dataset, plan, rows
from tests.conftest import PATIENCE_S, REPOSITORY

parquet = pytest.importorskip("pyarrow.parquet", reason="sweeps are kept by pyarrow")
COPY = REPOSITORY / "tests" / "corpus" / "bad" / "copy.ptx"
LAUNCH = """module = "copy.ptx"
[[launch]]
kernel = "copy"
grid = [GRID]
block = [64]
args = [{buffer = "data"}, {value = 1}]
[buffers.data]
shape = [8192]
dtype = "int32"
value = 6
"""
SWEEP = """output = "results"
kernels = ["./small.toml"]
designs = ["sram"]
[parameters]
sm.num_collectors = [2, 4, 8]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a kernel of a few hundred cycles and a sweep of three jobs."""
    (tmp_path / "copy.ptx").write_text(COPY.read_text())
    (tmp_path / "small.toml").write_text(LAUNCH.replace("GRID", "2"))
    (tmp_path / "sweep.toml").write_text(SWEEP)
    return tmp_path


def sweep(folder: Path, *words: str, code: int = 0) -> None:
    """Sweep with one worker, in this process."""
    assert cli.main(["sweep", str(folder / "sweep.toml"), "--workers", "1", *words]) == code


def rows_of(folder: Path, name: str = "results") -> list[dict[str, Any]]:
    """Return the rows of a dataset as plain data, sorted by key."""
    table = dataset.read(folder / name, [column.name for column in columns.COLUMNS])
    return sorted(table.to_pylist(maps_as_pydicts="strict"), key=lambda row: row["key"])


def of_the_runs(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows without the columns that differ when a job is run again."""
    return [{key: value for key, value in row.items() if key not in columns.NOT_THE_RUNS} for row in found]


def test_a_sweep_is_a_row_per_job_which_no_second_run_does_again(
        folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sweep(folder)
    assert "3 jobs: 3 ok" in capsys.readouterr().out
    first = rows_of(folder)
    assert [row["settings"]["sm.num_collectors"] for row in sorted(first, key=lambda row: row["cycles"])][-1] == "2"
    for row in first:
        assert row["outcome"] == "ok" and row["message"] == "" and row["kernel"] == "small" and row["design"] == "sram"
        assert row["issued"] + sum(row["stalls"].values()) == row["warp_cycles"]
        assert row["ipc"] == row["warp_instructions"] / row["cycles"] and row["counts"]["instructions"] == row["warp_instructions"]
        assert 0 < row["limit_cycles"] <= row["cycles"] and row["limit"] in ("LD/ST", "issue", "register banks", "memory port")
        assert row["lines_per_access"] >= 1 and row["passes_per_access"] is None and row["spilled_words"] == 0
        assert row["energy_pj"] == pytest.approx(row["energy_dynamic_pj"] + row["energy_leakage_pj"] + row["energy_refresh_pj"])
    sweep(folder)
    assert "nothing to run; 3 already had rows" in capsys.readouterr().out
    assert rows_of(folder) == first


def test_with_causes_a_row_says_which_line_held_up_most(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "sweep.toml").write_text(SWEEP.replace("[2, 4, 8]", "[2]"))
    sweep(folder)
    sweep(folder, "--causes")
    without, charged = sorted(rows_of(folder), key=lambda row: row["causes_line"] is not None)
    assert without["causes_line"] is without["causes_share"] is None
    assert charged["causes_line"].startswith("PTX line ") and 0 < charged["causes_share"] < 1
    changed = {name for name in charged if charged[name] != without[name]}
    assert changed - {*columns.NOT_THE_RUNS} == {"key", "causes_line", "causes_share"}
    (folder / "sweep.toml").write_text('causes = "yes"\n' + SWEEP)
    sweep(folder, code=2)
    assert "causes: expected true or false" in capsys.readouterr().err


def test_new_jobs_are_taken_in_and_a_changed_kernel_is_a_new_job(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sweep(folder)
    before = rows_of(folder)
    text = SWEEP.replace("[2, 4, 8]", "[2, 4, 8, 16]")
    (folder / "sweep.toml").write_text(text)
    sweep(folder)
    assert "4 jobs: 1 ok; 3 already had rows" in capsys.readouterr().out
    (folder / "small.toml").write_text(LAUNCH.replace("GRID", "3"))
    sweep(folder)
    assert "4 jobs: 4 ok" in capsys.readouterr().out
    found = rows_of(folder)
    assert len(found) == 8 and all(row in found for row in before)
    assert len(dataset.parts(folder / "results")) == 3


def test_the_same_run_under_two_names_is_one_job(folder: Path) -> None:
    (folder / "sweep.toml").write_text(SWEEP.replace('["sram"]', '["stt", "stt[stall=pipeline]", "sram"]') + "stt.write_cycles = [5, 9]\n")
    found = plan.load(folder / "sweep.toml")
    default = plan.keys.parameters("stt")["stt.stall"]
    assert default == "pipeline" and len(found.jobs) == 6 + 3 and found.same == 18 - 9
    assert len({one.key for one in found.jobs}) == 9


def test_keys_do_not_depend_on_where_files_lie_or_how_numbers_are_written(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    for name in ("copy.ptx", "small.toml"):
        (other / name).write_text((folder / name).read_text())
    (other / "sweep.toml").write_text(SWEEP.replace("[2, 4, 8]", '["2", 4, "0x8"]'))
    keys = [[one.key for one in plan.load(where / "sweep.toml").jobs] for where in (folder, other)]
    assert keys[0] == keys[1]
    (other / "copy.ptx").write_text(COPY.read_text() + "\n// changed\n")
    assert not set(keys[0]) & {one.key for one in plan.load(other / "sweep.toml").jobs}


def test_what_fails_is_a_row_and_stays_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "sweep.toml").write_text(SWEEP + "kernel.max_registers = [1, 63]\n")
    sweep(folder)
    sweep(folder, "-o", str(folder / "short"))
    assert "3 ok, 3 failed" in capsys.readouterr().out.replace("3 failed, 3 ok", "3 ok, 3 failed")
    failed = [row for row in rows_of(folder) if row["outcome"] == "failed"]
    assert len(failed) == 3 and all("registers" in row["message"] and row["cycles"] is None for row in failed)
    (folder / "sweep.toml").write_text("max_cycles = 20\n" + SWEEP)
    sweep(folder)
    assert "3 misbehaved" in capsys.readouterr().out
    (folder / "small.toml").write_text(LAUNCH.replace("GRID", "2") + "[expect.data]\nshape = [8192]\ndtype = \"int32\"\nvalue = 1\n")
    (folder / "sweep.toml").write_text(SWEEP)
    sweep(folder)
    assert "3 wrong" in capsys.readouterr().out
    wrong = [row for row in rows_of(folder) if row["outcome"] == "wrong"]
    assert all(row["verified"] is False and row["message"] for row in wrong)


def test_a_kernel_that_changes_meanwhile_ends_the_sweep(folder: Path) -> None:
    (one, *_) = plan.load(folder / "sweep.toml").jobs
    (folder / "small.toml").write_text(LAUNCH.replace("GRID", "3"))
    plan.keys.forget()                      # as in a worker that starts now
    assert rows.do(one) is None
    with pytest.raises(InputError, match="has changed since the sweep began"):
        rows.row_of(rows.Done(one))
    (folder / "small.toml").unlink()
    assert rows.do(one) is None


def test_two_sweeps_into_one_folder_at_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with dataset.writing(folder / "results"):
        sweep(folder, code=2)
    said = capsys.readouterr().err
    assert f"process {os.getpid()} on " in said and "is sweeping into it" in said
    sweep(folder)


def test_a_full_disk_is_one_error_that_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int, data: bytes, offset: int) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.pwrite", full)
    with pytest.raises(InputError, match=r"results/.rfview-sweep.lock: cannot be written: No space left on device"), \
            dataset.writing(tmp_path / "results"):
        pytest.fail("a sweep without its lock")


def test_partial_parts_are_taken_away_and_other_files_are_not(folder: Path) -> None:
    results = folder / "results"
    results.mkdir()
    partial, others = results / ".part-000001.parquet.0123ab.tmp", [results / "notes.txt", results / ".part-1.tmp"]
    for path in (partial, *others):
        path.write_text("PAR1 and no more")
    sweep(folder)
    assert not partial.exists() and all(path.read_text() == "PAR1 and no more" for path in others)
    assert len(rows_of(folder)) == 3


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1 garbage PAR1"])
def test_a_part_that_is_none_is_one_error(folder: Path, capsys: pytest.CaptureFixture[str], content: bytes) -> None:
    results = folder / "results"
    results.mkdir()
    (results / "part-000004.parquet").write_bytes(content)
    sweep(folder, code=2)
    said = capsys.readouterr().err
    assert "part-000004.parquet: is damaged or not part of a sweep" in said and len(said.splitlines()) == 1
    assert (results / "part-000004.parquet").read_bytes() == content


def test_a_table_of_other_columns_is_no_part(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import pyarrow

    (folder / "results").mkdir()
    parquet.write_table(pyarrow.table({"key": ["a"]}), folder / "results" / "part-000001.parquet")
    sweep(folder, code=2)
    assert "its columns are not those of this version" in capsys.readouterr().err


def test_parts_grow_and_a_foreign_one_is_never_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset, "PART_ROWS", 3)
    row = dict.fromkeys(columns.BY_NAME) | {"outcome": "ok"}
    with dataset.writing(tmp_path) as held:
        for number in range(4):
            held.add([row | {"key": str(number)}])
            held.flush()
        assert [len(parquet.read_table(path)) for path in dataset.parts(tmp_path)] == [3, 1]
    with pytest.raises(InputError, match="another program has written it"), dataset.writing(tmp_path) as held:
        assert held.keys == {"0", "1", "2", "3"}
        (tmp_path / "part-000003.parquet").write_text("mine")
        held.add([row | {"key": "4"}])
        held.flush()
    assert (tmp_path / "part-000003.parquet").read_text() == "mine"


def test_a_flipped_bit_gives_the_same_rows_or_one_error_that_names_the_part(tmp_path: Path) -> None:
    samples = {"text": "some text", "int": 1 << 40, "float": 0.1, "bool": True, "time": 1_700_000_000_000,
               "texts": [("a", "b")], "counts": [("rf_reads", 7)]}
    names = list(columns.BY_NAME)
    row = {name: samples[columns.BY_NAME[name].kind] for name in names}
    with dataset.writing(tmp_path) as held:
        held.add([row | {"key": str(number)} for number in range(3)])
    part, chance, refused = tmp_path / "part-000001.parquet", random.Random(9), 0
    content, rows_before = part.read_bytes(), dataset.read(tmp_path, names).to_pylist()
    for _ in range(300):
        damaged = bytearray(content)
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        part.write_bytes(damaged)
        try:
            assert dataset.read(tmp_path, names).to_pylist() == rows_before
        except InputError as error:
            assert str(error).startswith(f"{part}: is damaged or not part of a sweep") and "\n" not in str(error)
            refused += 1
    assert refused > 100


@pytest.mark.parametrize("call", ["replace", "sync_folder"])    # just before the part gets its final name, and just after
@pytest.mark.parametrize("written", [0, 2])
def test_a_signal_while_a_part_is_written_neither_loses_rows_nor_writes_them_twice(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, written: int) -> None:
    row = dict.fromkeys(columns.BY_NAME)
    owner = os if call == "replace" else files
    real, calls = getattr(owner, call), [0]

    def stopped(*args: Any) -> Any:
        calls[0] += 1
        if calls[0] == 1:
            raise KeyboardInterrupt
        return real(*args)

    with pytest.raises(KeyboardInterrupt), dataset.writing(tmp_path) as held:
        held.add([row | {"key": str(number)} for number in range(written)])
        held.flush()
        monkeypatch.setattr(owner, call, stopped)
        held.add([row | {"key": "last"}])
        held.flush()
    keys = dataset.read(tmp_path, ["key"])["key"].to_pylist()
    assert calls[0] >= 1 and sorted(keys) == sorted([*map(str, range(written)), "last"])
    assert len(dataset.parts(tmp_path)) == 1


def test_rows_are_on_the_disk_after_a_few_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(dataset.time, "monotonic", lambda: now)
    row = dict.fromkeys(columns.BY_NAME)
    with dataset.writing(tmp_path) as held:
        for name, on_the_disk in (("a", 1), ("b", 1), ("c", 1)):
            held.add([row | {"key": name}])
            assert len(dataset.read(tmp_path, ["key"])) == on_the_disk
        now += dataset.FLUSH_SECONDS
        held.add([])
        assert len(dataset.read(tmp_path, ["key"])) == 3


def test_a_hidden_file_is_hidden_until_it_is_whole(tmp_path: Path) -> None:
    with files.writing(tmp_path / "part-000001.parquet", hidden=True) as file:
        file.write(b"whole")
        (beside,) = tmp_path.iterdir()
        assert dataset.LEFT_OVER.fullmatch(beside.name)
    assert [path.name for path in tmp_path.iterdir()] == ["part-000001.parquet"]


def started(folder: Path) -> subprocess.Popen[str]:
    """Start a sweep in its own process group; return it when it has written rows."""
    before = len(dataset.parts(folder / "results"))
    child = subprocess.Popen([sys.executable, "-m", "rfview", "sweep", str(folder / "sweep.toml")], cwd=REPOSITORY,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    until = time.monotonic() + PATIENCE_S
    while len(dataset.parts(folder / "results")) == before:
        assert child.poll() is None and time.monotonic() < until, child.communicate()
        time.sleep(0.02)
    return child


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_sweep_that_is_stopped_goes_on_from_its_rows(folder: Path) -> None:
    (folder / "small.toml").write_text(LAUNCH.replace("GRID", "768"))
    # many more jobs than finish while the test waits for the first rows: the signal must hit a running sweep
    settings = 2000
    (folder / "sweep.toml").write_text(SWEEP + f"memory.dram_cycles = {list(range(1, settings + 1))}\n")
    before: list[dict[str, Any]] = []
    for number, code in ((signal.SIGKILL, -9), (signal.SIGTERM, 143), (signal.SIGINT, 130)):
        child = started(folder)
        if number is signal.SIGINT:
            os.killpg(child.pid, number)        # as a terminal does, to the workers as well
        else:
            child.send_signal(number)
        out, err = child.communicate(timeout=PATIENCE_S)
        assert child.returncode == code and "Traceback" not in err and out == ""
        after = rows_of(folder)
        assert len(before) < len(after) < 3 * settings and all(row in after for row in before)
        before = after
    (folder / "sweep.toml").write_text(SWEEP + f"memory.dram_cycles = {list(range(1, 11))}\n")
    sweep(folder)
    after = rows_of(folder)
    assert all(row in after for row in before) and len({row["key"] for row in after}) == len(after)
    assert {one.key for one in plan.load(folder / "sweep.toml").jobs} <= {row["key"] for row in after}
    assert not [path for path in (folder / "results").iterdir() if path.name.endswith(".tmp")]


def test_pandas_and_duckdb_read_the_folder(folder: Path) -> None:
    sweep(folder)
    cycles = sorted(row["cycles"] for row in rows_of(folder))
    pandas = pytest.importorskip("pandas", reason="reads the folder")
    assert sorted(pandas.read_parquet(folder / "results")["cycles"]) == cycles
    duckdb = pytest.importorskip("duckdb", reason="reads the folder")
    query = f"SELECT cycles, counts['rf_reads'] FROM read_parquet('{folder}/results/*.parquet') ORDER BY cycles"
    assert [row[0] for row in duckdb.sql(query).fetchall()] == cycles


def test_without_the_extras_it_is_one_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch,
                                               capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    sweep(folder, "--cluster", "tcp://127.0.0.1:1", code=2)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    sweep(folder, code=2)
    first, second = capsys.readouterr().err.splitlines()
    assert "rfview[cluster]" in first and "rfview[data]" in second


def test_json_says_what_came_of_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sweep(folder, "--json")
    assert json.loads(capsys.readouterr().out) == {
        "jobs": 3, "same": 0, "already": 0, "outcomes": {"ok": 3}, "folder": str(folder / "results"), "rows": 3, "notes": []}


def test_every_column_is_documented(rfview_process: Callable[..., subprocess.CompletedProcess[str]],
                                    capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["help", "sweep"]) == 0
    said = capsys.readouterr().out
    assert all(f"  {column.name} " in said and column.meaning in said for column in columns.COLUMNS)
    assert "SLURMCluster" in said and 'kernels = ["vectoradd"' in said
