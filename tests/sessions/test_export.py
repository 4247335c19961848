"""Exports for other viewers, read back and compared with the session they came from."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rfview.engine.errors import InputError
from rfview.engine.files import NewFile
from rfview.sessions import open_session
from rfview.sessions.export import FORMATS, TABLES, arrow, export, sqlite, tables
from rfview.sessions.reports.pipeline import reads, writes
from rfview.sessions.session import Session

RECORDED = Path(__file__).parents[2] / "rfview" / "learn" / "recorded"


@pytest.fixture(params=["first", "drain", "dead"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Session:
    return open_session(RECORDED / f"{request.param}.rfs")


def written(session: Session, form: str, folder: Path, **options: object) -> str:
    """Return the exported data."""
    target = folder / f"out.{form}"
    export(session.timeline, form, target, **options)  # type: ignore[arg-type]
    assert not list(folder.glob("*.tmp"))
    return target.read_text(encoding="utf-8")


def issued(session: Session) -> int:
    """Return the number of warp instructions of the session."""
    return int(session.timeline.stall_totals(session.timeline.last)[0])


def test_kanata_has_every_instruction_once_with_balanced_stages(session: Session, tmp_path: Path) -> None:
    lines = [line.split("\t") for line in written(session, "kanata", tmp_path).splitlines()]
    assert lines[0] == ["Kanata", "0004"] and lines[1] == ["C=", "0"]
    clock, stage, began, warps, retired, arrows = 0, {}, {}, Counter(), [], 0
    program, pcs, ended = session.info.program, {}, {}
    for kind, *words in lines[2:]:
        if kind == "C":
            assert int(words[0]) > 0
            clock += int(words[0])
        elif kind == "I":
            began[words[0]] = clock
            warps[int(words[2])] += 1
        elif kind == "L" and words[1] == "0":
            warp, pc = re.match(r"w(\d+) (\d+): ", words[2]).groups()
            pcs[words[0]] = (int(warp), program[int(pc)])
        elif kind == "W":
            (warp, reader), (other, writer) = pcs[words[0]], pcs[words[1]]
            assert warp == other and set(reads(reader)) & set(writes(writer)) and words[0] != words[1]
            arrows += 1
        elif kind == "S":
            assert words[0] not in stage
            stage[words[0]] = words[2]
        elif kind == "E":
            assert stage.pop(words[0]) == words[2]
        elif kind == "R":
            assert words[0] in began and words[0] not in stage
            retired.append(words[0])
            ended[words[0]] = clock
    assert arrows and all(ended[number] > begin for number, begin in began.items() if begin < session.timeline.last)
    assert len(began) == len(set(retired)) == issued(session) and not stage and clock <= session.timeline.last
    states = session.timeline.states(0, session.timeline.last + 1)
    assert warps == {warp: count for warp, count in enumerate((states == 0).sum(axis=0).tolist()) if count}
    cycles = Counter(began.values())
    assert all((states[cycle + 1] == 0).sum() == count for cycle, count in cycles.items())


def test_perfetto_has_all_warp_cycles_and_every_instruction(session: Session, tmp_path: Path) -> None:
    content = json.loads(written(session, "perfetto", tmp_path))
    slices = [entry for entry in content["traceEvents"] if entry["ph"] == "X"]
    totals: Counter[str] = Counter()
    for entry in slices:
        if entry["tid"] == 0:
            totals[entry["name"]] += entry["dur"]
    wanted = session.timeline.stall_totals(session.timeline.last)
    names = {entry.code: entry.name for entry in session.info.stalls}
    assert totals == {names[code]: count for code, count in enumerate(wanted.tolist()) if count}
    for warp in range(session.info.num_warps):
        mine = sorted((entry["ts"], entry["dur"]) for entry in slices if (entry["pid"], entry["tid"]) == (warp + 1, 0))
        assert mine[0][0] == 0 and all(a + b == c for (a, b), (c, _) in zip(mine, mine[1:]))
    instructions = [entry for entry in slices if entry.get("cat") == "instruction"]
    assert len(instructions) == issued(session)
    program = session.info.program
    assert all(entry["name"] == program[entry["args"]["pc"]].text for entry in instructions)
    tracks: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for entry in slices:
        tracks.setdefault((entry["pid"], entry["tid"]), []).append((entry["ts"], -entry["dur"]))
    for track in tracks.values():       # slices follow or contain one another
        open_until: list[int] = []
        for begin, negative in sorted(track):
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            assert not open_until or begin - negative <= open_until[-1]
            open_until.append(begin - negative)
    assert any(entry.get("cat") == "stage" and entry["name"] == "collect" for entry in slices)


def test_vcd_gives_every_signal_back_at_every_cycle(session: Session, tmp_path: Path) -> None:
    head, body = written(session, "vcd", tmp_path).split("$enddefinitions $end\n")
    scope, signals = [], {}
    for line in head.splitlines():
        if found := re.match(r"\$scope module (\S+) \$end", line):
            scope.append(found[1])
        elif line == "$upscope $end":
            scope.pop()
        elif found := re.match(r"\$var (?:string|wire) \d+ (\S+) (\S+) \$end", line):
            assert found[1] not in signals
            signals[found[1]] = (scope[-1], found[2])
    assert not scope
    last = session.timeline.last
    names = {entry.code: entry.name for entry in session.info.stalls}
    states = session.timeline.states(0, last + 1)
    queues = session.timeline.column("sm.bank[*].queue", 0, last + 1)
    pcs = session.timeline.column("sm.warp[*].pc", 0, last + 1)
    now: dict[tuple[str, str], str] = {}
    changes: dict[int, list[tuple[str, str]]] = {}
    time = 0
    for line in body.splitlines():
        if line.startswith("#"):
            assert int(line[1:]) > time or not changes
            time = int(line[1:])
            changes[time] = []
        else:
            changes[time].append(tuple(line.split(" ")))  # type: ignore[arg-type]
    assert time == last
    for cycle in range(last):
        for value, code in changes.get(cycle, []):
            now[signals[code]] = value
        for warp in (0, 1, 7):
            assert now[f"warp{warp}", "state"] == f"s{names[states[cycle + 1, warp]]}"
            assert int(now[f"warp{warp}", "pc"][1:], 2) == pcs[cycle + 1, warp]
        assert int(now["bank1", "queue"][1:], 2) == queues[cycle + 1, 1]


def test_csv_rows_add_up_to_the_totals(session: Session, tmp_path: Path) -> None:
    head, *rows = csv.reader(written(session, "csv", tmp_path).splitlines())
    values = np.array(rows, np.int64)
    assert values[:, 0].tolist() == list(range(session.timeline.last))
    assert (values[:, 1:].sum(axis=1) == session.info.num_warps).all()
    totals = session.timeline.stall_totals(session.timeline.last)
    codes = {entry.name: entry.code for entry in session.info.stalls}
    assert values[:, 1:].sum(axis=0).tolist() == [int(totals[codes[name]]) for name in head[1:]]


def test_csv_columns_are_what_print_says(session: Session, tmp_path: Path) -> None:
    text = written(session, "csv", tmp_path, first=100, last=140,
                   columns=["stall.issued", "any(w.state == wait)", "scheduler.last_warp"])
    head, *rows = csv.reader(text.splitlines())
    count = len(session.value("scheduler.last_warp", 120))
    assert head[:3] == ["at_cycle", "stall.issued", "any(w.state == wait)"] and len(head) == 3 + count
    assert [int(row[0]) for row in rows] == list(range(100, 141))
    for row in rows:
        assert int(row[1]) == session.value("stall.issued", int(row[0]))
        assert row[2] == str(int(session.value("any(w.state == wait)", int(row[0]))))


def test_sqlite_agrees_with_the_session(session: Session, tmp_path: Path) -> None:
    export(session.timeline, "sqlite", tmp_path / "out.db")
    assert [file.name for file in tmp_path.iterdir()] == ["out.db"]
    database = sqlite3.connect(tmp_path / "out.db")
    ask = lambda query: database.execute(query).fetchall()
    timeline, last = session.timeline, session.timeline.last
    totals = {entry.name: int(timeline.stall_totals(last)[entry.code]) for entry in session.info.stalls}
    totals = {name: count for name, count in totals.items() if count}
    assert dict(ask("SELECT state, sum(warps) FROM stalls GROUP BY state")) == totals
    assert dict(ask("SELECT state, sum(cycles) FROM waits GROUP BY state")) == totals
    assert ask("SELECT count(*), sum(issued), min(cycle), max(cycle) FROM cycles") == [(last, issued(session), 0, last - 1)]
    assert ask("SELECT count(*) FROM instructions") == [(issued(session),)]
    for name, count in ask("SELECT name, sum(count) FROM events GROUP BY name"):
        assert session.value(f"event.{name}", last) == count
    warp, state, first, end, cycles = ask("SELECT * FROM waits WHERE state = 'long_scoreboard' OR 1 ORDER BY cycles DESC")[5]
    codes = {entry.name: entry.code for entry in session.info.stalls}
    assert end - first + 1 == cycles and (timeline.states(first + 1, end + 2)[:, warp] == codes[state]).all()
    activity = timeline.column("sm.bank[*].activity", 1, last + 1)
    assert dict(ask("SELECT kind, count(*) FROM accesses GROUP BY kind")).get("read", 0) == (activity == 1).sum()
    rows = ask("SELECT issue, collect, execute, write_back, done FROM instructions WHERE write_back IS NOT NULL")
    assert rows and all(issue <= collect <= execute <= back and (done is None or back <= done)
                        for issue, collect, execute, back, done in rows if None not in (collect, execute))
    queries = [line.strip() for line in (sqlite.__doc__ or "").splitlines() if line.startswith("  SELECT")]
    assert len(queries) == 2 and all(ask(query) for query in queries)


def test_parquet_and_frames_hold_what_the_database_holds(session: Session, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    for _ in range(2):      # an earlier export is replaced
        export(session.timeline, "parquet", tmp_path / "tables", first=3, last=session.timeline.last - 2)
    export(session.timeline, "sqlite", tmp_path / "out.db", first=3, last=session.timeline.last - 2)
    database = sqlite3.connect(tmp_path / "out.db")
    assert sorted(path.stem for path in (tmp_path / "tables").iterdir()) == sorted(tables.COLUMNS)
    for name, columns in tables.COLUMNS.items():
        table = pq.read_table(tmp_path / "tables" / f"{name}.parquet")
        assert table.column_names == list(columns) and table.num_rows > 0
        rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
        held = database.execute(f"SELECT * FROM {name}").fetchall()
        if name == "run":
            held = [(key, None if value is None else str(value)) for key, value in held]
        assert sorted(rows, key=str) == sorted(held, key=str)
        assert table.equals(session.frame(name, 3, session.timeline.last - 2))


def test_a_folder_of_tables_is_whole_or_not_there(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> Iterator[Any]:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(arrow, "batches", full)
    (tmp_path / "was there").mkdir()
    for name in ("tables", "was there"):
        with pytest.raises(InputError, match=f"{name}: cannot be written: No space left on device"):
            export(session.timeline, "parquet", tmp_path / name)
    assert [path.name for path in tmp_path.rglob("*")] == ["was there"]


def test_what_a_killed_export_left_is_replaced(tmp_path: Path) -> None:
    """SIGKILL in the middle of the tables: the temporary files stay, and the next export of the folder removes them."""
    folder = tmp_path / "tables"
    program = textwrap.dedent(f"""
        import os, pathlib, signal
        from rfview.sessions import open_session
        from rfview.sessions.export import arrow, export

        real, seen = arrow.batches, []
        def batches(timeline, name, first, last):
            seen.append(name)
            if len(seen) == 3:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(timeline, name, first, last)
        arrow.batches = batches
        export(open_session({str(RECORDED / "first.rfs")!r}).timeline, "parquet", pathlib.Path({str(folder)!r}))
    """)
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -signal.SIGKILL
    left = sorted(path.name for path in folder.iterdir())
    assert len(left) == 3 and all(name.endswith(".tmp") for name in left)
    export(open_session(RECORDED / "first.rfs").timeline, "parquet", folder)
    assert sorted(path.stem for path in folder.iterdir()) == sorted(tables.COLUMNS)


def test_only_an_exports_own_leftovers_are_removed(tmp_path: Path) -> None:
    timeline = open_session(RECORDED / "first.rfs").timeline
    for name in ("waits.parquet.tmp", "waits.parquet.zzzzzz.tmp", "others.parquet.a1b2c3.tmp", "waits.csv.a1b2c3.tmp"):
        foreign, left = tmp_path / name, tmp_path / "waits.parquet.a1b2c3.tmp"
        foreign.write_text("mine")
        left.write_text("PAR1")
        with pytest.raises(InputError, match=f"contains files other than an export's tables \\({name}\\)"):
            export(timeline, "parquet", tmp_path)
        assert foreign.read_text() == "mine" and left.exists()
        foreign.unlink()
    made = NewFile(tmp_path / "waits.parquet")
    made.claim()
    with pytest.raises(InputError, match=f"another export is writing there \\({made.path.name}\\)"):
        export(timeline, "parquet", tmp_path)
    assert made.path.exists()
    made.discard()
    export(timeline, "parquet", tmp_path)
    assert sorted(path.stem for path in tmp_path.iterdir()) == sorted(tables.COLUMNS)


def test_without_pyarrow_the_way_to_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"pip install 'rfview\[data\]'"):
        arrow.pyarrow()


@pytest.mark.parametrize("form", [form for form in FORMATS if form not in TABLES])
def test_a_stretch_is_cut_at_both_ends(session: Session, tmp_path: Path, form: str) -> None:
    text = written(session, form, tmp_path, first=50, last=90)
    if form == "perfetto":
        stamps = [(entry["ts"], entry.get("dur", 0)) for entry in json.loads(text)["traceEvents"] if "ts" in entry]
        assert min(ts for ts, _ in stamps) >= 50 and max(ts + dur for ts, dur in stamps) <= 90
    elif form == "vcd":
        assert re.findall(r"^#(\d+)$", text, re.M)[0] == "50" and text.endswith("#90\n")
    elif form == "kanata":
        advances = [int(n) for n in re.findall(r"^C\t(\d+)$", text, re.M)]
        assert advances[0] >= 50 and sum(advances) <= 90


def test_wrong_requests_name_what_is_wrong(tmp_path: Path) -> None:
    timeline = open_session(RECORDED / "first.rfs").timeline
    with pytest.raises(InputError, match="did you mean kanata"):
        export(timeline, "kanat", tmp_path / "x")
    with pytest.raises(InputError, match="table wait: there are run, .*waits"):
        open_session(RECORDED / "first.rfs").frame("wait")
    (tmp_path / "of others").mkdir()
    (tmp_path / "of others" / "waits.csv").write_text("mine")
    with pytest.raises(InputError, match="waits.csv"):
        export(timeline, "parquet", tmp_path / "of others")
    assert (tmp_path / "of others" / "waits.csv").read_text() == "mine"
    shutil.rmtree(tmp_path / "of others")
    with pytest.raises(InputError, match="only csv"):
        export(timeline, "vcd", tmp_path / "x", columns=["cycle"])
    export(timeline, "konata", tmp_path / "x", last=9)
    (tmp_path / "x").unlink()
    with pytest.raises(InputError, match="outside this session"):
        export(timeline, "vcd", tmp_path / "x", last=10**9)
    with pytest.raises(InputError, match="the first cycle, 9, is not before the last, 9"):
        export(timeline, "vcd", tmp_path / "x", first=9, last=9)
    assert list(tmp_path.iterdir()) == []
