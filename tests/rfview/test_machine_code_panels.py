"""Panels of machine code as text: control codes, dependence counters, and the sub-core with its read ports."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from rfview.engine.plugin import BUILT_IN, build, on_subcore
from rfview.glossary import focus
from rfview.render import code, collectors, lens, machine_code, registers, warps, why
from rfview.render.lenses import banks, subcore
from rfview.render.lenses.panels import field_of
from rfview.render.panel import Place
from rfview.render.panels import FOCUSABLE, PANELS
from rfview.render.scene import Scene
from rfview.render.text import Row
from rfview.sessions.machine import Machine
from tests.subcore_machine import SubcoreMachine
from tests.subcore_programs import parse

pytestmark = pytest.mark.nojit
PROGRAM = "LDG R4 R2 w2 s2; FFMA R11 R10.reuse R12 R14; FFMA R13 R16 R18 R20; FFMA R15 R22 R24 R26; FADD R6 R4 R7 q2"
SIZES = [(100, 14), (58, 12), (40, 10), (28, 6)]


class Stopped(SubcoreMachine):
    """A program whose machine is kept as it is when `wanted` says so."""

    scene: Scene | None = None

    def _note(self) -> None:
        super()._note()
        machine = Machine.of(self.simulator.snapshot())
        if self.scene is None and self.wanted(machine):
            self.scene = Scene(now=machine, info=machine.info, warp=0)

    def wanted(self, machine: Machine) -> bool:
        return bool(int(machine.sub_core(0)["held_bank"]))


class Waiting(Stopped):
    def wanted(self, machine: Machine) -> bool:
        return machine.state_name(0) == "long_scoreboard"


class Watched(SubcoreMachine):
    """A program with the machine after every cycle."""

    machines: list[Machine]

    def _note(self) -> None:
        super()._note()
        self.machines = [*getattr(self, "machines", []), Machine.of(self.simulator.snapshot())]


@pytest.fixture(scope="module")
def refused() -> Scene:
    scene = Stopped([parse(PROGRAM)]).scene
    assert scene is not None
    return scene


@pytest.fixture(scope="module")
def waiting() -> Scene:
    scene = Waiting([parse(PROGRAM)]).scene
    assert scene is not None
    return scene


def text(lines: list) -> str:
    return "\n".join(line.plain for line in lines)


def test_a_control_code_is_written_as_compilers_do() -> None:
    bits = 3 | 0 << 4 | 7 << 5 | 1 << 8 | 0b100100 << 11
    row, short = Row(40), Row(40)
    machine_code.add_control(row, bits)
    machine_code.add_short_control(short, bits)
    assert (row.line().plain.rstrip(), short.line().plain.rstrip()) == ("B--2--5:R1:W-:Y:S03", "25 ›1  3")


def test_reuse_is_marked_in_full_or_by_a_line_under_the_register() -> None:
    wide, narrow = Row(40), Row(12)
    for row, room in ((wide, 40), (narrow, 12)):
        machine_code.add_text(row, "FFMA R1, R2.reuse, R3", room, "text")
    assert wide.line().plain.rstrip() == "FFMA R1, R2.reuse, R3" and ("R2.reuse", "key") in wide.line().spans
    assert narrow.line().plain.rstrip() == "FFMA R1, R2…" and ("R2", "key+u") in narrow.line().spans


def test_the_lens_shows_who_holds_the_read_ports_that_an_instruction_needs(refused: Scene) -> None:
    shown = text(lens.render(refused, 80, 14))
    assert "Allocate w0 0020 FFMA refused, bank 0" in shown
    assert "needs    bank 0: R16 R18 R20   bank 1: -" in shown
    assert "w0 R10" in shown or "w0 R12" in shown
    kept = Stopped([parse("FFMA R20 R2.reuse R4 R6; FFMA R22 R2 R4 R8")]).scene
    assert kept is not None and "needs    bank 0: R4 R8   bank 1: -" in text(lens.render(kept, 80, 14))


def test_results_are_written_when_the_lens_says() -> None:
    said, written = set(), set()
    for machine in Watched([parse(PROGRAM)]).machines:
        ahead = [subcore._written_in(machine, flight) for flight in machine.in_flight()]
        said |= {machine.ran + cycles for cycles in ahead if cycles >= 0}
        written |= {machine.ran for bank in range(2) if machine.bank(bank, "written")}
    assert said == written and len(written) == 5


def test_what_a_design_shows_of_its_state_is_below_the_subcore_if_it_has_room(refused: Scene) -> None:
    panels = [{"kind": "values", "title": "spare", "field": "unused"}]
    scene = replace(refused, info=msgspec.structs.replace(refused.info, panels=panels))
    assert "\n spare 0" in text(lens.render(scene, 80, 18)) and "spare" not in text(lens.render(scene, 80, 12))
    assert "spare" not in text(lens.render(refused, 80, 18))


@pytest.mark.parametrize("name", [name for name in BUILT_IN if on_subcore.panels(name)])
def test_panels_of_the_subcore_name_fields_of_its_state(name: str) -> None:
    state = np.zeros(1, build(name, {}, "", "subcore").state_dtype)[0]
    assert all(field_of(state, panel["field"]) is not None for panel in on_subcore.panels(name))


@pytest.mark.parametrize("width", [30, 58, 60])
def test_a_blank_is_between_what_a_warp_waits_for_and_its_history(waiting: Scene, width: int) -> None:
    assert waiting.now is not None
    row = warps.warp_row(replace(waiting, window=np.tile(waiting.now.state, (60, 1))), 0, width).plain
    assert "SB2 queue " in row and row.rstrip().endswith("L")


def test_counters_name_who_holds_them_and_who_waits(waiting: Scene) -> None:
    shown = text(collectors.render(waiting, 60, 7))
    row = next(line for line in shown.split("\n") if "SB2" in line)
    assert row.split() == ["SB2", "1", "LDG", "0000", "0040", "FADD", "now"]


def test_why_names_machine_instructions_by_their_addresses_as_code_does(waiting: Scene) -> None:
    said, shown = text(why.render(waiting, 60, 12)), text(code.render(waiting, 60, 8))
    assert "LDG at 0000 counts it" in said and "listing" not in said
    assert "\n 0000 B" in shown and "\n▸0040 B" in shown


@pytest.mark.parametrize("width, height", SIZES)
def test_every_size_is_filled_exactly(refused: Scene, width: int, height: int) -> None:
    for panel in (code, collectors, lens):
        lines = panel.render(refused, width, height)
        assert len(lines) == height and all(len(line.plain) <= width for line in lines)


def test_code_shows_control_codes_where_there_is_room(refused: Scene) -> None:
    assert "0010 B------:R-:W-:-:S01 FFMA" in text(code.render(refused, 100, 14))
    assert "0040 2    " in text(code.render(refused, 40, 14))


def test_panels_are_empty_before_there_is_a_run() -> None:
    for panel in (code, collectors, lens):
        assert all(not line.plain.strip() for line in panel.render(Scene(), 58, 12)[1:])


OF_FERMI = ("GTX480", "HC-RF", "RFC section", "PTX instruction set", "collector")


@pytest.mark.parametrize("panel", [name for name in FOCUSABLE if PANELS[name].of_machine_code])
def test_what_is_in_focus_is_explained_as_a_sub_core_has_it(refused: Scene, panel: str) -> None:
    scene = replace(refused, panel=panel)
    told = "\n".join(focus.at_focus(scene)).partition("(register-file design)")[0]       # whose numbers are a paper's
    named = told.lower().replace("collectors: ", "").replace("column of collectors", "").replace("collectors   (", "")
    assert not any(word.lower() in named for word in OF_FERMI), told
    assert "(panel, machine code)" in told and ("MICRO'25" in told or "ptxas" in told) and " PTX here" not in told
    assert PANELS[panel].of_machine_code.columns and focus.how_to_read(scene)


def test_the_states_of_a_sub_core_are_those_that_it_has(refused: Scene) -> None:
    for state in refused.info.stalls:
        told = f"{state.sentence} {state.meaning} {state.source}"
        assert state.meaning and state.source and not any(word in told for word in OF_FERMI), told
    names = {state.name for state in refused.info.stalls}
    assert {"wait", "dispatch_stall", "imc_miss"} <= names and not names & {"suspended", "pipe_throttle", "collector_full"}


def test_an_instruction_is_explained_with_the_numbers_of_its_class(refused: Scene) -> None:
    told = "\n".join(focus.at_focus(replace(refused, panel="code", warp=0)))
    entry = refused.machine.instruction(refused.machine.pc[0])
    assert entry is not None and entry.text == "FADD"
    latency = refused.info.parameters.get("result.fma", 4)
    assert "class fma; stall counts cover it" in told and f"{latency} cycles until a dependent FMA issues" in told


def test_a_bank_of_the_focused_warps_sub_core_is_chosen(refused: Scene) -> None:
    panel = PANELS["lens"]
    scene = replace(refused, panel="lens", bank=5)
    assert panel.item(scene, None) == "bank[1].queue"        # the odd bank, of w0's sub-core 0
    assert panel.move(scene, -1) == {"bank": 0} and panel.move(scene, 1) == {"bank": 1}
    place = Place("lens", 0, 0, 58, 12)
    rows = [line.split() for line in text(lens.render(scene, place.width, place.height)).split("\n")]
    for bank in range(2):
        y = next(index for index, words in enumerate(rows) if words[:2] == ["bank", str(bank)])
        assert panel.at(scene, place, 4, y).view == {"bank": bank}
    told = [dict(panel.facts(replace(scene, bank=bank))) for bank in range(2)]
    assert told[0]["bank 0"].startswith("of sub-core 0") and told[1]["bank 1"]
    number = int(refused.machine.sub_core(0)["held_bank"]) - 1
    assert "FFMA" in told[number]["refuses"] and told[1 - number]["refuses"] == "nobody"


def test_registers_with_a_write_on_its_way_are_marked(waiting: Scene) -> None:
    machine = waiting.machine
    assert machine.pending(0) == [4, 11, 13, 15], "the load's, and those of the three FFMA before the FADD that waits"
    shown = text(registers.render(replace(waiting, panel="registers"), 100, 40)).replace("▸", " ").split("\n")
    rows = {words[0]: words[1:2] for line in shown if (words := line.split()) and words[0][:1] == "R"}
    assert rows["R4"] == ["□"] and rows["R6"] != ["□"]
    assert dict(registers.facts(replace(waiting, reg=4)))["pending"] == "a write"
    assert dict(registers.facts(replace(waiting, reg=5)))["lies in"] == "bank 1 of sub-core 0"


def test_a_bank_says_what_it_reads_and_writes() -> None:
    machines = Watched([parse("FFMA R11 R10 R12 R14; FADD R6 R4 R8; FADD R7 R5 R9 s15; NOP s15; NOP s1")]).machines
    told = [{banks.doing(machine, bank) for machine in machines} - {"idle"} for bank in range(2)]
    assert told == [{f"reads R{reg} of w0" for reg in (4, 8, 10, 12, 14)} | {"writes R6 of w0"},
                    {"reads R5 of w0", "reads R9 of w0", "writes R11 of w0", "writes R7 of w0"}]
    for machine in machines:
        for bank in range(8):
            assert (banks.doing(machine, bank) == "idle") == (machine.owner(bank) == "")
