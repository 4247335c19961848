"""The message for each fault of a running kernel (fault_codes.py), with kernel, PTX line, warp and lane."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rfview.engine import state
from rfview.engine.compile.bits import ctz64
from rfview.engine.errors import KernelFault
from rfview.engine.fault_codes import (ASSERTION, BARRIER, CALL, CYCLE_LIMIT, DEADLOCK, LOCAL_RANGE, MISALIGNED,
                                       NO_FAULT, PARAM_RANGE, READ_ONLY, SHARED_RANGE, SPLITS_FULL, SURFACE, SYNC_LANES,
                                       TEXTURE, TRAP, UNMAPPED)
from rfview.engine.isa import FLAG_ORDERED, OP_BRA, OP_BRA_UNI, OP_MEMBAR, OP_NANOSLEEP
from rfview.engine.launch.mangling import kernel_name
from rfview.engine.machine_code import is_machine_code
from rfview.engine.program import HEAP, HEAP_BYTES, MEM_ATOMIC, MEM_LOAD, MEM_REDUCTION, MEM_STORE
from rfview.engine.ptx.parse.locations import locations

if TYPE_CHECKING:
    from rfview.engine.simulator import Simulator

SENTENCES = {
    UNMAPPED: "{does} {size} bytes at 0x{address:x}, which no buffer holds{near}",
    MISALIGNED: "{does} {size} bytes at 0x{address:x}, which is not a multiple of {size}",
    READ_ONLY: "writes {size} bytes at 0x{address:x}, which is read-only",
    SHARED_RANGE: "accesses shared memory at offset 0x{address:x}; the CTA has {shared} bytes, those that "
                  "the launch file's shared_bytes gives included",
    LOCAL_RANGE: "accesses local memory at offset 0x{address:x}; the thread has {local} bytes{stack}",
    DEADLOCK: "waits at a barrier that can never complete: every live warp waits and none can come",
    SYNC_LANES: "waits for lanes (mask 0x{address:08x}) that can never come",
    TRAP: "executed trap",
    CYCLE_LIMIT: "did not end within {limit}; raise the limit with --max-cycles",
    ASSERTION: "assertion failed",
    SPLITS_FULL: "diverged into more paths than the split table holds",
    PARAM_RANGE: "reads parameter space at offset 0x{address:x}, outside the kernel's parameters",
    CALL: "calls through a pointer that holds no function with these parameters",
    BARRIER: "waits at barrier {address}; a CTA has barriers 0 to 15",
    SURFACE: "accesses a surface outside its extent",
    TEXTURE: "fetches with the texture handle 0x{address:x}, which no [textures.NAME] of the launch file has",
}

BSYNC_LANES = "waits at a convergence barrier for lanes that can never come"
WAITING = (state.SPLIT_SYNC, state.SPLIT_BARRIER, state.SPLIT_BSYNC)     # splits that wait, the likelier causes first

DOES = {MEM_LOAD: "reads", MEM_STORE: "writes", MEM_ATOMIC: "reads and writes", MEM_REDUCTION: "reads and writes"}
QUIET_CYCLES = 10_000    # a run at its limit in which nothing has issued for longer than any access takes has stopped
NULL_BYTES = 4096  # addresses below this are members accessed through a null pointer
# possible cause if an access leaves local memory at the stack
STACK = ", the last {stack} as the stack of recursive calls and of alloca: these go too deep or take too much"

# instructions that become accesses through a texture's header
READS_HEADER = re.compile(r"\b(?:suld|sust|suq|txq)(?:\.\w+)*")
NO_HEADER = (UNMAPPED, MISALIGNED, READ_ONLY, SURFACE)
NO_HANDLE = ("takes for a surface or texture what is none of the launch file's [textures.NAME]: pass {texture = \"NAME\"}, "
             "not a buffer")


@dataclass
class Report:
    """Bad accesses of one instruction that were dropped (kernel.on_fault=report): the first of them, and how many warps'."""

    text: str
    launch: int
    pc: int
    warp: int
    lane: int
    cta: int
    warp_in_cta: int
    cycle: int
    count: int = 1

    def __str__(self) -> str:
        return f"{self.text}; dropped" + (f", as {self.count - 1:,} more of this instruction" if self.count > 1 else "")


def note_report(simulator: Simulator) -> None:
    """Add the bad access that the machine has dropped to the simulator's reports."""
    sm = simulator.sm
    code, pc, warp = int(sm.reported), int(sm.error_pc), int(sm.error_warp)
    sm.reported = 0
    for known in simulator.reports:
        if (known.pc, known.launch) == (pc, int(sm.launch.index)):
            known.count += 1
            return
    entry = sm.warp[warp]
    simulator.reports.append(Report(
        str(fault_of(simulator, deadlock=False, code=code)), int(sm.launch.index), pc, warp, int(sm.error_lane),
        int(sm.cta[int(entry.cta)].id), int(entry.warp_in_cta), simulator.cycle - 1))


def fault_of(simulator: Simulator, *, deadlock: bool, code: int = NO_FAULT) -> KernelFault:
    """Turn the fault record of the state into an error: kernel, what, PTX line, warp, lane, cycle. code: if not its own."""
    sm = simulator.sm
    if deadlock:
        return _deadlock(simulator)
    code = code or int(sm.error)
    address = int(sm.error_address)
    launch = sm.launch
    stack = simulator.placement.launches[int(launch.index)].kernel.stack_bytes
    sentence = SENTENCES[code].format(
        does=DOES.get(int(simulator.insts[int(sm.error_pc)].memory_kind), "accesses"),
        size=int(sm.error_size), address=address, near=_near(simulator, address), shared=int(launch.shared_bytes),
        local=int(launch.local_words) * 4, limit=simulator.limit,
        stack=STACK.format(stack=stack) if stack else "",
    )
    if code in NO_HEADER and (access := _header_access(simulator)):
        sentence = f"{access} {NO_HANDLE}"
    return _where(simulator, int(sm.error_pc), int(sm.error_warp), int(sm.error_lane), sentence)


def _header_access(simulator: Simulator) -> str:
    """Return what in the PTX read a texture's header where the kernel stopped, "" if it was something else.

    All accesses through a header are mapped and aligned, so one that is not went through something else. An access outside
    the header's bounds may be a mistake in the kernel, but not if there is no texture at all.
    """
    if int(simulator.sm.error) == SURFACE and simulator.spec.textures:
        return ""
    line = int(simulator.info.program[int(simulator.sm.error_pc)].line)
    lines = simulator.module.text.splitlines()
    match = READS_HEADER.search(lines[line - 1]) if 0 < line <= len(lines) else None
    return match.group() if match else ""


def cycle_limit(simulator: Simulator) -> KernelFault:
    """Return the fault of a run that did not end, with what its warps do."""
    sm = simulator.sm
    is_quiet = simulator.counts_cycles and simulator.cycle - last_issue(simulator) > QUIET_CYCLES
    if is_quiet and (stopped := stopped_for_good(simulator)) is not None:
        return stopped
    running = _unfinished(simulator)
    pcs = [int(sm.warp[warp].last_pc) for warp in running if int(sm.warp[warp].num_issued)]
    hottest = max(set(pcs), key=pcs.count) if pcs else 0
    listing = simulator.info.program[hottest]
    sentence = SENTENCES[CYCLE_LIMIT].format(limit=simulator.limit)
    file = f"{simulator.spec.module_path.name}:" if is_machine_code(simulator.insts) else "PTX line "
    hot = f"the hottest line is {_source(simulator, listing.line)}{file}{listing.line}: {listing.text}"
    warps = f"; the warps: {states_of(simulator)}" if simulator.counts_cycles else ""
    warp = next((warp for warp in running if int(sm.warp[warp].last_pc) == hottest), -1)
    lane = _lowest(int(sm.warp[warp].mask)) if warp >= 0 else -1
    return KernelFault(f"kernel {kernel_name(listing.kernel)} {sentence}; {hot}{warps}{_left_out(simulator)}",
                       pc=hottest, warp=warp, lane=lane, polls=_polls(simulator, hottest))


def last_issue(simulator: Simulator) -> int:
    """Return the last cycle in which a warp of the running launch issued, or that in which the launch began."""
    sm = simulator.sm
    return max(int(sm.launch.start_cycle), int(sm.warp["last_issue_cycle"].max()))


def stopped_for_good(simulator: Simulator) -> KernelFault | None:
    """Return the fault of a machine in which nothing issues, sleeps, executes or accesses memory; None if something does.

    Only the register file could let such a machine go on: a result that it does not accept, or a register that it does not
    release.
    """
    sm, cycle = simulator.sm, simulator.cycle
    running = _unfinished(simulator)
    under_way = (sm.inflight["stage"] == state.EXECUTE) | (sm.inflight["stage"] == state.MEMORY)
    if not running or (sm.inflight["done_cycle"][under_way] >= cycle).any() or (sm.mshr["until_cycle"] > cycle).any() or any(
            int(sm.warp[warp].wake_cycle) > cycle for warp in running):
        return None
    kinds = {state.BLOCK_REGISTER: "R", state.BLOCK_READER: "R", state.BLOCK_PREDICATE: "P"}
    warp = next((warp for warp in running if int(sm.warp[warp].blocker_kind) in kinds), running[0])
    entry = sm.warp[warp]
    kind = kinds.get(int(entry.blocker_kind))
    register = f" and waits for {kind}{int(entry.blocker)}" if kind else ""
    name = next(stall.name for stall in simulator.built.stalls if stall.code == int(entry.state))
    sentence = f"has stopped: nothing has issued since cycle {last_issue(simulator):,}; w{warp} is in state {name}{register}"
    return _where(simulator, int(entry.pc), warp, _lowest(int(entry.mask)), sentence)


def _unfinished(simulator: Simulator) -> list[int]:
    """Return the warp slots whose warps have not ended."""
    waiting = int(simulator.sm.unfinished)
    return [warp for warp in range(int(simulator.sm.config.num_warps)) if waiting >> warp & 1]


def _lowest(lanes: int) -> int:
    """Return the lowest lane of a mask, 0 if there is none."""
    return ctz64(lanes) if lanes else 0


def _polls(simulator: Simulator, pc: int) -> bool:
    """Return whether the innermost loop around an instruction may wait for what others store: it reads memory in order."""
    insts = simulator.insts
    ends = [at for at in range(pc, len(insts)) if int(insts[at].op) in (OP_BRA, OP_BRA_UNI) and int(insts[at].target) <= pc]
    if not ends:
        return False
    body = insts[int(insts[ends[0]].target) : ends[0] + 1]
    loads = body["memory_kind"] == MEM_LOAD
    ordered = (loads & (body["flags"] & FLAG_ORDERED != 0)) | (body["memory_kind"] == MEM_ATOMIC)
    waits = np.isin(body["op"], (OP_MEMBAR, OP_NANOSLEEP))
    return bool(ordered.any() or (loads.any() and waits.any()))


def states_of(simulator: Simulator) -> str:
    """Return what the warps of a machine do now, the commonest first: "wait 40, bank_conflict 8"."""
    counts = simulator.sm["state_count"].tolist()
    states = sorted(((count, stall.name) for stall in simulator.built.stalls if (count := counts[stall.code])), reverse=True)
    return ", ".join(f"{name} {count}" for count, name in states)


def _left_out(simulator: Simulator) -> str:
    """Return a hint if resident CTAs may wait for others that do not fit on the SM, else ""."""
    launch = simulator.sm.launch
    left = int(launch.num_ctas) - int(launch.next_cta)
    if int(launch.done_ctas) or not left:
        return ""
    return (f"; {left:,} of {int(launch.num_ctas):,} CTAs have not begun, as none has ended and {int(launch.resident_ctas)} "
            "fit on the SM: if they wait for one another, make the grid smaller")


def _deadlock(simulator: Simulator) -> KernelFault:
    """Name the first warp that waits forever, a lane of it that waits, and for what."""
    sm = simulator.sm
    for warp in _unfinished(simulator):
        live = ~int(sm.warp[warp].exited)
        table = sm.warp_cold[warp].split
        waiting = sorted((split for split in table if int(split.state) in WAITING),
                         key=lambda split: WAITING.index(int(split.state)))
        if not waiting:
            continue
        first = waiting[0]
        lane = _lowest(int(first.mask) & live)
        if int(first.state) == state.SPLIT_BSYNC:
            return _where(simulator, int(first.pc), warp, lane, BSYNC_LANES)
        if int(first.state) == state.SPLIT_BARRIER:
            past = not int(first.sync_mask) & state.RESULTS_AT_OPENING and not is_machine_code(simulator.insts)
            return _where(simulator, int(first.pc) - past, warp, lane, SENTENCES[DEADLOCK])
        come = sum(int(split.mask) for split in waiting if int(split.state) == state.SPLIT_SYNC
                   and int(split.pending) == int(first.pending) and int(split.sync_mask) == int(first.sync_mask))
        sentence = SENTENCES[SYNC_LANES].format(address=int(first.sync_mask) & live & ~come)
        return _where(simulator, int(first.pc), warp, lane, sentence)
    stopped = stopped_for_good(simulator)
    return KernelFault("the machine stopped: no warp can run") if stopped is None else stopped


def _where(simulator: Simulator, pc: int, warp: int, lane: int, sentence: str) -> KernelFault:
    """Return the fault that a sentence describes, with kernel, line, text, warp, lane and cycle."""
    listing = simulator.info.program[pc]
    cta = int(simulator.sm.warp[warp].cta)
    number = int(simulator.sm.cta[cta].id) if cta < state.MAX_CTAS else 0
    return KernelFault(
        f"kernel {kernel_name(listing.kernel)} {sentence}; {_source(simulator, listing.line)}"
        f"{simulator.spec.module_path.name}:{listing.line}: {listing.text}; "
        f"warp {warp}, lane {lane}, CTA {number}, {simulator.moment(warp)}", pc=pc, warp=warp, lane=lane)


def _source(simulator: Simulator, line: int) -> str:
    """Return the source line that a PTX line comes from as "saxpy.cu:12, ", "" if the PTX does not say."""
    known = locations(simulator.module.text).own_line(line)
    return f"{known}, " if known else ""


def _near(simulator: Simulator, address: int) -> str:
    """Name the buffer that ends or begins closest to a bad address; for a null pointer, where it may come from."""
    if address < NULL_BYTES and any(variable.name == HEAP for variable in simulator.placement.variables):
        return f" (malloc gives 0 where its heap of {HEAP_BYTES >> 20} MiB is used up; what is freed is not given out again)"
    best = ""
    distance = 1 << 62
    for variable in simulator.placement.variables:
        past = address - (variable.address + variable.size)
        before = variable.address - address
        away = past if past >= 0 else before
        if 0 <= away < distance:
            side = f"{away} bytes past the end of" if past >= 0 else f"{before} bytes before"
            best, distance = f" ({side} {variable.name})", away
    return best if distance < 1 << 20 else ""
