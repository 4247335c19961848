"""Operands that arrive some cycles after their read: when the instruction executes, what waits, and what a warp shows.

Cycles by hand: an add that issues in cycle c with free banks reads in c + 1 and executes from c + 2 on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from rfview.engine import isa
from rfview.engine.state import COLLECT, EXECUTE
from tests.conftest import WITHOUT_JIT
from tests.engine import late_design
from tests.harness import Assembly, Machine, added, issue_cycle

# test_plugin.py compares late operands of both forms in every cycle
pytestmark = [pytest.mark.nojit, pytest.mark.skipif(not WITHOUT_JIT, reason="a compile, for what plain Python shows as well")]
LATE = 7


@pytest.fixture(autouse=True)
def late() -> Iterator[None]:
    """Register the design with late operands."""
    with added("late", late_design):
        yield


def program() -> Assembly:
    """Return one whose R1 is equal in all lanes, thus compressed, while R2 is not."""
    found = Assembly().mov(1, 5).sreg(2, isa.SREG_LANEID).add(3, 1, imm=1).add(4, 2, imm=1).add(5, 1, 2).mov(1, 9)
    return found.add(6, 5, 4).st(6, offset=4).exit()


def run(cycles: int = LATE, cached: str = "off", **more: Any) -> Machine:
    """Run the program in one warp."""
    return Machine(program(), data=[0, 0], design=f"late[decompress_cycles={cycles},cached={cached}]", **more).run()


def executes(machine: Machine, text: str) -> int:
    """Return in which cycle the instruction that begins with `text` enters its unit."""
    entries = machine.simulator.info.program
    for snapshot in machine.snapshots:
        for flight in snapshot.sm["inflight"]:
            if flight["stage"] == EXECUTE and entries[int(flight["pc"])].text.startswith(text):
                return int(flight["since_cycle"])
    raise AssertionError(f"{text} never executes")


@pytest.mark.parametrize("cycles", [0, 1, LATE])
def test_an_instruction_executes_that_many_cycles_later(cycles: int) -> None:
    found = run(cycles)
    for text, delay in (("add.u32 R3", cycles), ("add.u32 R4", 0), ("add.u32 R5", cycles)):
        assert executes(found, text) == issue_cycle(found, text) + 2 + delay
    assert found.count("decompressions") == 2


def test_without_a_delay_nothing_differs_from_sram() -> None:
    plain, found = Machine(program(), data=[0, 0]).run(), run(0)
    assert [snapshot.sm["inflight"].tobytes() for snapshot in found.snapshots] == [
        snapshot.sm["inflight"].tobytes() for snapshot in plain.snapshots]


def test_the_value_is_that_of_the_read_and_a_later_write_does_not_wait() -> None:
    found = run()
    write, reader = issue_cycle(found, "mov.u32 R1, 9"), issue_cycle(found, "add.u32 R5")
    assert write == reader + 1, "reads come before issue in a cycle, so R1 is no hazard any more"
    assert executes(found, "mov.u32 R1, 9") < executes(found, "add.u32 R5")
    assert found.register(0, 5).tolist() == [5 + lane for lane in range(32)]


def test_operands_given_at_issue_may_be_late_as_well() -> None:
    found = run(cached="on")
    for text in ("add.u32 R3", "add.u32 R4", "add.u32 R5"):
        assert executes(found, text) == issue_cycle(found, text) + 1 + LATE
    assert executes(run(1, cached="on"), "add.u32 R4") == issue_cycle(found, "add.u32 R4") + 2, "as usual"
    assert found.count("rf_reads") == 0


@pytest.mark.parametrize("cached", ["off", "on"])
def test_only_waiting_for_the_operand_is_its_stall(cached: str) -> None:
    found = run(cached=cached)
    issued, code = issue_cycle(found, "add.u32 R5"), late_design.DECOMPRESS
    shown = []
    for cycle, snapshot in enumerate(found.snapshots[1:]):
        for flight in snapshot.sm["inflight"]:
            if flight["stage"] == COLLECT and flight["issue_cycle"] == issued and flight["code"] == code:
                assert not flight["unread"] and flight["refused"] and flight["bank"] == 1
                shown.append(cycle)
    assert shown == list(range(issued + 2, executes(found, "add.u32 R5")))
    last = issue_cycle(found, "mov.u32 R1, 9")      # afterwards the warp waits for R5
    waits = [cycle for cycle, name in enumerate(found.states()) if name == "decompress" and cycle <= shown[-1]]
    assert waits == list(range(last + 1, shown[-1] + 1))


@pytest.mark.parametrize(("cached", "scheduler"), [("off", "lrr"), ("on", "gto"), ("off", "two_level")])
def test_all_warps_end_with_the_right_values(cached: str, scheduler: str) -> None:
    loop = Assembly().mov(1, 3).sreg(2, isa.SREG_LANEID)
    for _ in range(3):
        loop.add(3, 1, 2).add(2, 3, 1).add(1, 1, 1)
    loop.st(2, offset=4).exit()
    found = Machine(loop, warps=6, data=[0, 0], scheduler=scheduler,
                    design=f"late[decompress_cycles=4,cached={cached}]").run()
    plain = Machine(loop, warps=6, data=[0, 0], scheduler=scheduler).run()
    for warp in range(6):
        assert np.array_equal(found.register(warp, 2), plain.register(warp, 2))
    assert found.simulator.cycle > plain.simulator.cycle
    assert not found.simulator.sm.late and not found.simulator.sm.late_operands.any()
    summary = found.simulator.summary()
    assert summary["issued"] + sum(summary["stalls"].values()) == summary["warp_cycles"]


