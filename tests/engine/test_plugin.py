"""The plug-in mechanism: a design over any other by nested records, edits detected, mistakes named."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rfview.engine import kernels, plugin as designs, hooks, stalls, state
from rfview.engine.compile import jit
from rfview.engine.launch import load_launch_file
from rfview.engine.simulator import Simulator
from rfview.engine.machine.cores.subcore import stalls as subcore_stalls
from rfview.engine.plugin import compiler_errors, conformance
from rfview.engine.errors import InputError
from tests.engine import plugin_skeleton
from tests.harness import Assembly, Machine, added

ROOT = Path(__file__).resolve().parents[2]
STT = ROOT / "engine" / "designs" / "stt.py"
WITHOUT_JIT = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
FAST_MEMORY = {"memory.fixed_memory_cycles": 80, "scheduler.active_set": 1}


@pytest.fixture(autouse=True)
def skeleton() -> Iterator[None]:
    """Register the skeleton design; unregister what a test adds."""
    with added("skeleton", plugin_skeleton):
        yield


def program() -> Assembly:
    """Return a program that computes, loads, waits for the load, and stores."""
    found = Assembly().mov(1, 3).ld(2).add(3, 1, 1).fma(4, 3, 1, 3).setp_lt(0, 3, 7).mov(3, 8, guard=0)
    return found.add(5, 2, 3).st(5, offset=4).st(4, offset=8).exit()


def run(design: str, **more: Any) -> Machine:
    """Run the program in two warps, with an active set of one."""
    more = {"scheduler": "two_level", "preset": "gebhart", "settings": FAST_MEMORY} | more
    return Machine(program(), warps=2, data=[40, 0, 0], design=design, **more).run()


def checksum(machine: Machine) -> str:
    """Return a hash over everything recorded after every cycle."""
    digest = hashlib.sha256()
    for snapshot in machine.snapshots:
        for part in (snapshot.sm, snapshot.rf, snapshot.rows, snapshot.memory):
            digest.update(np.asarray(part).tobytes())
    return digest.hexdigest()


CHECKSUM = """
import json, sys
from rfview.engine import plugin as designs
from tests.engine import plugin_skeleton
from tests.engine.test_plugin import checksum, run
designs.add("skeleton", plugin_skeleton)
print(json.dumps(checksum(run(sys.argv[1]))))
"""


def load(name: str, path: str | Path) -> ModuleType:
    """Import a design file by its path."""
    spec = importlib.util.spec_from_file_location(f"copied_{name}", path)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def python(code: str, *arguments: str, **env: str) -> Any:
    """Run code in a fresh process and return the JSON that it prints."""
    full = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore", **env}
    done = subprocess.run([sys.executable, "-c", code, *arguments], cwd=ROOT, env=full, capture_output=True, text=True,
                          timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


# nested records


@pytest.mark.nojit
@pytest.mark.skipif(not WITHOUT_JIT, reason="a compile each, for what rfc over stt shows as well")
@pytest.mark.parametrize("main", ["sram", "stt", "stt[stall=bank]"])
def test_the_skeleton_over_a_main_file(main: str) -> None:
    name, settings = designs.parse_variant(main)
    more = {f"{name}.{key}": value for key, value in settings.items()}
    m = run(f"skeleton[main={name}]", settings=FAST_MEMORY | more)
    plain = run(name, settings=FAST_MEMORY | more)
    assert m.simulator.buffers()["data"].tolist() == plain.simulator.buffers()["data"].tolist()
    assert m.simulator.built.chain == ("skeleton", name)
    assert set(m.simulator.rf_dtype.names or ()) == {"left_cycle", "valid", "reg", "mrf"}
    assert m.count("skeleton_hits") > 0 and m.count("rf_reads") == plain.count("rf_reads"), "hits take the port as well"
    assert m.count("rf_writes") == plain.count("rf_writes"), "every write goes through the main file's own hook"
    if name == "stt":
        assert int(m.snapshots[-1].rf["mrf"]["writes"]) == m.count("rf_writes")


OVER = """from rfview.engine.plugin import Design

DESIGN = Design(name="over", title="nothing of its own", source="the project's tests", parameters=(), state=(),
                takes_main=True)
"""


@pytest.mark.nojit
@pytest.mark.skipif(not WITHOUT_JIT, reason="a compile each, for what the compiled skeleton shows as well")
@pytest.mark.parametrize("main", ["stt", "hcrf", "hrf", "single_buffer", "edram", "racetrack"])
def test_what_a_design_leaves_out_its_main_file_does(main: str, tmp_path: Path) -> None:
    (tmp_path / "over.py").write_text(OVER)
    alone, over = (run(design, preset="fermi") for design in (main, f"{tmp_path / 'over.py'}[main={main}]"))
    alone_counts, over_counts = ({name: count for name, count in m.simulator.counts().items() if count}
                                 for m in (alone, over))
    assert over.simulator.cycle == alone.simulator.cycle and over_counts == alone_counts
    middle = [m.snapshots[alone.simulator.cycle // 2].register(0, 4).tolist() for m in (alone, over)]
    assert middle[0] == middle[1] and middle[0][0] > 0
    assert over.simulator.energy() == pytest.approx(alone.simulator.energy()) and alone.simulator.energy()["total"] > 0


def test_what_a_main_file_has_charged_is_not_charged_again(tmp_path: Path) -> None:
    charged = 'takes_main=True, energy_pj={"rf_reads": (1.0, "x")})'
    (tmp_path / "over.py").write_text(OVER.replace("takes_main=True)", charged))
    with pytest.raises(InputError, match="design over: energy_pj of 'rf_reads', which the main file's energy already includes"):
        designs.build(str(tmp_path / "over.py"), {}, "")
    own = '\n\ndef energy(run):\n    return {"dynamic": run.counts["rf_reads"], "leakage": 0.0, "refresh": 0.0}\n'
    (tmp_path / "over.py").write_text((tmp_path / "over.py").read_text() + own)
    assert designs.build(str(tmp_path / "over.py"), {}, "").chain == ("over", "sram")


@pytest.mark.parametrize(("own", "expected"), [
    ('events=(("stt_writes", "x"),)', "event 'stt_writes' is also the name of an event of single_buffer; give it another"),
    ('events=tuple((f"e{n}", "x") for n in range(32))', "32 events, and 7 of single_buffer; together at most 32"),
    ('energy_pj={"stt_writes": (1.0, "x")}', "energy_pj of 'stt_writes', an event of single_buffer, whose energy already inc"),
])
def test_what_a_design_and_its_main_file_both_have_is_refused(own: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "over.py").write_text(OVER.replace("takes_main=True", f"takes_main=True, {own}"))
    with pytest.raises(InputError, match=re.escape(expected)):
        designs.build(f"{tmp_path / 'over.py'}[main=single_buffer]", {}, "")


def test_stall_codes_of_two_design_files_in_a_chain_differ(tmp_path: Path) -> None:
    template = Path(designs.__file__).parents[1] / "designs" / "template.py"
    (tmp_path / "main.py").write_text(template.read_text())
    stall = 'Stall(32, "slower", "slow", "S", "S", "register_file", "Slower.")'
    (tmp_path / "over.py").write_text(OVER.replace("import Design", "import Design\nfrom rfview.engine.stalls import Stall")
                                      .replace("takes_main=True", f"takes_main=True, stalls=({stall},)"))
    with pytest.raises(InputError, match="stall 'slower', code 32, clashes with template's 'slow_write', code 32; both must"):
        designs.build(f"{tmp_path / 'over.py'}[main={tmp_path / 'main.py'}]", {}, "")


@pytest.mark.parametrize(("glyph", "letter", "expected"), [
    ("L", "l", "stall 'slow_write': glyph 'L' is already that of 'long_scoreboard'"),
    ("▽", "L", "stall 'slow_write': ascii 'L' is already that of 'long_scoreboard'"),
    ("▽", "d", "stall 'slow_write': ascii 'd' is already that of 'dispatch_stall'"),
    ("·", "W", "stall 'slow_write': glyph '·' is already that of 'finished'")])
def test_a_designs_marks_differ_from_the_machines(glyph: str, letter: str, expected: str, tmp_path: Path) -> None:
    template = Path(designs.__file__).parents[1] / "designs" / "template.py"
    text = template.read_text()
    assert '"▽", "W"' in text
    (tmp_path / "mine.py").write_text(text.replace('"▽", "W"', f'"{glyph}", "{letter}"'))
    with pytest.raises(InputError, match=re.escape(expected)):
        designs.build(str(tmp_path / "mine.py"), {}, "")


def test_the_states_of_bundled_designs_have_codes_names_and_marks_of_their_own() -> None:
    rows = dict.fromkeys([*stalls.STALLS, *subcore_stalls.STALLS, *(stall for name in designs.BUILT_IN
                                                                    for stall in designs.design(name).stalls)])
    free = sorted(set(range(stalls.FIRST_DESIGN_CODE, stalls.FIRST_FOREIGN_CODE)) - {stall.code for stall in rows})
    for what in ("code", "name", "glyph", "ascii"):
        common = [value for value, count in Counter(getattr(stall, what) for stall in rows).items() if count > 1]
        assert not common, f"two states have the same {what}: {common}; codes that are free: {free}"


def test_a_bundled_designs_slip_is_found_before_its_machine_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    if jit.OFF:
        pytest.skip("nothing is compiled")
    machine = Simulator(load_launch_file(kernels.path("vectoradd")), design="rfc")
    machine.try_hooks()
    source = Path(str(designs.find("rfc").__file__)).read_text()
    called = source.replace("hooks.arbitrate(sm", "arbitrated(sm", 1)
    assert called != source
    monkeypatch.setattr(conformance, "read_text", lambda path: called)
    with pytest.raises(InputError, match="design rfc.*arbitrated"):
        machine.try_hooks()


def test_the_energy_of_a_design_over_another_by_hand(tmp_path: Path) -> None:
    table = 'takes_main=True, events=(("near", "x"),), energy_pj={"near": (2.0, "x")}, technology={"leakage_mw": (3.0, "mW", "x")})'
    (tmp_path / "over.py").write_text(OVER.replace("takes_main=True)", table))
    sram = designs.design("sram")
    read, leakage = (sram.energy_pj or {})["rf_reads"][0], (sram.technology or {})["leakage_mw"][0]
    counted = designs.Run({"rf_reads": 10, "rf_writes": 0, "near": 5}, 700, 700.0, {})     # one microsecond
    found = designs.energy(designs.build(str(tmp_path / "over.py"), {}, "").chain, counted)
    assert found["dynamic"] == pytest.approx(10 * read + 5 * 2) and found["leakage"] == pytest.approx(1e3 * (leakage + 3))
    own = '\n\ndef energy(run):\n    return {**run.main, "dynamic": run.main["dynamic"] + 1}\n'
    (tmp_path / "own.py").write_text((tmp_path / "over.py").read_text().replace('"over"', '"own"') + own)
    found = designs.energy(designs.build(str(tmp_path / "own.py"), {}, "").chain, counted)
    assert found["dynamic"] == pytest.approx(10 * read + 1) and found["leakage"] == pytest.approx(1e3 * leakage)


def test_a_main_file_is_built_over_no_other() -> None:
    with pytest.raises(InputError, match=r"main=rfc: rfc is itself built over a main file; choose one that is not"):
        designs.build("skeleton[main=rfc]", {}, "")


def test_reads_that_a_main_file_would_not_ask_for_are_refused() -> None:
    with pytest.raises(InputError, match="racetrack serves reads with its own `arbitrate`, which .* skeleton's `read`"):
        designs.build("skeleton[main=racetrack]", {}, "")


@pytest.mark.nojit
def test_the_skeleton_leaves_and_joins() -> None:
    m = run("skeleton[main=stt]", settings=FAST_MEMORY | {"skeleton.leave_cycles": 5})
    states = m.states(0)
    left = states.index("rfc_flush")
    assert states[left : left + 6] == ["rfc_flush"] * 5 + ["long_scoreboard"]
    assert plugin_skeleton.copied(m.snapshots[left + 5], 0) >= 0 and plugin_skeleton.copied(m.snapshots[left + 6], 0) == -1
    assert m.count("skeleton_joins") == 4, "each of two warps joins, leaves for its load, and joins again"


@pytest.mark.nojit
def test_a_design_without_a_main_file_says_so() -> None:
    with pytest.raises(InputError, match="stt is not built over another register file"):
        designs.build("stt[main=sram]", {}, "")
    with pytest.raises(InputError, match="no register-file design 'sttt'.*did you mean stt"):
        designs.build("skeleton[main=sttt]", {}, "")


@pytest.mark.nojit
def test_parameters_of_both_levels_reach_their_own_record() -> None:
    built = designs.build("skeleton[main=stt]", {"stt.write_cycles": 7, "skeleton.leave_cycles": 2}, "")
    spec = np.zeros(1, built.spec_dtype).view(np.recarray)[0]
    built.fill(spec, 100)
    assert (int(spec.leave_cycles), int(spec.mrf.write_cycles)) == (2, 7)
    assert (int(spec.first_row), int(spec.mrf.first_row)) == (100, 100 + state.MAX_WARPS)
    assert int(spec.mrf.first_event) == int(spec.first_event) + 2


@pytest.mark.slow
def test_with_and_without_jit_every_cycle_is_the_same() -> None:
    """The one compile of a design that is not built in: over another, with late operands. Other tests run such as plain Python."""
    design = "skeleton[main=stt,hit_cycles=2]"
    assert checksum(run(design)) == python(CHECKSUM, design, NUMBA_DISABLE_JIT="1")


# edits


@pytest.mark.nojit
def test_the_hash_covers_the_whole_chain(tmp_path: Path) -> None:
    copy = tmp_path / "stt.py"
    copy.write_text(STT.read_text(encoding="utf-8"), encoding="utf-8")
    designs.add("stt", load("stt", copy))
    before = [designs.build(design, {}, "x").spec_dtype for design in ("stt", "skeleton[main=stt]", "skeleton", "sram")]
    text = copy.read_text(encoding="utf-8")
    why = "\ndef why(trail, moment, rf, refusal):\n    return False\n"
    copy.write_text("# a comment\n" + text.replace('title="', 'title="another ') + why, encoding="utf-8")
    assert designs.build("stt", {}, "x").spec_dtype == before[0], "what is not compiled needs no new compile"
    copy.write_text(text.replace("rf.writes += 1", "rf.writes += 2"), encoding="utf-8")
    after = [designs.build(design, {}, "x").spec_dtype for design in ("stt", "skeleton[main=stt]", "skeleton", "sram")]
    assert [one == other for one, other in zip(before, after)] == [False, False, True, True]
    assert designs.build("sram", {}, "y").spec_dtype != before[3], "and the engine's own sources"


# mistakes


def slipped(tmp_path: Path, old: str, new: str) -> ModuleType:
    """Return the stt design with one edit."""
    text = STT.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "stt.py"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return load("stt", path)


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("rf.writes += 1", "rf.wirtes += 1",
         r"design stt, hook write_back: no field 'wirtes' in its state; did you mean 'writes'\? \(stt.py, line \d+\)"),
        ("sm.cycle + spec.write_cycles", "sm.cycle + spec.write_cycle",
         r"hook write_back: no field 'write_cycle' in its parameters; did you mean 'write_cycles'"),
        ("sm.bank[bank].busy_code", "sm.bank[bank].busy_cod",
         r"hook write_back: no field 'busy_cod' in sm.bank\[bank\]; did you mean 'busy_code'"),
        ("    if spec.stall != STALL_PIPELINE:\n        return registers",
         "    port = sm.bank[0]\n    port.untill = 1\n    if spec.stall != STALL_PIPELINE:\n        return registers",
         r"hook next_event: no field 'untill' in port = sm.bank\[0\]"),
        ("def next_event(sm, rf, spec):", "def next_event(sm, spec, rf):",
         r"hook next_event: takes \(sm, spec, rf\), expected \(sm, rf, spec\)"),
        ("    return STT_WRITE if rf.frozen_until_cycle > sm.cycle else 0",
         "    if rf.frozen_until_cycle > sm.cycle:\n        return STT_WRITE",
         r"hook begin_cycle: a path ends without a return"),
        ('    ("writes", "i8"),', '    ("writes", "u1"), ("more", "nothing"),', r"its state is not a list of fields"),
    ],
)
def test_a_slip_names_design_hook_and_field(tmp_path: Path, old: str, new: str, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        designs.add("stt", slipped(tmp_path, old, new))


@pytest.mark.nojit
@pytest.mark.parametrize("name", designs.BUILT_IN)
def test_the_designs_that_come_with_rfview_keep_to_the_interface(name: str) -> None:
    assert conformance.problems(designs.module(name)) == []


@pytest.mark.nojit
def test_a_nested_state_is_not_ours_to_check() -> None:
    assert conformance.problems(plugin_skeleton) == []


UNSEEN = "    port = sm.bank[0]\n    if sm.cycle > 3:\n        port = sm.bank[1]\n    return np.int64(port.untill_cycle)\n"


@pytest.mark.skipif(WITHOUT_JIT, reason="needs the compiler's error")
def test_a_compiler_error_that_the_check_cannot_foresee_is_explained(tmp_path: Path) -> None:
    import numba

    found = slipped(tmp_path, "    return STT_WRITE if rf.frozen_until_cycle > sm.cycle else 0\n", UNSEEN)
    found.np = np  # type: ignore[attr-defined]
    designs.add("stt", found)
    built = designs.build("stt", {}, "x")

    @numba.njit
    def step(sm: Any, rf: Any, spec: Any, rows: Any) -> Any:
        return hooks.begin_cycle(sm, rf, spec, rows)

    records = [np.zeros(1, dtype).view(np.recarray)[0] for dtype in (state.SM, built.state_dtype, built.spec_dtype)]
    with pytest.raises((numba.errors.NumbaError, KeyError)) as raised:
        step(*records, np.zeros(4, state.ROW).view(np.recarray))
    said = str(compiler_errors.explain(raised.value, [found]))
    assert said.startswith("design stt, hook begin_cycle (stt.py, line ") and said.endswith("no field 'untill_cycle'")


@pytest.mark.nojit
def test_an_unknown_compiler_error_keeps_its_last_line(tmp_path: Path) -> None:
    found = slipped(tmp_path, "rf.writes += 1", "rf.writes += 2")
    place = f'File "{tmp_path / "stt.py"}", line 60'
    error = ValueError(f"Failed in nopython mode\n{place}:\nCannot unify int64 and none")
    said = str(compiler_errors.explain(error, [found]))
    assert said == "design stt, hook write_back: Cannot unify int64 and none (stt.py, line 60)"
    assert str(compiler_errors.explain(ValueError("no place"), [found])) == "design stt: no place"
