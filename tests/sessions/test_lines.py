"""Source lines of a session: stepping, breakpoints and the cost of each line; live and recorded alike."""

import json
import re
import shutil
from pathlib import Path

from msgspec import structs
import numpy as np
import pytest

from rfview.engine.info import Text
from rfview.cli import main
from rfview.engine import kernels
from rfview.engine.errors import InputError
from rfview.engine.stalls import NO_WARP
from rfview.sessions import open_session
from rfview.sessions.commands.table import execute
from rfview.sessions.lines.counts import Counter, count_instructions
from rfview.sessions.lines.report import line_report
from rfview.sessions.lines.table import LineTable

SOFTMAX = "tests/corpus/triton_softmax/triton_softmax.sm75.toml"


@pytest.fixture(scope="module")
def softmax():
    session = open_session(SOFTMAX)
    session.goto("end")
    return session


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A recording of the same run, opened after its source has been removed."""
    folder = tmp_path_factory.mktemp("lines") / "kernel"
    path = folder.parent / "softmax.rfs"
    shutil.copytree(Path(SOFTMAX).parent, folder)
    assert main(["record", str(folder / Path(SOFTMAX).name), "-o", str(path)]) == 0
    shutil.rmtree(folder)
    return open_session(path)


@pytest.fixture(params=["softmax", "recorded"])
def session(request):
    found = request.getfixturevalue(request.param)
    found.breakpoints.clear()
    found.goto(0)
    return found


def line_of(session, warp, cycle):
    warps = session.snapshot(cycle).sm["warp"]
    return None if int(warps[warp]["cta"]) == 255 else session.lines.at(int(warps[warp]["pc"]))


def test_lines_have_their_text_from_the_compilers_source(session):
    line = session.lines.find("triton_softmax.py:17", "test")
    assert session.lines.source(line).strip() == "e = tl.exp(x - tl.max(x, axis=0))"
    frames = session.lines.frames(session.lines.pcs(line)[1])
    assert frames[-1].where == line and frames[0].where.path == "triton/language/standard.py"


def test_a_header_whose_text_was_not_found_is_no_line_of_the_users():
    """Bundled kernels name CUDA's headers without folders, as if they were beside the kernel."""
    with open_session("histogram") as session:
        table = LineTable(session.info)
        assert {line.path for line in table.lines} == {"histogram.cu"}
        inlined = next(entry.pc for entry in session.info.program if entry.mnemonic in ("atom", "red"))
        assert [frame.where.text for frame in table.frames(inlined)][0] == "device_atomic_functions.hpp:112"


def test_statistics_per_line_sum_to_the_whole(session):
    session.goto("end")
    found, snapshot = line_report(session), session.snapshot()
    totals = {entry.name: int(snapshot.sm["stall_total"][entry.code]) for entry in session.info.stalls}
    assert sum(line.issued for line in found.lines) == totals["issued"] == int(snapshot.sm["events"][0])
    for name, total in totals.items():
        if name != "issued":
            assert sum(line.stalled.get(name, 0) for line in found.lines) + found.nobody.get(name, 0) == total, name
    assert set(found.nobody) <= set(NO_WARP)
    assert sum(line.share for line in found.lines) == pytest.approx(1.0)
    assert sum(line.pcs for line in found.lines) == len(session.info.program)


def test_register_traffic_is_what_the_issued_instructions_name(session):
    program = session.info.program
    counts = count_instructions(session.timeline, 0, session.timeline.last)
    reads = [count * len({reg for reg in entry.src if reg != 255})
             for count, entry in zip(counts.issued.tolist(), program, strict=True)]
    session.goto("end")
    found = line_report(session)
    assert sum(line.reads for line in found.lines) == sum(reads) > 0
    writes = int(session.snapshot().sm["events"][session.info.events.index("rf_writes")])
    assert sum(line.writes for line in found.lines) >= writes      # a predicated load without active lanes writes nothing


def test_stretches_add_up_and_a_growing_one_counts_each_cycle_once(session):
    last = session.timeline.last
    whole = count_instructions(session.timeline, 0, last)
    parts = [count_instructions(session.timeline, *ends) for ends in ((0, 700), (700, last))]
    assert (parts[0].states + parts[1].states == whole.states).all()
    counter = Counter(session.timeline, 0)
    for upto in (1, 2, 700, last):
        assert counter.count(upto)
    assert (counter.counts().states == whole.states).all()


def test_stalls_are_counted_on_the_instruction_that_waits(softmax):
    counts = count_instructions(softmax.timeline, 0, softmax.timeline.last)
    states, pcs, last_pcs = (softmax.timeline.column(f"sm.warp[*].{name}", 1, softmax.timeline.last + 1)
                             [:, : softmax.info.num_warps] for name in ("state", "pc", "last_pc"))
    expected = np.zeros_like(counts.states)
    nobody = [entry.code for entry in softmax.info.stalls if entry.name in NO_WARP]
    for row in range(len(states)):
        for state, pc, last_pc in zip(states[row].tolist(), pcs[row].tolist(), last_pcs[row].tolist(), strict=True):
            expected[-1 if state in nobody else last_pc if state == 0 else pc, state] += 1
    assert (expected == counts.states).all()


def test_steps_by_line_stop_at_every_line_the_warp_comes_to_in_both_directions(session):
    warp, last = 3, session.timeline.last
    expected, before = [], None
    for cycle in range(last + 1):
        line = line_of(session, warp, cycle)
        if line is not None and line != before and cycle > 0:
            expected.append(cycle)
        before = line
    forward = []
    while (stop := session.next_line(warp)).reason == "condition":
        forward.append(stop.cycle)
    assert forward == expected and len(expected) > 6
    session.goto("end")
    backward = []
    while (stop := session.next_line(warp, forward=False)).reason == "condition":
        backward.append(stop.cycle)
    assert backward[::-1] == [cycle for cycle in expected if cycle < last]


def test_the_commands_step_by_line_and_say_where_they_are(session):
    answer = execute(session, "next-line 0 2")
    assert answer.stop.reason == "condition" and "triton_softmax.py:" in answer.text and "w0 at" in answer.text
    here = session.cycle
    execute(session, "nl 0")
    execute(session, "pl 0")
    assert session.cycle == here
    with pytest.raises(InputError, match="no warp 99"):
        execute(session, "next-line 99")


def test_a_break_on_a_line_stops_where_a_warp_comes_to_it_both_ways(session):
    answer = execute(session, "break triton_softmax.py:17 warp 3")
    assert "triton_softmax.py:17 warp 3" in answer.text
    hits = []
    while (stop := session.continue_()).reason == "breakpoint":
        hits.append(stop.cycle)
        line, before = line_of(session, 3, stop.cycle), line_of(session, 3, stop.cycle - 1)
        assert line.line == 17 and before != line
    assert hits
    back = []
    while (stop := session.reverse_continue()).reason == "breakpoint":
        back.append(stop.cycle)
    assert back[::-1] == hits


def test_where_a_warp_begins_to_wait_at_a_line_is_found_on_a_machine_of_fewer_warps_than_a_recording_has_columns():
    with open_session("rfview/learn/recorded/drain.rfs") as session:
        timeline, info = session.timeline, session.info
        columns = timeline.column("sm.warp[*].pc", timeline.first, timeline.first + 1).shape[1]
        assert info.num_warps < columns
        code = next(stall.code for stall in info.stalls if stall.name == "long_scoreboard")
        states = timeline.states(timeline.first, timeline.last + 1) == code
        began = np.argwhere(states[1:] & ~states[:-1])[:1]
        cycle, warp = int(began[0, 0]) + 1 + timeline.first, int(began[0, 1])
        line = int(session.lines.filled[int(session.snapshot(cycle).sm["warp"][warp]["pc"])])
        session.goto(timeline.first)
        stop = session.next_wait(line, code)
        assert (stop.cycle, stop.warp) == (cycle, warp)


def test_a_line_without_instruction_stands_for_the_next_one_with_some(session):
    assert "triton_softmax.py:1 has no instruction, using triton_softmax.py:12" in execute(session, "break triton_softmax.py:1").text
    assert "triton_softmax.py:12" in execute(session, "info breakpoints").text
    answer = execute(session, "break line 1")       # a line of the PTX, easily mistaken for one of the source
    assert "PTX line 1 has no instruction, using" in answer.text and "break FILE:LINE" in answer.text
    moved = answer.text.partition("using PTX line ")[2].partition(";")[0]
    assert f"line {moved} " in execute(session, "info breakpoints").text
    assert execute(session, "break triton_softmax.py:14 warp 2 if cycle > 5").data["place"].endswith("if cycle > 5")


@pytest.mark.parametrize("text, words", [
    ("break triton_softmax.py:99", "the last line of triton_softmax.py with an instruction is 18"),
    ("break softmax.py:12", "did you mean triton_softmax.py"), ("break triton_softmax.py:12 warp 99", "no warp 99"),
    ("lines 3 3", "name two different cycles"), ("lines 1 2 3", "at most two"), ("next-line", "expected `next-line WARP"),
    ("next-line 0 x", "whole number"),
])
def test_what_does_not_exist_is_one_sentence(session, text, words):
    with pytest.raises(InputError, match=words):
        execute(session, text)


def test_a_program_without_lines_says_how_to_get_them(capsys, tmp_path):
    folder = tmp_path / "vectoradd"
    shutil.copytree(kernels.FOLDER / "vectoradd", folder)
    ptx = folder / "vectoradd.ptx"
    ptx.write_text(re.sub(r"(?m)^\s*\.(file|loc)\b.*\n", "", ptx.read_text()))
    launch = str(folder / "vectoradd.toml")
    session = open_session(launch)
    for line in ("next-line 0", "break vectoradd.cu:3", "lines 0 1"):
        session.goto(5)
        with pytest.raises(InputError, match="-lineinfo"):
            execute(session, line)
    assert main(["lines", launch]) == 2 and "--ptx" in capsys.readouterr().err
    table = LineTable(session.info, ptx=True)
    assert table.at(0).path == "vectoradd.ptx" and table.at(0).line == session.info.program[0].line


def test_the_command_prints_each_line_once_and_json_with_everything(recorded, capsys):
    path = str(recorded.timeline.path)
    assert main(["lines", path]) == 0
    text = capsys.readouterr().out
    assert text.count("e = tl.exp") == 1 and "%" in text
    assert main(["lines", path, "--json", "--top", "2", "--last", "900"]) == 0
    data = json.loads(capsys.readouterr().out)
    shares = [line["share"] for line in data["lines"]]
    assert data["last"] == 900 and len(shares) == 2 and shares[0] >= shares[1] > 0
    assert data["lines"][0]["file"] == "triton_softmax.py" and data["lines"][0]["stalled"]
    assert main(["lines", path, "--ptx", "--top", "3"]) == 0 and "triton_softmax.sm75.ptx" in capsys.readouterr().out
    assert main(["lines", path, "--top", "0"]) == 2


def test_hostile_sources_are_escaped_and_cost_nothing(softmax):
    text = softmax.info.ptx[0].text.replace("triton_softmax.py", "\x1b[31m.py")
    table = LineTable(structs.replace(softmax.info, ptx=[Text(path="k.ptx", text=text)],
                                      sources=[Text(path="\x1b[31m.py", text="\x1b]0;title\x07\n" * 40)]))
    assert "\x1b" not in table.lines[0].text and table.find("\x1b[31m.py:12", "x").line == 12
