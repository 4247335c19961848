"""Every painter as plain text: its contents, that it fits its width, and that the frame depends on nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from msgspec import structs
import numpy as np
import pytest
from rich.cells import cell_len
from rich.color import ColorSystem

from rfview.engine.stalls import Stall
from rfview.engine import hooks, plugin as designs, stalls
from rfview.engine import state as layout_of_state
from rfview.engine.errors import InputError
from rfview.engine.plugin import places
from rfview.listing import columns
from rfview.palette import STATES, THEMES, Palette, choose_theme
from rfview.render import code, collectors, event, frame, lens, overview, registers, status, warps, why
from rfview.render import stalls as stall_lines
from rfview.render.chain import links_of
from rfview.render.frame import drawn
from rfview.render.layout import is_tiny, layout, shown
from rfview.render.panel import Content, Place
from rfview.render.panels import FOCUSABLE as PANELS
from rfview.render.lenses import banks, panels
from rfview.sessions.machine import Machine
from rfview.render.scene import Badge, Scene
from rfview.render.text import Row, cells_of, clip, cut, initial, shorten
from rfview.screens.scenes.source import SceneSource
from rfview.sessions.timeline.invariants import problems
from rfview.sessions.timeline.opening import open_recording
from rfview.sessions.session import Session
from rfview.sessions.targets import open_session
from rfview.widgets.panel import StripCache
from tests.rfview.scenes import fits
from tests.rfview.fakes import NUM_WARPS, FakeTimeline, make_info, make_session
from tests.rfview.pilots import Driven, drive

RECORDED = Path(__file__).resolve().parents[2] / "rfview" / "learn" / "recorded"
FIRST = Path(__file__).resolve().parents[2] / "sessions" / "recorded" / "first.rfs"

SIZES = [(120, 40), (80, 24), (100, 30), (160, 60), (60, 20), (90, 50), (110, 45), (120, 24), (140, 50), (200, 70), (20, 6)]


@pytest.fixture(scope="module")
def scene() -> Scene:
    session = make_session()
    session.goto(150)
    return SceneSource(session).scene().at(warp=6)


def text(lines: list) -> str:
    return "\n".join(line.plain for line in lines)


def scene_with(name: str, design: str = "sram") -> Scene:
    session = make_session(design=design)
    history = session.timeline.history
    code_ = stalls.BY_NAME[name].code
    cycle = next(c for c in range(40, len(history)) if code_ in history[c])
    session.goto(cycle)
    found = SceneSource(session).scene()
    return found.at(warp=found.now.state.index(code_))


@pytest.mark.parametrize("size", SIZES)
def test_every_panel_fills_its_place_exactly(scene: Scene, size: tuple[int, int]) -> None:
    for panel in PANELS:
        for zoomed in (False, True):
            for place in layout(*size, panel, zoomed):
                if place.panel == "footer":
                    continue
                lines = frame.paint(scene.at(panel=panel), place)
                assert len(lines) == place.height, place
                assert {len(line.plain) for line in lines} == {place.width}, place


@pytest.mark.parametrize("size", SIZES)
def test_panels_do_not_overlap_and_stay_on_the_screen(size: tuple[int, int]) -> None:
    for slots, watches in ((48, 0), (48, 3), (30, 2), (8, 9)):
        taken = np.zeros((size[1], size[0]), int)
        for place in layout(*size, content=Content(slots, watches=watches)):
            assert place.x >= 0 and place.y >= 0 and place.height > 0 and place.width > 0
            assert place.x + place.width <= size[0] and place.y + place.height <= size[1]
            taken[place.y : place.y + place.height, place.x : place.x + place.width] += 1
        assert taken.max() == 1


@pytest.mark.parametrize(("size", "expected"), [
    ((80, 24), {"warps", "lens", "why", "stalls", "overview"}),
    ((100, 30), {"warps", "lens", "why", "overview"}),
    ((120, 40), {"warps", "lens", "collectors", "why", "code", "stalls", "overview"}),
    ((160, 60), {"warps", "lens", "collectors", "why", "code", "stalls", "overview"}),
    ((60, 20), {"warps", "overview"}),
])
def test_what_a_size_shows(size: tuple[int, int], expected: set[str]) -> None:
    found = set(shown(layout(*size)))
    assert found == expected, f"{size}: {found - expected or 'nothing'} is new, {expected - found or 'nothing'} is gone"
    assert is_tiny(*size) == (size == (60, 20))


@pytest.mark.parametrize("width", [1, 2, 3])
def test_the_panel_of_a_design_that_is_not_here_can_be_very_narrow(scene: Scene, width: int) -> None:
    unknown = scene.at(info=structs.replace(scene.info, design="nowhere"))
    assert len(lens.render(unknown, width, 5)) == 5


def test_all_48_state_glyphs_are_on_every_full_size(scene: Scene) -> None:
    for size in ((80, 24), (100, 30), (120, 40), (160, 60), (120, 24)):
        place = next(place for place in layout(*size) if place.panel == "warps")
        shown_text = text(warps.render(scene, place.width, place.height))
        found = {int(number) for number in re.findall(r"(?:^|[ ▸])( ?\d|\d\d) \S ", shown_text)}
        assert found >= set(range(NUM_WARPS)), size


def test_the_status_row_names_the_run_and_where_it_stands(scene: Scene) -> None:
    row = status.render(scene, 120)[0].plain
    for part in ("rfview", "gemm_tile 2×5 · 256", "sram", "gto · fermi", "◄ PAST", "cycle 150", "37.6 %", "IPC", "Σ 48 ✓"):
        assert part in row
    assert "cycle 150" in status.render(scene, 80)[0].plain


@pytest.mark.parametrize("width", [20, 30, 40, 50, 60, 79, 80, 100, 120])
def test_the_status_row_never_cuts_off_where_in_time(scene: Scene, width: int) -> None:
    long = structs.replace(scene.info, design="single_buffer", scheduler="switch_on_stall",
                           kernel="_ZN7cutlass6KernelINS_4gemm")
    for found in (scene, scene.at(info=long, badge=Badge("busy", "simulating 1.4 M/s"))):
        row = status.render(found, width)[0].plain
        assert len(row) == width
        assert "cycle 150" in row or width < 40
        assert width < 60 or "37.6 %" in row


def test_an_unbalanced_sum_is_red_and_says_so(scene: Scene) -> None:
    timeline = FakeTimeline()
    snapshot = timeline.at(150)
    broken = type(snapshot)(150, snapshot.sm.copy(), snapshot.rf, snapshot.rows, snapshot.memory, snapshot.info)
    broken.sm["state_count"][0] += 1
    line = status.render(scene.at(now=Machine.of(broken), problems=problems(broken)), 120)[0]
    assert "Σ 49 ✕" in line.plain
    assert any(role == "bad" for part, role in line.spans if "Σ" in part)


def test_a_run_is_its_glyph_once_and_then_a_line(scene: Scene) -> None:
    long, drain = stalls.LONG_SCOREBOARD, designs.stalls()["wb_drain"].code
    cells = warps.run_cells(scene, [long, long, long, 0, 0, drain, drain, drain], now_last=True)
    assert "".join(char for char, _ in cells) == "L──██↓━↓"


def test_what_changed_in_this_cycle_is_underlined_and_nothing_else(scene: Scene) -> None:
    assert scene.now is not None and scene.before is not None
    for warp in range(NUM_WARPS):
        changed = scene.now.state[warp] != scene.before.state[warp]
        line = warps.warp_row(scene.at(warp=99), warp, 30)
        underlined = any("u" in role.partition("+")[2] or role == "changed" for _, role in line.spans)
        name = scene.look(scene.now.state[warp]).name
        if name != "issued" and warps.waits_for(scene, warp):
            assert underlined == changed, warp


def test_the_same_cycle_looks_the_same_whichever_way_it_was_reached() -> None:
    pictures = set()
    for path in (["150"], ["300", "150"], ["149", "+1"], ["end", "start", "150"]):
        session = make_session()
        for place in path:
            session.goto(place)
        pictures.add(frame.as_text(SceneSource(session).scene(), 120, 40))
    assert len(pictures) == 1


@pytest.mark.parametrize("name", ["issued", "not_selected", "wait", "short_scoreboard", "long_scoreboard", "barrier",
                                  "no_instruction", "pipe_throttle", "collector_full", "bank_conflict", "finished",
                                  "no_cta"])
def test_every_state_has_a_reason_that_fits(name: str) -> None:
    if name == "no_cta":
        session = make_session()
        session.goto(3)
        found = SceneSource(session).scene()
    else:
        found = scene_with(name)
    links, _ = links_of(found, found.warp)
    assert links and links[0].code == stalls.BY_NAME[name].code
    assert len(links[0].text) <= 39
    shown_text = text(why.render(found, 45, 7))
    assert f"w{found.warp}" in shown_text


def test_a_miss_is_followed_to_its_line_and_its_return() -> None:
    found = scene_with("long_scoreboard")
    said = text(why.render(found, 58, 8))
    assert "for R12" in said and "ld.global at PTX line 112 writes it" in said
    assert "back at" in said and "L2 cache" in said


def test_the_panel_cuts_no_sentence_for_which_there_are_rows() -> None:
    found = scene_with("long_scoreboard")
    links, _ = links_of(found, found.warp)
    narrow = " ".join(line.plain[5:].strip() for line in why.render(found, 45, 12)[1:])
    assert all(link.text in narrow for link in links)
    least = why.render(found, 45, 1 + len(links))
    assert links[-1].conclusion and "back at" not in least[-1].plain, "the hardware itself stays"
    assert least[-1].plain.strip().rstrip("…") in links[-1].brief


def test_a_barrier_names_the_warp_furthest_behind() -> None:
    found = scene_with("barrier")
    said = text(why.render_popup(found, 96, 20))
    assert "waits at a barrier" in said and "3 of 8 warps have arrived" in said and "furthest behind" in said


def test_the_popup_draws_the_links_on_one_time_axis() -> None:
    found = scene_with("long_scoreboard")
    lines = why.render_popup(found, 96, 20)
    assert len(lines) == 20 and {len(line.plain) for line in lines} == {96}
    assert "▼" in lines[1].plain and "╌" in text(lines) and "━" in text(lines)
    assert why.as_text(found).startswith(f"WHY w{found.warp} does not issue at {found.cycle}")


def test_the_time_axis_of_why_begins_at_no_negative_cycle() -> None:
    session = make_session()
    session.goto(3)
    found = Scene(now=Machine.of(session.snapshot()), info=session.info)
    assert why._Axis(found, [], 96).first == 0 and "-5" not in text(why.render_popup(found, 96, 20))


def test_the_bank_lens_shows_accesses_queues_and_totals(scene: Scene) -> None:
    assert scene.now is not None
    lines = lens.render(scene, 58, 18)
    assert len(lines) == 18 and "16 banks × 64 rows" in lines[0].plain
    busy = [bank for bank in scene.now.banks if bank["activity"]]
    assert f"{len(busy)} busy" in lines[-1].plain
    for number, bank in enumerate(scene.now.banks):
        if bank["activity"]:
            assert f"R{bank['owner_reg']} w{bank['owner_warp']}" in lines[1 + number].plain.replace("  ", " ")
    assert "16 busy" in text(lens.render(scene, 40, 10)) or "of 16 busy" in text(lens.render(scene, 40, 10))


@pytest.mark.parametrize("recording", ["dead", "drain", "fade", "place"])     # rfc over sram, hrf, edram, racetrack
def test_every_cycle_of_a_lens_fits_its_place(recording: str) -> None:
    with open_session(RECORDED / f"{recording}.rfs") as session:
        source = SceneSource(session)

        def scenes() -> Iterator[Scene]:
            for percent in range(0, 100, 9):
                session.goto(f"{percent}%")
                yield source.scene().at(panel="lens", warp=percent % 4, bank=percent % 16)

        fits(scenes())


@pytest.mark.parametrize("design", ["edram", "hcrf", "hrf", "racetrack", "rfc", "single_buffer"])
def test_a_lens_without_a_state_draws_nothing(design: str) -> None:
    painter = lens.painter_of(design)
    assert painter is not None and painter(Scene(), 58, 17) == []


def test_the_lens_grid_holds_what_the_warps_hold(scene: Scene) -> None:
    assert scene.now is not None
    grid, _ = banks.places(scene.now)
    assert (grid > banks.FREE).sum() == NUM_WARPS * 20
    bank, row = scene.now.place(6, 0)
    assert (bank, row) == ((6 * 20) % 16, (6 * 20) // 16)


def test_slow_writes_show_how_far_they_are() -> None:
    session = make_session(design="stt[stall=bank]")
    session.goto(150)
    source = SceneSource(session)
    machine = source.machine(150)
    number = next(i for i, bank in enumerate(machine.banks) if bank["activity"])
    machine.banks[number].update(activity=layout_of_state.BANK_WRITE, since_cycle=148, until_cycle=152)
    lines = lens.render(source.scene(), 58, 18)
    assert "━━╌╌ 2/4" in lines[1 + number].plain


def test_a_design_without_a_lens_is_shown_by_its_panels_and_its_banks() -> None:
    info = make_info("mine")
    info.panels[:] = [
        {"kind": "grid", "title": "Heat", "field": "heat"}, {"kind": "table", "title": "Levels", "field": "level"},
        {"kind": "values", "title": "writes", "field": "writes", "unit": "rows"}, {"kind": "spiral", "field": "heat"},
        {"kind": "grid", "field": "missing"},
    ]
    session = make_session(info=info)
    session.goto(20)
    said = text(lens.render(SceneSource(session).scene(), 58, 40))
    for part in ("Heat", "Levels", "writes 0 rows", "unknown kind 'spiral'", "no field 'missing'", "▲ read"):
        assert part in said
    assert re.search(r"[░▒▓█]", said)


def test_panels_share_the_room_and_read_masks_and_states() -> None:
    info = make_info("mine")
    info.panels[:] = [
        {"kind": "table", "title": "Levels", "field": "level", "show": "registers"},
        {"kind": "grid", "title": "Heat", "field": "heat", "glyphs": "·w⇓"},
        {"kind": "values", "title": "writes", "field": "writes", "show": "hex"},
    ]
    session = make_session(info=info)
    session.goto(20)
    scene = SceneSource(session).scene()
    said = text(panels.render(scene, 58, 40))
    assert "0 0 " in said and "2 0-1" in said and "4 0 2" in said, "masks of registers, several in a row"
    assert "⇓" in said and "w" in said and "▒" not in said and "writes 00000000" in said
    short = [line.plain.rstrip() for line in panels.render(scene, 20, 8)]
    assert len(short) == 8 and sum("more rows" in line for line in short) == 2 and short[-1].startswith(" writes")
    crowded = [line.plain.rstrip() for line in panels.render(scene, 20, 6)]
    assert len(crowded) == 4 and crowded[-1] == " 2 more panels: z in"
    assert panels.registers_of(0) == "-" and panels.registers_of(0b1011) == "0-1 3"


def test_a_table_of_two_dimensions_has_a_row_per_first_index() -> None:
    info = make_info("mine")
    info.panels[:] = [{"kind": "table", "title": "Heat", "field": "heat", "per": "warp"}]
    session = make_session(info=info)
    session.goto(20)
    scene = SceneSource(session).scene()
    heat = session.snapshot().rf["heat"]
    assert heat.ndim == 2
    lines = [line.plain.split() for line in panels.render(scene, 200, 40)][1:]
    assert [line[0] for line in lines] == [f"w{index}" for index in range(len(heat))], "no w96 among 48 warps"
    assert [[int(text) for text in line[1:]] for line in lines] == heat.tolist()


def test_records_of_several_per_warp_are_numbered_within_their_warp(monkeypatch: pytest.MonkeyPatch) -> None:
    info = make_info("mine")
    info.panels[:] = [{"kind": "table", "title": "Window", "field": "entry", "per": "warp"}]
    session = make_session(info=info)
    found = replace(SceneSource(session).scene(), warp=40)
    entry = np.zeros((NUM_WARPS, 8), [("reg", "u1"), ("valid", "u1")])
    entry["reg"] = np.arange(8)
    monkeypatch.setattr(panels, "field_of", lambda record, path: entry)
    lines = [line.plain.split() for line in panels.render(found, 58, NUM_WARPS * 8 + 2)]
    assert lines[1:4] == [["reg", "valid"], ["w0.0", "0", "0"], ["w0.1", "1", "0"]] and lines[-1] == ["w47.7", "7", "0"]
    assert [line.plain.split()[0] for line in panels.render(found, 58, 11)[2:-1]] == [f"w40.{at}" for at in range(8)]


def test_a_cut_panel_shows_the_selected_warp() -> None:
    info = make_info("mine")
    info.panels[:] = [{"kind": "grid", "title": "Heat", "field": "heat", "per": "warp"}]
    session = make_session(info=info)
    session.goto(20)
    scene = SceneSource(session).scene()
    whole = [line.plain[:4].strip() for line in panels.render(scene, 58, 40)]
    names = [line.plain[:4].strip() for line in panels.render(replace(scene, warp=len(whole) - 3), 58, 4)]
    assert len(names) == 4 and whole[-2] in names and whole[1] not in names
    assert [line.plain[:4].strip() for line in panels.render(replace(scene, warp=0), 58, 4)][1] == whole[1]
    info.panels[:] = [{"kind": "table", "title": "Levels", "field": "level", "per": "warp"}]
    scene = SceneSource(make_session(info=info)).scene()
    for warp in range(len(session.snapshot().rf["level"])):
        listed = [line.plain for line in panels.render(replace(scene, warp=warp), 12, 3)]
        assert f" w{warp} " in listed[1], "a list that is cut, too"


def test_a_foreign_state_is_shown_by_its_own_glyph_and_its_family() -> None:
    info = make_info("mine")
    info.stalls.append(Stall(32, "tag_check", "tag", "⚑", "!", "register_file", "The tag is looked up."))
    session = make_session(info=info)
    session.goto(150)
    found = SceneSource(session).scene()
    look = found.look(32)
    assert (look.glyph, look.role, look.is_register_file) == ("⚑", "register_file", True)
    assert found.look(39).name == "state 39"


def test_collectors_mark_what_is_here_awaited_and_refused() -> None:
    found = scene_with("bank_conflict")
    said = text(collectors.render(found, 58, 7))
    assert "COLLECTORS" in said and "x" in said.split("lost bank")[1] and "▮" in said and "▯" in said
    assert "SP0" in said and re.search(r"L1 \d+/32", said) and "LDST" in said
    assert "R18" in text(collectors.render(found, 118, 24)) or "R12" in text(collectors.render(found, 118, 24))


def test_a_pipe_shows_the_instructions_inside_it() -> None:
    session = Session(open_recording(FIRST))
    session.goto(1000)
    said = text(collectors.render(SceneSource(session).scene(), 80, 9))
    assert "SP0 idle" in said and "LDST ━━━━ w11×4 " in said


def test_more_collectors_than_cells_are_counted() -> None:
    found = scene_with("bank_conflict")
    assert found.now is not None
    busy = sum(entry is not None for entry in found.now.collectors)
    one = text(collectors.render(found, 40, 4))
    assert busy > 2 and f"{busy} of {len(found.now.collectors)} busy" in one and f"+{busy - 1} more" in one


def test_code_shows_the_warps_next_instruction_and_turns_to_source(scene: Scene) -> None:
    assert scene.now is not None
    pc = scene.now.pc[6]
    decoded = code.render(scene, 32, 7)
    here = next(line for line in decoded if line.ground == "focus")
    assert str(112 + pc) in here.plain
    source = code.render(scene.at(code_source=True), 60, 7)
    here = next(line for line in source if line.ground == "focus")
    assert scene.info.program[pc].mnemonic in here.plain


def test_code_names_the_options_with_which_the_kernel_was_compiled() -> None:
    session = make_session()
    session.goto(150)
    found = SceneSource(session).scene()
    assert "schedule" not in code.render(found, 60, 7)[0].plain
    found.info.parameters.update({"kernel.schedule": "on", "kernel.aim_registers": 24})
    assert code.render(found, 60, 7)[0].plain.rstrip().endswith("schedule,registers=24")
    assert "source  schedule,registers=24" in code.render(found.at(code_source=True), 60, 7)[0].plain


def test_stalls_rows_stay_and_add_up(scene: Scene) -> None:
    said = text(stall_lines.render(scene, 39, 7))
    assert "last 150 cycles" in said and "issued" in said and "others" in said
    shares = [float(share) for share in re.findall(r"([\d.]+) %", said)]
    assert abs(sum(shares) - 100) < 0.5
    other = stall_lines.render(scene.at(now=Machine.of(FakeTimeline().at(60))), 39, 7)
    assert [line.plain[3:18] for line in other[1:6]] == [line.plain[3:18] for line in stall_lines.render(scene, 39, 7)[1:6]]


def test_the_census_cuts_a_name_only_for_its_count(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    assert scene.now is not None
    look = Scene.look
    monkeypatch.setattr(Scene, "look", lambda self, number: replace(look(self, number), short="dispatch"))
    counts = [int(number) for number in scene.now.count if number]
    said = text(stall_lines.render_now(scene, 40, 6).copy())
    assert said.count("dispatch ") == sum(number < 10 for number in counts) and min(counts) < 10 <= max(counts)
    assert len(re.findall(r"dispatc +\d\d", said)) == sum(number >= 10 for number in counts)


def test_the_census_counts_every_warp(scene: Scene) -> None:
    said = text(stall_lines.render_now(scene, 40, 6).copy())
    assert sum(int(n) for n in re.findall(r"(\d+)(?= |$)", said.split("warps", 1)[1])) == NUM_WARPS


def test_the_overview_shows_with_dots_what_a_recording_does_not_store(scene: Scene) -> None:
    whole = overview.render(scene, 120, 5)[-1].plain
    assert overview.render(replace(scene, stored=(scene.first, scene.last)), 120, 5)[-1].plain == whole and "·" not in whole
    third = (scene.last - scene.first) // 3
    part = overview.render(replace(scene, stored=(third, 2 * third)), 120, 5)[-1].plain
    dots = [column for column, char in enumerate(part) if char == "·"]
    blank = [column for column, char in enumerate(whole) if char == " " and 0 < column < 119]
    assert dots == [column for column in blank if column <= 39 or column >= 80]


def test_the_overview_has_cursor_ruler_marks_and_hits(scene: Scene) -> None:
    marked = scene.at(marks=(("a", 40),), hits=(300,))
    lines = overview.render(marked, 120, 5)
    assert lines[0].plain.rstrip().endswith("%") and "issued ≤ " in lines[0].plain
    assert "a" in lines[4].plain and "◉" in lines[4].plain
    column = overview.column_of(scene, scene.cycle, 118)
    start = lines[0].plain.index(" 150")
    assert start + 4 == 1 + column + 1, "the number's last digit stands over the cursor's column"
    low = overview.render(marked, 80, 2)
    assert "▲" in low[1].plain and "a" in low[1].plain and "◉" in low[1].plain


def test_the_overview_shows_what_the_register_file_cost() -> None:
    session = Session(open_recording(FIRST))
    session.goto(3000)
    source = SceneSource(session)
    source.columns = 40
    found = source.scene()
    codes = [code for code, look in found.looks.items() if look.is_register_file]
    absent = [code for code, look in found.looks.items() if look.name in ("no_cta", "finished", "suspended")]
    columns = session.timeline.overview(40).states
    for lost, totals in zip(found.overview.lost, columns, strict=True):
        there = sum(total for code, total in enumerate(totals) if code not in absent)
        assert lost == pytest.approx(sum(totals[code] for code in codes) / max(1.0, there))
    assert max(found.overview.lost) > 0.5
    assert f"≤ {100 * max(found.overview.lost):.0f} %" in overview.render(found, 120, 5)[0].plain


def test_letters_stand_where_a_column_differs_from_most(scene: Scene) -> None:
    session = make_session()
    source = SceneSource(session)
    source.columns = 118
    found = source.scene()
    known = [code for code in found.overview.state if code >= 0]
    usual = found.look(max(set(known), key=known.count)).glyph
    letters = overview.render(found, 120, 5)[4].plain
    assert usual not in letters and len(set(known)) > 1 and letters.strip()


def test_the_cursors_label_never_leaves_half_a_number_beside_it() -> None:
    session = make_session()
    source = SceneSource(session)
    for cycle in range(20, 400, 3):
        session.goto(cycle)
        ruler = overview.render(source.scene(), 120, 5)[0].plain
        numbers = set(re.sub("issued ≤.*%", "", ruler).split())
        assert numbers <= {*map(str, range(0, 400, 50)), str(cycle)}, ruler
        assert numbers & {"50", "150", "250", "350"}, ruler     # steps are 1, 2, 5, 10 ..: as many numbers as fit


def test_a_click_on_the_overview_and_its_cursor_agree(scene: Scene) -> None:
    for cycle in range(0, 400, 7):
        column = overview.column_of(scene, cycle, 118)
        assert abs(overview.cycle_of(scene, column, 118) - cycle) <= 400 // 118 + 1


def test_registers_name_values_and_changes(scene: Scene) -> None:
    lines = registers.render(scene.at(panel="registers", number_format="hex"), 120, 30)
    said = text(lines)
    assert "%r2" in said and "20 registers" in said and "active ffffffff" in said
    row = next(line for line in lines if " R5 " in line.plain)
    assert any(role == "changed" for _, role in row.spans) or "R5" in row.plain
    empty = make_session()
    empty.goto(2)
    assert "holds no warp" in text(registers.render(SceneSource(empty).scene(), 80, 10))


def test_register_formats() -> None:
    one = int(np.float32(1.25).view(np.uint32))
    assert registers.cell_text(one, "float") == "1.25"
    assert registers.cell_text(0xFFFFFFFF, "int") == "-1"
    assert registers.cell_text(0xFFFFFFFF, "uint") == "4294967295"
    assert registers.cell_text(255, "hex") == "000000ff"
    assert registers.pattern(np.full(32, 7, np.uint32)) == "all lanes"
    assert registers.pattern(np.arange(32, dtype=np.uint32) * 4) == "+4 per lane"
    assert registers.looks_like_float(np.full(32, one, np.uint32))
    assert not registers.looks_like_float(np.arange(32, dtype=np.uint32))


def test_events_and_faults_stand_in_the_event_row(scene: Scene) -> None:
    assert "stopped" in event.render(scene.at(message="stopped at breakpoint 2"), 80)[0].plain
    fault = scene.at(fault="w3 reads 4 bytes at 0x10", last=150)
    line = event.render(fault, 80)[0]
    assert "kernel stopped: w3 reads" in line.plain and line.spans[1][1] == "bad"
    for size in (20, 40, 80, 120):
        assert len(event.render(scene.at(message="x" * 500), size)[0].plain) == size
    assert event.render(scene.at(message="lost " * 50), 80)[0].plain.rstrip().endswith("…  M shows all")


@pytest.mark.parametrize("theme", THEMES)
def test_every_theme_knows_every_role(scene: Scene, theme: str) -> None:
    palette = Palette(theme)
    for place in layout(120, 40):
        if place.panel == "footer":
            continue
        for line in frame.paint(scene, place):
            for _, role in line.spans:
                name = role.partition("~")[0].partition("+")[0].partition("@")[0]
                assert name in palette.table, name
                palette.style(line.ground, role)
    for name in STATES:
        assert {f"{kind}:{name}" for kind in ("st", "hi", "fg", "bg")} <= set(palette.table)


def test_mono_uses_no_colour_at_all() -> None:
    palette = Palette("mono")
    for role in palette.table:
        for ground in ("", "band", "focus", "popup"):
            style = palette.style(ground, role)
            assert style.color is None and style.bgcolor is None, role


def test_ascii_leaves_only_ascii_and_keeps_every_width(scene: Scene) -> None:
    palette = Palette("mono", ascii=True)
    for panel in ("warps", "registers"):
        for place in layout(120, 40, panel):
            if place.panel == "footer":
                continue
            for line in frame.paint(scene, place):
                plain = palette.text(line.plain)
                assert plain.isascii() and len(plain) == place.width, plain


def test_states_are_drawn_in_ascii_by_the_letters_of_the_runs_own_table() -> None:
    info = make_info("mine")
    own = Stall(32, "tag_check", "tag", "▽", "W", "register_file", "The tag is looked up.")
    info.stalls[:] = dict.fromkeys([*designs.stalls().values(), own])

    async def test(app: Driven) -> None:
        for stall in info.stalls:
            assert app.app.strips.palette.text(stall.glyph) == stall.ascii

    drive(test, info=info, ascii_only=True)


def test_themes_are_chosen_by_the_environment() -> None:
    assert choose_theme(None, {"TERM": "xterm-256color", "COLORTERM": "truecolor"}) == "dark"
    assert choose_theme(None, {"TERM": "xterm-kitty"}) == "dark"
    assert choose_theme(None, {"TERM": "screen-256color"}) == "dark256"
    assert choose_theme(None, {"TERM": "xterm", "NO_COLOR": "1"}) == "mono"
    assert choose_theme(None, {"TERM": "linux"}) == "ansi16"
    assert choose_theme("light", {"NO_COLOR": "1"}) == "light"
    with pytest.raises(InputError, match="pink"):
        choose_theme("pink", {})


def test_in_256_colours_the_grounds_and_states_stay_apart() -> None:
    palette = Palette("dark256")

    def eight_bit(ground: str, role: str) -> tuple[object, object, bool | None]:
        style = palette.style(ground, role)
        fg, bg = (colour and colour.downgrade(ColorSystem.EIGHT_BIT).number for colour in (style.color, style.bgcolor))
        return fg, bg, style.bold

    grounds = [eight_bit(ground, "dim")[1] for ground in ("", "band", "focus", "popup", "column")]
    assert len(set(grounds)) == len(grounds)
    focused = eight_bit("focus", "text")
    assert all(eight_bit("", "st:" + name)[1] != focused[1] for name in STATES)


def test_what_is_cut_is_cut_between_words() -> None:
    from rfview.render.text import cut

    assert cut("issued 12,345", 13) == "issued 12,345" and cut("", 0) == cut("", -3) == cut("abc", 0) == ""
    assert cut("its line is on the way from 12,345", 29) == "its line is on the way from…"
    assert cut("an_unusually_long_name_of_a_kernel", 12) == "an_unusuall…" and len(cut("abc def", 5)) <= 5
    for room in range(1, 40):
        assert len(cut("back at 2,205 (in 204): DRAM, 100 cycles", room)) <= room


def test_a_kernel_is_called_as_in_its_source(scene: Scene) -> None:
    info = structs.replace(scene.info, launches=[structs.replace(scene.info.launches[0], kernel="_ZN4blas4scalIfEEvPT_")])
    assert "blas::scal " in status.render(scene.at(info=info), 120, 1)[0].plain
    assert "gemm_tile " in status.render(scene, 120, 1)[0].plain


def test_the_popup_of_why_cuts_nothing_where_there_are_rows() -> None:
    found = scene_with("long_scoreboard")
    links, _ = links_of(found, found.warp)
    said = " ".join(" ".join(line.plain[5:].split()) for line in why.render_popup(found, 56, 24))
    assert all(" ".join(part.split()) in said for link in links for part in (link.text, link.evidence))


def test_why_names_the_links_for_which_it_has_no_rows() -> None:
    """drain.rfs at 901: five links and the resource; e opens a window in which all have their evidence."""
    with open_session(RECORDED / "drain.rfs") as session:
        session.goto(901)
        found = Scene(now=Machine.of(session.snapshot()), info=session.info)
        for rows, names, numbers in ((5, "e shows 2–3", "145"), (6, "e shows 2", "1345"), (7, "e opens", "12345")):
            lines = [line.plain.rstrip() for line in why.render(found, 40, rows)]
            assert lines[0] == f" WHY w0 does not issue  {names}"
            assert "".join(line[1] for line in lines[1:]).replace(" ", "") == numbers
        for width in (78, 80, 96):
            lines = [line.plain for line in why.render_popup(found, width, why.rows_wanted(found, width))]
            assert "…" not in "".join(lines) and not lines[-2].strip() and lines[-3].strip()


@pytest.mark.parametrize(("width", "cycles"), [(60, 8), (80, 18), (99, 27)])
def test_two_columns_of_warps_give_spare_cells_to_the_history(scene: Scene, width: int, cycles: int) -> None:
    lines = warps.render(scene, width, 26)
    cell = width // 2
    assert all(line.plain[cell - cycles - 2] == " " and line.plain[cell - cycles - 1] != " " for line in lines[1:5])


def test_a_blank_stands_between_what_a_warp_waits_for_and_its_history(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warps, "waits_for", lambda scene, warp: "R48 in 15")
    for width in (28, 30, 39, 59):
        row = warps.warp_row(scene, scene.warp, width).plain
        assert len(row) == width and "R48 in 15 " in row


def test_the_active_set_is_told_with_the_collectors() -> None:
    """two_level: the warps of the set, each with its state, and how many wait outside; none under lrr."""
    with open_session(RECORDED / "dead.rfs") as session:
        session.goto(300)
        machine = Machine.of(session.snapshot())
        scene = Scene(now=machine, info=structs.replace(session.info, design="sram"), warp=3)    # rfc's lens shows the set
        text = next(line.plain for line in collectors.render(scene, 58, 10) if line.plain.startswith(" ACTIVE"))
        active = [warp for warp in machine.resident_warps if machine.sm["warp"]["membership"][warp]]
        assert len(active) == 8 and f"{len(machine.resident_warps) - 8} outside" in text
        shown = text.count(" w")
        assert shown == len(active) or f"+{len(active) - shown} " in text
        for warp in active[:shown]:
            assert f" w{warp}{scene.look(machine.state[warp]).glyph}" in text
        assert len(collectors.render(scene, 58, 4)) == 4
    with open_session(RECORDED / "drain.rfs") as session:
        session.goto(300)
        scene = Scene(now=Machine.of(session.snapshot()), info=session.info)
        assert not any("ACTIVE" in line.plain for line in collectors.render(scene, 58, 10))


@pytest.mark.parametrize("name", ["sram", "hrf"])
@pytest.mark.parametrize("mapping", [0, 1])
def test_banks_of_many_registers_are_those_that_the_machine_uses_one_by_one(name: str, mapping: int) -> None:
    with open_session({"sram": RECORDED / "first.rfs", "hrf": RECORDED / "drain.rfs"}[name]) as session:
        snapshot = session.timeline.at(300)
        snapshot.sm.config.mapping = mapping
        spec = snapshot.info.design_spec
        record = places.spec_record(spec, snapshot.info.main_rows)
        warps, regs = np.arange(snapshot.info.num_warps), np.arange(6)
        each = [[int(hooks.bank_of(snapshot.sm, snapshot.rf, record, warp, reg)) for reg in regs] for warp in warps]
        assert spec.chain == [name] and np.array_equal(places.banks(snapshot, warps[:, None], regs), each)


WIDE_NAMES = ["行列の積", "🧮🧮 sum", "e\u0301te\u0301", "ab", "\u0301x"]


@pytest.mark.parametrize("name", WIDE_NAMES)
def test_wide_and_combining_characters_take_the_cells_that_a_terminal_gives_them(name: str) -> None:
    for width in range(1, 16):
        for row in (Row(width).add(name), Row(width).add(" ").add(cut(name, 6)).at(9, "end"), Row(width).right(width, name)):
            assert cell_len(row.line().plain) == width
        assert cell_len(cut(name, width)) <= width and cell_len(clip(name, width)) <= width
        assert cell_len(shorten(name, width)) <= width
    assert cell_len(initial(name)) == 1 and len(cells_of(name)) == cell_len(name.lstrip("\u0301"))
    (one, other) = columns([(name, "a"), ("abc", "b")]).splitlines()
    assert cell_len(one[: one.index(" a") + 1]) == cell_len(other[: other.index(" b") + 1])


def test_a_panel_shows_wide_names_in_columns_that_stay_aligned() -> None:
    strips = StripCache(Palette("dark"))
    for name in WIDE_NAMES:
        line = Row(30).add(name).at(12, "|").line()
        strip = strips.strip(line, 20)
        assert strip.cell_length == 20 and cell_len(strip.text[: strip.text.index("|")]) == 12
        place = Place("event", 2, 0, 18, 1)
        assert cell_len(drawn([(place, [line])], 20, 1)[0]) == 15
