"""A register that an instruction names twice is read once, and every operand that names it gets what was read (B0.16)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfview.engine import isa
from rfview.engine.plugin.registry import BUILT_IN
from rfview.engine.program import LAT_DP_ADD, NO_REG, UNIT_SFU, source_masks
from rfview.render import collectors
from tests.harness import Assembly, Machine, spaces

pytestmark = pytest.mark.nojit
TWO, THREE, SIX, SEVEN, EIGHT = 0x40000000, 0x40400000, 0x40C00000, 0x40E00000, 0x41000000


def floats() -> Assembly:
    """R1 = 2, R2 = 3, written some time ago; R17 = 3 is in R1's bank."""
    return spaces(Assembly().mov(1, TWO).mov(2, THREE).mov(17, THREE), 12)


def stored(machine: Machine, count: int) -> list[int]:
    """Return the first words of the data."""
    return [int(word) for word in machine.simulator.buffers()["data"][:count]]


@pytest.mark.parametrize("design", BUILT_IN)
def test_each_operand_gets_the_value_on_every_design(design: str) -> None:
    program = floats().fma(4, 1, 1, 2).fma(5, 2, 1, 1).fma(6, 1, 2, 1).fma(7, 1, 1, 1).fadd(8, 2, 2)
    for place, reg in enumerate((4, 5, 6, 7, 8)):
        program.st(reg, offset=4 * place)
    machine = Machine(program.exit(), design=design).run()
    assert stored(machine, 5) == [SEVEN, EIGHT, EIGHT, SIX, SIX]
    if design in ("sram", "stt", "edram", "racetrack"):     # the others also read buffers and caches
        assert machine.count("rf_reads") == 2 + 2 + 2 + 1 + 1 + 5


def test_an_operand_named_twice_makes_no_bank_conflict_with_itself() -> None:
    twice = Machine(floats().fma(4, 1, 1, 2).st(4).exit()).run()
    apart = Machine(floats().fma(4, 1, 17, 2).st(4).exit()).run()
    assert twice.count("rf_reads") == 3 and twice.count("read_conflicts") == 0
    assert apart.count("rf_reads") == 4 and apart.count("read_conflicts") == 1


def test_both_halves_of_a_pair_named_twice_are_read_once() -> None:
    program = Assembly().mov(2, 0).mov(3, 0x40000000).emit(
        isa.OP_DADD, "add.f64 R4, R2, R2", dst=(4, 5), src={0: 2, 1: 3, 2: 2, 3: 3}, unit=UNIT_SFU, latency=LAT_DP_ADD,
        is_float=1).st(5).exit()
    machine = Machine(program).run()
    assert machine.count("rf_reads") == 2 + 1 and stored(machine, 1) == [0x40100000]


def test_a_store_of_its_own_address_reads_one_register() -> None:
    program = Assembly().mov(1, 64).st(1, 1, shared=True).ld(2, 1, shared=True).st(2).exit()
    machine = Machine(program, shared_bytes=128).run()
    assert machine.count("rf_reads") == 1 + 1 + 1 and stored(machine, 1) == [64]


@given(st.lists(st.sampled_from([NO_REG, 0, 1, 2, 62]), min_size=6, max_size=6))
def test_the_masks_split_the_slots_with_registers_by_first_mention(src: list[int]) -> None:
    read, repeats = source_masks(src)
    assert read & repeats == 0
    assert {slot for slot in range(6) if (read | repeats) >> slot & 1} == {k for k, reg in enumerate(src) if reg != NO_REG}
    first = [reg for slot, reg in enumerate(src) if read >> slot & 1]
    assert len(set(first)) == len(first) and set(first) == set(src) - {NO_REG}
    assert all(src[slot] in src[:slot] for slot in range(6) if repeats >> slot & 1)


@pytest.mark.parametrize("unread, marks", [(0b010001, "▯▯▯"), (0b010000, "▮▮▯"), (0b000001, "▯▯▮"), (0, "▮▮▮")])
def test_the_panel_shows_both_operands_arrive_together(unread: int, marks: str) -> None:
    inflight = np.zeros(1, [("pc", "u4"), ("unread", "u1"), ("refused", "u1")])
    inflight["unread"] = unread
    src = [1, NO_REG, 1, NO_REG, 2, NO_REG]
    machine: Any = SimpleNamespace(inflight=inflight, instruction=lambda pc: SimpleNamespace(src=src))
    assert "".join(mark for _, mark in collectors.operands(machine, 0)) == marks
