"""Hand-made programs that stall for one reason each, and sessions over them, for the tests of `why`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rfview.sessions.why import why
from rfview.engine import isa
from rfview.engine.program import NO_PC, UNIT_CTRL
from rfview.sessions.timeline.live import LiveTimeline
from rfview.sessions.session import Session
from rfview.sessions.why import Chain
from tests.harness import Assembly, Machine, spaces

COLLECTOR = "hcrf[pending_writes=collector]"    # transfers that a result in flight undoes, to see both kinds
TWO_LEVEL = {"scheduler": "two_level", "preset": "gebhart"}
QUICK = {"latency.int_add": 1}
PADDING = 5  # moves, so that the read of R1 coincides with the refresh of its bank


def session(program: Assembly, starts: Mapping[int, int] | None = None, **more: Any) -> Session:
    """Return a session over a program. starts: the instruction at which each warp begins."""
    made = Machine(program, **more)
    if starts:
        made.step()
        for warp, pc in starts.items():
            made.simulator.sm.warp[warp].pc = pc
    return Session(LiveTimeline(made.simulator))


def swapped(**positions: int) -> list[int]:
    """Return a racetrack mapping in which rows 0..3 of bank 0 ("r0" ..) swap places with those at the positions."""
    table = list(range(128))
    for name, position in positions.items():
        row, other = int(name[1:]), table.index(position)
        table[row], table[other] = table[other], table[row]
    found = [0] * (16 * 128)
    for row in range(128):
        found[row * 16] = table[row] ^ row
    return found


def racetrack(program: Assembly, **positions: int) -> Session:
    """Return a session over one warp with 60 registers under `racetrack` without preshift."""
    return session(
        program, design="racetrack[preshift=0,ports=8,shift_steps=1]", registers=60, settings={"racetrack.mapping": swapped(**positions)}
    )


def hrf(program: Assembly, starts: Mapping[int, int] | None = None, memory: int = 60, **more: Any) -> Session:
    """Return a session under `hrf`, its scheduler, and a short fixed memory latency."""
    settings = {"memory.fixed_memory_cycles": memory} | more.pop("settings", {})
    return session(program, starts, **({"design": "hrf", "scheduler": "switch_on_stall"} | more), settings=settings)


def second_switch() -> Session:
    """W0 suspends with R0..R2 in its buffer, W1 with two registers 5 cycles later, W2 writes 4 cycles after that."""
    program = Assembly().ld(5).mov(0, 1).mov(1, 2).mov(2, 3)
    spaces(program, 6).add(6, 5, imm=1).exit()
    first = len(program.insts)
    spaces(program.mov(0, 1).mov(1, 2).ld(5), 2).add(6, 5, imm=1).exit()
    second = len(program.insts)
    spaces(program, 1).mov(0, 7).copy(1, 0).copy(2, 0).exit()
    return hrf(program, {0: 0, 1: first, 2: second}, warps=3, settings=QUICK)


def drained_source() -> Session:
    """A suspended warp is activated again and reads a register that is still draining."""
    program = Assembly()
    for reg in range(5):
        program.mov(reg, reg + 1)
    return hrf(spaces(program, 8).ld(5, offset=8).add(6, 5, 4).add(7, 6, imm=1).exit(), memory=14)


def full_queue() -> Session:
    """Eight loads return, one per cycle; the bank takes four cycles for a write."""
    program = Assembly()
    for reg in range(8):
        program.ld(reg, offset=4 * reg)
    return hrf(program.add(9, 7, imm=1).exit(), memory=40, scheduler="lrr", settings={"memory.bytes_per_cycle": 128})


def full_buffer() -> Session:
    """With one bank an entry drains in four cycles, while one result arrives per cycle."""
    program = Assembly()
    for reg in range(24):
        program.mov(reg, reg)
    settings = QUICK | {"sm.num_banks": 1, "sm.rows_per_bank": 1024}
    return session(program.add(25, 23, imm=1).exit(), design="single_buffer", registers=40, settings=settings)


def full_mshrs() -> Session:
    """Two MSHRs; the third line waits in LD/ST."""
    program = Assembly()
    for reg in range(3):
        program.ld(reg, offset=128 * reg)
    return session(program.add(4, 2, imm=1).exit(), settings={"memory.mshrs": 2})


def waiting_lanes() -> Session:
    """Sixteen lanes wait for all others, which wait at a CTA barrier: a deadlock."""
    program = Assembly().sreg(3, isa.SREG_LANEID).setp_lt(0, 3, 16).bra(4, guard=0, reconv=NO_PC).bar()
    return session(program.emit(isa.OP_BAR_WARP, "bar.warp.sync -1", unit=UNIT_CTRL, imm={0: 0xFFFFFFFF}).exit())


def ends_early() -> Session:
    """W0 starts at its exit; W1 waits for a load."""
    return session(Assembly().ld(2).add(3, 2, imm=1).exit(), {0: 2}, warps=2)


def other_lanes(program: Assembly) -> Assembly:
    """Set predicate 0 in the lower sixteen lanes; uses R19."""
    return program.sreg(19, isa.SREG_LANEID).setp_lt(0, 19, 16)


def flushed() -> Session:
    """An active set of one: a warp leaves it to wait for its load, with three live registers in its cache."""
    program = Assembly().ld(4).mov(1, 1).mov(2, 2).mov(3, 3).st(2, last_use=4).add(6, 4, imm=0).exit()
    return session(
        program,
        warps=2,
        design="rfc",
        **TWO_LEVEL,
        settings={"scheduler.active_set": 1, "memory.fixed_memory_cycles": 90},
    )


def removed() -> Session:
    """A load overwrites half the lanes of a register whose other half is only in the cache."""
    program = Assembly().mov(5, 1).sreg(1, isa.SREG_LANEID)
    program.emit(isa.OP_AND32, "and.b32 R2, R1, 1", dst=(2,), src={0: 1}, imm={2: 1}).setp_lt(0, 2, 1)
    return session(
        program.ld(5, guard=0).add(7, 5, imm=0).exit(),
        design="rfc",
        **TWO_LEVEL,
        settings={"memory.fixed_memory_cycles": 30},
    )


def refreshed() -> Session:
    """A read of bank 1 in the cycle in which it is refreshed."""
    program = Assembly()
    for reg in range(PADDING):
        program.mov(11 + reg, 1)
    return session(program.copy(9, 1).add(10, 9, imm=1).exit(), design="edram")


# name -> (session, warp, the state to be explained)
CASES: dict[str, tuple[Callable[[], Session], int, str]] = {
    "wait: fixed latency": (lambda: session(Assembly().mov(1, 5).add(2, 1, imm=1).exit()), 0, "wait"),
    "wait: nanosleep": (
        lambda: session(
            Assembly().emit(isa.OP_NANOSLEEP, "nanosleep.u32 20", unit=UNIT_CTRL, imm={0: 20}).mov(1, 1).exit()
        ),
        0,
        "wait",
    ),
    "wait: result bus": (
        lambda: session(
            Assembly().mov(1, 1).mov(2, 2).mov(3, 3).add(4, 3, imm=1).exit(), warps=2, settings={"sm.result_buses": 1}
        ),
        1,
        "wait",
    ),
    "short_scoreboard: SFU": (lambda: session(Assembly().sfu(2, 1).add(3, 2, imm=1).exit()), 0, "short_scoreboard"),
    "short_scoreboard: shared memory": (
        lambda: session(Assembly().ld(2, shared=True).add(3, 2, imm=1).exit()),
        0,
        "short_scoreboard",
    ),
    "short_scoreboard: a bank conflict of shared memory": (     # lanes 128 bytes apart: all in one bank
        lambda: session(Assembly().sreg(1, isa.SREG_LANEID).emit(isa.OP_SHL32, "shl.b32 R1, R1, 7", dst=(1,), src={0: 1},
                                                                 imm={2: 7}).ld(2, 1, shared=True).add(3, 2, imm=1).exit(),
                        shared_bytes=4096),
        0,
        "short_scoreboard",
    ),
    "short_scoreboard: a missing parameter": (
        lambda: session(Assembly().param(2, 0).add(3, 2, imm=1).exit(), settings={"memory.const_sets": 64}),
        0,
        "short_scoreboard",
    ),
    "short_scoreboard: constants awaited": (
        lambda: session(
            Assembly().const(2, 0).const(3, 128).const(4, 256).add(5, 4, imm=1).exit(), settings={"memory.const_sets": 64}
        ),
        0,
        "short_scoreboard",
    ),
    "long_scoreboard: DRAM": (lambda: session(Assembly().ld(2).add(3, 2, imm=1).exit()), 0, "long_scoreboard"),
    "long_scoreboard: MSHRs": (full_mshrs, 0, "long_scoreboard"),
    "barrier: a late warp": (lambda: session(Assembly().bar().exit(), warps=3), 0, "barrier"),
    "barrier: own accesses": (lambda: session(Assembly().st(1, shared=True).bar().exit()), 0, "barrier"),
    "barrier: own lanes": (waiting_lanes, 0, "barrier"),
    "no_instruction": (lambda: session(Assembly().bar().exit(), warps=3), 2, "no_instruction"),
    "not_selected": (
        lambda: session(Assembly().mov(1, 5).mov(2, 5).mov(3, 5).exit(), warps=2, settings={"sm.num_schedulers": 1}),
        1,
        "not_selected",
    ),
    "finished: stores": (
        lambda: session(Assembly().st(2).exit(), preset="gtx480", settings={"memory.icache_sets": 0}), 0, "finished",
    ),
    "suspended": (
        lambda: session(
            Assembly().mov(1, 5).ld(2).add(3, 2, imm=1).exit(),
            warps=2,
            scheduler="switch_on_stall",
            settings={"sm.num_schedulers": 1},
        ),
        1,
        "suspended",
    ),
    "pipe_throttle": (
        lambda: session(Assembly().sfu(2, 1).sfu(3, 1).sfu(4, 1).exit(), settings={"sm.sfu_queue": 1}),
        0,
        "pipe_throttle",
    ),
    "collector_full": (
        lambda: session(Assembly().add(2, 1, imm=1).add(3, 1, imm=1).exit(), settings={"sm.num_collectors": 1}),
        0,
        "collector_full",
    ),
    "bank_conflict: two operands": (
        lambda: session(Assembly().add(2, 1, 17).add(3, 2, imm=1).exit()),
        0,
        "bank_conflict",
    ),
    "bank_conflict: a reader (WAR)": (lambda: session(Assembly().add(2, 1, 17).mov(17, 9).exit()), 0, "bank_conflict"),
    "stt_write: a bank": (
        lambda: session(Assembly().mov(1, 5).add(2, 1, imm=1).add(3, 2, imm=1).exit(), design="stt[stall=bank]"),
        0,
        "stt_write",
    ),
    "stt_write: the pipeline": (
        lambda: session(Assembly().mov(1, 5).mov(2, 6).add(3, 1, imm=1).add(4, 2, imm=1).exit(), design="stt"),
        0,
        "stt_write",
    ),
    "stt_write: a full queue": (full_queue, 0, "stt_write"),
    "stt_write: a T-Write": (
        lambda: session(
            other_lanes(Assembly()).mov(16, 9, guard=0).add(1, 16, imm=0).add(2, 1, imm=0).exit(), design=COLLECTOR
        ),
        0,
        "stt_write",
    ),
    "wb_drain: no empty buffer": (second_switch, 2, "wb_drain"),
    "wb_drain: still drains": (drained_source, 0, "wb_drain"),
    "wb_full: single_buffer": (full_buffer, 0, "wb_full"),
    "wb_full: racetrack": (
        lambda: racetrack(Assembly().mov(0, 1).mov(16, 2).mov(32, 3).copy(1, 32).exit(), r0=15, r1=31, r2=47),
        0,
        "wb_full",
    ),
    "x_transfer": (
        lambda: session(Assembly().mov(0, 1).mov(3, 3).mov(4, 4).mov(16, 2).add(5, 16, 0).exit(), design=COLLECTOR),
        0,
        "x_transfer",
    ),
    "refresh": (refreshed, 0, "refresh"),
    "shift": (lambda: racetrack(Assembly().add(1, 0, 16).add(2, 1, 1).exit(), r0=5, r1=21), 0, "shift"),
    "rfc_flush: leaving": (flushed, 0, "rfc_flush"),
    "rfc_flush: overwritten": (removed, 0, "rfc_flush"),
    "finished": (ends_early, 0, "finished"),
    "no_cta": (lambda: session(Assembly().exit()), 5, "no_cta"),
    "issued": (lambda: session(Assembly().mov(1, 5).exit()), 0, "issued"),
}


AT_ITS_END = {"wait: result bus"}  # explained in the stall's last cycle; all others in its middle


def stalled_at(over: Session, warp: int, state: str, at_end: bool = False) -> int:
    """Run the session to its end; return a cycle in the warp's longest stretch in a state."""
    timeline = over.timeline
    while timeline.extend(1024):
        pass
    code = next(int(entry.code) for entry in timeline.info.stalls if entry.name == state)
    column = np.concatenate([[False], timeline.states(timeline.first + 1, timeline.last + 1)[:, warp] == code, [False]])
    edges = np.flatnonzero(column[1:] != column[:-1])
    starts, ends = edges[::2], edges[1::2]
    assert len(starts), f"w{warp} is never {state}"
    longest = int((ends - starts).argmax())
    first, last = int(starts[longest]), int(ends[longest]) - 1
    return timeline.first + 1 + (last if at_end else (first + last) // 2)


def explained(name: str) -> Chain:
    """Return the chain of a case."""
    build, warp, state = CASES[name]
    over = build()
    return why(over, warp, stalled_at(over, warp, state, name in AT_ITS_END))


if __name__ == "__main__":
    # python -m tests.sessions.why_programs > tests/sessions/golden/why.txt
    for case in CASES:
        print(f"## {case}\n{explained(case).text()}\n")
