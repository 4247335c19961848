"""The device that a process of a captured program sees: memory, modules, and launches, which run one after the other."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rfview.capture import protocol as wire
from rfview.capture.estimate import Estimates, Key
from rfview.capture.launches import Choice, Entry, Launches, Request, Taken
from rfview.capture.memory import DeviceMemory
from rfview.capture.messages import CAPACITY
from rfview.capture.modules import Loaded, configuration, short_name
from rfview.capture.reach import Before, copied, put_back, reached
from rfview.engine import fault_codes as codes
from rfview.engine.compilation import PTX
from rfview.engine.errors import AssertionFault, InputError, KernelFault, PtxError, RegisterShortage, SassError
from rfview.engine.functional.machine import FunctionalSimulator
from rfview.engine.launch.files import MAX_BLOCK, MAX_CTAS, MAX_GRID, MAX_THREADS_PER_CTA
from rfview.engine.launch.given import GivenMemory, spec_of
from rfview.engine.launch.kernel_names import instance_name
from rfview.engine.launch.spec import LaunchSpec
from rfview.engine.wording import plural
from rfview.engine.program import MEM_ATOMIC, MEM_REDUCTION, Kernel
from rfview.engine.sass.listing import is_listing
from rfview.engine.simulator import Progress, Simulator

SLICE = 200_000                 # cycles between two progress reports of a launch
VALUES_SLICE = 2_000_000        # warp instructions between them if it runs by its values only
CAPABILITY = 86                 # compute capability x 10: the one that has 48 warps per SM in CUDA's tables
STATUS = {codes.MISALIGNED: wire.MISALIGNED, codes.ASSERTION: wire.ASSERT, codes.CALL: wire.INVALID_PC,
          codes.TRAP: wire.LAUNCH_FAILURE, codes.CYCLE_LIMIT: wire.TIMEOUT, codes.DEADLOCK: wire.TIMEOUT,
          codes.SYNC_LANES: wire.TIMEOUT, codes.BARRIER: wire.LAUNCH_FAILURE, codes.SPLITS_FULL: wire.LAUNCH_FAILURE,
          codes.PARAM_RANGE: wire.LAUNCH_FAILURE}

# after the cycle limit, in a loop that polls memory
ALONE = ("; launches run one after another, and the program waits for each: a loop that waits for another stream's "
         "launch, or for the program, cannot end")
# after an access close behind an allocation
UNNOTICED = "; a GPU, which checks whole pages, may not notice: --on-fault report drops such accesses and goes on"


@dataclass(frozen=True)
class Outcome:
    """The result of a launch. status: a cudaError_t; text: a message for the user; printed: the kernel's output.

    cycles: estimated if it ran by its values only.
    """

    status: int
    cycles: int
    printed: str
    text: str = ""


class Device:
    """The device of one process of a program, and what the program has launched.

    options: for the Simulator. choice: the launch to take; runs_choice: False to take it without running it. only: the
    launches to list, None for all. kind, values_kind: the Simulator class, and that for values only; ran: called after each
    launch that ran, with its machine.
    capacity: bytes of memory. tracks: remember which bytes nothing has written. by_values: run launches by their values
    only, except a chosen one with atomics, whose results depend on their order; samples: take samples for their cycles.
    records: simulates such a chosen one in place of the device, on a machine of its own, and returns that at its end.
    Raises InputError for options that no machine has.
    """

    def __init__(self, options: dict[str, Any], *, choice: Choice | None = None, runs_choice: bool = True,
                 only: Choice | None = None, progress: Progress | None = None, kind: type[Simulator] = Simulator,
                 values_kind: type[FunctionalSimulator] = FunctionalSimulator,
                 ran: Callable[[Entry, Simulator], None] | None = None, capacity: int = CAPACITY,
                 tracks: bool = False, by_values: bool = False, samples: bool = False,
                 records: Callable[[Taken, Progress], Simulator] | None = None) -> None:
        self._configure(options)        # a mistake in them is found before the program starts
        self.options, self.launches = options, Launches(choice, only)
        self._runs_choice, self._progress, self._kind, self._ran = runs_choice, progress, kind, ran
        self._records = records
        self.values_kind = values_kind
        self._capacity, self._tracks, self.by_values = capacity, tracks, by_values
        self.estimates = Estimates(samples)
        self.is_taking = False
        self._initialize()

    def _configure(self, options: dict[str, Any]) -> None:
        """Note what matters here of the machine that options select; raises InputError."""
        config = configuration(options)
        self._core, self.keeps_l2 = config.core, bool(config["memory.keep_l2"])
        isa = str(config["kernel.isa"])
        self.gpu = 0 if isa == PTX else int(isa.removeprefix("sm_"))       # whose machine code is executed

    def _initialize(self) -> None:
        self.l2_lines: tuple[int, ...] = ()     # what the launch before left in L2; none if it ran by its values
        self.memory = DeviceMemory(self._capacity, tracks=self._tracks)
        self.modules: dict[int, Loaded] = {}
        self.failed = wire.SUCCESS
        self.process = self.launches.processes
        self.launches.processes += 1

    def of_another_process(self) -> Device:
        """Return a device with memory and modules of its own, whose launches are added to the same list."""
        other = copy(self)
        other._initialize()
        return other

    def close(self) -> None:
        """Free modules and memory; the list of launches remains."""
        self.modules.clear()
        self.memory.close()

    def begin(self, options: dict[str, Any], choice: Choice | None, by_values: bool = False) -> None:
        """Start counting launches again, for a new choice and new machine options; memory and modules are kept.

        Raises InputError for options that no machine has; nothing has changed then.
        """
        self._configure(options)
        if options != self.options:
            for module in self.modules.values():
                module.configure(options)
        self.options, self.is_taking, self.failed, self.by_values = options, True, wire.SUCCESS, by_values
        self.launches = Launches(choice, processes=1)

    def load(self, *texts: str) -> int:
        """Load a module of PTX, the parts of one, or a listing; return its number. Raises PtxError, InputError."""
        number = len(self.modules) + 1
        suffix = "sass" if is_listing(texts[0]) else "ptx"
        self.modules[number] = Loaded(texts, f"module{number}.{suffix}", self.memory, self.options, self._kind,
                                      self._progress)
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
        name = short_name(request.kernel)
        known_as = self.launches.next(name, request.kernel)
        number, _, nth, _, nth_of_instance = known_as
        chosen = self.launches.is_chosen(known_as)
        began = time.perf_counter()
        with contextlib.suppress(PtxError, SassError, InputError):      # said when it is placed
            module.point_to_functions(module.kernel(request.kernel))
        is_only_values = self._only_values(module)
        self.launches.without_cycles += is_only_values
        by_values = is_only_values or (self.by_values and not (chosen and _has_atomics(module.kernel(request.kernel))))
        run = _Run(self, module, request, f"launch {number:,} {name}", by_values)
        outcome = Outcome(wire.LAUNCH_FAILURE, 0, "", "interrupted")
        instance = instance_name(request.kernel)
        label = f"{instance}:{nth if instance == name else nth_of_instance}"
        entry = Entry(number, name, nth, request.grid, request.block, 0, "", 0.0, 0.0, chosen, label, self.process)
        try:
            if chosen and self._runs_choice and self._records is not None and not by_values:
                outcome = run.as_recorded(self._records, entry)
            else:
                outcome = run.as_chosen(self._runs_choice) if chosen else run.outcome()
        finally:
            wall = time.perf_counter() - began
            entry = replace(entry, cycles=run.cycles, result=outcome.text, overhead_s=wall - run.stepping_s, wall_s=wall,
                            instructions=run.instructions, is_estimate=run.rate is not None)
            self.launches.add(entry, known_as)
        if self.keeps_l2 and run.machine is not None:
            self.l2_lines = run.machine.l2_lines() if run.machine.counts_cycles else ()
        if self._ran is not None and run.machine is not None:
            self._ran(entry, run.machine)
        if chosen:
            self.launches.taken = Taken(entry, request, module, run.limit, run.before, run.after, run.l2_lines)
        if outcome.status in (wire.ILLEGAL_ADDRESS, wire.MISALIGNED, wire.ASSERT, wire.INVALID_PC, wire.LAUNCH_FAILURE,
                              wire.TIMEOUT):
            self.failed = outcome.status
            self.launches.faults += 1
        return outcome

    def blocks(self, number: int, name: str, threads: int, dynamic: int) -> int:
        """Return how many CTAs of a kernel fit on the machine at once, 0 if not even one does."""
        module = self.modules[number]
        kernel = module.kernel(name)
        if not 0 < threads <= MAX_THREADS_PER_CTA:
            return 0
        spec = spec_of(kernel, (1, 1, 1), (threads, 1, 1), dynamic, b"", short_name(name))
        try:
            kind = self.values_kind if self._only_values(module) else None
            return _machine(module, kernel, spec, module.image(), kind)[0].placement.launches[0].resident_ctas
        except InputError:
            return 0

    def _only_values(self, module: Loaded) -> bool:
        """Return whether a module's kernels can only run by their values: machine code on Fermi's core."""
        return module.is_machine_code and self._core == "collector"

    def properties(self) -> tuple[int, ...]:
        """Return the machine's properties, in the order of the result of messages.HELLO."""
        config = configuration(self.options)
        mhz = int(config["sm.clock_mhz"])
        registers = int(config["sm.num_banks"]) * int(config["sm.rows_per_bank"]) * 32
        l2 = int(config["memory.l2_sets"]) * int(config["memory.l2_ways"]) * 128
        bandwidth = round(float(config["memory.bytes_per_cycle"]) * mhz)
        sizes = [int(config[f"sm.{name}"]) for name in ("num_warps", "max_threads", "max_ctas", "shared_bytes")]
        return (mhz * 1000, *sizes, registers, bandwidth, CAPABILITY, self.memory.capacity >> 20, l2,
                int(self.memory.undefined is not None))

    def report(self, text: str) -> None:
        """Show what is running, "" when it has ended."""
        self.show(None, text)

    def show(self, share: float | None, text: str) -> None:
        """Show how much of something has been done, None if that is not known."""
        if self._progress is not None:
            self._progress(share, text)


class _Run:
    """One launch in progress."""

    def __init__(self, device: Device, module: Loaded, request: Request, title: str, by_values: bool) -> None:
        self.device, self.module, self.request, self.title, self.by_values = device, module, request, title, by_values
        self.stepping_s = 0.0
        self.limit = 0
        self.machine: Simulator | None = None
        self.rate: Key | None = None
        self.before: Before = {}
        self.after: Before | None = None
        self.l2_lines = device.l2_lines if device.keeps_l2 and not by_values else ()

    def outcome(self, image: GivenMemory | None = None) -> Outcome:
        """Run it; image: the memory to map, None for all of the device's."""
        machine = self._placed(image or self.module.image())
        if isinstance(machine, Outcome):
            return machine
        self.machine = machine
        self._step(machine)
        return self._ended(machine)

    def _placed(self, image: GivenMemory) -> Simulator | Outcome:
        """Return a machine at its beginning, or the outcome if it cannot run."""
        request = self.request
        if outcome := refused(request):
            return outcome
        try:
            kernel = self.module.kernel(request.kernel)
            spec = spec_of(kernel, request.grid, request.block, request.shared_bytes, request.params,
                           short_name(kernel.name), self.l2_lines)
            machine, self.limit = _machine(self.module, kernel, spec, image,
                                           self.device.values_kind if self.by_values else None)
            if self.by_values:
                self.rate = self.device.estimates.prepare(self.module, kernel, spec, self.limit, machine, self.device.memory)
            return machine
        except (PtxError, SassError) as error:
            return Outcome(wire.INVALID_PTX, 0, "", str(error))
        except InputError as error:
            return Outcome(_resource(self.module, request), 0, "", str(error))

    def _ended(self, machine: Simulator) -> Outcome:
        """Return the outcome of a machine that has run to its end, or to a fault."""
        printed = "".join(text for _, text in machine.printed)
        texts = [str(one) for one in machine.reports]
        fault = machine.fault
        if fault is None:
            return Outcome(wire.SUCCESS, self.cycles, printed, "\n".join(texts))
        near = self.device.memory.may_go_unnoticed(int(machine.sm.error_address))
        is_behind = near and int(machine.sm.error) == codes.UNMAPPED
        texts.append(f"{fault}{ALONE if fault.polls else UNNOTICED if is_behind else ''}")
        return Outcome(self._status(machine), self.cycles, printed, "\n".join(texts))

    @property
    def instructions(self) -> int:
        """Return the warp instructions that have been issued, 0 if it did not run."""
        return self.machine.instructions if self.machine is not None else 0

    @property
    def cycles(self) -> int:
        """Return the cycles that it has taken, estimated if it runs by its values; 0 if it did not run."""
        if self.machine is None:
            return 0
        return self.machine.cycle if self.rate is None else self.device.estimates.cycles(self.rate, self.instructions)

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
        is_bad = outcome.status == wire.ILLEGAL_ADDRESS or (self.machine is not None and bool(self.machine.reports))
        if is_bad and len(found) < len(memory.live):
            put_back(memory, self.before)
            self.before = copied(memory, list(memory.live))
            outcome = self.outcome(whole)
        if outcome.status == wire.SUCCESS:
            self.after = copied(memory, list(self.before))
        return outcome

    def as_recorded(self, records: Callable[[Taken, Progress], Simulator], entry: Entry) -> Outcome:
        """Have it simulated with copies of the memory that it can reach, and take over what that wrote; like `as_chosen`."""
        memory = self.device.memory
        if isinstance(placed := self._placed(self.module.image()), Outcome):
            return placed
        found = reached(memory, self.module, self.request.params)
        began = time.perf_counter()
        for addresses in (found, list(memory.live)):
            self.before = copied(memory, addresses)
            taken = Taken(entry, self.request, self.module, self.limit, self.before, None, self.l2_lines)
            self.machine = machine = records(taken, self.device.show)
            outcome = self._ended(machine)
            if outcome.status != wire.ILLEGAL_ADDRESS and not machine.reports:
                break
        self.device.report("")
        self.stepping_s += time.perf_counter() - began
        content = machine.arena.view(np.uint8)
        for one in machine.placement.variables:
            if one.address in self.before:
                held = self.before[one.address][0]
                memory.view(held)[:] = content[4 * one.word : 4 * one.word + held.size]
        if outcome.status == wire.SUCCESS:
            self.after = copied(memory, list(self.before))
        return outcome

    def _step(self, machine: Simulator) -> None:
        """Run a machine to its end or to a fault, with progress reports."""
        began = time.perf_counter()
        blocks, before = machine.placement.launches[0].launch.num_ctas, self.device.launches
        unit = "instructions" if self.by_values else "cycles"
        report = lambda: self.device.report(
            f"{self.title}: {int(machine.sm['launch']['done_ctas']):,} of {plural(blocks, 'CTA')}, {machine.cycle:,} {unit}"
            + (f"; {before.cycles_text} before it" if before.cycles else ""))
        try:
            report()
            machine.step(1)         # may compile the machine
            while not machine.finished:
                report()
                machine.step(VALUES_SLICE if self.by_values else SLICE)
        except KernelFault:
            pass        # machine.fault keeps it
        finally:
            self.device.report("")
            self.stepping_s += time.perf_counter() - began

    def _status(self, machine: Simulator) -> int:
        """Return the CUDA error that corresponds to the machine's fault."""
        if isinstance(machine.fault, AssertionFault):
            return wire.ASSERT
        if machine.cycle >= machine.max_clock:
            return wire.TIMEOUT
        return STATUS.get(int(machine.sm.error), wire.ILLEGAL_ADDRESS if int(machine.sm.error) else wire.TIMEOUT)


def _has_atomics(kernel: Kernel) -> bool:
    """Return whether a kernel's results may depend on the order in which warps execute."""
    return bool(np.isin(kernel.insts["memory_kind"], (MEM_ATOMIC, MEM_REDUCTION)).any())


def _machine(module: Loaded, kernel: Kernel, spec: LaunchSpec, image: GivenMemory,
             kind: type[Simulator] | None = None) -> tuple[Simulator, int]:
    """Return a machine at cycle 0, and the register limit per thread that makes a CTA fit, 0 if none is needed.

    Here a kernel is compiled with as many registers as it needs; nvcc limits it to what its block size leaves each thread.
    """
    try:
        return module.machine(spec, kernel, image, kind=kind), 0
    except RegisterShortage:
        if kernel.architecture:     # ptxas has limited it already
            raise
    warps = -(-spec.launches[0].num_threads_per_cta // 32)
    limit = module.warp_registers // warps
    return module.machine(spec, kernel, image, limit, kind), limit


def refused(request: Request) -> Outcome | None:
    """Return the outcome of a launch that no GPU accepts, or that needs what is not modelled; None if it is fine."""
    name = short_name(request.kernel)
    if request.has_clusters:
        return Outcome(wire.NOT_SUPPORTED, 0, "", f"{name} is launched in clusters of several CTAs, which the modelled SM "
                                                  "does not have")
    grid, block = request.grid, request.block
    threads = block[0] * block[1] * block[2]
    fine = (all(1 <= size <= most for size, most in zip((*grid, *block), (*MAX_GRID, *MAX_BLOCK)))
            and threads <= MAX_THREADS_PER_CTA and grid[0] * grid[1] * grid[2] <= MAX_CTAS)
    return None if fine else Outcome(wire.INVALID_CONFIGURATION, 0, "", f"grid {grid}, block {block}: no GPU can run these")


def _resource(module: Loaded, request: Request) -> int:
    """Return the CUDA error of a launch that does not fit."""
    cooperative = request.is_cooperative or module.kernel(request.kernel).meets_grid
    return wire.COOPERATIVE_TOO_LARGE if cooperative else wire.OUT_OF_RESOURCES
