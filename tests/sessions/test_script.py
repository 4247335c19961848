"""Command files: every command's text and data, and the errors of mistyped ones."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

from rfview.engine.errors import InputError
from rfview.sessions import Session, open_session
from rfview.sessions.timeline.live import LiveTimeline
from rfview.sessions.commands.script import MOST_COMMANDS, commands, read_commands, run_lines, run_script
from rfview.sessions.commands.table import help_text
from rfview.sessions.commands.table import ALIASES, VERBS, execute
from rfview.sessions.reports.tables import table
from rfview.sessions.why import why
from tests.sessions.conftest import CHUNK, CYCLES
from tests.sessions.double import Double

ALL = """
# every command once
step 10; s; back 3; restart; step 8
goto 50%; goto +5; 123; 25%
mark here a note; goto start; @here
until any(w.state == barrier); ru w3.pc == 2
next w3.pc; last bank[1].queue
si 3; rsi w3
break pc 5 warp w3; tb cycle 200; b if w2.state == issued; b line 12 if cycle > 20; break 300
info breakpoints; c; rc; disable 1; enable 1; ignore 1 2; delete 3; delete
print w3.pc; p any(w.state == barrier); p w3.R1; p f32(w3.R1[0]); p 0 / 0; p cycle > 1
info warps; info banks; info stalls; info time; info marks; info output; i b
goto 20; info registers 3
watch w3.R1[5] if cycle > 30; twatch mem[A + 16]; b stall > 3 warp 2; b stall barrier > 5; b unbalanced; info b
condition 6 cycle > 40; c; play 9; condition 6; delete
trace w3.pc, w2.state at w3.state == issued from 20 to 90; trace w3.pc; b warp 3; trace cycle at breakpoint 11; delete
stats; stats here; stats 10 @here; summary; info history; info accounts
ne issue w3; pe stall w3 2; ne conflict; pe barrier; ne rf_reads; find w3.pc == 2; rf w3.pc == 2; rt pc 5 warp 3; rrt line 12
previous-stop; display w3.pc; step; display; undisplay 1; rwatch w3.R2; awatch w3.R2; commands 12 print w3.pc then when; goto 0
c; nr w3.R2; pr w3.R2; delete
heat w0.R1; heat w3.R1 by 4; when; earlier; later; unmark here; help; help step; branch; why w3
"""


@pytest.fixture
def session(recorded) -> Session:
    return Session(recorded)


def test_a_command_file_may_begin_with_a_byte_order_mark_and_be_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "marked").write_bytes(b"\xef\xbb\xbfstep 2\r\nback\r\n")
    assert list(commands(read_commands(str(tmp_path / "marked")))) == [(1, "step 2"), (2, "back")]
    reader, writer = os.pipe()
    os.write(writer, b"step 3\n")
    os.close(writer)
    assert read_commands(f"/dev/fd/{reader}") == "step 3\n"
    os.close(reader)


@pytest.mark.parametrize(("typed", "note"), [
    ('"first miss"', "first miss"), ("'first miss'", "first miss"), ("first miss", "first miss"), ('"', '"'),
    ('said "twice', 'said "twice'),
])
def test_the_quotes_around_a_note_are_not_part_of_it(session: Session, typed: str, note: str) -> None:
    assert [answer.data["note"] for answer in run_script(session, f"mark a {typed}")] == [note]


@pytest.mark.parametrize(("name", "says"), [
    ("/dev/zero", f"/dev/zero: more than {MOST_COMMANDS:,} characters"), ("no such", "no such: cannot be read: No such file"),
    ("a\0b", "cannot be read: embedded null"), (str(Path(__file__).parent), "cannot be read: Is a directory"),
])
def test_what_is_no_command_file_is_one_error(name: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_commands(name)


def test_an_error_repeats_only_the_beginning_of_a_very_long_command(session: Session) -> None:
    with pytest.raises(InputError) as error:
        list(run_script(session, "help " + "z" * 100_000))
    assert str(error.value).startswith(f"line 1, `help {'z' * 195}...`: ")


def test_every_command_answers_in_text_and_in_json(session: Session) -> None:
    answers = list(run_script(session, ALL))
    assert all(answer.text for answer in answers)
    for answer in answers:
        data = json.loads(json.dumps(answer.data, allow_nan=False))
        assert data["command"]
    used = {ALIASES[answer.data["command"].split()[0]] for answer in answers
            if answer.data["command"].split()[0] in ALIASES}
    # These need a real machine or PTX with lines: test_fork.py, test_swap.py, test_follow.py, test_capture.py, test_pictures.py,
    # test_relief.py, test_after.py, test_check.py, test_lines.py, test_programs_screen.py
    machine = {"fork", "drop", "compare", "swap", "kernel", "follow", "capture", "image", "origin", "relief", "rerun", "check",
               "lines", "next-line", "previous-line", "reload", "baseline", "source", "after"}
    missing = sorted(set(VERBS) - machine - used)
    assert not missing, f"no line of the script ALL runs {', '.join(missing)}: add one"
    assert not used & machine


def test_why_explains_the_warp_that_the_last_move_stopped_for(session: Session) -> None:
    text = "ne bank_conflict; why; break pc 5 warp 2; 0; c; why; step; why"
    event, waiting, _, _, stop, stopped, _, longest = run_script(session, text)
    assert event.text.endswith(f": w{waiting.data['warp']}")
    assert (stop.stop.warp, stopped.data["warp"]) == (2, 2)
    assert longest.data["warp"] == why(session).warp


def test_json_has_one_object_per_command(session: Session) -> None:
    out = io.StringIO()
    assert run_lines(session, "step 5; print cycle * 2 # twice\nwhen", json=True, out=out) == 0
    step, value, when = map(json.loads, out.getvalue().splitlines())
    assert (step["cycle"], step["reason"], value["value"]) == (5, "step", 10)
    assert (when["cycle"], when["last"], when["kernel"]) == (5, CYCLES, "k")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("step\nstpe 5", ["line 2", "stpe 5", "did you mean", "step"]),
        ("goto", ["line 1, `goto`: expected `goto N|+N|-N|N%|@MARK|start|end`"]),
        ("step x", ["step x", "whole number"]),
        ("step -4", ["at least 1"]),
        ("info wraps", ["warps"]),
        ("info registers", ["name a warp"]),
        ("info warps 12", ["takes nothing after it", "info registers 3"]),
        ("info registers 63", ["line 1, `info registers 63`: there is no warp 63; the machine has warps 0..7"]),
        ("stepi 9", ["`stepi 9`: there is no warp 9; the machine has warps 0..7"]),
        ("next-event issue w9", ["next-event issue w9`: there is no warp 9; the machine has warps 0..7"]),
        ("run-to pc 1 warp w9", ["there is no warp 9; the machine has warps 0..7"]),
        ("swap - lrr warp 9", ["there is no warp 9; the machine has warps 0..7"]),
        ("break warp 9", ["there is no warp 9; the machine has warps 0..7"]),
        ("break warp x", ["not a warp; expected its number, as 3 or w3"]),
        (f"why {'9' * 5000}", ["not a warp; expected its number"]),
        ("info registers ww3", ["not a warp; expected its number, as 3 or w3"]),
        ("print rf", ["rf stands for many values; name one of them"]),
        ("break", ["expected"]),
        ("break pc", ["expected"]),
        ("break if", ["condition is missing"]),
        ("break pc five", ["whole number"]),
        ("break if w9.pc > 1", ["no warp 9"]),
        ("delete 7", ["no breakpoint 7"]),
        ("print w3.pcc", ["line 1, `print w3.pcc`: warp 3 has no field 'pcc'; did you mean pc"]),
        ("print R3", ["line 1, `print R3`: unknown name 'R3'; a register belongs to a warp: w0.R3"]),
        ("p foobarbaz", ["unknown name 'foobarbaz'; `rfview help expressions` lists the names"]),
        ("step; break if cycle > 5 and w3.pc + ", ["(position 21 of the expression)", "it ends after `+`"]),
        ("when 3", ["line 1, `when 3`: `when` takes nothing after it"]),
        ("c 3", ["`continue` takes nothing after it"]),
        ("find 3", ["`3` is a constant; expected a condition"]),
        ("find barrier", ["`barrier` is a constant"]),
        ("break if 2 > 1", ["is a constant"]),
        ("until", ["expected `until EXPR`"]),
        ("until w.pc == 3", ["any(...)"]),
        ("help nothing", ["no such command"]),
        ("goto @nowhere", ["no mark"]),
        ("mark a@b", ["mark name"]),
        ("ignore 1", ["count"]),
        ("frobnicate", ["help"]),
        ("watch", ["expected `watch ITEM [if EXPR]`"]),
        ("reverse-run-to", ["expected `reverse-run-to pc N|line N"]),
        ("watch w3.R1[40]", ["lane"]),
        ("watch w.pc if w.pc", ["any(...)"]),
        ("b stall wiat > 4", ["wiat", "did you mean", "wait"]),
        ("b stall issued > 4", ["no such wait"]),
        ("b stall > x", ["break stall [NAME] > N"]),
        ("b stall 4 5", ["break stall [NAME] > N"]),
        ("condition 3", ["no breakpoint 3"]),
        ("b if cycle > 5; condition 1", ["stops only on its condition"]),
        ("trace", ["expected `trace EXPR"]),
        ("trace w3.pc at w.pc", ["any(...)"]),
        ("trace cycle at breakpoint 4", ["no breakpoint 4"]),
        ("stats a b c", ["at most two"]),
        ("stats 5 5", ["two different cycles"]),
        ("stats 5 nowhere", ["goto nowhere"]),
        ("ne activity", ["sram does nothing by itself", "issue, stall, conflict, rf, the names"]),
        ("ne isue", ["did you mean", "issue"]),
        ("ne issue 1 2 3", ["expected a kind"]),
        ("rt pc", ["expected `pc N`"]),
        ("rt line 999", ["no instruction"]),
        ("play 0", ["at least 1"]),
    ],
)
def test_mistakes_name_line_command_and_what_was_meant(session: Session, text: str, parts: list[str]) -> None:
    out, err = io.StringIO(), io.StringIO()
    assert run_lines(session, text, out=out, err=err) == 2
    assert len(err.getvalue().strip().splitlines()) == 1
    for part in parts:
        assert part in err.getvalue()
    with pytest.raises(InputError):
        list(run_script(session, text))


def test_commands_before_a_mistake_have_run(session: Session) -> None:
    out = io.StringIO()
    assert run_lines(session, "goto 7; nonsense; goto 9", out=out, err=io.StringIO()) == 2
    assert session.cycle == 7 and "cycle 7" in out.getvalue()


def test_ending_at_the_kernels_fault_is_exit_3() -> None:
    session = Session(LiveTimeline(Double(CYCLES, fault_at=333), chunk_cycles=CHUNK))
    assert run_lines(session, "continue", out=io.StringIO()) == 3
    assert run_lines(session, "continue; back 5", out=io.StringIO()) == 0


def test_comments_and_separators() -> None:
    assert list(commands("a; b # c; d\n\n;;\n  e  ")) == [(1, "a"), (1, "b"), (4, "e")]
    assert list(commands(["x", "y;z"])) == [(1, "x"), (2, "y"), (2, "z")]


def test_help_lists_every_command() -> None:
    text = help_text()
    for name, verb in VERBS.items():
        assert name in text and verb.help in text


def test_live_and_recorded_scripts_say_the_same(file: Path) -> None:
    live = Session(LiveTimeline(Double(CYCLES), chunk_cycles=CHUNK))
    live.timeline.extend(CYCLES)
    with open_session(file) as recorded:
        for number, (_, command) in enumerate(commands(ALL)):
            assert execute(live, command) == execute(recorded, command), (number, command)


def test_a_table_gives_wide_characters_their_cells() -> None:
    lines = table(["mark", "cycle"], [["印刷", 5], ["ab", 100]]).splitlines()
    assert lines == ["mark  cycle", "印刷      5", "ab      100"]
