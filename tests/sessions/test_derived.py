"""Every field of state.DERIVED can be computed from what snapshots and recordings contain, all along runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rfview.engine import kernels
from rfview.engine.designs.rfc import STAND_IN
from rfview.engine.launch import load_launch_file
from rfview.engine.program import UNIT_CTRL
from rfview.engine.simulator import Simulator
from rfview.engine.stalls import ISSUED
from rfview.engine.state import COLLECT, DERIVED, FREE, NONE8, WRITE_BACK
from rfview.sessions import producers as holders

MACHINES = [("gemm", "sram", "gto"), ("gemm", "hrf", "lrr"), ("reduction", "rfc", "two_level"), ("histogram", "hcrf", "gto"),
            ("gemm", "edram", "gto"), ("bfs", "racetrack", "lrr"), ("gemm", "single_buffer", "gto"),
            ("hotspot", "sram", "switch_on_stall")]


def bits(mask: Any) -> set[int]:
    """Return the numbers of the bits that are set."""
    return {bit for bit in range(64) if int(mask) >> bit & 1}


def find(sm: Any, program: Any, memory: set[int]) -> dict[str, Any]:
    """Compute the derived fields, except `unreleased` and `producer`, from a snapshot's record; masks are sets of bits.

    memory: the pcs of instructions that access memory.
    """
    table, warps, schedulers = sm["inflight"], len(sm["warp"]), int(sm["config"]["num_schedulers"])
    states = sm["warp"]["state"].tolist()
    held = {int(entry) for entry in np.flatnonzero(table["stage"] != FREE)}
    units = {at: int(unit["inflight"]) for at, unit in enumerate(sm["collector"]) if unit["valid"]}
    unread = {at: bits(table[entry]["unread"]) for at, entry in units.items()}
    banks = {at: {int(sm["collector"][at]["bank"][slot]) for slot in slots} for at, slots in unread.items()}
    regs = {at: set(holders.unread(table[entry], program)) for at, entry in units.items()}
    of = [{at for at, entry in units.items() if table[entry]["warp"] == warp} for warp in range(warps)]
    waits = [entry for entry in held if table[entry]["stage"] == COLLECT and int(table[entry]["pc"]) in memory]
    return {
        "inflight_used": held,
        "in_write_back": {entry for entry in held if table[entry]["stage"] == WRITE_BACK},
        "sb_read": [set().union(*(regs[at] for at in mine)) for mine in of],
        "num_inflight": [sum(int(table[entry]["warp"]) == warp for entry in held) for warp in range(warps)],
        "mem_pending": [sum(int(table[entry]["warp"]) == warp for entry in waits) for warp in range(warps)],
        "collectors_of": of,
        "collectors_used": set(units),
        "collector_seq": {at: int(table[entry]["seq"]) for at, entry in units.items()},
        "collector_banks": banks,
        "collector_regs": regs,
        "queued": [sum(unit == int(table[entry]["unit"]) for entry in units.values()) for unit in range(UNIT_CTRL)],
        "issued_warp": [next((warp for warp in range(first, warps, schedulers) if states[warp] == ISSUED), NONE8)
                        for first in range(schedulers)],
        "banks_requested": set().union(*banks.values()),
        "bank_requests": [{at for at, wanted in banks.items() if bank in wanted} for bank in range(len(sm["bank"]))],
    }


def kept(sm: Any, units: set[int]) -> dict[str, Any]:
    """Return the same fields as the engine keeps them. units: the collectors that hold an instruction."""

    def wide(name: str) -> set[int]:
        return {64 * word + bit for word, mask in enumerate(sm[name]) for bit in bits(mask)}

    return {
        "inflight_used": wide("inflight_used"),
        "in_write_back": wide("in_write_back"),
        "sb_read": [bits(mask) for mask in sm["sb_read"]],
        "num_inflight": sm["num_inflight"].tolist(),
        "mem_pending": sm["mem_pending"].tolist(),
        "collectors_of": [bits(mask) for mask in sm["collectors_of"]],
        "collectors_used": bits(sm["collectors_used"]),
        "collector_seq": {at: int(sm["collector_seq"][at]) for at in units},
        "collector_banks": {at: bits(sm["collector_banks"][at]) for at in units},
        "collector_regs": {at: bits(sm["collector_regs"][at]) for at in units},
        "queued": sm["queued"].tolist(),
        "issued_warp": sm["issued_warp"][: sm["config"]["num_schedulers"]].tolist(),
        "banks_requested": bits(sm["banks_requested"]),
        "bank_requests": [bits(mask) for mask in sm["bank_requests"]],
    }


@pytest.mark.parametrize(("kernel", "design", "scheduler"), MACHINES)
def test_what_is_not_recorded_follows_from_what_is(kernel: str, design: str, scheduler: str) -> None:
    simulator = Simulator(load_launch_file(kernels.path(kernel)), design=design, scheduler=scheduler)
    program = simulator.info.program
    memory = {pc for pc, inst in enumerate(simulator.insts) if inst["memory_kind"]}
    pending = 0
    for _ in range(60):
        simulator.step(17)
        sm, own = np.asarray(simulator.snapshot().sm), simulator.sm
        found = find(sm, program, memory)
        assert found == kept(own, found["collectors_used"])
        writers = holders.writers(sm["inflight"], program)
        for warp in range(simulator.info.num_warps):
            for reg in bits(sm["warp"][warp]["sb_write"]):
                entry = int(own["producer"][warp][reg])
                if entry == STAND_IN:
                    continue        # rfc's stand-in for a producer, not an instruction
                pending += 1
                assert writers[warp, reg] == entry
        for entry in found["inflight_used"]:
            flight = sm["inflight"][entry]
            held = {int(reg) for reg in program[int(flight["pc"])].dst if reg != NONE8}
            held &= bits(sm["warp"][int(flight["warp"])]["sb_write"])
            assert bits(own["unreleased"][entry]) == {reg for reg in held if writers[int(flight["warp"]), reg] == entry}
    assert pending > 100
    assert {name for name, *_ in DERIVED} == {*found, "unreleased", "producer"}
