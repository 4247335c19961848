"""The racetrack lens over real states of small programs: tapes, queues, buffers and totals."""

from __future__ import annotations

import random
from functools import lru_cache
from typing import Any


from rfview.render import lens
from rfview.render.lenses import racetrack
from tests.engine.designs.test_racetrack import codes, random_program, wide_read
from tests.harness import Assembly
from tests.harness import Machine as Engine
from tests.rfview.scenes import scene_of


@lru_cache(maxsize=4)
def engine(name: str) -> Engine:
    """Return a finished small run with all its snapshots."""
    if name == "one":
        program = Assembly().mov(16, 1).mov(3, 0).mov(4, 0).mov(5, 0).mov(6, 0).add(1, 0, 48).exit()
        return Engine(program, registers=60, design="racetrack[preshift=0,ports=8,shift_steps=1]",
                      settings={"racetrack.mapping": codes(r0=3, r1=7, r3=12)}).run()
    if name == "limit":
        program = wide_read(Assembly().add(30, 29, 31), 16, 17, 18, 19, 20).mov(2, 1).exit()
        return Engine(program, registers=60, warps=3, design="racetrack[ports=8,shift_steps=1]").run()
    return Engine(random_program(random.Random(3), 30), registers=34, warps=2, design="racetrack[wb_entries=4]").run()


def text(lines: list[Any]) -> list[str]:
    """Return the characters of each line."""
    return [line.plain for line in lines]


def first_cycle(run: Engine, activity: int, bank: int = 0) -> int:
    """Return the first cycle in which a bank performed this operation."""
    return next(at for at, shot in enumerate(run.snapshots[1:]) if int(shot.rf.tape[bank].activity) == activity)


def test_a_tape_approaches_its_target_and_names_the_register() -> None:
    run = engine("one")
    t = first_cycle(run, racetrack.SHIFTING)
    lines = text(racetrack.render(scene_of(run, t), 58, 17))
    assert lines[0].startswith("  0 ·◆→→→→→◇········  shift  6  w0.R16 +2     1"), lines[0]
    assert lines[0].rstrip().endswith(" 1") and len(lines) == 17
    lines = text(racetrack.render(scene_of(run, t + 5), 58, 17))
    assert lines[0].startswith("  0 ······◆◇········  shift  1"), lines[0]
    w = first_cycle(run, racetrack.WRITE)
    lines = text(racetrack.render(scene_of(run, w), 58, 17))
    assert lines[0].startswith("  0 ·······◆········  write     w0.R16 +2     0"), lines[0]
    lines = text(racetrack.render(scene_of(run, w + 1), 58, 17))
    assert lines[0].startswith("  0 ···◇←←◆·········  shift  3  w0.R0 w0.R48  "), lines[0]
    r = first_cycle(run, racetrack.READ)
    assert "read      w0.R0 w0.R48" in text(racetrack.render(scene_of(run, r), 58, 17))[0]


def test_preshift_and_waiting_are_told_apart_by_word_and_colour() -> None:
    run = engine("limit")
    at = next(at for at, shot in enumerate(run.snapshots[1:])
              if racetrack.PRESHIFTING in shot.rf.tape["activity"].tolist())
    scene = scene_of(run, at)
    bank = run.snapshots[at + 1].rf.tape["activity"].tolist().index(racetrack.PRESHIFTING)
    line = racetrack.render(scene, 58, 17)[bank]
    assert " pre " in line.plain
    roles = {role for part, role in line.spans if "pre" in part}
    assert roles <= {"p:approx", "p:approx+u"}
    assert "served 4/4" in racetrack.render(scene, 58, 17)[-1].plain


def test_sums_are_those_of_the_counts() -> None:
    run = engine("random")
    scene = scene_of(run, len(run.snapshots) - 2)
    steps = run.count("shifts") + run.count("preshifts")
    wide = racetrack.render(scene, 58, 17)[-1].plain
    assert wide.rstrip().endswith(f" {run.count('shifts'):,}") and f"ahead {100 * run.count('preshifts') / steps:.0f} %" in wide
    last = racetrack.render(scene, 40, 9)[-1].plain
    assert f"shifts {run.count('shifts'):,}" in last and last.rstrip().endswith("%")


def test_narrow_shows_two_banks_per_row() -> None:
    run = engine("one")
    t = first_cycle(run, racetrack.SHIFTING)
    lines = text(lens.render(scene_of(run, t), 40, 10))
    assert lines[1].startswith("  0 ·◆→→→→→◇········  8 ◆···············")
    assert len(lines) == 10 and "waits" in lines[9]


def test_more_offsets_than_cells_are_pooled() -> None:
    tape = {"current": 10, "target": 50, "activity": racetrack.SHIFTING}
    cells = "".join(char for char, _ in racetrack.tape_cells(tape, None, 64))
    assert cells == "··◆→→→→→→→→→◇···"
    tape = {"current": 3, "target": 0, "activity": racetrack.WAITING}
    assert "".join(char for char, _ in racetrack.tape_cells(tape, None, 8)) == "◇←←◆····        "
