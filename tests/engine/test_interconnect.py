"""The ports to and from the interconnect, what an access moves through them, and stores that a warp waits for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rfview.engine import isa
from tests.harness import Assembly, Machine, counted

ALONE = {"memory.icache_sets": 0, "memory.l2_warm": 0}      # nothing but the access takes the ports


def lanes_at(stride: int) -> Assembly:
    """Return a program that begins with R1 = lane * stride and R2 = 5."""
    return Assembly().sreg(1, isa.SREG_LANEID).emit(
        isa.OP_SHL32, f"shl.b32 R1, R1, {stride.bit_length() - 1}", dst=(1,), src={0: 1},
        imm={2: stride.bit_length() - 1}).mov(2, 5)


def ports_taken(program: Assembly, **more: Any) -> tuple[int, int]:
    """Return for how many cycles a program's accesses take the port for requests and that for replies."""
    machine = Machine(program.exit(), preset="gtx480", settings=ALONE, **more).run()
    first = counted(machine, "transactions")[0]
    last = machine.snapshots[-1].sm
    return int(last["port_free_cycle"]) - first, int(last["reply_free_cycle"]) - first


@pytest.mark.parametrize("stride, lines, flits, packets", [
    (4, 1, 4, 4),       # a whole line: 8 + 128 bytes are 4 flits of 40; an acknowledgement for each of 4 sectors
    (8, 2, 4, 4),       # every other word of two lines: all their sectors are touched
    (64, 16, 2, 2),     # two sectors of each line: 8 + 64 bytes are 2 flits
    (128, 32, 1, 1),    # a lane in each line: 8 + 32 bytes are a flit
])
def test_a_store_sends_the_sectors_that_it_touches(stride: int, lines: int, flits: int, packets: int) -> None:
    sent, answered = ports_taken(lanes_at(stride).st(2, 1))
    assert (sent, answered) == (lines * flits, lines * packets)


def test_a_load_asks_with_a_flit_and_gets_a_packet_for_each_sector_of_its_line() -> None:
    assert ports_taken(lanes_at(4).ld(3, 1)) == (1, 4)
    assert ports_taken(Assembly().ld(3)) == (1, 4)      # one word: L1 fetches the whole line


def test_requests_and_replies_do_not_wait_for_each_other() -> None:
    """A line stored and another loaded: 4 flits and then 1, while 4 acknowledgements and 4 sectors come back."""
    sent, answered = ports_taken(lanes_at(4).st(2, 1).ld(3, 1, offset=1024))
    assert (sent, answered) == (5, 8)


def test_without_flits_no_port_is_taken() -> None:
    machine = Machine(lanes_at(4).st(2, 1).exit(), preset="gtx480", settings={**ALONE, "memory.flit_bytes": 0}).run()
    assert machine.snapshots[-1].sm["port_free_cycle"] == machine.snapshots[-1].sm["reply_free_cycle"] == 0


@pytest.mark.parametrize("acks", [0, 1])
def test_a_warp_keeps_its_place_until_its_stores_are_acknowledged(acks: int) -> None:
    """L2 answers 180 cycles after LD/ST has sent the line; only then does the next CTA begin in its place."""
    machine = Machine(Assembly().mov(2, 5).st(2).exit(), ctas=2, preset="gtx480",
                      settings={**ALONE, "sm.max_ctas": 1, "memory.store_acks": acks}).run()
    sent = counted(machine, "transactions")[0]
    begun = counted(machine, "ctas")[1]
    assert begun == sent + 180 if acks else begun < sent + 20


def test_warm_lines_stay_while_there_are_empty_ways() -> None:
    """L2 has two ways: one holds the warm line, code takes the empty one, and the load finds its line."""
    machine = Machine(Assembly().ld(3).exit(), data=np.ones(32, np.uint32), preset="gtx480",
                      settings={"memory.l2_sets": 1, "memory.l2_ways": 2}).run()
    assert machine.count("icache_misses") == 1
    assert (machine.count("l2_hits"), machine.count("l2_misses")) == (1, 1)


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(0, 991), min_size=32, max_size=32), st.integers(1, 32))
def test_a_store_moves_its_distinct_sectors(words: list[int], threads: int) -> None:
    """Any addresses and any number of lanes; stores go on to DRAM, after one line that was loaded."""
    data = np.zeros(1024, np.uint32)
    data[:32] = np.array(words) * 4 + 128
    machine = Machine(lanes_at(4).ld(1, 1).st(2, 1).exit(), data=data, threads=threads).run()
    assert machine.count("dram_bytes") - 128 == 32 * len({(word * 4 + 128) // 32 for word in words[:threads]})
