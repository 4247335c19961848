"""Explains why a warp waits at a barrier, for its own memory accesses, or for other lanes of the same warp."""

from __future__ import annotations

from rfview.engine import state as layout
from rfview.engine.stalls import NOT_WAITING, NO_WARP
from rfview.engine.wording import listed, plural
from rfview.sessions.machine import Machine
from rfview.sessions.why.trail import Trail, first_link, next_text

NONE = layout.NONE8


def waits(trail: Trail, moment: Machine, warp: int) -> None:
    """Explain the state `barrier`: a barrier that has just opened, memory accesses, lanes, or warps yet to arrive."""
    kind = moment.warp(warp, "blocker_kind")
    if moment.warp(warp, "open_cycle") == moment.ran:
        _opened(trail, moment, warp)
    elif kind == layout.BLOCK_MEMORY:
        _own_memory(trail, moment, warp)
    elif kind == layout.BLOCK_SYNC or moment.warp(warp, "barrier") == NONE:
        _lanes(trail, moment, warp)
    else:
        _at_barrier(trail, moment, warp)


def _opened(trail: Trail, moment: Machine, warp: int) -> None:
    """Explain a barrier that opened in this very cycle: which warp arrived last."""
    first_link(trail, moment, warp, f"w{warp} waits at a barrier", "it opened in this cycle")
    last = [
        other
        for other in range(moment.num_warps)
        if moment.warp(other, "cta") == moment.warp(warp, "cta")
        and moment.warp(other, "last_issue_cycle") == moment.ran
    ]
    if last:
        trail.add(
            f"w{last[0]} arrived last",
            f"cycle {moment.ran:,}",
            warp=last[0],
            since=moment.ran,
            pc=moment.warp(last[0], "last_pc"),
        )
        earlier = trail.past.at(moment.ran)
        if earlier is not None and earlier.state_name(last[0]) not in NOT_WAITING:
            trail.follow(earlier, last[0])
            return
    trail.end("barrier", "barrier: a warp continues in the cycle after the last arrival")


def _at_barrier(trail: Trail, moment: Machine, warp: int) -> None:
    cta, number = moment.warp(warp, "cta"), moment.warp(warp, "barrier")
    first_link(trail, moment, warp, f"w{warp} waits at a barrier", f"barrier {number} of its CTA")
    entry = moment.sm["barrier"][cta][number]
    live = int(moment.sm["cta"][cta]["live_threads"])
    expected = int(entry["expected"]) or live
    late = [
        other
        for other in range(moment.num_warps)
        if moment.warp(other, "cta") == cta
        and other != warp
        and moment.state_name(other) not in NO_WARP
        and moment.warp(other, "barrier") != number
    ]
    threads = int(entry["arrived"])
    if not late:
        trail.add(f"{threads} of {plural(expected, 'thread')} have arrived", warp=warp)
        _parted_lanes(trail, moment, warp)
        trail.end("barrier", f"barrier {number}: no other warp of the CTA is on its way to it")
        return
    behind = min(late, key=lambda other: moment.warp(other, "num_issued"))
    arrived = f"{-(-threads // 32)} of {plural(-(-expected // 32), 'warp')} have arrived"
    trail.add(arrived, f"w{behind} is furthest behind; missing: {listed(late)}", warp=behind)
    trail.follow(moment, behind)


def _own_memory(trail: Trail, moment: Machine, warp: int) -> None:
    first_link(trail, moment, warp, f"w{warp} waits for its own accesses", next_text(moment, warp))
    waiting = [flight for flight in moment.in_flight(warp) if flight.unit == 2 and flight.stage == layout.COLLECT]
    if waiting:
        oldest = waiting[0]
        trail.issued(oldest, f"{oldest.name} has not reached memory, issued {oldest.issue_cycle:,}")
        trail.instruction(moment, oldest)
    else:
        trail.end("LDST unit", "LDST unit: the last access happened in this cycle")


def _lanes(trail: Trail, moment: Machine, warp: int) -> None:
    """Explain lanes that wait for other lanes of the same warp, which may be at a barrier."""
    first_link(trail, moment, warp, f"w{warp} waits for its own lanes", next_text(moment, warp))
    _parted_lanes(trail, moment, warp)
    trail.end("reconvergence", f"reconvergence of the lanes of w{warp}: a collective needs all its members")


def _parted_lanes(trail: Trail, moment: Machine, warp: int) -> None:
    """Say where in the program a warp's lanes wait for each other, and end there."""
    table = moment.sm["warp_cold"][warp]["split"]
    for state, where in ((layout.SPLIT_BARRIER, "at a barrier"), (layout.SPLIT_SYNC, "for other lanes"),
                         (layout.SPLIT_BSYNC, "at a BSYNC")):
        parted = [split for split in table if split["state"] == state]
        if parted:
            lanes = sum(int(split["mask"]).bit_count() for split in parted)
            first = parted[0]       # at a barrier, its pc usually points past that already
            pc = int(first["pc"]) - (
                state == layout.SPLIT_BARRIER and not int(first["sync_mask"]) & layout.RESULTS_AT_OPENING)
            trail.add(
                f"{plural(lanes, 'lane')} of w{warp} wait {where}", f"at PC {pc}: {moment.text(pc)}", warp=warp, pc=pc
            )
    if any(split["state"] == layout.SPLIT_SYNC for split in table):
        trail.end("reconvergence", f"reconvergence of the lanes of w{warp}: a collective needs all its members")
