"""A slow reference interpreter of decoded kernels: one thread at a time, no timing, exact semantics, no engine code.

Threads run until they reach something that depends on other threads: a barrier, or an instruction between lanes. There
they wait until every thread concerned has arrived (or ended), then act together. Instructions on "the active lanes"
(activemask, shuffles without .sync) act when no other thread of the warp can run, which is full reconvergence.
"""

from __future__ import annotations

import functools
import operator
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from rfview.engine import isa
from rfview.engine.launch import Launch, LaunchSpec, pack_params
from rfview.engine.program import NO_PRED, NO_REG, SPACE_GENERIC, SPACE_LOCAL, SPACE_PARAM, SPACE_SHARED, Kernel, Module
from tests.reference import floats, operations
from tests.reference.memory import Area, Fault, Memory, generic
from tests.reference.operations import M16, M32, M64, Operation, signed

SLICE = 200             # steps a thread runs before the others of its CTA get their turn, so that spin locks end
CLOCKS = ("clock", "clock64", "globaltimer", "globaltimer_lo")
MAX_TURNS = 500         # turns in which all running CTAs only spin before another begins; after twice as many it hangs
MAX_CTAS = 8            # CTAs that run at once if they wait for each other
BLOCKED, ENDED, YIELDED = -1, -2, -3

Step = Callable[["Thread"], int]    # runs one instruction; returns the next pc, or BLOCKED, ENDED or YIELDED

TOGETHER = (isa.OP_SHFL, isa.OP_VOTE, isa.OP_MATCH, isa.OP_REDUX, isa.OP_ACTIVEMASK, isa.OP_BAR_WARP)


class Thread:
    """One thread: its registers, predicates, place in the grid and next instruction."""

    __slots__ = ("cta", "ended", "lane", "local", "pc", "preds", "regs", "tid", "warp")

    def __init__(self, cta: Cta, linear: int, kernel: Kernel) -> None:
        x, y, _ = cta.launch.block
        self.cta, self.warp, self.lane = cta, linear // 32, linear % 32
        self.tid = (linear % x, linear // x % y, linear // (x * y))
        self.regs, self.preds = [0] * 256, [0] * 256
        self.local = Area("local memory", 0, bytearray(kernel.local_bytes))
        self.pc, self.ended = 0, False


class Cta:
    """One CTA: its threads, shared memory and barriers."""

    def __init__(self, machine: Machine, index: int) -> None:
        self.machine, self.launch = machine, machine.launch
        gx, gy, _ = self.launch.grid
        self.ctaid = (index % gx, index // gx % gy, index // (gx * gy))
        size = machine.kernel.shared_bytes + self.launch.shared_bytes
        self.shared = Area("shared memory", 0, bytearray(size))
        self.threads = [Thread(self, k, machine.kernel) for k in range(self.launch.num_threads_per_cta)]
        self.ready: list[Thread] = list(self.threads)
        self.waiting: dict[int, list[Thread]] = {}      # by barrier
        self.arrived: dict[int, int] = {}               # arrivals that do not wait, by barrier
        self.together: dict[int, list[Thread]] = {}     # waiting at an instruction between lanes, by warp
        self.live = len(self.threads)

    def turn(self) -> bool:
        """Run each ready thread for a slice; return whether one ended or began to wait. Raises Fault on a deadlock."""
        ready, self.ready = self.ready, []
        if not ready:
            raise Fault(f"deadlock in CTA {self.ctaid}: {self.live} threads wait for what cannot come")
        progress = False
        for thread in ready:
            outcome = self.machine.run_thread(thread)
            if outcome == YIELDED:
                self.ready.append(thread)
                continue
            progress = True
            if outcome == ENDED:
                thread.ended = True
                self.live -= 1
        self._release_warps()
        self._release_barriers()
        return progress

    # --- between lanes ---

    def _release_warps(self) -> None:
        """Let complete groups of lanes act; one without a member mask acts when nothing else in the warp can run."""
        running = {thread.warp for thread in self.ready}
        for warp in list(self.together):
            for group in self._complete_groups(warp, warp in running):
                self.machine.act_together(group)
                for thread in group:
                    self.together[warp].remove(thread)
                    self.ready.append(thread)
            if not self.together[warp]:
                del self.together[warp]

    def _complete_groups(self, warp: int, is_running: bool) -> Iterable[list[Thread]]:
        """Return the groups of a warp's waiting lanes whose members have all arrived."""
        alive = sum(1 << t.lane for t in self.threads[warp * 32:warp * 32 + 32] if not t.ended)
        groups: dict[tuple[Any, ...], list[Thread]] = {}
        for thread in self.together[warp]:
            groups.setdefault(self.machine.group_key(thread), []).append(thread)
        complete = []
        for key, group in groups.items():
            mask = key[-1]
            if mask is not None and sum(1 << t.lane for t in group) == mask & alive:
                complete.append(group)
        if not complete and not is_running:
            complete = [group for key, group in groups.items() if key[-1] is None][:1]
        return complete

    # --- barriers ---

    def _release_barriers(self) -> None:
        """Open every barrier at which all expected threads have arrived; at those of the whole CTA, ended ones count."""
        for number in list(self.waiting):
            threads = self.waiting[number]
            expected = self.machine.barrier_count(threads[0])
            come = len(threads) + self.arrived.get(number, 0)
            if expected == 0:
                come, expected = come + len(self.threads) - self.live, len(self.threads)
            if come >= expected:
                del self.waiting[number]
                self.arrived.pop(number, None)
                self.machine.open_barrier(threads)
                self.ready += threads


class Machine:
    """One launch: the kernel's instructions turned into steps, and the state that they share."""

    def __init__(self, memory: Memory, module: Module, kernel: Kernel, launch: Launch, where: str) -> None:
        self.memory, self.module, self.kernel, self.launch = memory, module, kernel, launch
        address_bytes = 8 if ".address_size 64" in module.text else 4
        self.params = Area("the parameters", 0, bytearray(
            pack_params(launch, kernel.params, memory.addresses, where, address_bytes).ljust(4096, b"\0")))
        self.insts = kernel.insts.copy()
        self.printed: list[str] = []
        self.clock = 0
        self._relocate()
        self.steps: list[Step] = [self._step(pc, inst) for pc, inst in enumerate(self.insts)]

    def _relocate(self) -> None:
        for reloc in self.kernel.relocs:
            address = self.memory.addresses.get(reloc.symbol, 0) + reloc.addend
            self.insts[reloc.pc]["imm"][reloc.slot] = address & M32
            if reloc.wide:
                self.insts[reloc.pc]["imm"][reloc.slot + 1] = address >> 32 & M32

    def run(self) -> None:
        """Run the whole grid, CTAs in linear order; the next one begins early if the running ones only spin."""
        waiting = deque(range(self.launch.num_ctas))
        running: list[Cta] = []
        idle = 0
        while waiting or running:
            if not running or (idle > MAX_TURNS and waiting and len(running) < MAX_CTAS):
                running.append(Cta(self, waiting.popleft()))
                idle = 0
            progress = [cta.turn() for cta in running]
            running = [cta for cta in running if cta.live]
            idle = 0 if any(progress) else idle + 1
            if idle > 2 * MAX_TURNS:
                raise Fault(f"{len(running)} CTAs only spin: they wait for what cannot come")

    def run_thread(self, thread: Thread) -> int:
        """Run one thread for at most SLICE steps; return why it stopped."""
        steps, pc = self.steps, thread.pc
        for _ in range(SLICE):
            thread.pc = pc
            pc = steps[pc](thread)
            if pc < 0:
                return pc
        thread.pc = pc
        return YIELDED

    # --- turning instructions into steps ---

    def _step(self, pc: int, inst: Any) -> Step:
        step = self._unguarded(pc, inst)
        guard, wanted, after = int(inst["guard"]), 1 - int(inst["guard_negate"]), pc + 1
        if guard == NO_PRED:
            return step
        return lambda thread: step(thread) if thread.preds[guard] == wanted else after

    def _unguarded(self, pc: int, inst: Any) -> Step:
        op = int(inst["op"])
        computed = operations.operation(inst)
        if computed is not None:
            return self._compute(pc, inst, computed)
        if op in (isa.OP_BRA, isa.OP_BRA_UNI):
            target = int(inst["target"])
            return lambda thread: target
        if op == isa.OP_EXIT:
            return lambda thread: ENDED
        if op in (isa.OP_NOP, isa.OP_MEMBAR, isa.OP_BRKPT):
            return lambda thread: pc + 1
        if op in (isa.OP_UNPACK16, isa.OP_UNPACK16X4, isa.OP_UNPACK8X4):
            return self._unpack(pc, inst)
        if op == isa.OP_SREG:
            return self._special_register(pc, inst)
        if op in (isa.OP_LD, isa.OP_LDPARAM, isa.OP_ST):
            return self._access(pc, inst)
        if op in (isa.OP_ATOM, isa.OP_RED):
            return self._atomic(pc, inst)
        if op in TOGETHER:
            return _wait_together
        if op == isa.OP_BAR:
            return self._barrier(pc, inst)
        if op == isa.OP_NANOSLEEP:
            return _sleep
        if op == isa.OP_PRINTF:
            return self._print(pc, inst)
        if op in (isa.OP_TRAP, isa.OP_ASSERTFAIL):
            return self._stop(inst)
        raise NotImplementedError(f"{isa.mnemonic(op)}: {self.kernel.texts[pc]}")

    def _compute(self, pc: int, inst: Any, computed: Operation) -> Step:
        gets = [predicate_source(inst, k) for k in range(computed.psrc)]
        gets += [source(inst, slot, bits) for slot, bits in computed.operands]
        put, function, after = self._result(inst, computed.result), computed.function, pc + 1
        if len(gets) == 1:
            first = gets[0]

            def one(thread: Thread) -> int:
                put(thread, function(first(thread)))
                return after

            return one
        if len(gets) == 2:
            first, second = gets

            def two(thread: Thread) -> int:
                put(thread, function(first(thread), second(thread)))
                return after

            return two

        def many(thread: Thread) -> int:
            put(thread, function(*[get(thread) for get in gets]))
            return after

        return many

    def _result(self, inst: Any, bits: int) -> Callable[[Thread, Any], None]:
        """Return the function that stores a result of `bits` bits (0: one predicate, -1: two)."""
        low, high = int(inst["dst"][0]), int(inst["dst"][1])
        p, q = (int(x) for x in inst["pdst"])
        if bits <= 0:
            def put_predicates(thread: Thread, value: Any) -> None:
                first, second = value if bits < 0 else (value, 0)
                if p != NO_PRED:
                    thread.preds[p] = first
                if q != NO_PRED:
                    thread.preds[q] = second

            return put_predicates
        if int(inst["op"]) == isa.OP_CARRY:
            store = store_function(low, high, bits)

            def put_carry(thread: Thread, value: tuple[int, int]) -> None:
                store(thread, value[0])
                if p != NO_PRED:
                    thread.preds[p] = value[1]

            return put_carry
        return store_function(low, high, bits)

    def _unpack(self, pc: int, inst: Any) -> Step:
        part = 8 if int(inst["op"]) == isa.OP_UNPACK8X4 else 16
        get = source(inst, 0, 64 if int(inst["op"]) == isa.OP_UNPACK16X4 else 32)
        targets = [(int(r), k * part) for k, r in enumerate(inst["dst"][:int(inst["num_dst"])]) if int(r) != NO_REG]
        mask = (1 << part) - 1

        def step(thread: Thread) -> int:
            value = get(thread)
            for reg, shift in targets:
                thread.regs[reg] = value >> shift & mask
            return pc + 1

        return step

    def _special_register(self, pc: int, inst: Any) -> Step:
        name = isa.SREG_NAMES[int(inst["aux"])]
        base, _, axis = name.partition(".")
        k = "xyz".index(axis) if axis else 0
        launch, kernel = self.launch, self.kernel
        warps = -(-launch.num_threads_per_cta // 32)
        values: dict[str, Callable[[Thread], int]] = {
            "tid": lambda t: t.tid[k], "ctaid": lambda t: t.cta.ctaid[k], "ntid": lambda t: launch.block[k],
            "nctaid": lambda t: launch.grid[k], "laneid": lambda t: t.lane, "warpid": lambda t: t.warp,
            "nwarpid": lambda t: warps, "nsmid": lambda t: 1,
            "lanemask_eq": lambda t: 1 << t.lane, "lanemask_lt": lambda t: (1 << t.lane) - 1,
            "lanemask_le": lambda t: (2 << t.lane) - 1, "lanemask_gt": lambda t: M32 & ~((2 << t.lane) - 1),
            "lanemask_ge": lambda t: M32 & ~((1 << t.lane) - 1),
            "dynamic_smem_size": lambda t: launch.shared_bytes,
            "total_smem_size": lambda t: kernel.shared_bytes + launch.shared_bytes,
        }
        get = values.get(base, self._tick if base in CLOCKS else lambda t: 0)
        put = store_function(int(inst["dst"][0]), int(inst["dst"][1]), 64 if int(inst["num_dst"]) > 1 else 32)

        def step(thread: Thread) -> int:
            put(thread, get(thread))
            return pc + 1

        return step

    def _tick(self, thread: Thread) -> int:
        """Return a time, larger at each read: nothing is timed here, but time must pass."""
        self.clock += 1
        return self.clock

    # --- memory ---

    def _where(self, inst: Any) -> Callable[[Thread], tuple[Area, int]]:
        """Return a function that maps a thread to the area and address that it accesses."""
        offset, space, memory = int(inst["offset"]), int(inst["space"]), self.memory
        if int(inst["op"]) == isa.OP_LDPARAM:
            return lambda thread: (self.params, offset)
        get = source(inst, 0, 64)
        if space == SPACE_SHARED:
            return lambda thread: (thread.cta.shared, get(thread) + offset & M32)
        if space == SPACE_LOCAL:
            return lambda thread: (thread.local, get(thread) + offset & M32)
        if space == SPACE_PARAM:
            return lambda thread: (self.params, get(thread) + offset & M32)
        if space == SPACE_GENERIC:
            return lambda thread: generic(memory, thread.cta.shared, thread.local, self.params,
                                          get(thread) + offset & M64)

        def direct(thread: Thread) -> tuple[Area, int]:
            address = get(thread) + offset & M64
            return memory.find(address), address

        return direct

    def _access(self, pc: int, inst: Any) -> Step:
        """Return the step of a load or store of one element or a vector."""
        width, count, bits = int(inst["width"]), int(inst["count"]), int(inst["reg_bits"])
        is_signed, rows = bool(inst["signed"]), 2 if bits == 64 else 1
        where, size = self._where(inst), width * count
        if int(inst["op"]) == isa.OP_ST:
            gets = [source(inst, 2 + k * rows, 64 if rows == 2 else 32) for k in range(count)]

            def store(thread: Thread) -> int:
                area, address = where(thread)
                check_alignment(address, size)
                for k, get in enumerate(gets):
                    area.write(address + k * width, width, get(thread))
                return pc + 1

            return store
        dst = [int(r) for r in inst["dst"]]
        puts = [store_function(dst[k * rows], dst[k * rows + 1] if rows == 2 else NO_REG, bits) for k in range(count)]

        def load(thread: Thread) -> int:
            area, address = where(thread)
            check_alignment(address, size)
            values = [area.read(address + k * width, width) for k in range(count)]
            for put, value in zip(puts, values):
                put(thread, signed(value, 8 * width) if is_signed else value)
            return pc + 1

        return load

    def _atomic(self, pc: int, inst: Any) -> Step:
        sub, kind = int(inst["aux"]) & 255, operations.NAME_OF_TYPE[int(inst["aux"]) >> 8]
        width = int(inst["width"])
        slot = 64 if width == 8 else 32
        where, get_b, get_c = self._where(inst), source(inst, 2, slot), source(inst, 4, slot)
        update, flush = atomic_function(sub, kind), functools.partial(floats.flush, operations.FORMATS["f32"])
        flushes_global = sub == isa.ATOM_ADD and kind == "f32"      # PTX ISA, atom and red: not in shared memory
        put = store_function(int(inst["dst"][0]), int(inst["dst"][1]), 8 * width)

        def step(thread: Thread) -> int:
            area, address = where(thread)
            old = area.read(address, width)
            if flushes_global and area is not thread.cta.shared:
                area.write(address, width, flush(update(flush(old), flush(get_b(thread)), 0)))
            else:
                area.write(address, width, update(old, get_b(thread), get_c(thread)))
            put(thread, old)
            return pc + 1

        return step

    # --- barriers, and instructions that lanes execute together ---

    def _barrier(self, pc: int, inst: Any) -> Step:
        number, count = source(inst, 0, 32), source(inst, 2, 32)
        if int(inst["aux"]) == isa.BAR_ARRIVE:
            def arrive(thread: Thread) -> int:
                arrived = thread.cta.arrived
                arrived[number(thread)] = arrived.get(number(thread), 0) + 1
                assert count(thread) > 0
                return pc + 1

            return arrive

        def wait(thread: Thread) -> int:
            thread.cta.waiting.setdefault(number(thread), []).append(thread)
            return BLOCKED

        return wait

    def barrier_count(self, thread: Thread) -> int:
        """Return the number of threads expected at a thread's barrier, 0 = all of the CTA."""
        return source(self.insts[thread.pc], 2, 32)(thread)

    def open_barrier(self, threads: list[Thread]) -> None:
        """Let threads pass a barrier, and reduce their predicates if the barrier does."""
        votes = []
        for thread in threads:
            inst = self.insts[thread.pc]
            if int(inst["aux"]) in (isa.BAR_RED_POPC, isa.BAR_RED_AND, isa.BAR_RED_OR):
                votes.append(predicate_source(inst, 0)(thread))
        for thread in threads:
            inst = self.insts[thread.pc]
            mode, p = int(inst["aux"]), int(inst["pdst"][0])
            if mode == isa.BAR_RED_POPC:
                store_function(int(inst["dst"][0]), NO_REG, 32)(thread, sum(votes))
            elif mode in (isa.BAR_RED_AND, isa.BAR_RED_OR) and p != NO_PRED:
                thread.preds[p] = int(all(votes) if mode == isa.BAR_RED_AND else any(votes))
            thread.pc += 1

    def group_key(self, thread: Thread) -> tuple[Any, ...]:
        """Return the key that lanes acting together share; its last part is the member mask, None = the active lanes."""
        inst = self.insts[thread.pc]
        op, aux, flags = int(inst["op"]), int(inst["aux"]), int(inst["flags"])
        if op == isa.OP_BAR_WARP:
            return op, aux, source(inst, 0, 32)(thread)
        if op == isa.OP_ACTIVEMASK or flags & isa.FLAG_NO_SYNC:
            return op, thread.pc, None
        slot = {isa.OP_SHFL: 5, isa.OP_VOTE: 0, isa.OP_MATCH: 2, isa.OP_REDUX: 2}[op]
        return op, aux, source(inst, slot, 32)(thread)

    def act_together(self, group: list[Thread]) -> None:
        """Execute an instruction between lanes for a complete group."""
        op = int(self.insts[group[0].pc]["op"])
        act = {isa.OP_SHFL: self._shuffle, isa.OP_VOTE: self._vote, isa.OP_MATCH: self._match,
               isa.OP_REDUX: self._reduce, isa.OP_ACTIVEMASK: self._active_mask}.get(op)
        if act is not None:
            act(group)
        for thread in group:
            thread.pc += 1

    def _put(self, thread: Thread, value: int | None, predicate: int | None = None) -> None:
        inst = self.insts[thread.pc]
        if value is not None and int(inst["dst"][0]) != NO_REG:
            thread.regs[int(inst["dst"][0])] = value & M32
        if predicate is not None and int(inst["pdst"][0]) != NO_PRED:
            thread.preds[int(inst["pdst"][0])] = predicate

    def _shuffle(self, group: list[Thread]) -> None:
        """shfl, as in the PTX manual's pseudo-code; reading a lane that does not take part returns the reader's own value."""
        values = {t.lane: source(self.insts[t.pc], 0, 32)(t) for t in group}
        results = []
        for thread in group:
            inst = self.insts[thread.pc]
            mode, b, c = int(inst["aux"]), source(inst, 2, 32)(thread), source(inst, 4, 32)(thread)
            lane, b, clamp, segment = thread.lane, b & 31, c & 31, c >> 8 & 31
            top = (lane & segment) | (clamp & ~segment & 31)
            bottom = lane & segment
            if mode == isa.SHFL_UP:
                j = lane - b
                inside = j >= top
            elif mode == isa.SHFL_DOWN:
                j = lane + b
                inside = j <= top
            elif mode == isa.SHFL_BFLY:
                j = lane ^ b
                inside = j <= top
            else:
                j = bottom | (b & ~segment & 31)
                inside = j <= top
            results.append((values.get(j if inside else lane, values[lane]), int(inside)))
        for thread, (value, inside) in zip(group, results):
            self._put(thread, value, inside)

    def _vote(self, group: list[Thread]) -> None:
        votes = {t.lane: predicate_source(self.insts[t.pc], 0)(t) for t in group}
        ballot = sum(vote << lane for lane, vote in votes.items())
        for thread in group:
            mode = int(self.insts[thread.pc]["aux"])
            if mode == isa.VOTE_BALLOT:
                self._put(thread, ballot)
            else:
                every, some = all(votes.values()), any(votes.values())
                self._put(thread, None, int({isa.VOTE_ALL: every, isa.VOTE_ANY: some,
                                             isa.VOTE_UNI: every or not some}[mode]))

    def _match(self, group: list[Thread]) -> None:
        mode = int(self.insts[group[0].pc]["aux"])
        bits = 64 if mode in (isa.MATCH_ANY64, isa.MATCH_ALL64) else 32
        values = {t.lane: source(self.insts[t.pc], 0, bits)(t) for t in group}
        members = sum(1 << lane for lane in values)
        for thread in group:
            if mode in (isa.MATCH_ANY32, isa.MATCH_ANY64):
                self._put(thread, sum(1 << lane for lane, v in values.items() if v == values[thread.lane]))
            else:
                same = len(set(values.values())) == 1
                self._put(thread, members if same else 0, int(same))

    def _reduce(self, group: list[Thread]) -> None:
        values = [source(self.insts[t.pc], 0, 32)(t) for t in group]
        numbers = [signed(v, 32) for v in values]
        results: dict[int, Callable[[], int]] = {
            isa.REDUX_ADD: lambda: sum(values),
            isa.REDUX_MIN_U: lambda: min(values), isa.REDUX_MAX_U: lambda: max(values),
            isa.REDUX_MIN_S: lambda: min(numbers), isa.REDUX_MAX_S: lambda: max(numbers),
            isa.REDUX_AND: lambda: functools.reduce(operator.and_, values),
            isa.REDUX_OR: lambda: functools.reduce(operator.or_, values),
            isa.REDUX_XOR: lambda: functools.reduce(operator.xor, values),
        }
        result = results[int(self.insts[group[0].pc]["aux"])]()
        for thread in group:
            self._put(thread, result)

    def _active_mask(self, group: list[Thread]) -> None:
        mask = sum(1 << t.lane for t in group)
        for thread in group:
            self._put(thread, mask)

    # --- calls of the host ---

    def _print(self, pc: int, inst: Any) -> Step:
        get, put = source(inst, 0, 64), store_function(int(inst["dst"][0]), NO_REG, 32)

        def step(thread: Thread) -> int:
            text = self._text(thread, get(thread))
            self.printed.append(text)
            put(thread, text.replace("%%", "").count("%"))
            return pc + 1

        return step

    def _stop(self, inst: Any) -> Step:
        op, get = int(inst["op"]), source(inst, 0, 64)

        def step(thread: Thread) -> int:
            if op == isa.OP_ASSERTFAIL:
                raise Fault(f"assertion failed: {self._text(thread, get(thread))}")
            raise Fault(isa.mnemonic(op))

        return step

    def _text(self, thread: Thread, address: int) -> str:
        """Return the zero-terminated text at a generic address."""
        area, at = generic(self.memory, thread.cta.shared, thread.local, self.params, address)
        raw = bytearray()
        while byte := area.read(at, 1):
            raw.append(byte)
            at += 1
        return raw.decode("utf-8", "replace")


def _wait_together(thread: Thread) -> int:
    """Wait for the other lanes of an instruction between lanes."""
    thread.cta.together.setdefault(thread.warp, []).append(thread)
    return BLOCKED


def _sleep(thread: Thread) -> int:
    """Yield to the other threads of the CTA."""
    thread.pc += 1
    return YIELDED


def check_alignment(address: int, size: int) -> None:
    """Refuse an access that is not aligned to its whole size."""
    if address % size:
        raise Fault(f"{size} bytes at {address:#x} are misaligned")


def source(inst: Any, slot: int, bits: int) -> Callable[[Thread], int]:
    """Return the function that reads the operand at a row slot: a register, a pair or an immediate."""
    low = row_source(inst, slot)
    if bits <= 32:
        return low
    high = row_source(inst, slot + 1)
    return lambda thread: low(thread) | high(thread) << 32


def row_source(inst: Any, slot: int) -> Callable[[Thread], int]:
    """Return the function that reads one row slot; unused slots read as 0."""
    reg, value = int(inst["src"][slot]), int(inst["imm"][slot])
    if reg != NO_REG:
        return lambda thread: thread.regs[reg]
    if not int(inst["imm_mask"]) >> slot & 1:
        value = 0
    return lambda thread: value


def predicate_source(inst: Any, k: int) -> Callable[[Thread], int]:
    """Return the function that reads predicate source k as 0 or 1; an unused one reads as 0."""
    pred, flip = int(inst["psrc"][k]), int(inst["psrc_negate"][k])
    if pred == NO_PRED:
        return lambda thread: 0
    return lambda thread: thread.preds[pred] ^ flip


def store_function(low: int, high: int, bits: int) -> Callable[[Thread, int], None]:
    """Return the function that writes a value of `bits` bits to one register or a pair."""
    mask = M16 if bits <= 16 else M32
    if bits <= 32 or high == NO_REG:
        def store(thread: Thread, value: int) -> None:
            if low != NO_REG:
                thread.regs[low] = value & mask

        return store

    def store_pair(thread: Thread, value: int) -> None:
        thread.regs[low] = value & M32
        thread.regs[high] = value >> 32 & M32

    return store_pair


def atomic_function(sub: int, kind: str) -> Callable[[int, int, int], int]:
    """Return the value that an atomic operation stores, from the old value and its operands."""
    name = kind.removesuffix("x2")
    if name in operations.FORMATS and sub not in (isa.ATOM_EXCH, isa.ATOM_CAS):
        f = operations.FORMATS[name]
        act = {isa.ATOM_ADD: floats.add, isa.ATOM_MIN: floats.smallest, isa.ATOM_MAX: floats.largest}[sub]
        if not kind.endswith("x2"):
            return lambda a, b, c: act(f, a, b)
        return lambda a, b, c: act(f, a & M16, b & M16) | act(f, a >> 16, b >> 16) << 16
    bits = 32 if kind.endswith("x2") else int("".join(ch for ch in kind if ch.isdigit()))
    n = operations.reader(bits, kind[0] == "s")
    u = operations.reader(bits, False)
    return {
        isa.ATOM_ADD: lambda a, b, c: a + b,
        isa.ATOM_AND: lambda a, b, c: a & b,
        isa.ATOM_OR: lambda a, b, c: a | b,
        isa.ATOM_XOR: lambda a, b, c: a ^ b,
        isa.ATOM_MIN: lambda a, b, c: min(n(a), n(b)),
        isa.ATOM_MAX: lambda a, b, c: max(n(a), n(b)),
        isa.ATOM_INC: lambda a, b, c: 0 if a >= b else a + 1,
        isa.ATOM_DEC: lambda a, b, c: b if a == 0 or a > b else a - 1,
        isa.ATOM_EXCH: lambda a, b, c: b,
        isa.ATOM_CAS: lambda a, b, c: c if u(a) == u(b) else a,
    }[sub]


def kernel_of(module: Module, launch: Launch) -> Kernel:
    """Return the kernel that a launch names, or the only one there is."""
    name = launch.kernel if launch.kernel is not None else next(iter(module.kernels))
    return module.kernels[name]


def run_launches(spec: LaunchSpec, module: Module, printed: deque[str] | None = None) -> dict[str, np.ndarray]:
    """Run every launch of a launch file and return the final buffers and symbols by name.

    printed: collects the format strings of the kernel's printf calls. Raises Fault if the kernel misbehaves.
    """
    memory = Memory(spec, module)
    for number, launch in enumerate(spec.launches, 1):
        machine = Machine(memory, module, kernel_of(module, launch), launch, f"{spec.path}: launch {number}")
        machine.run()
        if printed is not None:
            printed.extend(machine.printed)
    return memory.arrays(spec, [area.name for area in memory.areas])
