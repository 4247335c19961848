"""`rfview designs --new` and `--check`, as the author of a new design uses them."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rfview.engine import plugin
from rfview.engine.compile import jit
from rfview.engine.errors import InputError
from rfview.engine.plugin import Design, Parameter, check_design, files, host_functions, plain_trial, variants
from rfview import cli
from rfview.commands.designs import INSIDE, check, host_slips, track_slips
from rfview.glossary import own_design
from rfview.render import lens, scene
from rfview.sessions.machine import Machine as Shown
from tests.harness import Assembly, Machine


@pytest.fixture(autouse=True)
def forget():
    """Unregister the designs of each test."""
    yield
    files.forget()


@pytest.mark.slow
def test_a_new_design_passes_its_check_and_a_wrong_one_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check_design, "CHECKED", ("hotspot",))
    monkeypatch.setattr(check_design, "SUBCORE_PRESETS", ())        # another compile, for what plain Python shows as well
    monkeypatch.setenv(INSIDE, "1")
    path = tmp_path / "my_rf.py"
    assert cli.main(["designs", "--new", str(path)]) == 0
    assert "--check" in capsys.readouterr().out
    assert cli.main(["designs", str(path), "--check"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 and all(line.startswith("hotspot") and line.endswith("ok") for line in lines)
    monkeypatch.setattr(check_design, "PATIENCE", 1)
    assert cli.main(["designs", str(path), "--check"]) == 1
    assert "not finished after 1 times sram's cycles; the warps: " in capsys.readouterr().out


def test_the_check_runs_the_design_as_plain_python_first(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "my_rf.py"
    assert cli.main(["designs", "--new", str(path)]) == 0
    text = path.read_text()
    path.write_text(text.replace("(MAX_BANKS,)", "(2,)"))
    assert cli.main(["designs", str(path), "--check"]) == 2
    said = capfd.readouterr().err
    assert "run as plain Python: IndexError in write_back (my_rf.py, line " in said and "out of bounds" in said
    path.write_text(text.replace("HITS = 0", "HITS = 1"))
    assert cli.main(["designs", str(path), "--check"]) == 2
    assert "counts event spec.first_event + 1, but has 1 events" in capfd.readouterr().err
    path.write_text(text.replace("return SLOW_WRITE", "return 45"))
    assert cli.main(["designs", str(path), "--check"]) == 2
    assert "hook write_back: returns 45, which is not a stall code" in capfd.readouterr().err
    path.write_text(text.replace("return np.int64(spec.write_cycles)", "return np.int64(9)"))
    assert cli.main(["designs", str(path), "--check"]) == 2
    assert "hook write_cycles: returns 9, expected 0 to 8 cycles, or minus a stall code" in capfd.readouterr().err


class Ended:
    """A machine that has finished, with only what a verdict needs."""

    def __init__(self, data: int, *, verified: bool = True, barrier: int = 5):
        self.spec = SimpleNamespace(order_dependent=False)
        self._data, self._verified = data, verified
        self.config, self.cycle = {"sm.num_warps": 2}, 4
        self.sm = SimpleNamespace(stall_total=np.array([3, barrier]))

    def run(self) -> None:
        """Do nothing more."""

    def buffers(self) -> dict[str, np.ndarray]:
        """Return one buffer of one word."""
        return {"out": np.array([self._data])}

    def verify(self) -> tuple[bool, list[str]]:
        """Return whether the kernel's results are right."""
        return self._verified, []


def test_the_verdict_says_what_is_wrong() -> None:
    plain = Ended(7)
    assert check_design.verdict_of(plain, Ended(7)) == "ok"
    assert check_design.verdict_of(plain, Ended(8)) == "memory differs from sram's: out"
    assert check_design.verdict_of(plain, Ended(7, verified=False)) == "the kernel's results are wrong"
    assert check_design.verdict_of(plain, Ended(7, barrier=4)) == "warp-cycles do not add up"


def test_idle_cycles_that_matter_are_named() -> None:
    class Machine:
        """A fake machine whose run takes three steps."""

        sm = SimpleNamespace(was_idle=1, stall_total=np.array([0, 3]))
        built = SimpleNamespace(stalls=[SimpleNamespace(name="wait", code=1)])

        def __init__(self, count: int):
            self.cycle, self._count = 0, count

        @property
        def finished(self) -> bool:
            return self.cycle == 3

        def step(self, cycles: int) -> None:
            assert cycles == 1 and self.sm.was_idle == 0
            self.cycle, self.sm.was_idle = self.cycle + 1, 1

        def counts(self) -> dict[str, int]:
            return {"hits": self._count}

    own = Machine(5)
    own.cycle = 3
    assert check_design.skipping(own, Machine(5)) == "ok"
    assert check_design.skipping(own, Machine(9)).endswith("are skipped: hits 5 instead of 9")


def test_the_help_prints_defaults_helpers_and_records(capsys: pytest.CaptureFixture[str]) -> None:
    for word, parts in (
        ("arbitrate", ("def arbitrate(sm, rf, spec", "def default_arbitrate(", "registers.refuse_readers(sm)")),
        ("set_unread", ("def set_unread(sm, inst,",)), ("sm.inflight", ('("unread", "u1"),', "row slots")),
        ("inst", ('("last_use", "u1"),',)), ("sm", ('("stall_total"', '("collector", COLLECTOR')),
        ("spec", ("spec.NAME", "first_event")), ("rf", ("rf.NAME",)), ("Design", ("class Design:", "tracks: tuple")),
        ("Scene", ("warp: int = 0", "now: Machine")), ("Row", ("class Line(", "def at(self")),
    ):
        assert cli.main(["help", word]) == 0
        said = capsys.readouterr().out
        assert all(part in said for part in parts), word


def test_the_help_explains_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "my_rf.py"
    assert cli.main(["designs", "--new", str(path)]) == 0
    assert cli.main(["help", str(path)]) == 0
    said = capsys.readouterr().out
    assert "slow_write   (warp state of my_rf)" in said and "my_rf.write_cycles   (parameter of my_rf)" in said
    assert "rf.latched   (state of my_rf)\n  32 x uint32" in said
    assert cli.main(["help", str(tmp_path / "none.py")]) == 2


def test_the_check_names_tracks_that_cannot_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = (("a", "popcount(resident", 0), ("b", "b.queue", 0), ("c", "sum(b.queue)", 0))
    found = dataclasses.replace(plugin.design("sram"), tracks=wrong)
    monkeypatch.setattr(plugin, "design", lambda name: found)
    slips = track_slips("sram")
    assert len(slips) == 2 and "track 'a'" in slips[0] and "never closed" in slips[0]
    assert slips[1].startswith("track 'b': `b.queue` has 16 values per cycle")


@pytest.mark.parametrize(("name", "function", "said"), [
    ("energy", "lambda run: {'dynamic': run.counts['rf_raeds']}", "KeyError: 'rf_raeds'; did you mean 'rf_reads'? (stt.py"),
    ("energy", "lambda run: {'dynamic': '1', 'leakage': 0, 'refresh': 0}",
     "energy(run) gives dynamic as '1', expected a number"),
    ("energy", "lambda run: {'dynamic': -1.0, 'leakage': 2.0, 'refresh': 0.0}", "energy: dynamic negative"),
    ("area_mm2", "lambda values: values['stt.lines'] * values['x']", "area_mm2: KeyError: 'stt.lines'"),
    ("area_mm2", "lambda values: None", "area_mm2: returns None, expected a number"),
    ("node_nm", "lambda values, preset: 'small'", "node_nm: returns 'small', expected a number"),
    ("floors", "lambda counts, values, config: [('STT banks', counts['stt_writes'])]", "design stt, floors: KeyError: 'stt_writes'"),
    ("floors", "lambda counts, values, config: [('STT banks', 1)]", "stt: its floors() returns [('STT banks', 1)], expected"),
    ("lifts", "lambda values, config: 'faster writes'", "stt: its lifts() returns 'faster writes', expected"),
    ("lifts", "lambda values, config: {'STT banks': 'x', 'bank_conflict': 'x', 'stt_writes': 'x'}",
     "stt: its lifts() names 'stt_writes', which is no stall of the run"),
    ("why", "lambda trail, moment, rf, refusal: trail.value('stt.write_cycle') > 0",
     "trail.value('stt.write_cycle'): not a parameter of this run; did you mean stt.write_cycles"),
    ("why", "lambda trail, moment, rf, refusal: rf['wirtes']", "design stt, why: ValueError: no field of name wirtes"),
])
def test_the_check_tries_what_only_reports_and_views_call(
    name: str, function: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain_trial, "RUNS", (("vectoradd", "lrr", 0),))
    found = plugin.find("stt")
    monkeypatch.setattr(found, name, eval(compile(function, str(found.__file__), "eval")), raising=False)
    slips = host_slips("stt")
    assert len(slips) == 1 and said in slips[0], slips


def test_the_check_draws_the_lens(monkeypatch: pytest.MonkeyPatch) -> None:
    def painter(scene: Any, width: int, height: int) -> Any:
        raise InputError(f"{width} columns")

    monkeypatch.setattr(plain_trial, "RUNS", (("vectoradd", "lrr", 0),))
    assert host_slips("stt") == []
    monkeypatch.setattr(lens, "painter_of", lambda design: painter)
    assert host_slips("stt") == ["58 columns", "24 columns"]


def test_slips_of_the_views_follow_the_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(check_design, "check", lambda variant, progress: [check_design.Checked("k", "lrr", 4, 2, "ok")])
    monkeypatch.setattr("rfview.commands.designs.host_slips", lambda variant: ["design sram, energy: wrong"])
    assert check("sram") == 1
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()] == ["ok", "wrong"]


def test_a_lens_of_a_package_that_raises_is_named_and_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "far_lens.py").write_text("def draw(scene, width, height):\n    return scene.nothing\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    own = tmp_path / "far.py"
    assert cli.main(["designs", "--new", str(own)]) == 0
    own.write_text(own.read_text().replace("    panels=(", '    lens="far_lens:draw",\n    panels=('))
    machine = Machine(Assembly().mov(1, 5).exit(), design=str(own))
    shown = lens.render(scene.Scene(now=Shown.of(machine.simulator.snapshot()), info=machine.simulator.info), 98, 18)
    assert shown[1].plain.startswith(" lens far_lens, draw: AttributeError: ") and "(far_lens.py," in shown[1].plain


def test_the_check_wants_a_design_and_the_compiler(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli.main(["designs", "--check"]) == 2
    assert "name a design or a design file" in capsys.readouterr().err
    monkeypatch.setenv(INSIDE, "1")
    monkeypatch.setattr(jit, "OFF", True)
    assert cli.main(["designs", "sram", "--check"]) == 2
    assert "takes hours without the compiler" in capsys.readouterr().err


def test_the_help_topic_names_every_hook(capsys: pytest.CaptureFixture[str]) -> None:
    from rfview.engine.plugin.conformance import HOOKS

    assert cli.main(["help", "design"]) == 0
    text = capsys.readouterr().out
    assert all(f"  {name}({', '.join(arguments)})" in text for name, arguments in HOOKS.items())
    assert "take_write_port(sm, bank, warp, reg)" in text


def test_the_help_topic_names_everything_that_a_design_says_of_itself() -> None:
    text = own_design.text()
    names = [field.name for described in (Design, Parameter) for field in dataclasses.fields(described)]
    names += host_functions.FUNCTIONS
    missing = [name for name in names if not re.search(rf"\b{name}\b", text)]
    assert not missing, f"rfview/glossary/own_design.py does not name {', '.join(missing)}"


def test_a_lens_that_cannot_be_used_says_so_above_the_panels(tmp_path: Path) -> None:
    own = tmp_path / "lensless.py"
    assert cli.main(["designs", "--new", str(own)]) == 0
    own.write_text(own.read_text().replace("    panels=(", '    lens="nowhere:render",\n    panels=('))
    machine = Machine(Assembly().mov(1, 5).exit(), design=str(own))
    shown = lens.render(scene.Scene(now=Shown.of(machine.simulator.snapshot()), info=machine.simulator.info), 58, 18)
    assert shown[1].plain.strip() == "lens 'nowhere:render': No module named 'nowhere'"
    assert "latched rows" in shown[2].plain


RENDER = """

def render(scene, width, height):
    from rfview.render.text import Row
    return [Row(width).add(f"bank {bank} has {row}").line() for bank, row in enumerate(scene.now.snapshot.rf["latched"])]
"""


@pytest.mark.parametrize(("name", "change", "row", "said"), [
    ("drawn", ("", ""), 1, "bank 0 has 0"),
    ("misspelt", ('"latched"', '"latch"'), 2, "(misspelt.py, line"),
    ("no_lines", (".line()", ""), 1, "design no_lines, render: expected a list of Lines, as"),
])
def test_a_design_draws_itself_and_its_slips_are_named(tmp_path: Path, name: str, change: tuple[str, str], row: int,
                                                       said: str) -> None:
    own = tmp_path / f"{name}.py"
    assert cli.main(["designs", "--new", str(own)]) == 0
    plain = own.read_text()
    own.write_text(plain + RENDER.replace(*change))
    try:
        machine = Machine(Assembly().mov(1, 5).exit(), design=str(own))
        now = Shown.of(machine.simulator.snapshot())
        shown = lens.render(scene.Scene(now=now, info=machine.simulator.info), 58, 18)
        assert said in shown[row].plain
        assert any("latched rows" in line.plain for line in shown) is bool(change[0]), "its panels, if it cannot be drawn"
        assert variants.compiled_part(own, own.read_text()) == variants.compiled_part(own, plain), "no new compilation"
    finally:
        files.forget()


def test_the_check_begins_with_what_cannot_be_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "my_rf.py"      # compiled for the check of the whole file already
    assert cli.main(["designs", "--new", str(own)]) == 0
    own.write_text(own.read_text().replace("    panels=(", '    lens="nowhere:render", tracks=(("a", "rf.latched[w]", 0),),\n'
                                           "    panels=("))
    monkeypatch.setenv(INSIDE, "1")
    monkeypatch.setattr(check_design, "check", lambda variant, progress: iter(()))
    monkeypatch.setattr("rfview.commands.designs.host_slips", lambda variant: [])
    capsys.readouterr()
    assert cli.main(["designs", str(own), "--check"]) == 1
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "lens 'nowhere:render': No module named 'nowhere'"
    assert "track 'a'" in shown[1] and "take a field's values" in shown[1]
    files.forget()
