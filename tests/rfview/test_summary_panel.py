"""SUMMARY: a run that has ended shows its sentences until the first step; Enter goes to the place that one names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rfview.render import holders, summary
from rfview.render.panels import PANELS
from rfview.render.scene import Progress, Scene
from rfview.screens.scenes.source import SceneSource
from rfview.sessions.lines.counts import count_instructions
from rfview.sessions.session import Session
from rfview.sessions.summary.floors import Floor
from rfview.sessions.summary.rules import LIMITS
from rfview.sessions.summary.runs import Run
from rfview.sessions.summary.summarise import Sentence, Summary
from rfview.sessions.targets import open_bundled
from tests.rfview.pilots import Driven, drive

SHOWN = Path(__file__).resolve().parents[2] / "sessions" / "recorded" / "first.rfs"
SENTENCES = (
    Sentence("floor", 0.987, "LD/ST limits this run: it needs 98.7% of the cycles.", "less work", opens="relief"),
    Sentence("uncoalesced", 0.839, "mm.cu:11 sends 16.0 cache lines per access.", "an edit", "mm.cu:11", 31, "float x;",
             "lines"),
)
MADE = Summary(1000, 4000, SENTENCES, (Floor("LD/ST", 987, "987 cache lines"),), {"pipe_throttle": 3000, "issued": 1000})


def text(made: Summary | Progress | None, width: int, height: int, chosen: int = 0) -> str:
    lines = summary.render(Scene(summary=made, sentence=chosen, last=1000), width, height)
    assert len(lines) == height and all(len(line.plain) == width for line in lines)
    return "\n".join(line.plain for line in lines)


@pytest.mark.parametrize("size", [(80, 20), (120, 34), (160, 54), (40, 8)])
def test_sentences_have_place_and_lift_and_the_floors_are_there_at_each_size(size: tuple[int, int]) -> None:
    drawn = text(MADE, *size, chosen=1)
    assert "100 % = 4,000" in drawn or size[0] == 40
    assert "1  LD/ST limits this run" in drawn and "an edit" in drawn and ("less work" in drawn or size[0] == 40)
    assert "▸ 2  mm.cu:11 sends" in drawn or size[1] == 8
    assert "LD/ST 98.7 %" in drawn or "FLOORS" in drawn or size[0] == 40


@pytest.mark.parametrize("size", [(80, 18), (120, 20), (60, 18)])
def test_with_little_room_the_chosen_sentence_keeps_all_its_parts(size: tuple[int, int]) -> None:
    many = replace(MADE, sentences=tuple(replace(one, text=f"Sentence {at}: {one.text}", lift=f"lift {at} " + "word " * 20 + f"end{at}",
                                                 source=f"source {at};", place="mm.cu:11")
                                         for at, one in enumerate(SENTENCES * 2 + SENTENCES[:1])))
    for chosen in range(5):
        drawn = text(many, *size, chosen=chosen)
        assert all(f"Sentence {at}" in drawn for at in range(5))
        assert f"lift {chosen}" in drawn and f"end{chosen}" in drawn and f"source {chosen};" in drawn, "not cut"


def test_text_is_wrapped_to_a_terminal_and_otherwise_left_alone() -> None:
    made = replace(MADE, sentences=(replace(SENTENCES[0], text="word " * 40 + "end.", lift="lift " * 30),))
    assert max(map(len, made.text().splitlines())) > 200
    wrapped = made.text(60).splitlines()
    assert max(map(len, wrapped)) <= 60 and " ".join(" ".join(wrapped).split()) == " ".join(made.text().split())
    assert wrapped[1].startswith("    word")


def test_lines_say_that_they_are_being_counted() -> None:
    with open_bundled(SHOWN) as session:
        session.goto("50%")
        scene = SceneSource(session).scene().at(panel="lines")
        drawn = "\n".join(line.plain for line in PANELS["lines"].paint(scene, 120, 30))
        assert scene.costs is None and "counting who waited for whom" in drawn and "being counted" in drawn
        assert "of 0" not in drawn and "no warp has been there" not in drawn
        session.goto("start")
        drawn = "\n".join(line.plain for line in PANELS["lines"].paint(SceneSource(session).scene().at(panel="lines"), 120, 30))
        assert "no warp has been there yet" in drawn and "counting" not in drawn


@pytest.mark.parametrize("width", [80, 160])
def test_waits_for_no_instruction_are_said_to_be_that(width: int) -> None:
    with open_bundled(SHOWN) as session:
        session.goto(20)
        counts = count_instructions(session.timeline, 0, 20)
        table = session.lines
        nobody = replace(counts.causes, holder=np.full_like(counts.causes.holder, counts.causes.size))
        lines = replace(counts, causes=nobody.grouped(np.where(table.of_pc < 0, len(table.lines), table.of_pc), len(table.lines) + 1))
        scene = SceneSource(session).scene().at(costs=(counts, lines), lines=table)
        said = " ".join(line.plain.strip() for line in holders.sentences(scene, width))
    assert "of the warp-cycles" in said and "wait for no instruction; most: " in said and "that for no instruction." in said
    assert "nobody" not in said and "holds up" not in said


def test_the_kernels_last_runs_are_beside_this_one_at_each_size() -> None:
    runs = (Run("main", "sram gto · fermi", 3489, "LD/ST", 0.987, False), Run("edit", "sram gto · fermi", 1000, "issue", 0.606, True))
    made = replace(MADE, runs=runs)
    for size in ((80, 20), (120, 34)):
        drawn = text(made, *size)
        assert "+248.9 %  LD/ST 98.7 %" in drawn and "1,000   this run  issue 60.6 %" in drawn
    assert "runs that have ended: main 3,489, edit 1,000 cycles" in text(made, 80, 12)
    assert "edit: sram gto · fermi, 1,000 cycles, this run; issue 60.6%" in made.text()


def test_what_is_not_counted_yet_is_said() -> None:
    assert "50 %" in text(Progress(1, 2), 80, 20)
    assert "damaged" in text(Progress(0, 0, "chunk 3 is damaged"), 80, 20)


def test_every_threshold_has_its_reason() -> None:
    assert all(len(limit.reason) > 20 and limit.what and limit.value > 0 for limit in LIMITS.values())


def test_a_run_opened_at_its_end_shows_its_sentences_until_the_first_step() -> None:
    def at_its_end(report: object) -> Session:
        session = open_bundled(SHOWN)
        session.goto("end")
        return session

    async def test(app: Driven) -> None:
        await app.until(lambda: isinstance(app.scene.summary, Summary))
        assert app.scene.panel == "summary" and "100 % =" in app.screen_text()
        number, place = next((number, one) for number, one in enumerate(app.scene.summary.sentences, 1) if one.pc >= 0)
        await app.press("S")
        assert app.scene.panel == "warps" and app.cycle == app.session.timeline.last - 1
        await app.press("Z")
        await app.until(lambda: isinstance(app.scene.summary, Summary))     # sentences to choose from, from the worker
        await app.press(*str(number), "enter")
        assert app.scene.panel == "lines" and app.scene.lines.lines[app.scene.line].text == place.place

    drive(test, opener=at_its_end)
