"""The device that a captured program sees: memory, modules, and launches, which run on the machine one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from rfview.capture import protocol as wire
from rfview.capture.launches import Choice, Entry, Extent
from rfview.capture.memory import DeviceMemory
from rfview.capture.modules import Loaded, configuration, short_name
from rfview.capture.reach import Before, copied, put_back, reached
from rfview.engine import fault_codes as codes
from rfview.engine.errors import AssertionFault, InputError, KernelFault, PtxError, RegisterShortage
from rfview.engine.launch.files import MAX_BLOCK, MAX_CTAS, MAX_GRID, MAX_THREADS_PER_CTA
from rfview.engine.launch.given import GivenMemory, spec_of
from rfview.engine.launch.kernel_names import instance_name
from rfview.engine.launch.spec import LaunchSpec
from rfview.engine.wording import plural
from rfview.engine.program import GRID_WORKSPACE, Kernel
from rfview.engine.simulator import Progress, Simulator

SLICE = 200_000                 # cycles between two progress reports of a launch
CAPABILITY = 86                 # compute capability x 10: the one that has 48 warps per SM in CUDA's tables
STATUS = {codes.MISALIGNED: wire.MISALIGNED, codes.ASSERTION: wire.ASSERT, codes.CALL: wire.INVALID_PC,
          codes.TRAP: wire.LAUNCH_FAILURE, codes.CYCLE_LIMIT: wire.TIMEOUT, codes.DEADLOCK: wire.TIMEOUT,
          codes.SYNC_LANES: wire.TIMEOUT, codes.BARRIER: wire.LAUNCH_FAILURE, codes.SPLITS_FULL: wire.LAUNCH_FAILURE,
          codes.PARAM_RANGE: wire.LAUNCH_FAILURE}


@dataclass(frozen=True)
class Request:
    """One launch as requested by a program; params: the parameter block."""

    module: int
    kernel: str
    grid: Extent
    block: Extent
    shared_bytes: int
    params: bytes
    is_cooperative: bool = False


@dataclass(frozen=True)
class Outcome:
    """The result of a launch. status: a cudaError_t; text: a message for the user; printed: the kernel's output."""

    status: int
    cycles: int
    printed: str
    text: str = ""


@dataclass(frozen=True)
class Taken:
    """The chosen launch, with the memory it reaches, before and after; after: None if it failed or was not run.

    limit: registers per thread that the kernel was limited to, 0 for the preset's limit.
    """

    entry: Entry
    request: Request
    module: Loaded
    limit: int
    before: Before
    after: Before | None


class Device:
    """One device, and all launches of one program on it.

    options: for the Simulator. choice: the launch to take; runs_choice: False to take it without running it. only: the
    launches to list, None for all. faults: how many launches a fault ended. kind: the Simulator class; ran: called after
    each launch that ran, with its machine. capacity: bytes of memory.
    Raises InputError for options that no machine has.
    """

    def __init__(self, options: dict[str, Any], *, choice: Choice | None = None, runs_choice: bool = True,
                 only: Choice | None = None, progress: Progress | None = None, kind: type[Simulator] = Simulator,
                 ran: Callable[[Entry, Simulator], None] | None = None, capacity: int = wire.CAPACITY) -> None:
        configuration(options)      # a mistake in them is found before the program starts
        self.memory = DeviceMemory(capacity)
        self.options, self.choice, self.only = options, choice, only
        self._runs_choice, self._progress, self._kind, self._ran = runs_choice, progress, kind, ran
        self.modules: dict[int, Loaded] = {}
        self.entries: list[Entry] = []
        self.total = 0
        self.cycles = 0
        self.taken: Taken | None = None
        self.failed = wire.SUCCESS
        self.faults = 0
        self._seen: dict[tuple[str, str], int] = {}
        self.is_taking = False

    def begin(self, options: dict[str, Any], choice: Choice | None) -> None:
        """Start counting launches again, for a new choice and new machine options; memory and modules are kept.

        Raises InputError for options that no machine has; nothing has changed then.
        """
        configuration(options)
        if options != self.options:
            for module in self.modules.values():
                module.configure(options)
        self.options, self.choice, self.is_taking = options, choice, True
        self.entries, self.total, self.cycles, self.taken, self.failed, self.faults = [], 0, 0, None, wire.SUCCESS, 0
        self._seen = {}

    def load(self, *texts: str) -> int:
        """Load a PTX module, or the parts of one; return its number. Raises PtxError, InputError."""
        number = len(self.modules) + 1
        self.modules[number] = Loaded(texts, f"module{number}.ptx", self.memory, self.options, self._kind)
        return number

    def reset(self) -> None:
        """Free all that the program allocated, as cudaDeviceReset does; modules stay, with their symbols reinitialized."""
        for address, held in list(self.memory.live.items()):
            if held.kind != "symbol":
                self.memory.free(address)
        for module in self.modules.values():
            module.reset()
        self.failed = wire.SUCCESS

    def launch(self, request: Request) -> Outcome:
        """Run a launch to its end; raises KeyError for an unknown module or kernel."""
        module = self.modules[request.module]
        if request.kernel not in module.module.kernels:
            raise KeyError(request.kernel)
        number, name = self.total, short_name(request.kernel)
        instance = instance_name(request.kernel)
        nth, nth_of_instance = self._count((name, "")), self._count((name, request.kernel))
        known_as = (number, name, nth, request.kernel, nth_of_instance)
        chosen = self.taken is None and self.choice is not None and self.choice.matches(*known_as)
        began = time.perf_counter()
        self.total += 1
        run = _Run(self, module, request, f"launch {number} {name}")
        outcome = run.as_chosen(self._runs_choice) if chosen else run.outcome()
        wall = time.perf_counter() - began
        entry = Entry(number, name, nth, request.grid, request.block, outcome.cycles, outcome.text, wall - run.stepping_s,
                      wall, chosen, f"{instance}:{nth if instance == name else nth_of_instance}")
        if self.only is None or self.only.matches(*known_as):
            self.entries.append(entry)
        self.cycles += outcome.cycles
        if self._ran is not None and run.machine is not None:
            self._ran(entry, run.machine)
        if chosen:
            self.taken = Taken(entry, request, module, run.limit, run.before, run.after)
        if outcome.status in (wire.ILLEGAL_ADDRESS, wire.MISALIGNED, wire.ASSERT, wire.INVALID_PC, wire.LAUNCH_FAILURE,
                              wire.TIMEOUT):
            self.failed = outcome.status
            self.faults += 1
        return outcome

    def _count(self, of: tuple[str, str]) -> int:
        """Count a launch of this (short name, mangled name or ""); return how many there were before."""
        self._seen[of] = self._seen.get(of, -1) + 1
        return self._seen[of]

    def blocks(self, number: int, name: str, threads: int, dynamic: int) -> int:
        """Return how many CTAs of a kernel fit on the machine at once, 0 if not even one does."""
        module = self.modules[number]
        kernel = module.kernel(name)
        if not 0 < threads <= MAX_THREADS_PER_CTA:
            return 0
        spec = spec_of(kernel, (1, 1, 1), (threads, 1, 1), dynamic, b"", short_name(name))
        try:
            return _machine(module, kernel, spec, module.image())[0].placement.launches[0].resident_ctas
        except InputError:
            return 0

    def properties(self) -> tuple[int, ...]:
        """Return the machine's properties, in the order of protocol.PROPERTIES."""
        config = configuration(self.options)
        mhz = int(config["sm.clock_mhz"])
        registers = int(config["sm.num_banks"]) * int(config["sm.rows_per_bank"]) * 32
        l2 = int(config["memory.l2_sets"]) * int(config["memory.l2_ways"]) * 128
        bandwidth = round(float(config["memory.bytes_per_cycle"]) * mhz)
        sizes = [int(config[f"sm.{name}"]) for name in ("num_warps", "max_threads", "max_ctas", "shared_bytes")]
        return (mhz * 1000, *sizes, registers, bandwidth, CAPABILITY, self.memory.capacity >> 20, l2)

    def report(self, fraction: float | None, text: str) -> None:
        """Report the progress of a launch."""
        if self._progress is not None:
            self._progress(fraction, text)


class _Run:
    """One launch in progress."""

    def __init__(self, device: Device, module: Loaded, request: Request, title: str) -> None:
        self.device, self.module, self.request, self.title = device, module, request, title
        self.stepping_s = 0.0
        self.limit = 0
        self.machine: Simulator | None = None
        self.before: Before = {}
        self.after: Before | None = None

    def outcome(self, image: GivenMemory | None = None) -> Outcome:
        """Run it; image: the memory to map, None for all of the device's."""
        request = self.request
        if refused := _refused(request):
            return refused
        try:
            kernel = self.module.kernel(request.kernel)
            spec = spec_of(kernel, request.grid, request.block, request.shared_bytes, request.params,
                           short_name(kernel.name))
            machine, self.limit = _machine(self.module, kernel, spec, image or self.module.image())
            self.machine = machine
        except PtxError as error:
            return Outcome(wire.INVALID_PTX, 0, "", str(error))
        except InputError as error:
            return Outcome(_resource(self.module, request), 0, "", str(error))
        fault = self._step(machine)
        printed = "".join(text for _, text in machine.printed)
        if fault is None:
            return Outcome(wire.SUCCESS, machine.cycle, printed)
        return Outcome(self._status(machine), machine.cycle, printed, str(fault))

    def as_chosen(self, runs: bool) -> Outcome:
        """Run it with only the memory mapped that can be reached from its parameters; save that memory before and after.

        If that is not enough, it runs again with all memory mapped.
        """
        memory, whole = self.device.memory, self.module.image()
        found = reached(memory, self.module, self.request.params)
        self.before = copied(memory, found)
        if not runs:
            return Outcome(wire.SUCCESS, 0, "")
        part = replace(whole, variables=tuple(one for one in whole.variables if one.address in found))
        outcome = self.outcome(part)
        if outcome.status == wire.ILLEGAL_ADDRESS and len(found) < len(memory.live):
            put_back(memory, self.before)
            self.before = copied(memory, list(memory.live))
            outcome = self.outcome(whole)
        if outcome.status == wire.SUCCESS:
            self.after = copied(memory, list(self.before))
        return outcome

    def _step(self, machine: Simulator) -> KernelFault | None:
        """Run a machine to its end, with progress reports; return the fault that stopped it, or None."""
        began = time.perf_counter()
        blocks = machine.placement.launches[0].launch.num_ctas
        try:
            machine.step(1)
            compiled = time.perf_counter()      # the first cycle may compile the machine: not part of the estimate
            while not machine.finished:
                machine.step(SLICE)
                if machine.finished:
                    break
                done = int(machine.sm.launch.done_ctas) / blocks
                passed = time.perf_counter() - compiled
                left = f", about {passed / done - passed:,.0f} s left" if done else ""
                self.device.report(done or None, f"{self.title}: {plural(machine.cycle, 'cycle')}{left}")
        except KernelFault as fault:
            return fault
        finally:
            self.device.report(1.0, self.title)
            self.stepping_s += time.perf_counter() - began
        return None

    def _status(self, machine: Simulator) -> int:
        """Return the CUDA error that corresponds to the machine's fault."""
        if isinstance(machine.fault, AssertionFault):
            return wire.ASSERT
        if machine.cycle >= machine.max_cycles:
            return wire.TIMEOUT
        return STATUS.get(int(machine.sm.error), wire.ILLEGAL_ADDRESS if int(machine.sm.error) else wire.TIMEOUT)


def _machine(module: Loaded, kernel: Kernel, spec: LaunchSpec, image: GivenMemory) -> tuple[Simulator, int]:
    """Return a machine at cycle 0, and the register limit per thread that makes a CTA fit, 0 if none is needed.

    Here a kernel is compiled with as many registers as it needs; nvcc limits it to what its block size leaves each thread.
    """
    try:
        return module.machine(spec, kernel, image), 0
    except RegisterShortage:
        pass
    warps = -(-spec.launches[0].num_threads_per_cta // 32)
    limit = module.warp_registers // warps
    return module.machine(spec, kernel, image, limit), limit


def _refused(request: Request) -> Outcome | None:
    """Return the outcome of a launch whose grid or block no GPU accepts, None if they are fine."""
    grid, block = request.grid, request.block
    threads = block[0] * block[1] * block[2]
    fine = (all(1 <= size <= most for size, most in zip((*grid, *block), (*MAX_GRID, *MAX_BLOCK)))
            and threads <= MAX_THREADS_PER_CTA and grid[0] * grid[1] * grid[2] <= MAX_CTAS)
    return None if fine else Outcome(wire.INVALID_CONFIGURATION, 0, "", f"grid {grid}, block {block}: no GPU can run these")


def _resource(module: Loaded, request: Request) -> int:
    """Return the CUDA error of a launch that does not fit."""
    uses_grid = any(reloc.symbol == GRID_WORKSPACE for reloc in module.kernel(request.kernel).relocs)
    return wire.COOPERATIVE_TOO_LARGE if request.is_cooperative or uses_grid else wire.OUT_OF_RESOURCES
