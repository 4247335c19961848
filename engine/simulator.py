"""The public interface of the machine: load a kernel, step it, inspect it, take checkpoints and journals."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numba
import numpy as np
from numba.core.errors import NumbaError

from rfview.engine.machine import cycle as machine
from rfview.engine.compilation import executes
from rfview.engine import defaults, plugin as designs, events, hooks, modules, ptx, state
from rfview.engine.compile import cache, extern, jit, warm
from rfview.engine.machine import faults
from rfview.engine.machine.cores.subcore import classes, parameters as subcore
from rfview.engine.machine.cores.subcore.state import CACHE_ROWS
from rfview.engine.chunk import CHUNK_CYCLES, Chunk
from rfview.engine.plugin import selection, trial
from rfview.engine.plugin.compiler_errors import explain
from rfview.engine.errors import InputError, KernelFault
from rfview.engine.machine.host_calls import HostCalls
from rfview.engine.machine.stages.completion import WHEEL_MASK, schedule
from rfview.engine.machine.stages.constants import send_to_ldst
from rfview.engine.machine.stages.convergence import STATE_ROWS
from rfview.engine.machine.stages.execution import start_execution
from rfview.engine.machine.stages.l2 import CODE_LINES, warm_l2
from rfview.engine.machine.journal.recorder import Journal, aligned_words, units_of
from rfview.engine.machine.journal.words import WIDTH
from rfview.engine.launch import LaunchSpec, verify
from rfview.engine.machine_code import is_machine_code
from rfview.engine.program import Module
from rfview.engine.machine.schedulers import SCHEDULERS
from rfview.engine.program import GLOBAL_BASE, NUM_SRC_ROWS
from rfview.engine.progress import Progress
from rfview.engine.info import Text
from rfview.engine.describe import describe
from rfview.engine.launch.given import GivenMemory, place_given
from rfview.engine.launch.placement import Placement, PlacedLaunch, Variable, place
from rfview.engine.snapshot import Snapshot
from rfview.engine.stalls import NO_CTA
from rfview.engine.machine.stages.regions import region_table


COPIED_WORDS = 1 << 18
MARK_CYCLES, MARK_BYTES = 1 << 16, 1 << 25
LOOK_CYCLES = 1 << 20   # a run is looked at in these intervals: if nothing has issued meanwhile, it may have stopped


@lru_cache
def engine_hash() -> str:
    """Return the hash of the engine's sources: the same engine gives the same run, bit for bit."""
    return cache.source_hash(cache.engine_files())


def _copy_used(source: np.ndarray, target: np.ndarray) -> None:
    """Copy what is not zero to zeroed words: pages of a large array that nothing touches take no memory."""
    for first in range(0, len(source), COPIED_WORDS):
        part = source[first : first + COPIED_WORDS]
        if part.any():
            target[first : first + len(part)] = part


@dataclass(frozen=True)
class Checkpoint:
    """A complete copy of the machine at one cycle, latches and bookkeeping included."""

    cycle: int
    sm: np.ndarray
    rf: np.ndarray
    rows: np.ndarray
    arena: np.ndarray
    launch_index: int
    finished: bool
    num_printed: int

    @property
    def nbytes(self) -> int:
        """Return its size in memory."""
        return self.sm.nbytes + self.rf.nbytes + self.rows.nbytes + self.arena.nbytes


class Simulator:
    """One SM running one launch file under one register-file design.

    spec: a loaded launch file. design: a name or variant ("stt[stall=bank]"). settings: {"section.key": value}.
    progress(fraction, text) is called while a long module is loaded and while compiled code is prepared; a fraction of None
    means that the progress is unknown, 1.0 that it is done. module: decoded already; source: (PTX text, its path); each
    replaces the launch file's module. sources: of the PTX, as in `info`; None: looked up. memory: given by the caller and
    used in place; `renew` then starts the next launch of the same kernel. Raises InputError for anything that cannot run.
    """

    counts_cycles = True        # else its clock counts warp instructions (engine/functional)

    def __init__(
        self,
        spec: LaunchSpec,
        *,
        design: str = defaults.DESIGN,
        scheduler: str = defaults.SCHEDULER,
        preset: str = defaults.PRESET,
        settings: Mapping[str, Any] | None = None,
        max_cycles: int = defaults.MAX_CYCLES,
        seed: int = 0,
        progress: Progress | None = None,
        module: Module | None = None,
        source: tuple[str, str] | None = None,
        sources: Iterable[Text] | None = None,
        memory: GivenMemory | None = None,
    ) -> None:
        self.spec, self._memory = spec, memory
        self._given_module, self._source = module, source
        self.sources = None if sources is None else list(sources)
        self._variant = designs.files.absolute(design)
        self._prepared, self._ran = False, False
        self._linked: np.ndarray | None = None
        self.max_cycles, self.seed = max_cycles, seed
        self._progress = progress
        self.design, self.built, self.scheduler, self.config = selection.select(
            design, scheduler, preset, settings or {}, spec.compile, engine_hash())
        self._load()
        self._allocate()
        self.fault: KernelFault | None = None
        self.finished = False
        self.printed: list[tuple[int, str]] = []
        self.reports: list[faults.Report] = []
        self._host = HostCalls(weakref.proxy(self))      # a circle would keep the memory of finished runs
        self._launch_index = -1
        self._journal: Journal | None = None
        self.info = describe(self)

    def _load(self) -> None:
        """Decode the module and lay everything out."""
        how = self.config.compilation()
        if self._given_module is not None:
            self.module = self._given_module
        elif self._source is not None:
            self.module = modules.decode_module(*self._source, how=how)
        else:
            self.module = modules.load_module(self.spec.module_path, how=how)
        self.main_rows = int(self.config["sm.num_banks"]) * int(self.config["sm.rows_per_bank"])
        is_long = self._given_module is None and ptx.takes_seconds(self.module.text, how)
        if is_long and self._progress is not None:
            lines = self.module.text.count("\n")
            self._progress(None, f"loading {self.spec.name}: {lines:,} lines of PTX")
        self.prepare_module(self.module)
        self.placement: Placement = self._place()
        self._check_core()
        if is_long and self._progress is not None:
            self._progress(1.0, f"loaded {self.spec.name}")

    @staticmethod
    def prepare_module(module: Module) -> None:
        """Be told of a module before its kernels are decoded."""

    def _place(self) -> Placement:
        """Lay out the launch file, in its own memory or in the memory given."""
        if self._memory is not None:
            placement = place_given(self.spec, self.module, self.config, self.main_rows, self._memory, self._linked)
            self._linked = placement.insts      # `renew` keeps them
            return placement
        return place(self.spec, self.module, self.config, self.main_rows)

    def _allocate(self) -> None:
        """Create the state records, value rows and the arena."""
        size = self.built.state_dtype.itemsize
        if size % 4:
            raise InputError(f"design {self.design.name}: its state is not a multiple of 4 bytes")
        # the journal compares 32 words at once
        self._sm_array = aligned_words(state.SM.itemsize // 4).view(state.SM)
        self._padded_rf = aligned_words(size // 4 + WIDTH)
        self._rf_array = self._padded_rf[: size // 4].view(self.built.state_dtype)
        self.sm = self._sm_array.view(np.recarray)[0]
        self.rf = self._rf_array.view(np.recarray)[0]
        self._spec_array = np.zeros(1, self.built.spec_dtype)
        self.spec_record = self._spec_array.view(np.recarray)[0]
        self.built.fill(self.spec_record, self.main_rows)
        if self.built.core == designs.variants.SUBCORE:
            subcore.fill(self.spec_record.core, self.config, self.built.has_reuse_cache)
        # read around every call of compiled code: an attribute of a record takes microseconds
        self._clock, self._running = self._sm_array["cycle"], self._sm_array["launch"]["running"]
        config = self.sm.config
        self.config.fill(config, self.scheduler)
        recorded = self.main_rows + self.built.extra_rows + self._core_rows()
        if recorded > state.MAX_ROWS:
            raise InputError(f"design {self.design.name}: {recorded} value rows, at most {state.MAX_ROWS} are supported")
        config.first_design_row = self.main_rows
        config.num_recorded_rows = recorded
        config.first_collector_row = recorded
        config.first_result_row = recorded + state.MAX_COLLECTORS * NUM_SRC_ROWS
        config.num_rows = recorded + state.MAX_COLLECTORS * NUM_SRC_ROWS + state.MAX_INFLIGHT * 4
        config.shared_words = self.placement.shared_words
        self.rows = aligned_words(int(config.num_rows) * WIDTH).view(state.ROW).view(np.recarray)
        if self._memory is None:
            self.arena = aligned_words(len(self.placement.arena))
            _copy_used(self.placement.arena, self.arena)
        else:
            self.arena = self.placement.arena
        self.initial_memory = self.placement.arena
        self.insts = self.placement.insts.view(np.recarray)
        if is_machine_code(self.insts):
            classes.classify([text for kernel, _ in self.placement.kernels for text in kernel.texts], self.insts)
        else:
            send_to_ldst(self.insts, self.config)
        self.regions = region_table(self.placement)
        self.sm_dtype = state.recorded_dtype()
        self.rf_dtype = self.built.state_dtype
        self._sm_words = self._sm_array.view(np.uint32)
        self._rf_words = self._rf_array.view(np.uint32)
        self._clear_state()

    def _core_rows(self) -> int:
        """Return how many recorded rows the core has: of the warps of machine code, and of its reuse cache."""
        if not is_machine_code(self.placement.insts):
            return 0
        return STATE_ROWS * int(self.config["sm.num_warps"]) + CACHE_ROWS * (self.built.core == designs.variants.SUBCORE)

    def _check_core(self) -> None:
        """Raise InputError if the preset's core cannot run this kind of program."""
        is_code = is_machine_code(self.placement.insts)
        if is_code and self.config.core == "collector":
            raise InputError(f"{self.spec.name}: machine code does not run on Fermi's core, that of preset "
                             f"{self.config.preset}; take --preset ampere, or run it with --quick for its values only")
        if not is_code and self.config.core == "subcore":
            raise InputError(f"preset {self.config.preset}: its core runs machine code, and {self.spec.name} is PTX; leave "
                             "out kernel.isa=ptx, or take a preset with Fermi's core, such as fermi")
        if is_code:
            self._check_architecture()

    def _check_architecture(self) -> None:
        """Raise InputError if a GPU of the preset's architecture does not run this code, unless --isa asks for it."""
        code, own = self.placement.kernels[0][0].architecture, self.config.numbers["kernel.isa"]
        if own.source == "--set" or code == 0:
            return
        runs = int(str(own.value).removeprefix("sm_"))
        if not executes(runs, code):
            raise InputError(f"{self.module.path}: it is machine code for sm_{code}, and preset {self.config.preset} "
                             f"executes that of {own.value}; take another preset, or --isa sm_{code} to run it with this "
                             "one's timing")

    def _clear_state(self) -> None:
        """Reset the machine to its state before cycle 0: empty."""
        sm = self._sm_array             # the plain array's fields: an attribute of a record takes microseconds
        warps = int(self.config["sm.num_warps"])
        sm["state_count"][0, NO_CTA] = warps
        sm["warp"]["state"] = NO_CTA
        number = int(self.config["sm.num_schedulers"])
        sm["scheduler_mask"][0, :number] = [sum(1 << warp for warp in range(first, warps, number))
                                            for first in range(number)]
        sm["policy"] = list(SCHEDULERS).index(self.scheduler) if self.scheduler in SCHEDULERS else 0
        sm["scheduler"]["last_warp"][0, :number] = state.NONE8
        sm["scheduler"]["joined_warp"][0, :number] = state.NONE8
        sm["issued_warp"][0, :number] = state.NONE8
        for name in ("cta", "split", "barrier"):
            sm["warp"][name] = state.NONE8
        for name in ("wheel", "wheel_next", "write_first", "write_last", "ldst_head", "host_call"):
            sm[name] = state.NONE8
        sm["reports_faults"] = self.config["kernel.on_fault"] == "report"
        for name in ("l1", "l2", "icache", "ccache", "mshr"):
            sm[name]["line"] = -1
        if self.spec.l2_lines:
            warm_l2(self.sm, ((line * state.LINE_BYTES, state.LINE_BYTES) for line in self.spec.l2_lines))
        elif self.config["memory.l2_warm"]:
            words = self.placement.arena
            buffers = [variable for variable in self.placement.variables
                       if variable.kind == "buffer" and words[variable.word : variable.word + -(-variable.size // 4)].any()]
            warm_l2(self.sm, ((one.address, one.size) for one in buffers))

    def renew(self, spec: LaunchSpec, memory: GivenMemory) -> None:
        """Go to cycle 0 of another launch of the same kernel, with the given memory as it is now.

        The module, the design, the machine's records and its compiled code are kept.
        Raises InputError if the launch does not fit; the machine is then unchanged.
        """
        old_spec, old_memory, self.spec, self._memory = self.spec, self._memory, spec, memory
        try:
            self.placement = self._place()
        except InputError:
            self.spec, self._memory = old_spec, old_memory
            raise
        config = self._sm_array["config"].copy()
        self._sm_words[:] = 0
        config["shared_words"] = self.placement.shared_words        # an attribute of a record takes microseconds
        self._sm_array["config"] = config
        self._rf_words[:] = 0
        self.rows["u"][:] = 0
        if memory is not old_memory:
            self.regions = region_table(self.placement)
            self.arena = self.initial_memory = self.placement.arena
            self._link_arrays()
        self._clear_state()
        self.fault, self.finished, self._launch_index = None, False, -1
        self.printed.clear()
        self.reports.clear()

    def l2_lines(self) -> tuple[int, ...]:
        """Return the lines of global memory that L2 holds, as a LaunchSpec takes them for a launch that follows."""
        l2 = self._sm_array["l2"][0]
        held = l2[(l2["line"] >= GLOBAL_BASE // state.LINE_BYTES) & (l2["line"] < CODE_LINES)]
        return tuple(held["line"][np.argsort(held["used_cycle"], kind="stable")].tolist())

    @property
    def variant(self) -> str:
        """Return the design and its parameters as given, files by their absolute paths."""
        return self._variant

    @property
    def cycle(self) -> int:
        """Return the number of cycles that have run."""
        return int(self._clock[0])

    @property
    def instructions(self) -> int:
        """Return the number of warp instructions issued."""
        return int(self._sm_array["events"][0, events.INSTRUCTIONS])

    @property
    def max_clock(self) -> int:
        """Return the clock at which a run is stopped."""
        return self.max_cycles

    @property
    def limit(self) -> str:
        """Return what ends a run, for messages."""
        return f"{self.max_cycles:,} cycles"

    def moment(self, warp: int) -> str:
        """Return when something happens to a warp, for messages."""
        return f"cycle {self.cycle:,}"

    def _begin_launch(self) -> None:
        """Set up the next launch: its grid, parameters, an empty L1, constant cache and register file."""
        self._launch_index += 1
        placed = self.placement.launches[self._launch_index]
        sm = self._sm_array         # the plain array's fields: an attribute of a record takes microseconds
        launch = sm["launch"]
        block = placed.launch.block
        launch["grid"] = placed.launch.grid
        launch["block"] = block
        launch["num_ctas"] = placed.launch.num_ctas
        launch["next_cta"] = launch["done_ctas"] = 0
        launch["entry_pc"] = placed.entry_pc
        launch["start_cycle"] = self.cycle
        launch["index"] = self._launch_index
        launch["warps_per_cta"] = placed.warps_per_cta
        launch["threads_per_cta"] = placed.launch.num_threads_per_cta
        launch["registers"] = placed.registers
        launch["shared_bytes"] = placed.shared_bytes
        launch["dynamic_shared"] = placed.launch.shared_bytes
        launch["local_words"] = -(-placed.kernel.local_bytes // 4)
        launch["resident_ctas"] = placed.resident_ctas
        launch["param_word"] = self.placement.param_word
        launch["local_word"] = self.placement.local_word
        launch["running"] = 1
        sm["l1"]["line"] = -1
        sm["ccache"]["line"] = -1
        sm["ccache"]["fill_cycle"] = 0
        sm["mshr"]["line"] = -1
        sm["mshr"]["until_cycle"] = 0
        self._rf_words[:] = 0
        sm["dirty"] = state.ALL_COLD_BLOCKS
        sm["dirty_touched"] = (1 << sm["dirty"].shape[1]) - 1
        sm["was_idle"] = 0
        for name in ("booked_reads", "booked_write", "booked_work"):
            sm[name] = 0
        self._load_params(placed)

    def _load_params(self, placed: PlacedLaunch) -> None:
        """Write the parameter bytes into the arena, noting changed words for the journal."""
        first = self.placement.param_word
        new = np.zeros(self.placement.local_word - first, np.uint32)
        new.view(np.uint8)[: len(placed.params)] = np.frombuffer(placed.params, np.uint8)
        old = self.arena[first : first + len(new)]
        if self._journal is not None and self._journal.log["on"][0]:
            for offset in np.flatnonzero(old != new):
                log = self._journal.log[0]
                self._journal.mem_index[log.mem_count] = first + offset
                log.mem_count += 1
        old[:] = new

    def _journal_of(self) -> Journal:
        """Return the journal, created on first use; compiled code always gets it, switched off if nothing is recorded."""
        if self._journal is None:
            local = self.placement.local_words * 32 * int(self.config["sm.num_warps"])
            params = self.placement.local_word - self.placement.param_word
            words = params + self.placement.shared_words + local + 4096
            rows = int(self.sm.config.num_recorded_rows)
            self._journal = Journal(self._sm_words[0:state.RECORDED_BYTES // 4], self._padded_rf,
                                    units_of(self.rf_dtype), self.rows.u, self.arena, rows, words, CHUNK_CYCLES)
            self._link_arrays()
        return self._journal

    def _link_arrays(self) -> None:
        """Collect the arrays that compiled code is called with."""
        if self._journal is None:
            return
        arrays = (self._sm_array, self._rf_array, self._spec_array, np.zeros(1, jit.key_dtype()), self.rows, self.insts,
                  self.arena, self.regions, self._journal.log, self._journal.mem_index)
        # numba recognises plain arrays fastest; without the compiler, records need attributes
        form = np.recarray if jit.OFF else np.ndarray
        self._machine = tuple(array.view(form) if array.dtype.names else array for array in arrays)

    def step(self, n: int = 1) -> int:
        """Run up to `n` cycles; return how many ran (fewer at the end). Raises KernelFault when the kernel misbehaves."""
        if self.fault is not None:
            raise self.fault
        before = self.cycle
        self._advance(before + n)
        if self.fault is not None:
            raise self.fault
        return self.cycle - before

    def run(self, marks: list[Checkpoint] | None = None) -> None:
        """Run to the end of the last launch. Raises KernelFault.

        marks: gets a copy of the machine after each MARK_CYCLES, as many as MARK_BYTES hold: parts are sooner run again.
        """
        room = 0 if marks is None else MARK_BYTES // self.checkpoint(lend=True).nbytes
        while not self.finished:
            self.step(MARK_CYCLES - self.cycle % MARK_CYCLES)
            if marks is not None and len(marks) < room and not self.finished:
                marks.append(self.checkpoint())

    def _prepare(self) -> None:
        """Before the first cycle: compile the step, with progress, unless it is in the cache."""
        if self._prepared:
            return
        self._prepared = True
        if not warm.is_ready(self.built.spec_dtype):
            self.try_hooks()
            if self._progress is not None:
                warm.compile_in_child(self._variant, self._progress, self.config.preset if self._is_whole else "")
        self.link()

    @property
    def _is_whole(self) -> bool:
        """Return whether the core's loop is compiled as a whole, without a part that all designs share."""
        return self.built.core == designs.variants.SUBCORE

    def try_hooks(self) -> None:
        """Compile the hooks of a user's design on their own, in a second or two; raises InputError with its mistakes."""
        trial.check(self.sm, self.rf, self.spec_record, self.rows, self.insts, self.built)

    def link(self) -> None:
        """Load the part of the machine that all designs share, from the cache or compiled."""
        journal = self._journal_of()
        if self._is_whole:
            return
        extern.link(start_execution, self.sm, jit.record(jit.key_dtype()), self.rows, self.insts, self.arena, self.regions,
                    journal.log[0], journal.mem_index)

    def compile(self) -> None:
        """Compile the loop into the disk cache without running it; afterwards this process cannot run a machine."""
        self.try_hooks()
        if not self._is_whole:
            extern.promise()
        self._journal_of()
        machine.run.compile(tuple(numba.typeof(argument) for argument in (*self._machine, 0)))
        self._note_ready()

    def _note_ready(self) -> None:
        """Note that the loop is in the cache, unless that is known."""
        if not warm.is_ready(self.built.spec_dtype):
            warm.note_ready(self.built.spec_dtype, jit.name_on_disk(machine.run, (*self._machine, 0)))

    def _advance(self, stop: int) -> None:
        """Run the compiled loop until `stop`, serving launches, host calls and faults."""
        self._prepare()
        self._journal_of()
        stop = min(stop, self.max_cycles)
        while self._clock[0] < stop and not self.finished:
            if not self._running[0]:
                self._begin_launch()
            look = (int(self._clock[0]) // LOOK_CYCLES + 1) * LOOK_CYCLES
            try:
                code = machine.run(*self._machine, min(stop, look))
            except (NumbaError, KeyError) as error:  # a design that does not compile: a typing error, or an unknown field
                raise explain(error, map(designs.find, self.built.chain)) from None
            if not self._ran:
                self._ran = True
                self._note_ready()
            if code == machine.JOURNAL_FULL:
                break
            if code == machine.HOST_CALL:
                self._host.serve()
            if code == machine.FAULTED and int(self.sm.reported):
                faults.note_report(self)
                code = machine.FAULTED if int(self.sm.error) else machine.STOPPED
            if code in (machine.FAULTED, machine.DEADLOCKED) and self.fault is None:
                self.fault = faults.fault_of(self, deadlock=code == machine.DEADLOCKED)
            if code == machine.STOPPED and self._clock[0] == look and look - faults.last_issue(self) > LOOK_CYCLES:
                self.fault = faults.stopped_for_good(self)
            if self.fault is not None:
                break
            if not self._running[0] and self._launch_index + 1 == len(self.placement.launches):
                self.finished = True
        if not self.finished and self.fault is None and self._clock[0] >= self.max_cycles:
            self.fault = faults.cycle_limit(self)

    def record_chunk(self, cycles: int = CHUNK_CYCLES, *, values: bool = True, memory: bool = True, lend: bool = False,
                     only: np.ndarray | None = None, logs: bool = True) -> Chunk:
        """Run up to `cycles` cycles (at most CHUNK_CYCLES) with the journal on and return what changed.

        values: the keyframe has rows and memory, both read-only (the memory may be `initial_memory`); False if
        the caller keeps them from the previous chunk. memory: False if it keeps only that.
        only: the words of state whose changes are logged, (n,) u4, at most MOST_CHOSEN; None for all. logs: whether rows,
        memory words and register writes are logged as well. A search that needs little costs about as much as a plain run.
        lend: the chunk's arrays are the journal's own and must be returned with `release`; if values is False as well, the
        keyframe has only the clock section: the caller keeps the rest.

        A fault ends the chunk after the faulting cycle and is stored in `fault`; the next call raises it. A finished run
        gives a chunk of 0 cycles.
        """
        if self.fault is not None:
            raise self.fault
        journal = self._journal_of()
        first = self.cycle
        printed = len(self.printed)
        key_rows = key_memory = None
        if values:
            key_rows = self.rows.u[: int(self.sm.config.num_recorded_rows)].copy()
        if values and memory:
            # before the first launch only a checkpoint of another run can have changed it; a copy would touch new pages only
            unchanged = self._launch_index < 0 and np.array_equal(self.arena, self.initial_memory)
            key_memory = self.initial_memory if unchanged else self.arena.copy()
        journal.begin(first, whole=values or not lend, only=only, logs=logs)
        self._advance(first + min(cycles, CHUNK_CYCLES))
        journal.end(self.cycle)
        chunk = journal.chunk(first, len(self._rf_words), self.printed[printed:], lend=lend)
        chunk.key_rows, chunk.key_memory = key_rows, key_memory
        return chunk

    def snapshot(self) -> Snapshot:
        """Return a frozen copy of the machine as it is."""
        recorded = int(self.sm.config.num_recorded_rows)
        raw = self._sm_array.view(np.uint8)[: state.RECORDED_BYTES].copy()
        sm = raw.view(self.sm_dtype).view(np.recarray)[0]
        rf = self._rf_words.copy().view(self.rf_dtype).view(np.recarray)[0]
        return Snapshot(self.cycle, sm, rf, self.rows.u[:recorded].copy(), self.arena.copy(), self.info)

    def checkpoint(self, *, lend: bool = False) -> Checkpoint:
        """Return a complete copy from which the run can continue; lend: its arrays are the machine's own, to be read now."""
        arrays = (self._sm_words, self._rf_words, np.asarray(self.rows.u), self.arena)
        sm, rf, rows, arena = arrays if lend else [array.copy() for array in arrays]
        return Checkpoint(self.cycle, sm, rf, rows, arena, self._launch_index, self.finished, len(self.printed))

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go back to a checkpoint of this simulator."""
        self._sm_words[:] = checkpoint.sm
        self._rf_words[:] = checkpoint.rf
        self.rows.u[:] = checkpoint.rows
        self.arena[:] = checkpoint.arena
        self._launch_index = checkpoint.launch_index
        self.finished = checkpoint.finished
        self.fault = None
        del self.printed[checkpoint.num_printed :]
        self.reports = [one for one in self.reports if one.cycle < checkpoint.cycle]

    # branching off: another machine that continues from here with something changed

    def twin(self, settings: Mapping[str, Any] | None = None) -> Simulator:
        """Return a new simulator at cycle 0 with the same launch, module and machine, and other settings."""
        own = {**self.config.values(), **self.built.values, **(settings or {})}
        return Simulator(
            self.spec, design=self._variant, scheduler=self.scheduler, preset=self.config.preset, settings=own,
            max_cycles=self.max_cycles, seed=self.seed, progress=self._progress, module=self.module,
        )

    def adopt(self, checkpoint: Checkpoint) -> None:
        """Continue from a checkpoint of a simulator with other settings; this one's settings apply from here on.

        Decisions made under the old settings stand; every waiting warp is reconsidered. Raises InputError
        if the settings change the layout of state, rows or memory.
        """
        config = self._sm_array["config"].copy()
        sizes = [(len(held.rows), len(held.arena), held.rf.nbytes) for held in (checkpoint, self.checkpoint())]
        if sizes[0] != sizes[1]:
            raise InputError("these settings change the layout of rows or memory; they must be chosen before a run begins")
        self.restore(checkpoint)
        self._sm_array["config"] = config
        self._sm_array["reports_faults"] = self.config["kernel.on_fault"] == "report"
        self.sm.undecided = self.sm.unfinished
        self.sm.was_idle = 0

    def register_rows(self, warp: int, reg: int, lane: int) -> list[int]:
        """Return every value row that holds the current value of a register's lane: the newest one, and clean copies.

        Raises InputError if the warp slot is empty or the register is not allocated.
        """
        registers = int(self.sm.launch.registers)
        if not 0 <= warp < int(self.config["sm.num_warps"]) or not (int(self.sm.resident) >> warp) & 1:
            raise InputError(f"w{warp}: this warp slot holds no warp at cycle {self.cycle:,}")
        if not 0 <= reg < registers or not 0 <= lane < 32:
            raise InputError(f"w{warp}.R{reg}[{lane}]: the kernel has R0..R{registers - 1}, lanes 0..31")
        rf, spec, rows = self.rf, self.spec_record, []
        for level in range(len(self.built.chain)):
            if level:
                rf, spec = rf.mrf, spec.mrf
            rows.append(int(hooks.locate(self.sm, rf, spec, warp, reg, lane)))
        value = self.rows.u[rows[0], lane]
        return list(dict.fromkeys(row for row in rows if self.rows.u[row, lane] == value))

    def poke(self, warp: int, reg: int, lane: int, value: int) -> int:
        """Set one lane of a warp's register to another value (u4); return the old one. Not an access: no energy, no time.

        Raises InputError as `register_rows` does.
        """
        rows = self.register_rows(warp, reg, lane)
        old = int(self.rows.u[rows[0], lane])
        for row in rows:
            self.rows.u[row, lane] = value & 0xFFFFFFFF
        return old

    def move_end(self, entry: int, end: int) -> int:
        """Let an in-flight instruction end at another cycle, from the present one on; return the cycle it would have ended.

        entry: its place in the in-flight table. Returns -1, and moves nothing, while its end is not set: only what is in the
        timing wheel has one. Every waiting warp is reconsidered.
        """
        sm = self.sm
        before = int(sm.inflight[entry].done_cycle)
        place = before & WHEEL_MASK
        found, at = [], int(sm.wheel[place])
        while at != state.NONE8:
            found.append(at)
            at = int(sm.wheel_next[at])
        if entry not in found:
            return -1
        found.remove(entry)
        found.append(state.NONE8)
        sm.wheel[place] = found[0]
        for one, following in pairwise(found):
            sm.wheel_next[one] = following
        schedule(sm, entry, end)
        sm.undecided = sm.unfinished
        sm.was_idle = 0
        return before

    def _read(self, variable: Variable) -> np.ndarray:
        """Return a variable's current content."""
        raw = self.arena.view(np.uint8)[variable.word * 4 : variable.word * 4 + variable.size]
        count = int(np.prod(variable.shape)) * variable.dtype.itemsize
        return raw[:count].copy().view(variable.dtype).reshape(variable.shape)

    def buffers(self) -> dict[str, np.ndarray]:
        """Return every buffer's current content by name."""
        return {v.name: self._read(v) for v in self.placement.variables if v.kind == "buffer"}

    def symbols(self) -> dict[str, np.ndarray]:
        """Return every module symbol's current content by name."""
        return {v.name: self._read(v) for v in self.placement.variables if v.kind == "symbol"}

    def verify(self) -> tuple[bool | None, list[dict[str, Any]]]:
        """Compare with the launch file's expectations; (None, []) if it has none."""
        if not self.spec.expect:
            return None, []
        wrong = verify(self.spec, {**self.symbols(), **self.buffers()})
        return not wrong, [{**vars(mismatch), "text": str(mismatch)} for mismatch in wrong]

    def counts(self) -> dict[str, int]:
        """Return every event count by name; `<reason>_wait_cycles` are accesses refused, not warp-cycles."""
        counts = {name: int(self.sm.events[index]) for index, (name, _) in enumerate(events.EVENTS)}
        for index, (name, _) in enumerate(self.built.events):
            counts[name] = int(self.sm.events[events.FIRST_DESIGN_EVENT + index])
        for stall in self.built.stalls:
            if waited := int(self.sm.access_wait[stall.code]):
                counts[f"{stall.name}_wait_cycles"] = waited
        return counts

    def energy(self) -> dict[str, float]:
        """Return dynamic, leakage and refresh energy of the register file so far in pJ: counts and cycles x the tables."""
        clock = float(self.config["sm.clock_mhz"])
        run = designs.Run(self.counts(), self.cycle, clock, self.built.values, self.config.preset,
                          self.config.values())
        return designs.energy(self.built.chain, run)

    def summary(self) -> dict[str, Any]:
        """Return the run's result: the JSON object of `rfview run --json`, without wall time."""
        totals = {stall.name: int(self.sm.stall_total[stall.code]) for stall in self.built.stalls}
        issued = totals.pop("issued")
        verified, mismatches = self.verify()
        cycles = self.cycle
        instructions = int(self.sm.events[events.INSTRUCTIONS])
        return {
            "kernel": self.info.kernel, "design": self.info.design, "scheduler": self.scheduler,
            "preset": self.config.preset, "parameters": self.info.parameters, "seed": self.seed,
            "compile_notes": self.info.compile_notes, "setting_notes": self.info.setting_notes,
            "spilled_words": self.info.spilled_words, "register_limit": self.info.register_limit,
            "launches": len(self.placement.launches),
            "registers_per_thread": max(placed.registers for placed in self.placement.launches),
            "cycles": cycles, "warp_instructions": instructions,
            "thread_instructions": int(self.sm.events[events.THREAD_INSTRUCTIONS]),
            "ipc": instructions / cycles if cycles else 0.0,
            "warp_cycles": int(self.config["sm.num_warps"]) * cycles, "issued": issued, "stalls": totals,
            "war_stalls": int(self.sm.events[events.WAR_STALLS]), "counts": self.counts(), "energy_pj": self.energy(),
            "verified": verified, "mismatches": mismatches, "version": self.info.engine_version,
        }

