"""A sub-core recorded and rewound: states by checksum in any order, registers above 63, causes, WHY and holders of its stalls."""

from __future__ import annotations

import hashlib
import io
import random
import re
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from rfview.engine import isa, kernels
from rfview.engine.errors import InputError
from rfview.engine.launch import Arg, Launch, LaunchSpec, load_launch_file
from rfview.engine.launch.files import Buffer
from rfview.engine.machine.cores.subcore.state import CLASSES
from rfview.engine.program import Kernel, Module
from rfview.engine.sass.module import module_of_listing
from rfview.engine.simulator import Simulator
from rfview.engine.snapshot import Snapshot
from rfview.engine.stalls import NOT_WAITING, NO_STALL
from rfview.sessions.branches.lifted import lifted
from rfview.dap.variables import Trees
from rfview.render import registers
from rfview.render.scene import Scene
from rfview.sessions.causes.after import after
from rfview.sessions.branches.fork import fork
from rfview.sessions.causes.rules import rule_of
from rfview.sessions.causes.subcore import counted
from rfview.sessions.commands.table import execute
from rfview.sessions.file.run_info import run_info
from rfview.sessions.file.writer import record
from rfview.sessions import open_session
from rfview.sessions.machine import Machine
from rfview.sessions.export import kanata
from rfview.sessions.reports.pipeline import DECODED, EMPTY, FETCHED, LETTERS, lives, reads, writes
from rfview.sessions.reports.statistics import between, as_text
from rfview.sessions.session import Session
from rfview.sessions.timeline.live import LiveTimeline
from rfview.sessions.timeline.opening import open_recording
from rfview.sessions.timeline.register_log import RegisterLog
from rfview.sessions.why import why
from tests.engine.machine_programs import exit_, inst, place, plain_only
from tests.properties.causes import wrong_causes

pytestmark = [pytest.mark.nojit, plain_only]
CHUNK, CYCLES = 64, 330
RECORDED = Path(__file__).resolve().parents[2] / "rfview" / "learn" / "recorded"
PROMISE, REUSE = RECORDED / "promise.rfs", RECORDED / "reuse.rfs"


def simulator() -> Simulator:
    """Return a machine with a CTA of a bundled kernel that accesses global and shared memory."""
    spec = load_launch_file(kernels.path("dct8x8"))
    return Simulator(replace(spec, launches=(replace(spec.launches[0], grid=(1, 1, 1)),), expect={}), preset="ampere")


def checksum(snapshot: Snapshot) -> str:
    """Return a digest of all state: the machine's, the design's with the core's, registers and memory."""
    parts = (snapshot.sm.tobytes(), snapshot.rf.tobytes(), snapshot.rows.tobytes(), snapshot.memory.tobytes())
    return hashlib.sha256(b"".join(parts)).hexdigest()


@pytest.fixture(scope="module")
def truth() -> list[str]:
    """Return the digest of the state at every cycle of a run that nothing records."""
    machine, digests = simulator(), []
    digests.append(checksum(machine.snapshot()))
    for _ in range(CYCLES):
        machine.step(1)
        digests.append(checksum(machine.snapshot()))
    return digests


@pytest.fixture(scope="module")
def live() -> Session:
    """Return a live session that has run as far."""
    timeline = LiveTimeline(simulator(), chunk_cycles=CHUNK)
    timeline.extend(CYCLES - CHUNK)
    return Session(timeline)


def test_any_cycle_of_a_live_run_and_of_a_recording_has_the_state_of_a_plain_run(
        truth: list[str], live: Session, tmp_path: Path) -> None:
    record(simulator(), tmp_path / "core.rfs", chunk_cycles=CHUNK, max_cycles=CYCLES)
    rng = random.Random(5)
    recorded = open_recording(tmp_path / "core.rfs")
    for timeline in (live.timeline, recorded):
        assert timeline.last >= CYCLES
        cycles = rng.sample(range(CYCLES), 12)
        for cycle in [*sorted(cycles), *sorted(cycles, reverse=True), *cycles, 0, CHUNK, CHUNK - 1, len(truth) - 1]:
            assert checksum(timeline.at(cycle)) == truth[cycle], f"{type(timeline).__name__}, cycle {cycle}"
    recorded.close()


def test_every_stall_ends_at_a_resource_and_is_charged_to_an_instruction(live: Session) -> None:
    timeline, info = live.timeline, live.info
    assert not wrong_causes(timeline)
    names, seen = info.stall_names, set()
    for cycle in range(3, timeline.last, 7):
        states = timeline.states(cycle, cycle + 1)[0]
        for code in np.unique(states).tolist():
            if names[code] not in NOT_WAITING:
                chain = why(live, int(np.flatnonzero(states == code)[0]), cycle)
                assert chain.resource is not None and len(chain.links) > 1, chain.text()
                seen.add(names[code])
    assert {"wait", "short_scoreboard", "long_scoreboard", "imc_miss"} <= seen


def test_statistics_say_that_the_energy_is_assumed(live: Session) -> None:
    assert "assumed: every entry" in as_text(between(live.timeline, live.timeline.first, live.timeline.last))
    assert execute(live, "info accounts").text.count("assumed") == 4


def test_a_counter_is_held_by_an_instruction_whose_control_code_names_it(live: Session) -> None:
    info, checked = live.info, 0
    for cycle in range(3, live.timeline.last, 5):
        snapshot = live.timeline.at(cycle)
        for warp in np.flatnonzero(np.isin(snapshot.sm["warp"]["state"], [info.stall_codes["long_scoreboard"]])).tolist():
            link = why(live, warp, cycle).links[1]
            counter = int(snapshot.sm["warp"][warp]["blocker"])
            control = info.program[link.target.pc].control
            assert control is not None and counter in (control >> 5 & 7, control >> 8 & 7)
            checked += 1
    assert checked > 20 and rule_of("long_scoreboard", True).find is counted


def test_what_a_load_delayed_is_measured_and_a_fixed_latency_is_not(live: Session) -> None:
    code, cycle = live.info.stall_codes["long_scoreboard"], 0
    while cycle < 200 or code not in live.timeline.states(cycle, cycle + 1)[0]:
        cycle += 1
    warp = int(np.flatnonzero(live.timeline.states(cycle, cycle + 1)[0] == code)[0])
    found = after(live, warp, cycle)
    assert live.info.program[found.subject.pc].space == "global"
    made = lifted(live, found)
    assert made.sooner > 0 and made.quick[0].simulator.cycle >= made.begin
    fixed = next(pc for pc, entry in enumerate(live.info.program) if entry.control >> 5 & 7 == 7 and not entry.space)
    with pytest.raises(InputError, match="a fixed latency, which the compiler counted on"):
        lifted(live, replace(found, subject=replace(found.subject, pc=fixed)))


def test_all_own_states_have_a_rule(live: Session) -> None:
    own = {stall.name for stall in live.info.stalls if 11 < stall.code < 32 and stall.name not in NO_STALL}
    assert {"dispatch_stall", "lg_throttle", "mio_throttle", "branch_resolving", "math_pipe_throttle", "membar", "imc_miss"} <= own
    for name in own:
        assert rule_of(name, True).states, name


def test_uniform_registers_are_read_where_machine_code_writes_them(tmp_path: Path) -> None:
    program = [inst(isa.OP_MOV32, 6, (7,), dst_uniform=1), inst(isa.OP_MOV32, 62, (9,), dst_uniform=1), exit_()]
    insts = place(program)
    insts["control"] = 5 | 7 << 5 | 7 << 8
    kernel = Kernel("k", insts, ("UMOV UR6, 0x7", "UMOV UR62, 0x9", "EXIT"), (), 16, 0, 0, 0, ())
    spec = LaunchSpec(Path("k.toml"), "k", Path("k.sass"), (Launch("k", (1, 1, 1), (64, 1, 1), 0, tuple[Arg, ...]()),),
                      {"data": Buffer("data", np.zeros(4, np.uint32))}, {}, {}, False, "exact", "", None)
    record(Simulator(spec, module=Module("k.sass", ".address_size 64\n", {"k": kernel}), preset="ampere"),
           tmp_path / "k.rfs", chunk_cycles=16, has_keyframes=False)
    recorded = open_recording(tmp_path / "k.rfs")
    machine = Machine.of(recorded.at(recorded.last - 1))
    assert [machine.uniform(warp)[[5, 6, 62]].tolist() for warp in (0, 1)] == [[0, 7, 9]] * 2
    shown = registers.render(Scene(now=machine, info=machine.info, warp=1), 100, 24)
    assert " uniform UR6  00000007  UR62 00000009" in "\n".join(line.plain for line in shown)
    session = Session(recorded)
    session.goto(recorded.last - 1)
    assert [(node.name, node.value.split()[1]) for node in Trees(session)._registers(1) if node.name[0] == "U"] == [
        ("UR6", "7"), ("UR62", "9")]
    for register, value in ((6, 7), (62, 9), (5, 0)):
        column = session.expression(f"w1.UR{register}").column(0, recorded.last + 1)
        assert column.tolist() == [int(Machine.of(recorded.at(cycle)).uniform(1)[register]) for cycle in range(recorded.last + 1)]
        assert set(column.tolist()) == {0, value}
    session.goto("start")
    assert "w1.UR6 = 7" in execute(session, "until w1.UR6 == 7").text + execute(session, "print w1.UR6").text
    for wrong, message in (("w1.UR256", "there is no UR256"), ("w1.UR6[0]", "one value for all lanes"), ("UR6", "w0.UR6")):
        with pytest.raises(InputError, match=message):
            session.expression(wrong)
    for file, facts, message in (("drain.rfs", {}, "only machine code has uniform registers"),
                                 ("reuse.rfs", {"uniform_rows": None}, "record the run again")):     # as older recordings have it
        with open_session(REUSE.with_name(file)) as other:
            other.timeline.info = msgspec.structs.replace(other.timeline.info, **facts)
            with pytest.raises(InputError, match=message):
                other.expression("w1.UR6")
    rows = machine.info.recorded_rows
    for first, is_there in ((rows - 8 - 47 * 26, True), (rows - 7 - 47 * 26, False)):
        stored = msgspec.to_builtins(msgspec.structs.replace(machine.info, uniform_rows=(first, 26)))
        with nullcontext() if is_there else pytest.raises(ValueError, match="uniform registers outside of the rows"):
            run_info(stored, recorded.layout, rows, 1 << 40)
    recorded.close()


def test_registers_above_63_are_in_the_log_of_writes_and_in_snapshots(tmp_path: Path) -> None:
    program = [inst(isa.OP_MOV32, 200, (7,)), inst(isa.OP_MOV32, 254, (9,)), exit_()]
    insts = place(program)
    insts["control"] = 5 | 7 << 5 | 7 << 8          # a stall count of 5, no counters
    kernel = Kernel("k", insts, ("MOV R200, 0x7", "MOV R254, 0x9", "EXIT"), (), 255, 0, 0, 0, ())
    spec = LaunchSpec(Path("k.toml"), "k", Path("k.sass"), (Launch("k", (1, 1, 1), (32, 1, 1), 0, tuple[Arg, ...]()),),
                      {"data": Buffer("data", np.zeros(4, np.uint32))}, {}, {}, False, "exact", "", None)
    machine = Simulator(spec, module=Module("k.sass", ".address_size 64\n", {"k": kernel}), preset="ampere")
    record(machine, tmp_path / "k.rfs", chunk_cycles=16, has_keyframes=False)
    recorded = open_recording(tmp_path / "k.rfs")
    for reg, value in ((200, 7), (254, 9), (8, 0)):
        log = RegisterLog(recorded, 0, reg)
        column = log.column(0, recorded.last)[:, 5]
        (change,) = np.flatnonzero(np.diff(column)) + 1 if value else (0,)
        assert (column[change:-1] == value).any() and (column[:change] == 0).all()
        if value:
            assert log.write_at(int(change)) is not None and recorded.at(int(change)).register(0, reg)[5] == value
    recorded.close()


def test_the_pipeline_shows_control_allocate_and_reads_apart_and_why_says_what_would_have_helped() -> None:
    """Eight FFMAs of three even registers: the second waits for two cycles in Allocate, the third behind it in Control."""
    with open_session(REUSE) as session:
        assert session.info.isa == "sm_80"
        session.goto("start")
        execute(session, "until w0.state == issued and w0.last_pc == 10")
        start = session.cycle
        shown = {life.pc: "".join(LETTERS[int(cell)] for cell in life.cells if FETCHED < cell < EMPTY and cell != DECODED)
                 for life in lives(session.timeline, 0, start, start + 30)}
        first, second, third = shown[10], shown[11], shown[12]
        assert (first, second) == ("ICARRREEEEW", "ICxxARRREEEEW") and third.startswith("ICCCxxARRR")
        execute(session, "until w0.state == dispatch_stall")
        said = why(session, 0, session.cycle).text()
        assert "with a reuse bit for R2 in FFMA at PC 10, or with an odd register in place of R2" in said
        assert "core.read_ports=2" in said


LISTING = """// rfview machine code 1
.target sm_80
.address_size 64
.entry k
.registers 40
.params 0x160
0000 B------:R-:W-:-:S01{} {}
0010 B------:R-:W-:-:S01 {}
0020 B------:R-:W-:-:S01 FADD R20, R1, R3
0030 B------:R-:W-:-:S01 FADD R21, R1, R3
0040 B------:R-:W-:-:S05 EXIT
"""


@pytest.mark.parametrize("first, second, helps", [
    # what FADD adds is in the third place of the encoding
    ("FFMA R10, R2, R4, R6", "FADD R12, R8, R6",
     "with a reuse bit for R6 in FFMA at PC 0, or with an odd register in place of R8"),
    ("FFMA R10, R2, R4, R6", "FADD R12, R8, R4", "with an odd register in place of R8"),
    # read at two places, kept at one; overwritten; a pair, which is in both banks
    ("FFMA R10, R2, R4, R6", "FFMA R12, R2, R2, R8", "with an odd register in place of R2"),
    ("FFMA R6, R2, R4, R6", "FADD R12, R8, R6", "with an odd register in place of R8"),
    ("FFMA R10, R2, R14, R6", "IMAD.WIDE R12, R8, R4, R6", "with an odd register in place of R8"),
    # kept already
    ("FFMA R10, R2, R4, R6.reuse", "FFMA R12, R8, R14, R6", "with an odd register in place of R8"),
])
def test_what_would_have_helped_goes_by_the_places_of_the_encoding(first: str, second: str, helps: str) -> None:
    module = module_of_listing(LISTING.format(":U4" if "reuse" in first else "", first, second), "k.sass")
    spec = LaunchSpec(Path("k.toml"), "k", Path("k.sass"), (Launch("k", (1, 1, 1), (32, 1, 1), 0, tuple[Arg, ...]()),),
                      {"data": Buffer("data", np.zeros(4, np.uint32))}, {}, {}, False, "exact", "", None)
    session = Session(LiveTimeline(Simulator(spec, module=module, preset="ampere"), chunk_cycles=16))
    execute(session, "until w0.state == dispatch_stall")
    assert f"bank 0 would have a read less {helps}\n" in why(session, 0, session.cycle).text()


def test_a_branch_has_other_numbers_of_the_core(live: Session) -> None:
    live.goto(120)
    branch = fork(live, "wide", {"core.read_ports": 2, "result.fma": 9})
    numbers = branch.timeline.simulator.spec_record.core
    assert (int(numbers.read_ports), int(numbers.latency[CLASSES.index("fma")])) == (2, 9)
    branch.goto(160)
    assert branch.cycle == 160 and live.timeline.simulator.spec_record.core.read_ports == 1
    with pytest.raises(InputError, match="core.late_wide determines the machine's layout"):
        fork(live, "late", {"core.late_wide": 1})


def test_after_names_the_load_whose_counter_a_warp_waits_for() -> None:
    with open_session(PROMISE) as session:
        session.goto(700)
        found = after(session, 0)
        assert session.info.program[found.subject.pc].text.startswith("LDG") and not found.is_own
        assert (found.rows[0].state, found.rows[0].pc, found.rows[0].warps) == ("long_scoreboard", found.subject.pc + 1, (0,))


def test_what_an_instruction_of_machine_code_reads_and_writes(live: Session) -> None:
    """Predicates and uniform registers link instructions, too, in PIPELINE and in exports."""
    program = live.info.program
    entry = {text: next((one for one in program if one.text.startswith(text)), None) for text in ("ISETP", "@P0", "ULDC.64")}
    compares = [one for one in program if one.mnemonic == "ISETP"]
    assert compares or entry["ULDC.64"]
    for one in compares:
        named = re.findall(r"\bU?P[0-6]\b", one.text)
        guards = [named[0]] if one.text.startswith("@") else []
        assert [name for name in writes(one) if "P" in name] == [named[len(guards)]]
        assert set(guards) <= set(reads(one))
    for one in program:
        if one.mnemonic == "ULDC" and ".64" in one.text:
            number = int(re.findall(r"\bUR(\d+)", one.text)[0])
            assert writes(one) == [f"UR{number}", f"UR{number + 1}"]
        if one.mnemonic in ("STG", "STS"):
            assert not writes(one)


def test_an_export_of_machine_code_names_lines_of_its_listing_and_links_what_is_read(live: Session) -> None:
    out = io.StringIO()
    kanata.write(live.timeline, live.timeline.first, live.timeline.last, out)
    rows = [line.split("\t") for line in out.getvalue().splitlines()]
    about = {row[1]: row[3] for row in rows if row[0] == "L" and row[2] == "1"}
    text = {row[1]: row[3] for row in rows if row[0] == "L" and row[2] == "0"}
    assert all(words.startswith("listing line ") for words in about.values())
    stages = {row[3] for row in rows if row[0] == "S"}
    assert "Ca" in stages and "Co" not in stages
    entry = {number: live.info.program[int(words.split()[1].rstrip(":"))] for number, words in text.items()}
    links = [(entry[row[1]], entry[row[2]]) for row in rows if row[0] == "W"]
    assert links and all(set(reads(reader)) & set(writes(writer)) for reader, writer in links)


def test_a_line_of_machine_code_is_one_of_its_listing(live: Session) -> None:
    last = max(entry.line for entry in live.info.program)
    with pytest.raises(InputError, match=f"the last listing line with an instruction is {last}"):
        execute(live, f"break line {last + 1}")
