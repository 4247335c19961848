"""A Simulator that runs launches by their values only: results, printed text, faults and instruction counts, no cycles."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from rfview.engine import events
from rfview.engine.chunk import Chunk
from rfview.engine.compile import cache, jit, warm
from rfview.engine.errors import InputError
from rfview.engine.functional import loop, machine_turn
from rfview.engine.launch.kernel_names import kernel_of
from rfview.engine.launch.placement import Placement
from rfview.engine.machine import cycle, faults
from rfview.engine.machine_code import is_machine_code
from rfview.engine.simulator import Simulator

# of one SM from sm_75 to sm_120: its warp registers, 64 K registers of a thread, and the most that any has of shared memory
MACHINE_ROWS, MACHINE_SHARED_BYTES = 2048, 228 << 10


@lru_cache
def spec_dtype(name: str = loop.NAME, *folders: Path) -> np.dtype:
    """Return the dtype of a parameter record that binds a loop's hooks, with the hash of all that is compiled.

    folders: of sources besides the engine's and these.
    """
    sources = [path for folder in (Path(__file__).parent, *folders) for path in sorted(folder.glob("*.py"))]
    tag = cache.source_hash([*cache.engine_files(), *sources])
    return np.dtype([(f"design_{name}", "u1"), (f"src_{tag}", "u1")], align=True)


@lru_cache
def records(spec: np.dtype) -> tuple[np.ndarray, ...]:
    """Return the state and the parameter record for a loop's hooks; numba takes milliseconds for a new dtype."""
    made = np.zeros(1, [("unused", "u4")]), np.zeros(1, spec)
    return tuple(record.view(np.recarray) if jit.OFF else record for record in made)


_loops: dict[tuple[Any, ...], Any] = {}


def compiled_loop(arguments: tuple[Any, ...]) -> Any:
    """Return the compiled loop for arguments like these, the same for all machines whose arrays have the same types."""
    forms = tuple((argument.dtype, argument.flags.num) for argument in arguments[:-1])
    if forms not in _loops:
        _loops[forms] = jit.compiled(loop.run, arguments)
        spec = arguments[2].dtype
        if not warm.is_ready(spec):
            warm.note_ready(spec, jit.name_on_disk(loop.run, arguments))
    return _loops[forms]


class FunctionalSimulator(Simulator):
    """Runs launches by their values, many times faster than Simulator and with the same results; it takes the same options.

    Its clock, `cycle`, counts warp instructions: `step(n)` executes n of them, and the run ends with a fault if no CTA has
    ended during as many as the machine can issue in `max_cycles` cycles. Nothing is recorded, and there is no time and no
    energy. Not defined: the order of warps (races, atomics, printed lines), and what a kernel reads from clocks (RULES.md,
    B9).
    """

    counts_cycles = False
    _loop: Any = None
    _ended = (0, 0)         # the launch, and how many of its CTAs had ended when last looked
    _ended_at = 0           # the clock then

    @property
    def _name(self) -> str:
        """Return the name under which the hooks are registered that execute the launch file's kernels."""
        return machine_turn.NAME if is_machine_code(self.insts) else loop.NAME

    @property
    def _bound(self) -> np.dtype:
        """Return the dtype of the parameter record that binds the loop's hooks."""
        return spec_dtype(self._name)

    def _compiling(self) -> list[str]:
        """Return the module that compiles the loop in a process of its own, and its arguments."""
        return ["rfview.engine.functional.warm", self._name]

    def _prepare(self) -> None:
        """Before the first instruction: compile the loop, with progress, unless it is in the cache."""
        if self._prepared:
            return
        self._prepared = True
        if not warm.is_ready(self._bound) and self._progress is not None:
            warm.in_child("compiling the functional mode (first run only)", self._compiling(), self._progress)

    def compile(self) -> None:
        """Compile the loop, or load it from the cache, without running it."""
        self._journal_of()
        self._loop = compiled_loop((*self._machine, 0))

    def _place(self) -> Placement:
        """Lay out the launch file. For machine code the SM has what it has on the architectures of today."""
        if any(is_machine_code(kernel_of(self.spec, self.module, launch).insts) for launch in self.spec.launches):
            banks = int(self.config["sm.num_banks"])
            for name, least in (("sm.rows_per_bank", -(-MACHINE_ROWS // banks)), ("sm.shared_bytes", MACHINE_SHARED_BYTES)):
                if self.config[name] < least:
                    self.config = self.config.with_setting(name, least)
            self.main_rows = banks * int(self.config["sm.rows_per_bank"])
        return super()._place()

    def _check_core(self) -> None:
        """Take programs of both kinds: there is no core."""

    @property
    def max_clock(self) -> int:
        """Return the clock at which a run is stopped unless a CTA ends before: no run of `max_cycles` cycles gets there."""
        return self._ended_at + self.max_cycles * int(self.config["sm.num_schedulers"])

    @property
    def limit(self) -> str:
        """Return what ends a run, for messages."""
        after = " after its last CTA that ended" if self._ended[1] else ""
        return (f"{self.max_clock - self._ended_at:,} warp instructions{after}, as many as issue in at most "
                f"{self.max_cycles:,} cycles")

    def _link_arrays(self) -> None:
        """Collect the arrays that the loop is called with: the machine's, and the records of a design without hooks."""
        super()._link_arrays()
        if self._journal is not None:
            sm, _, _, *rest = self._machine
            self._machine = (sm, *records(self._bound), *rest)

    def _advance(self, stop: int) -> None:
        """Run the compiled loop until the clock is at `stop`, serving launches, host calls and faults."""
        self._prepare()
        if self._loop is None:
            self.compile()
        self._journal_of()
        while self._clock[0] < min(stop, self.max_clock) and not self.finished:
            if not self._running[0]:
                self._begin_launch()
            code = self._loop(*self._machine, min(stop, self.max_clock))
            if self._ended != (ended := (self._launch_index, int(self._sm_array["launch"]["done_ctas"][0]))):
                self._ended, self._ended_at = ended, int(self._clock[0])
            if code == cycle.HOST_CALL:
                self._host.serve()
            if code == cycle.FAULTED and int(self.sm.reported):
                self._note_report()
                code = cycle.FAULTED if int(self.sm.error) else cycle.STOPPED
            if code in (cycle.FAULTED, cycle.DEADLOCKED) and self.fault is None:
                self.fault = faults.fault_of(self, deadlock=code == cycle.DEADLOCKED)
            if self.fault is not None:
                break
            if not self._running[0] and self._launch_index + 1 == len(self.placement.launches):
                self.finished = True
        if not self.finished and self.fault is None and self._clock[0] >= self.max_clock:
            self.fault = faults.cycle_limit(self)

    def _note_report(self) -> None:
        """Add an access that was dropped to the reports."""
        faults.note_report(self)

    def moment(self, warp: int) -> str:
        """Return where a warp is, for messages: which of its instructions it has executed last."""
        return f"instruction {int(self.sm.warp[warp].num_issued):,} of the warp"

    def summary(self) -> dict[str, Any]:
        """Return the run's result: what Simulator's summary has without cycles."""
        verified, mismatches = self.verify()
        return {"kernel": self.info.kernel, "launches": len(self.placement.launches),
                "registers_per_thread": max(placed.registers for placed in self.placement.launches),
                "warp_instructions": self.instructions,
                "thread_instructions": int(self.sm.events[events.THREAD_INSTRUCTIONS]),
                "verified": verified, "mismatches": mismatches, "version": self.info.engine_version}

    def record_chunk(self, *arguments: Any, **options: Any) -> Chunk:
        """Refuse."""
        raise InputError("the functional mode has no cycles to record; use Simulator")

    def energy(self) -> dict[str, float]:
        """Refuse."""
        raise InputError("the functional mode has no time and no energy; use Simulator")
