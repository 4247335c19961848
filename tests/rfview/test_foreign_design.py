"""A design file with its own stall reasons in issue_check and on_leave: run, counted, explained, shown and recorded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rfview.engine import plugin as designs
from rfview.engine.plugin import conformance, files
from rfview.render.lenses import panels
from rfview.screens import opening
from rfview.screens.scenes.source import SceneSource
from rfview.sessions.session import Session
from rfview.sessions.why import why
from tests.harness import Assembly, Machine
from tests.sessions import why_programs

FILE = Path(__file__).resolve().parents[1] / "engine" / "intervals.py"
SETTINGS = {"memory.fixed_memory_cycles": 30, "scheduler.active_set": 1}
# with JIT, hooks that the engine calls the same way would take half a minute to compile
pytestmark = [
    pytest.mark.nojit,
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0"), reason="run as plain Python alone"),
]


@pytest.fixture(autouse=True)
def forget():
    """Unregister the designs of each test."""
    yield
    files.forget()


def program() -> Assembly:
    """Return a program of two intervals, with a load for which its warp leaves the active set."""
    found = Assembly().mov(1, 3).ld(2).add(3, 1, 1).add(4, 3, 2)
    for _ in range(3):
        found.add(5, 4, 3).add(4, 5, 1)
    return found.st(4, offset=0).exit()


def options(**parameters: int) -> dict[str, object]:
    """Return the options with which every test runs it."""
    variant = ",".join(f"{key}={value}" for key, value in parameters.items())
    return {"warps": 2, "data": [0], "design": f"{FILE}[{variant}]", "scheduler": "two_level", "settings": SETTINGS}


def test_it_keeps_values_and_its_stalls_and_energies_add_up() -> None:
    assert conformance.problems(designs.find(designs.parse_variant(str(FILE))[0])) == []
    plain = Machine(program(), **{**options(), "design": "sram"}).run()
    short, long = (Machine(program(), **options(entries=3, mrf_cycles=cycles)).run() for cycles in (2, 12))
    assert plain.simulator.buffers()["data"].tolist() == long.simulator.buffers()["data"].tolist() == [33]
    assert plain.simulator.cycle < short.simulator.cycle < long.simulator.cycle
    summary = long.simulator.summary()
    assert summary["stalls"]["interval_prefetch"] > 0 and summary["stalls"]["interval_spill"] > 0
    assert summary["issued"] + sum(summary["stalls"].values()) == summary["warp_cycles"]
    counts = summary["counts"]
    assert counts["intervals"] > 2 and counts["prefetches"] > 0 and counts["spills"] > 0
    prices = {name: pj for name, (pj, _) in (long.simulator.design.energy_pj or {}).items()}
    assert summary["energy_pj"]["dynamic"] == pytest.approx(sum(counts[name] * pj for name, pj in prices.items()))


def stalled(over: Session, name: str) -> int:
    """Go to the first cycle in which a warp is in a state; return the warp."""
    over.run_until(f"stall.{name} > 0")
    states = {int(entry.code): entry.name for entry in over.timeline.info.stalls}
    return next(warp for warp in range(2) if states[int(over.snapshot().sm["warp"]["state"][warp])] == name)


def test_why_tells_its_own_story_and_without_one_the_stalls_sentence() -> None:
    over = why_programs.session(program(), **options(entries=3, mrf_cycles=12))
    chain = why(over, stalled(over, "interval_prefetch"))
    assert chain.resource is not None and chain.resource.name == "main register file"
    assert chain.resource.relief == {"intervals.mrf_cycles": 1}
    assert any("begins an interval" in link.sentence for link in chain.links)
    chain = why(over, stalled(over, "interval_spill"))
    assert any("dirty registers are being written back" in link.sentence for link in chain.links)
    assert not any("must be written" in link.sentence for link in chain.links), "a result under way is not what it waits for"


def test_a_slip_in_its_why_is_named_and_the_chain_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    over = why_programs.session(program(), **options(entries=3, mrf_cycles=12))
    warp = stalled(over, "interval_prefetch")
    found = designs.find("intervals")

    def slipping(trail, moment, rf, refusal):
        trail.add("half told")
        return rf["no_such_field"]

    monkeypatch.setattr(found, "why", slipping)
    chain = why(over, warp)
    assert chain.resource is not None and "half told" not in [link.sentence for link in chain.links]
    assert "design intervals, why: ValueError: no field of name no_such_field" in chain.links[-1].evidence


TURNING = """from rfview.engine.plugin import Design


def bank_of(sm, rf, spec, warp, reg):
    return (reg + rf.turn) % sm.config.num_banks


def end_cycle(sm, rf, spec, rows):
    rf.turn += 1
    return 0


DESIGN = Design(name="turning", title="banks that turn", source="the project's tests", parameters=(),
                state=(("turn", "i4"),))
"""


def test_banks_that_change_are_shown_as_they_are_in_each_cycle(tmp_path: Path) -> None:
    (tmp_path / "turning.py").write_text(TURNING)
    over = why_programs.session(program(), warps=2, data=[0], design=str(tmp_path / "turning.py"))
    source = SceneSource(over)
    for cycle in (8, 9, 10, 9):
        over.goto(cycle)
        turn = int(over.snapshot().rf["turn"])
        assert [source.scene().now.place(0, reg)[0] for reg in (1, 3)] == [1 + turn, 3 + turn], f"cycle {cycle}"


def test_a_key_of_the_footer_goes_to_what_it_does_by_itself() -> None:
    over = why_programs.session(program(), **options(entries=3, mrf_cycles=12))
    over.goto("end")
    over.goto(0)
    first = over.next_event("prefetches").cycle
    over.goto(0)
    assert over.next_event("activity").cycle == first > 0
    scene = SceneSource(over).scene()
    assert ("]d [d", "prefetch ±", "next_activity") in opening.hints(scene, 120, {})


def test_its_panels_show_the_warps_there_are_and_masks_as_registers() -> None:
    over = why_programs.session(program(), **options(entries=3, mrf_cycles=12))
    stalled(over, "interval_prefetch")
    over.step(1)
    lines = [line.plain.rstrip() for line in panels.render(SceneSource(over).scene(), 60, 30)]
    said = "\n".join(lines)
    assert lines[0] == " cached registers  rf.cached" and "⇓" in said and "warps fetching 0-1" in said
    assert " w0 1-3 " in said, "the registers of warp 0's interval"
    assert " w47" in said and " w48" not in said
