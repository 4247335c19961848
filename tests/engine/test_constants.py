"""The constant cache, checked by hand: the cycle in which a constant or parameter arrives, and the cost without the cache.

An instruction issued in cycle t enters LD/ST in t + 2 at the earliest, once its predecessor has sent its last line, and
looks up its first line a cycle later. After a miss the line returns from L2 and DRAM, here 10 and 5 cycles, or from L2
alone if the other half of its 128 bytes has already been requested; then the result is written and can be used by an
instruction issued in that cycle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rfview.engine.config import load_preset
from rfview.engine.errors import InputError
from rfview.engine.isa import SREG_LANEID
from tests.harness import Assembly, Machine

pytestmark = pytest.mark.nojit
CACHE = {"memory.const_sets": 64, "memory.const_cycles": 1, "memory.param_cycles": 1, "memory.l2_hit_cycles": 10,
         "memory.dram_cycles": 5, "memory.bytes_per_cycle": 1_000_000}


def issues(program: Assembly, **more: Any) -> tuple[list[int], Machine]:
    """Run; return the cycles in which warp 0 issues, and the machine."""
    machine = Machine(program, data=np.arange(1024), **more).run()
    return [cycle for cycle, _ in machine.issues()], machine


def test_a_parameter_is_missing_once_and_then_hits() -> None:
    # ld issues in 1, enters LD/ST in 3, misses in 4, is back in 19; the second is issued in 20, is looked up in 23, and is
    # done in 24
    program = Assembly().param(2, 0).add(3, 2, imm=1).param(4, 60).add(5, 4, imm=1).exit()
    cycles, machine = issues(program, settings=CACHE)
    assert cycles == [1, 19, 20, 24, 25]
    assert [machine.count(f"const_{what}") for what in ("accesses", "hits", "misses")] == [2, 1, 1]


def test_a_parameter_on_its_way_is_waited_for_and_not_asked_for_again() -> None:
    # looked up in 4 and 5, both back in 19; LD/ST's results use the memory port one after the other
    program = Assembly().param(2, 0).param(4, 4).add(5, 4, imm=1).exit()
    cycles, machine = issues(program, settings=CACHE)
    assert cycles == [1, 2, 20, 21]
    assert [machine.count(f"const_{what}") for what in ("hits", "misses")] == [1, 1]


def test_ldst_waits_while_all_the_lines_that_may_be_awaited_are() -> None:
    # looked up in 4 and 5, back in 19 and, from L2, in 15; the third cannot be requested until then, back in 30
    program = Assembly().const(2, 0).const(3, 64).const(4, 128).add(5, 4, imm=1).exit()
    cycles, machine = issues(program, settings=CACHE)
    assert cycles == [1, 2, 3, 30, 31]
    reasons = list(machine.column(lambda shot: int(shot.sm.ldst_reason)))
    assert [cycle for cycle, reason in enumerate(reasons) if reason == 4] == list(range(6, 15))
    assert machine.count("const_misses") == 3 and machine.register(0, 4)[0] == 32


def test_lanes_take_a_line_each_one_per_cycle() -> None:
    # 4 lanes, 64 bytes apart, with room for 4 lines: looked up in n to n + 3; the third comes from DRAM, in n + 2 + 15
    program = Assembly().sreg(1, SREG_LANEID)
    for _ in range(6):
        program.add(1, 1, 1)
    program.const(2, a=1).add(3, 2, imm=1).exit()
    cycles, machine = issues(program, settings={**CACHE, "memory.const_mshrs": 4}, threads=4)
    load, use = cycles[7:9]
    assert use == load + 3 + 2 + 15
    assert machine.count("const_misses") == 4 and list(machine.register(0, 2)[:4]) == [0, 16, 32, 48]


def test_two_ways_of_a_set_keep_what_was_used_last() -> None:
    # 16 sets of 64-byte lines, so lines 1 KB apart share a set: 0, 1 KB, 0 again; 2 KB displaces 1 KB
    program = Assembly()
    for offset in (0, 1024, 0, 2048, 0, 1024):
        program.const(2, offset).add(3, 2, imm=1)
    _, machine = issues(program.exit(), settings={**CACHE, "memory.const_sets": 16})
    assert [machine.count(f"const_{what}") for what in ("hits", "misses")] == [2, 4]


def test_without_the_cache_parameters_are_operands_and_constants_hit() -> None:
    fermi = load_preset("fermi")
    program = Assembly().param(2, 0).add(3, 2, imm=1).const(4).add(5, 4, imm=1).exit()
    cycles, machine = issues(program)
    assert cycles[1] - cycles[0] == fermi["latency.int_add"] + 2
    assert cycles[3] - cycles[2] == fermi["memory.const_cycles"] + 3
    assert [machine.count(f"const_{what}") for what in ("accesses", "hits", "misses")] == [1, 0, 0]


def test_more_lines_than_there_is_room_for_are_refused() -> None:
    with pytest.raises(InputError, match="with memory.const_ways=2 these are 512 lines; there is room for 256"):
        Machine(Assembly().exit(), settings={"memory.const_sets": 256})
