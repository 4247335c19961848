"""A new scheduler and a new stall reason shift the numbers of the engine; recordings made before and after are read alike."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from rfview.engine.stalls import FIRST_DESIGN_CODE, STALLS
from rfview.sessions.timeline.opening import open_recording

REPOSITORY = Path(__file__).parents[2]
RECORDINGS = ("rfview/learn/recorded/dead.rfs", "rfview/learn/recorded/drain.rfs")

# a scheduler and a stall reason before all others: module, text of its source, what takes the text's place
ADDED = (
    ("rfview.engine.machine.schedulers", "in (lrr.ROW,", 'in (gto.ROW._replace(name="newest"), lrr.ROW,'),
    ("rfview.engine.stalls", "(ISSUED, NOT_SELECTED,", "(NEWEST, ISSUED, NOT_SELECTED,"),
    ("rfview.engine.stalls", f"range({len(STALLS)})", f"range({len(STALLS) + 1})"),
    ("rfview.engine.stalls", "STALLS: tuple[Stall, ...] = (\n",
     'STALLS: tuple[Stall, ...] = (\n    Stall(NEWEST, "newest", "newest", "N", "N", "structural", "It is the newest."),\n'),
)

# argv[1]: such changes as JSON, made before anything is imported
CHANGE = r"""
import io, json, sys
from importlib.util import find_spec, module_from_spec

changes, paths = json.loads(sys.argv[1]), sys.argv[2:]
for name in dict.fromkeys(change[0] for change in changes):
    spec = find_spec(name)
    with open(spec.origin, encoding="utf-8") as file:
        text = file.read()
    for _, old, new in (change for change in changes if change[0] == name):
        assert text.count(old) == 1, (name, old)
        text = text.replace(old, new)
    sys.modules[name] = module = module_from_spec(spec)
    exec(compile(text, spec.origin, "exec"), module.__dict__)
    parent, _, own = name.rpartition(".")
    setattr(sys.modules[parent], own, module)
"""
WRITER = CHANGE + r"""
from rfview.engine.kernels import path
from rfview.engine.launch import load_launch_file
from rfview.engine.simulator import Simulator
from rfview.sessions.file.writer import record
record(Simulator(load_launch_file(path("vectoradd")), design="stt"), paths[0], max_cycles=400, chunk_cycles=100)
"""
READER = CHANGE + r"""
from rfview.engine.machine.schedulers import SCHEDULERS
from rfview.engine.stalls import ISSUED
from rfview.render import frame
from rfview.screens.scenes.source import SceneSource
from rfview.sessions import open_session
from rfview.sessions.commands.script import run_script
from rfview.sessions.export import csv, kanata, perfetto, vcd
from rfview.sessions.lines.report import line_report
from rfview.sessions.why import why

SCRIPT = '''goto 40%; info warps; info stalls; stats; p stall.issued; p total.no_cta; ne conflict; ne issue; pe stall; rf stall.barrier > 1;
break warp 3; rc; find w2.state == long_scoreboard'''
found = {"numbers": [list(SCHEDULERS).index("gto"), ISSUED]}
for path in paths:
    session = open_session(path)
    timeline, out = session.timeline, io.StringIO()
    texts = [answer.text for answer in run_script(session, SCRIPT)]
    for cycle in range(timeline.first, timeline.last, max(1, (timeline.last - timeline.first) // 3)):
        session.goto(cycle)
        texts += [why(session, warp).text() for warp in range(0, session.info.num_warps, 7)]
        texts += [frame.as_text(SceneSource(session).scene(), 120, 40)]
    for form in (csv, kanata, perfetto, vcd):
        form.write(timeline, timeline.first, min(timeline.last, timeline.first + 300), out)
    found[path] = [*texts, out.getvalue(), json.dumps(line_report(session, ptx=True).data())]
print(json.dumps(found))
"""


def run(program: str, changes: tuple[tuple[str, str, str], ...], *paths: str, **environment: str) -> str:
    """Return what a program prints in a process with a changed engine."""
    words = [sys.executable, "-c", program, json.dumps(changes), *paths]
    return subprocess.run(words, cwd=REPOSITORY, env=os.environ | environment, capture_output=True, text=True, check=True).stdout


def test_a_new_scheduler_and_a_new_stall_reason_change_nothing_in_existing_recordings() -> None:
    before, after = (json.loads(run(READER, changes, *RECORDINGS)) for changes in ((), ADDED))
    assert [new - old for old, new in zip(before.pop("numbers"), after.pop("numbers"), strict=True)] == [1, 1]
    for path in RECORDINGS:
        assert len(before[path]) > 30 and after[path] == before[path]


def test_a_recording_made_with_other_numbers_reads_like_one_made_with_ours(tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("ours.rfs", "theirs.rfs")]
    for file, changes in zip(files, ((), ADDED), strict=True):
        run(WRITER, changes, file, NUMBA_DISABLE_JIT="1")
    tables = [open_recording(file).info.stall_codes for file in files]
    assert all(tables[1][name] == code + 1 for name, code in tables[0].items() if code < FIRST_DESIGN_CODE)
    texts = json.loads(run(READER, (), *files))
    assert len(texts[files[0]]) > 30 and texts[files[1]] == texts[files[0]]
