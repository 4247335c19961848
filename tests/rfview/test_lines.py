"""Source lines on the screen: LINES with its heat, CODE with source lines, and the keys that step, break and go by lines."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest
from msgspec import structs

from rfview.cli import main
from rfview.render import code, lines
from rfview.sessions import Session, open_session
from tests.rfview.pilots import Driven, drive

SOFTMAX = "tests/corpus/triton_softmax/triton_softmax.sm75.toml"
BIT_OPS = "tests/corpus/bit_ops/bit_ops.lineinfo.toml"


@lru_cache(maxsize=1)
def recording(folder: Path) -> Path:
    path = folder / "softmax.rfs"
    assert main(["record", SOFTMAX, "-o", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recording(tmp_path_factory.mktemp("lines"))


def opened(path: Path | str, cycle: int | str) -> object:
    def opener(report: object) -> Session:
        session = open_session(path)
        session.goto(cycle)
        return session

    return opener


def rows(app: Driven, panel: str) -> list[str]:
    return [line.plain.rstrip() for line in app.app.main.views[panel].lines]


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (60, 12)])
def test_the_panel_shows_each_line_with_its_share_and_its_instructions(recorded: Path, size: tuple[int, int]) -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.press(";")
        shown = rows(app, "lines")
        assert app.scene.panel == "lines" and "triton_softmax.py" in shown[0]
        here = next(row for row in shown if row.startswith("▸") and "tl.exp" in row)
        assert "17 52.3 % w" in here and "%" in here.split("w", 1)[1]
        heads = next(row for row in shown if "waits" in row and "source" in row)
        assert "causes" in heads and ("cache lines" in heads) == (size[0] >= 72) and ("RF lost" in heads) == (size[0] >= 100)
        if size[1] >= 24:
            assert "triton_softmax.py:" in shown[1] and "holds up" in shown[1] and "waits most" in shown[2]
            assert any("triton_softmax.py:17 WAITS" in row and "for whom" in row for row in shown)
            assert any("itself" in row and "%" in row for row in shown)
        if size[0] >= 100:
            assert any("CAUSES" in row and "in whom" in row for row in shown)
            assert any("max.f32" in row and "in standard.py:196" in row for row in shown)
            assert sum(row.startswith("▸") for row in shown) == 2

    drive(test, opener=opened(recorded, 900), size=size)


def test_lines_are_counted_over_the_stretch_that_is_brushed(recorded: Path) -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.press(";")
        whole = app.scene.costs[1].cycles.sum()
        await app.type(":range 0 600")
        part = app.scene.costs[1]
        assert (part.first, part.last) == (0, 600) and part.cycles.sum() < whole
        assert "cycles 0 to 600" in rows(app, "lines")[0]
        await app.press("escape", ";")
        assert app.scene.brush is None or app.scene.costs[1].cycles.sum() == part.cycles.sum()

    drive(test, opener=opened(recorded, 900), size=(80, 24))


def test_keys_step_by_line_and_go_and_break_at_the_chosen_one(recorded: Path) -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.press("f8")
        forward = app.cycle
        line = app.scene.lines.at(app.scene.now.pc[0])
        assert f"w0 at {line.text}" in app.scene.message and line.line != 17 and forward > 900
        await app.press("[", "n", "[", "n", "]", "n", "f8")
        assert app.cycle == forward
        for keys in (("f8",), (";",), (*"kkkkkkkkk", *"jjjj")):      # to the fifth line, wherever the warp is
            await app.press(*keys)
        table = app.scene.lines
        line = table.lines[lines.chosen(app.scene)].line
        await app.press("j")
        assert table.lines[lines.chosen(app.scene)].line == line + 1
        await app.press("k")
        await app.press("b")
        assert [point.text for point in app.session.breakpoints.values()] == [f"triton_softmax.py:{line}"]
        assert any("◉" in row and f" {line} " in row for row in rows(app, "lines"))
        await app.press("t")
        assert table.at(app.scene.now.pc[0]).line == line
        await app.press("C")
        assert app.session.breakpoints[1].hits == 1
        assert table.lines[lines.chosen(app.scene)].line == line, "the warp that came to the line has the focus"
        await app.press("k", "b", "k", "b")
        assert len(app.session.breakpoints) == 3
        await app.press("b")
        assert len(app.session.breakpoints) == 2
        await app.press("t")
        assert app.scene.line == -1

    drive(test, opener=opened(recorded, 900), size=(80, 24))


def test_enter_goes_to_the_holder_j_to_where_the_line_waits_and_o_sorts(recorded: Path) -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.press(";", "o")
        causes = app.scene.costs[1].causes
        order = [row[2] for row in lines.listing(app.scene)]
        assert [int(causes.waits[at]) for at in order] == sorted((int(causes.waits[at]) for at in order), reverse=True)
        await app.press("o")
        order = [row[2] for row in lines.listing(app.scene)]
        assert int(causes.caused[order[0]]) == causes.caused[:-1].max() and app.scene.line_order == "causes"
        await app.press("k", "k", "k", "k", "j")
        assert app.scene.line == lines.moved(app.scene, 0)
        victim = next(at for at in order if (held := lines.main_holder(app.scene.at(line=at))) and held[1] != at)
        app.app.main.change(line=victim)
        await app.press("enter")
        assert app.scene.line == lines.main_holder(app.scene.at(line=victim))[1] and "holds" in app.scene.message
        app.app.main.change(line=victim)
        await app.press("J")
        machine, table = app.scene.now, app.scene.lines
        assert table.number_at(machine.pc[app.scene.warp]) == victim
        assert machine.state[app.scene.warp] == lines.mostly(app.scene, victim).code
        await app.press("o")
        assert app.scene.line_order == "source" and lines.listing(app.scene) == lines.entries(table)

    drive(test, opener=opened(recorded, 900), size=(120, 40))


def test_a_click_chooses_a_line_and_a_second_one_breaks_there(recorded: Path) -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.press(";")
        at = next(y for y, row in enumerate(rows(app, "lines")) if "mask = cols" in row)
        place = next(place for place in app.app.main.places if place.panel == "lines")
        await app.pilot.click(offset=(30, place.y + at))
        await app.settle()
        assert app.scene.lines.lines[app.scene.line].line == 15
        assert lines.line_at(app.scene, place.width, place.height, 0) is None
        assert "cols < num_cols" in app.scene.lines.source(app.scene.lines.lines[app.scene.line])

    drive(test, opener=opened(recorded, 900), size=(80, 24))


def test_code_has_source_lines_between_and_p_turns_them_off(recorded: Path) -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        shown = rows(app, "code")
        assert any(":17 e = tl.exp" in row for row in shown) and any(row.startswith("▸") for row in shown)
        assert not any("█" in row for row in shown)     # heat is shown once it has been counted
        for y in range(len(shown)):
            pc = code.pc_at(app.scene, len(shown) - 1, y)
            assert (pc is None) == (y == 0 or not row_is_code(app, shown[y], pc))
        await app.press(";", "escape")
        assert any(row.startswith("█") and "tl.exp" in row for row in rows(app, "code"))
        await app.press("p")
        assert app.scene.code_source
        await app.press("p")
        assert not app.scene.code_source and not any("tl.exp" in row for row in rows(app, "code"))
        await app.press("p")
        assert any("tl.exp" in row for row in rows(app, "code"))

    drive(test, opener=opened(recorded, 900), size=(120, 40))


def row_is_code(app: Driven, row: str, pc: int | None) -> bool:
    """Say whether a row of CODE is the instruction at that pc, by its PTX line."""
    return pc is not None and row[1:].split()[0].rstrip("◉").startswith(str(app.scene.info.program[pc].line))


def test_a_live_run_counts_as_it_goes_and_the_prompt_steps_the_focused_warp() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.press(";")
        await app.type(":next-line")
        assert "bit_ops.cu:" in app.scene.message
        totals = app.session.snapshot(app.scene.last).sm["stall_total"]
        assert app.scene.costs[1].last == app.scene.last and app.scene.costs[1].states.sum() == totals.sum()
        await app.type(":break bit_ops.cu:20")
        assert "breakpoint 1: bit_ops.cu:20" in app.scene.message

    drive(test, opener=opened(BIT_OPS, 5), size=(120, 40))


def test_a_run_without_lines_says_how_to_get_them() -> None:
    async def test(app: Driven) -> None:
        await app.press(";", "j", "b", "t", "enter")
        assert "-lineinfo" in app.screen_text() and not [p for p in app.session.breakpoints.values() if p.kind == "source"]

    drive(test)


def test_hostile_sources_are_drawn_as_text(recorded: Path) -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        path = app.session.info.sources[0].path
        text = "\x1b]0;title\x07\t\u202e\n" * 40
        app.session.info.sources[:] = [structs.replace(file, text=text) for file in app.session.info.sources]
        app.session.timeline.lines = None
        await app.press(";", "f8")
        assert app.scene.lines.text_of(path)[0].startswith("\x1b")
        assert all(row.isprintable() for panel in ("lines", "code", "event") for row in rows(app, panel))

    drive(test, opener=opened(recorded, 900), size=(120, 40))
