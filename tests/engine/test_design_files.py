"""Design files given by path: the template works, errors name their line, and recordings outlive the file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rfview.engine import plugin as designs
from rfview.engine.compile import jit, warm
from rfview.engine.plugin import files, nodes, origin, registry
from rfview.engine.errors import InputError
from rfview.engine.info import DesignFile, DesignSpec
from rfview.sessions import open_session
from rfview import cli
from rfview.commands.record import held
from rfview.sessions.timeline import invariants as accounts
from rfview.sessions.branches import fork
from rfview.sessions.file.writer import record
from rfview.sessions.commands.table import execute
from tests.conftest import PATIENCE_S
from tests.harness import Assembly, Machine

pytestmark = pytest.mark.nojit


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch):
    """Unregister the designs of each test."""
    monkeypatch.delenv(files.ENVIRONMENT, raising=False)
    yield
    files.forget()


def start_anew() -> None:
    """Forget all design files, as in a new process."""
    files.forget()
    designs.module.cache_clear()


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Return a new design file."""
    path = tmp_path / "my_rf.py"
    assert files.write_new(path) == "my_rf"
    return path


def program() -> Assembly:
    """Return a program that repeatedly writes a register and reads it at once."""
    found = Assembly().mov(1, 3)
    for _ in range(4):
        found.add(2, 1, 1).add(1, 2, 1).mov(3, 8)
    return found.st(1, offset=0).exit()


def run(design: str) -> Machine:
    """Run the program in two warps."""
    return Machine(program(), warps=2, data=[0], design=design).run()


def test_a_new_file_runs_with_its_own_state_events_stalls_and_energy(own: Path) -> None:
    plain, found, slow = run("sram"), run(str(own)), run(f"{own}[write_cycles=6]")
    assert found.simulator.buffers()["data"].tolist() == plain.simulator.buffers()["data"].tolist() == [3 ** 5]
    assert plain.simulator.cycle < found.simulator.cycle < slow.simulator.cycle
    assert found.simulator.built.chain == ("my_rf",) and found.simulator.info.design == "my_rf"
    assert found.count("latch_hits") > 0
    summary = slow.simulator.summary()
    assert summary["stalls"]["slow_write"] > 0, "a state of the design's own is counted like any other"
    assert summary["issued"] + sum(summary["stalls"].values()) == summary["warp_cycles"]
    counts = summary["counts"]
    expected = 200 * counts["rf_reads"] + 300 * counts["rf_writes"] - 150 * counts["latch_hits"]
    assert summary["energy_pj"]["dynamic"] == pytest.approx(expected)
    assert "slow_write" in [stall.name for stall in slow.simulator.info.stalls]


FORWARDING = """


def on_issue(sm, rf, spec, rows, slot, inst):
    flight = sm.inflight[slot]
    unread = np.int64(flight.unread)
    for operand in range(6):
        row = registers.main_row(sm, flight.warp, inst.src[operand])
        if (unread >> operand) & 1 and rf.latched[registers.default_bank(sm, flight.warp, inst.src[operand])] == row + 1:
            registers.copy_row(rows, row, sm.config.first_collector_row + np.int64(flight.collector) * 6 + operand)
            unread &= ~(np.int64(1) << operand)
    return registers.set_unread(sm, inst, np.int64(flight.collector), unread)
"""


@pytest.mark.skipif(not jit.OFF, reason="a compile, for what plain Python shows as well")
def test_a_design_gives_operands_without_a_bank(own: Path) -> None:
    latched = run(str(own))
    text = own.read_text().replace("from rfview.engine.machine import reg", "import numpy as np\nfrom rfview.engine.machine import reg")
    own.write_text(text + FORWARDING)
    files._load.cache_clear()
    given = run(str(own))
    assert given.simulator.buffers()["data"].tolist() == [3 ** 5]
    assert given.count("rf_reads") == latched.count("rf_reads") - latched.count("latch_hits")
    assert given.simulator.cycle < latched.simulator.cycle
    sm = given.simulator.sm
    assert not sm.banks_requested and not sm.bank_requests.any()


@pytest.mark.skipif(not jit.OFF, reason="a compile for what the compiled rfc over stt shows as well")
def test_over_it_another_design(own: Path) -> None:
    found = Machine(program(), warps=2, data=[0], design=f"rfc[main={own}]", scheduler="two_level").run()
    assert found.simulator.built.chain == ("rfc", "my_rf")
    assert found.simulator.buffers()["data"].tolist() == [3 ** 5]
    assert "slow_write" in found.simulator.summary()["stalls"]


def test_the_environment_makes_names_known(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"no register-file design 'my_rf'.*given by its path.*RFVIEW_DESIGNS"):
        designs.build("my_rf", {}, "")
    monkeypatch.setenv(files.ENVIRONMENT, str(own))
    assert designs.build("my_rf", {}, "").chain == ("my_rf",)
    assert designs.names()[-1] == "my_rf"


def test_two_files_of_one_name_are_no_guess(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other.py"
    other.write_text(own.read_text().replace('"write_cycles", 2', '"write_cycles", 9'))
    monkeypatch.setenv(files.ENVIRONMENT, f"{own}{os.pathsep}{own}")
    assert files.known() == {"my_rf": own}
    monkeypatch.setenv(files.ENVIRONMENT, f"{own}{os.pathsep}{other}")
    with pytest.raises(InputError, match=r"my_rf\.py and .*other\.py are both named 'my_rf'; rename one"):
        files.known()
    assert designs.build(str(own), {}, "").values == {"my_rf.write_cycles": 2}
    assert designs.build(str(other), {}, "").values == {"my_rf.write_cycles": 9}, "a path is what it says"
    monkeypatch.setenv(files.ENVIRONMENT, str(own))
    assert "my_rf" in designs.names() and designs.build("my_rf", {}, "").values == {"my_rf.write_cycles": 9}


def test_a_file_that_was_read_is_listed(own: Path) -> None:
    assert "my_rf" not in designs.names()
    designs.build(str(own), {}, "")
    assert designs.names()[-1] == "my_rf", "to be chosen again where a list stands, as under another scheduler"


def test_an_edited_file_is_another_type(own: Path) -> None:
    before = designs.build(str(own), {}, "").spec_dtype
    own.write_text(own.read_text().replace("+ spec.write_cycles", "+ 2 * spec.write_cycles"))
    assert designs.build(str(own), {}, "").spec_dtype != before


def test_a_recording_shows_registers_without_the_file(own: Path, tmp_path: Path) -> None:
    machine = Machine(program(), warps=2, data=[0], design=str(own))
    record(machine.simulator, tmp_path / "run.rfs")
    own.unlink()
    code = ("import sys; from rfview.sessions import open_session; s = open_session(sys.argv[1]); s.goto('50%');"
            "print(s.snapshot().register(0, 1)[0] > 0)")
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "run.rfs")], capture_output=True, text=True,
                          cwd=Path(__file__).parents[2])
    assert done.returncode == 0 and done.stdout == "True\n", done.stderr


def test_what_needs_a_design_file_names_it(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(program(), warps=2, data=[0], design=str(own))
    spec = machine.simulator.info.design_spec
    assert spec.files["my_rf"].file == "my_rf.py", "the same in whatever folder"
    assert held(machine.simulator.info) == "; it contains the text of my_rf.py", "who records is told"
    assert not origin.missing(spec, "x") and not origin.edited(spec)
    assert not Machine(program(), data=[0]).simulator.info.design_spec.files
    record(machine.simulator, tmp_path / "run.rfs")
    assert fork.changeable(machine.simulator.info)[-1] == "my_rf.write_cycles"
    text = own.read_text()
    monkeypatch.setenv(files.ENVIRONMENT, str(own))
    for old, new, is_another in (("= row + 1", "= 1 + row", True), ('"""Write the', '"""Put the', False)):
        own.write_text(text.replace(old, new))
        start_anew()
        assert ("my_rf.py has changed since the run" in origin.edited(spec)) == is_another
    monkeypatch.delenv(files.ENVIRONMENT)
    start_anew()
    session = open_session(str(tmp_path / "run.rfs"))
    session.goto("50%")
    named = r"needs the design file my_rf\.py with which this was run: name it, as in RFVIEW_DESIGNS=\./my_rf\.py"
    for line in ("info accounts", "fork x set my_rf.write_cycles=4"):
        with pytest.raises(InputError, match=named):
            execute(session, line)


def test_a_recording_keeps_the_design_files_text_and_gives_it_back(
        own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    text = own.read_text()
    record(Machine(program(), warps=2, data=[0], design=str(own)).simulator, tmp_path / "run.rfs")
    own.unlink()
    start_anew()
    session = open_session(str(tmp_path / "run.rfs"))
    with pytest.raises(InputError, match=r"needs the design file my_rf\.py.*`rfview info FILE --save-designs DIR` writes it"):
        execute(session, "info accounts")
    assert "my_rf" not in registry.added(), "nothing ran what the recording holds"
    assert cli.main(["info", str(tmp_path / "run.rfs"), "--save-designs", str(tmp_path / "rfs")]) == 0
    assert (tmp_path / "rfs" / "my_rf.py").read_text() == text
    assert "read it before you let it run" in capsys.readouterr().out
    assert cli.main(["info", str(tmp_path / "run.rfs")]) == 0 and "my_rf.py" in capsys.readouterr().out
    monkeypatch.setenv(files.ENVIRONMENT, str(tmp_path / "rfs" / "my_rf.py"))
    execute(session, "info accounts")
    (tmp_path / "rfs" / "my_rf.py").write_text("mine")
    assert cli.main(["info", str(tmp_path / "run.rfs"), "--save-designs", str(tmp_path / "rfs")]) == 2
    assert "already contains 'my_rf.py'; name a new or an empty folder" in capsys.readouterr().err
    assert (tmp_path / "rfs" / "my_rf.py").read_text() == "mine"


def holding(texts: dict[str, str]) -> DesignSpec:
    """Return what a run says of its designs if it was run with files of these names and texts."""
    return DesignSpec(chain=["x"], values={}, locates=False, files={f"x{number}": DesignFile(file=name, code="0", text=text)
                                                     for number, (name, text) in enumerate(texts.items())})


def test_what_holds_no_design_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the recording contains no design file; sram came with rfview"):
        origin.save(DesignSpec(chain=["sram"], values={}, locates=False), tmp_path)
    out = origin.save(holding({"../x.py": "1"}), tmp_path / "in")
    assert out == [tmp_path / "in" / "x.py"], "never out of the folder"


@pytest.mark.parametrize("name", [".envrc", "Makefile", "numpy.py.txt", "a b.py", "-x.py", "..", "x\x1b.py", ""])
def test_only_names_of_modules_are_written_all_or_none(tmp_path: Path, name: str) -> None:
    held = holding({"x.py": "1", name: "2"})
    with pytest.raises(InputError, match="not the name of a design file; nothing was written"):
        origin.save(held, tmp_path / "in")
    assert not (tmp_path / "in").exists()


def test_design_files_are_written_into_new_or_empty_folders_alone(tmp_path: Path) -> None:
    held = holding({"x.py": "1"})
    (tmp_path / "other").write_text("precious")
    with pytest.raises(InputError, match="already contains 'other'"):
        origin.save(held, tmp_path)
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "x.py").symlink_to(tmp_path / "nowhere.py")
    with pytest.raises(InputError, match="already contains 'x.py'"):
        origin.save(held, tmp_path / "links")
    assert not (tmp_path / "nowhere.py").exists()
    assert origin.save(held, tmp_path / "new") == origin.save(held, tmp_path / "new"), "twice is once"


@pytest.mark.parametrize(("line", "says"), [
    ("raise SystemExit(3)", "line 1: SystemExit: 3"), ("import sys; sys.exit('bye')", "line 1: SystemExit: bye"),
    ("def f(): f()\nf()", "RecursionError"), ("import no_such_package", "line 1: ModuleNotFoundError"),
    ("raise BaseExceptionGroup('x', [ValueError()])", "line 1: ExceptionGroup"), ("1/0", "line 1: ZeroDivisionError"),
    ("raise GeneratorExit", "line 1: GeneratorExit"), ("class E(BaseException): pass\nraise E('x')", "line 2: E: x"),
    ("class E(Exception):\n    def __str__(self): return 1 / 0\nraise E", "line 3: E: its message cannot be shown"),
    ("raise ValueError('a\\nb' + 'c' * 10**6)", f"line 1: ValueError: a b{'c' * 397}..."),
])
def test_a_design_file_that_ends_itself_is_an_error_of_that_file(tmp_path: Path, line: str, says: str) -> None:
    path = tmp_path / "my_rf.py"
    path.write_text(line)
    with pytest.raises(InputError) as error:
        files.load(path)
    assert f"design file {path}: " in str(error.value) and says in str(error.value)


def test_a_signal_while_a_design_file_is_read_is_not_an_error_of_that_file(tmp_path: Path) -> None:
    path = tmp_path / "my_rf.py"
    path.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\nfor _ in range(10**9): pass\n")
    assert cli.main(["designs", str(path)]) == 128 + signal.SIGTERM


def test_a_design_file_may_begin_with_a_byte_order_mark(own: Path) -> None:
    own.write_bytes(b"\xef\xbb\xbf" + own.read_bytes())
    assert "my_rf" in designs.build(str(own), {}, "").chain
    run(str(own))


def test_a_link_to_a_design_file_may_lead_to_any_name_but_not_to_itself(own: Path) -> None:
    link, stored, loop = own.with_name("link.py"), own.with_name("stored"), own.with_name("loop.py")
    own.rename(stored)
    link.symlink_to(stored)
    loop.symlink_to(loop)
    assert files.load(link).DESIGN.name == "my_rf" and files.absolute(str(link)) == str(link)
    with pytest.raises(InputError, match=r"loop\.py: cannot be read \(Too many levels of symbolic links\)"):
        files.load(loop)


def test_a_recording_keeps_the_design_that_ran_though_its_file_has_changed(own: Path) -> None:
    text = own.read_text()
    designs.build(str(own), {}, "")
    own.write_text("changed meanwhile")
    assert origin.spec_of(("my_rf",), {}).files["my_rf"].text == text


@pytest.mark.nojit
def test_a_function_of_the_host_that_exits_is_an_error_of_the_design(own: Path) -> None:
    own.write_text(own.read_text() + "\n\ndef energy(run):\n    raise SystemExit\n")
    with pytest.raises(InputError, match=r"design my_rf, energy: SystemExit: .*\(my_rf\.py, line "):
        run(str(own)).simulator.energy()


@pytest.mark.skipif(jit.OFF, reason="a check needs the compiler")
def test_a_check_that_does_not_end_is_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "my_rf.py"
    path.write_text("while True:\n    pass\n")
    assert cli.main(["designs", str(path), "--check", "--seconds", "2"]) == 2
    assert "did not end within 2 s" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("function", "says"),
    [
        ("def energy(run):\n    return {'dynamic': run.values['sm.num_banks']}\n",
         "energy: KeyError: 'sm.num_banks'; run.counts has the events, run.values the designs' parameters"),
        ("def energy(run):\n    return {'dynamic': 1.0}\n", "energy(run) gives dynamic; expected dynamic, leakage, refresh"),
        ("def energy(run):\n    return 7\n", "energy(run) gives 7; expected dynamic"),
        ("def node_nm(values, preset):\n    return values[0]\n", "node_nm: KeyError: 0; values has the design's parameters, as NAME.key (my_rf.py, "),
    ],
)
def test_a_slip_in_a_function_of_the_host_is_named(own: Path, function: str, says: str) -> None:
    own.write_text(own.read_text() + "\n\n" + function)
    found = run(str(own)).simulator
    with pytest.raises(InputError) as error:
        found.energy()
        nodes.node_nm(found.built.chain, found.built.values)
    assert f"design my_rf, {says}" in str(error.value) or f"design my_rf: {says}" in str(error.value)


def test_energy_sees_the_machines_numbers(own: Path) -> None:
    own.write_text(own.read_text() + "\n\ndef energy(run):\n    rows = run.machine['sm.num_banks'] * "
                   "run.machine['sm.rows_per_bank']\n    return {'dynamic': 0, 'leakage': rows, 'refresh': 0}\n")
    machine = run(str(own))
    assert machine.simulator.energy()["total"] == 1024
    assert accounts.energy_at(machine.snapshots[-1])["total"] == 1024


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("import annotations\n", "import annotations\nx =\n"), "line 10: invalid syntax"),
        (("from rfview.engine.machine import registers", "from rfview.engine.machine import register"), "line 15: ImportError"),
        (("HITS = 0", "HITS = 0 / 0"), "ZeroDivisionError"),
        (("DESIGN = Design(", "OTHER = Design("), "defines no DESIGN"),
        (('name="my_rf"', 'name="sram"'), "'sram' is the name of a built-in design"),
        (('name="my_rf"', 'name="My RF"'), "'My RF' is not a name"),
        (("rf.latched[bank] =", "rf.lached[bank] ="), "no field 'lached' in its state; did you mean 'latched'"),
        (("spec.first_event + HITS", "spec.first_event + HIT"), "hook read: no name 'HIT'; did you mean 'HITS'?"),
        (("registers.copy_row(", "registers.copy_rows("),
         "rfview.engine.machine.registers has no 'copy_rows'; did you mean 'copy_row'"),
        (("take_write_port(sm, bank, warp, reg)", "take_write_port(sm, bank)"), "takes (sm, bank, warp, reg), but 2 are given"),
        (("def next_event(sm", "def next_events(sm"), "function next_events: is not a hook; did you mean 'next_event'"),
        (("registers.release(sm, warp, reg) ", "registers.wake(sm, warp) "), "has no 'wake'; it is now called 'reconsider'"),
        (("SLOW_WRITE = FIRST_FOREIGN_CODE ", "SLOW_WRITE = 45 "), "stall 'slow_write': code 45, expected 32 to 39"),
        (('"slow_write", "slow"', '"barrier", "slow"'), "stall 'barrier': the name is taken"),
        (('"register_file", "The', '"registers", "The'), "family 'registers', expected one of issued"),
        (('"latch_hits": (-', '"latch_hit": (-'), "energy_pj of 'latch_hit', which is not an event; did you mean 'latch_hits'"),
        (('"kind": "table"', '"kind": "map"'), "panel 'latched rows, from 1': kind 'map', expected one of grid"),
        (('"field": "latched"', '"field": "latch"'), "no field 'latch' in the state; did you mean 'latched'"),
        (('"field": "latched"', '"field": "latched", "glyf": "x"'), "a table has no 'glyf'; it takes kind, title"),
        (('"write_cycles", 2,', '"write_cycles", 2.5,'), "the default 2.5 is not a whole number, and hooks would see only"),
        (('"write_cycles", 2,', '"write_cycles", -2,'), "'write_cycles': the default -2 is not in 1 to 64"),
        (('"write_cycles", 2,', '"write_cycles", "two",'), "the default 'two' is not a number; words need choices"),
        (('("latch_hits", "reads', '("rf_reads", "reads'), "event 'rf_reads' already exists"),
        (('    panels=(', '    energy=None,\n    panels=('), "'energy'; a function energy(..) in the file is found by its"),
        (('    panels=(', '    panel=('), "argument 'panel'; Design takes name, title, source, parameters, state,"),
        (('"rf_reads": (200.0, "assumed: pJ per read of a row, latched or not")', '"rf_reads": 200.0'),
         "energy_pj of 'rf_reads' is 200.0, expected (200.0, \"its source\")"),
        (('(100.0, "mW", "assumed")', '(100.0, "mW")'), "technology of 'leakage_mw' is (100.0, 'mW'), expected (100.0, \"mW\""),
        (('(100.0, "mW", "assumed")', '(float("inf"), "mW", "assumed")'), "technology of 'leakage_mw' is (inf, 'mW', 'assumed')"),
        (('name="my_rf"', 'name=None'), "DESIGN.name None is not a name"),
        (('("latched", "u4", (MAX_BANKS,))', '("latched", "u4", (0,))'), "field of the state 'latched' has no elements"),
        (('    panels=(', '    settings={"sm.bank": 8},\n    panels=('), "settings: sm.bank: no such parameter of preset fermi; did"),
        (('    panels=(', '    extra_rows="8",\n    panels=('), "extra_rows is '8', expected a whole number from 0 to 4095"),
        (('    panels=(', '    paper_preset="kepler",\n    panels=('), "paper_preset 'kepler', expected one of a100, ampere,"),
        (('    panels=(', '    tracks=("abc",),\n    panels=('), "tracks: 'abc', expected (\"in use\","),
        (('    Parameter("write_cycles"', '    Parameter("main", 2, "", "", ""),\n    Parameter("write_cycles"'),
         "parameter 'main': this name is already taken"),
        (('    ("latched", "u4"', '    ("latched", "u4"),\n    ("latched", "u4"'), "field of the state 'latched' appears twice"),
        (('    ("latched", "u4"', '    ("x", "U4"),\n    ("latched", "u4"'), "field of the state 'x' does not hold numbers as NumPy's"),
        (('("latched", "u4", (MAX_BANKS,))', '("latched", "u1", (MAX_BANKS + 1,))'), 'fill it up with ("pad", "u1", (3,))'),
        (('title="slow writes behind a row latch"', 'title=None'), "title is None, expected a string"),
        (('    panels=(', '    event="flush",\n    panels=('), "event 'flush', which is not part of the name of one of its own events: "),
        (('    panels=(', '    places=(("A", ("latch_hit",), ()),),\n    panels=('), "counts 'latch_hit', which is not an event; did you"),
        (('    panels=(', '    tracks=(("a", "popcount(rf.latch)", 0),),\n    panels=('), "no 'latch'; did you mean 'latched'?"),
        (("registers.default_bank(sm, warp, reg)\n    if", "bank_of(sm, rf, spec, warp, reg)\n    if"),
         "hook write_back: no name 'bank_of'; a hook is called as hooks.bank_of"),
        (("registers.first_bank_free(sm)", "read(sm, rf, spec, 0, 0, 0, 0, 0)"), "calls read, a hook: write hooks.read(sm,"),
        (("    registers.release(sm, warp, reg)   # later instructions may now use the register\n    return 0\n", ""),
         "a path ends without a return"),
    ],
)
def test_a_slip_is_named_with_its_place(own: Path, change: tuple[str, str], says: str) -> None:
    text = own.read_text()
    assert change[0] in text
    own.write_text(text.replace(*change))
    with pytest.raises(InputError) as error:
        designs.build(str(own), {}, "")
    assert says in str(error.value) and "my_rf" in str(error.value)


@pytest.mark.parametrize("line", ["x = \0", "x = " + "-" * 100_000 + "1", "x = " + "1+" * 100_000 + "1"],
                         ids=["null byte", "parser's stack", "nesting"])
def test_a_text_that_python_cannot_even_parse_is_refused(own: Path, line: str) -> None:
    """Python raises ValueError (before 3.11.4), MemoryError and RecursionError for these, not SyntaxError."""
    own.write_text(f"{own.read_text()}\n{line}\n")
    with pytest.raises(InputError, match=r"my_rf\.py: line "):
        designs.build(str(own), {}, "")


@pytest.mark.parametrize(
    ("value", "says"),
    [("0", "=0: expected 1 to 12 (cycles)"), ("13", "=13: expected 1 to 12 (cycles)"),
     ("x", "=x: expected a number like 2 (cycles)")],
)
def test_a_parameter_says_which_values_it_takes(own: Path, value: str, says: str) -> None:
    own.write_text(own.read_text().replace("high=64", "high=12"))
    with pytest.raises(InputError) as error:
        designs.build(f"{own}[write_cycles={value}]", {}, "")
    assert str(error.value) == f"my_rf.write_cycles{says}"
    own.write_text(own.read_text().replace("low=1, high=12", "low=1"))
    with pytest.raises(InputError, match="write_cycles=0: expected 1 or more"):
        designs.build(f"{own}[write_cycles=0]", {}, "")
    with pytest.raises(InputError, match="write_cycles=9999999999: expected at most 2,147,483,647"):
        designs.build(f"{own}[write_cycles=9999999999]", {}, "")
    own.write_text(own.read_text().replace("low=1", "low=1, high=10**30"))
    with pytest.raises(InputError, match=r"write_cycles=9999999999: expected 1 to 2,147,483,647 \(cycles\)"):
        designs.build(f"{own}[write_cycles=9999999999]", {}, "")


def test_a_hook_without_end_is_named(own: Path) -> None:
    own.write_text(own.read_text().replace("    row = reg", "    while True:\n        row = 0\n    row = reg"))
    code = "import sys; from rfview.engine.plugin import plain_trial as p; p.PATIENCE_S = 0.5; sys.exit(p.main(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", code, str(own)], capture_output=True, text=True, check=False,
                          cwd=Path(__file__).parents[2], env=os.environ | {"NUMBA_DISABLE_JIT": "1"})
    assert done.returncode == 1 and "not finished in write_back (my_rf.py, line " in done.stdout, done.stderr
    assert "after 0.5 s; vectoradd, lrr, cycle " in done.stdout


def test_a_trial_of_a_hook_without_end_ends_although_nobody_reads_its_report(own: Path) -> None:
    own.write_text(own.read_text().replace("    row = reg", "    while True:\n        row = 0\n    row = reg"))
    code = "import sys; from rfview.engine.plugin import plain_trial as p; p.PATIENCE_S = 0.5; sys.exit(p.main(sys.argv[1]))"
    child = subprocess.Popen([sys.executable, "-c", code, str(own)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             cwd=Path(__file__).parents[2], env=os.environ | {"NUMBA_DISABLE_JIT": "1"})
    assert child.stdout is not None
    child.stdout.close()
    try:
        assert child.wait(PATIENCE_S) == 1
    finally:
        child.kill()


def test_an_import_by_the_engines_former_name_is_named(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = own.read_text().replace("from rfview.engine.plugin import", "from engine.plugin import")
    own.write_text(text)
    line = 1 + text[: text.index("from engine.plugin")].count("\n")
    with pytest.raises(InputError) as error:
        files.load(own)
    assert str(error.value) == f"design file {own}: line {line}: engine.plugin is now called rfview.engine.plugin"
    # a user's own package named engine is no error
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text("")
    (tmp_path / "engine" / "plugin.py").write_text("from rfview.engine.plugin import *\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        assert files.load(own).DESIGN.name == "my_rf"
    finally:
        for name in ("engine", "engine.plugin"):
            sys.modules.pop(name, None)


def test_no_such_file_and_no_second_new_one(own: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.py: cannot be read .*--new"):
        designs.build(str(tmp_path / "none.py"), {}, "")
    before = own.read_text()
    with pytest.raises(InputError, match="already exists; nothing was changed"):
        files.write_new(own)
    assert own.read_text() == before
    for name in ("sram.py", "My.py", "my_rf.txt"):
        with pytest.raises(InputError, match="expected a file like my_rf.py"):
            files.write_new(tmp_path / name)


def test_a_path_means_the_same_in_another_folder(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(own.parent)
    assert files.absolute("./my_rf.py[write_cycles=3]") == f"{own.resolve()}[write_cycles=3]"
    assert files.absolute("stt[stall=bank]") == "stt[stall=bank]"


COUNTING = """

def write_back(sm, rf, spec, rows, warp, reg, mask, value_row, slot):
    rf.asked += 1
    return hooks.default_write_back(sm, rf, spec, rows, warp, reg, mask, value_row, slot)


DESIGN = Design(name="my_rf", title="counts", source="the project's tests", parameters=(), state=(("asked", "i4"),))
"""


@pytest.mark.skipif(not jit.OFF, reason="a compile, for what plain Python shows as well")
def test_a_hook_does_more_than_the_default_and_may_not_call_itself(own: Path) -> None:
    text = "from rfview.engine import hooks\nfrom rfview.engine.plugin import Design\n" + COUNTING
    own.write_text(text)
    plain, counting = run("sram"), run(str(own))
    assert counting.simulator.cycle == plain.simulator.cycle and counting.count("rf_writes") == plain.count("rf_writes")
    assert int(counting.snapshots[-1].rf["asked"]) >= counting.count("rf_writes") > 0
    own.write_text(text.replace("default_", ""))
    with pytest.raises(InputError, match=r"write_back: calls itself; `rfview help write_back` .* \(my_rf.py, line 7\)"):
        designs.build(str(own), {}, "")


def test_several_slips_are_a_line_each(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own.write_text(own.read_text().replace("registers.copy_row(", "registers.copy_rows(").replace("+ HITS", "+ HIT"))
    assert cli.main(["designs", str(own)]) == 2
    lines = capsys.readouterr().err.splitlines()
    wrong = [line.partition(" hook ")[2].partition(":")[0] for line in lines if line.startswith("rfview: error: design my_rf,")]
    assert sorted(wrong) == ["read", "read", "read_cycles"] and len(lines) == 3


def test_a_design_without_hooks_for_the_subcore_is_refused_there(own: Path) -> None:
    assert designs.build(str(own), {}, "", "subcore").state_dtype["latched"].shape == (32,)
    own.write_text(own.read_text().replace("def write_cycles(", "@device\ndef unused(").replace("def read_cycles(", "@device\ndef other("))
    with pytest.raises(InputError, match="my_rf has hooks for Fermi's core only; for a sub-core it needs read_cycles or"):
        designs.build(str(own), {}, "", "subcore")


HELPER = "def twice(cycles):\n    return 2 * cycles\n\n\ndef write_back("


def test_a_helper_that_is_not_marked_is_named(own: Path) -> None:
    text = own.read_text().replace("def write_back(", HELPER).replace("+ spec.write_cycles", "+ twice(spec.write_cycles)")
    own.write_text(text)
    with pytest.raises(InputError, match=r"hook write_back: calls twice, which is not marked @device \(from rfview.engine.comp"):
        designs.build(str(own), {}, "")
    own.write_text(text.replace("def twice", "@device\ndef twice")
                   .replace("import registers\n", "import registers\nfrom rfview.engine.compile.device import device\n"))
    assert designs.build(str(own), {}, "").chain == ("my_rf",)


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"), reason="needs the compiler")
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("return registers.first", "return 0.5 * registers.first"), "hook next_event: returns float64; every path"),
        (("return registers.first_bank_free(sm)", "return registers.first_bank_free(sm) if sm.cycle > 3 else None"),
         "hook next_event: returns OptionalType(int64); every path"),
        (("return registers.first_bank_free(sm)", "return np.zeros(3).size + registers.first_bank_free(sm)"),
         "hook next_event: cannot do empty("),
        (("rf.latched[bank] = row + 1", "rf.latched[bank, 0] = row"), "hook write_back: "),
        (("rf.latched[bank] =", "at = -1\n    for at in range(sm.bank_requests[bank]):\n        pass\n    rf.latched[at] ="),
         "float64, int64); a signed and an unsigned 64-bit number make a float: wrap one in np.int64(..)"),
        (("event + HITS] += 1", "event + HITS] += 'x'"), "hook read: cannot do iadd(int64, Literal[str](x)) (my_rf"),
    ],
)
def test_a_slip_in_types_is_named_before_the_machine_is_compiled(own: Path, change: tuple[str, str], says: str) -> None:
    text = own.read_text()
    assert change[0] in text
    own.write_text(text.replace(*change).replace("from rfview.engine.machine import reg", "import numpy as np\nfrom rfview.engine.machine import reg"))
    with pytest.raises(InputError) as error:
        run(str(own))
    assert says in str(error.value) and len(str(error.value)) < 240, error.value


def test_a_run_as_plain_python_does_not_count_as_compiled(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dtype = designs.build(str(own), {}, "plain").spec_dtype
    monkeypatch.setattr(jit, "OFF", True)
    assert warm.is_ready(dtype), "nothing has to be compiled"
    monkeypatch.setattr(jit, "OFF", False)
    assert not warm.is_ready(dtype)
