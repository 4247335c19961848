"""A simulator with the checker, and the findings of a run.

A process either checks or does not: the machine calls the stage that starts execution by a symbol, which refers to the
checked stage only if this module linked it. So runs without checks execute exactly the code that they always do.
"""

from __future__ import annotations

import mmap
import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np

from rfview.engine.check import layout
from rfview.engine.check.facts import facts_of
from rfview.engine.check.findings import Findings, findings_of
from rfview.engine.check.step import checked_stage
from rfview.engine.check.undefined import followed, packed
from rfview.engine.check.undefined_map import set_bits, words_for
from rfview.engine.compile import cache, extern, jit
from rfview.engine.errors import InputError, KernelFault
from rfview.engine.machine_code import is_machine_code
from rfview.engine.launch.given import GivenMemory
from rfview.engine.launch.spec import LaunchSpec
from rfview.engine.hazards.watch import Watch
from rfview.engine.program import HEAP, Module
from rfview.engine.ptx import Kernels
from rfview.engine.simulator import Checkpoint, Simulator

# Linux then counts only pages that are touched; Python names it from 3.13 on
LINUX = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if LINUX else 0)

_stage: Any = None


def stage() -> Any:
    """Return the checked stage, the same one for the whole process."""
    global _stage
    if _stage is None:
        tag = int(cache.source_hash(sorted(Path(__file__).parent.glob("*.py")))[:12], 16)
        _stage = jit.lean_entry(checked_stage(tag)) if jit.OFF else jit.entry(checked_stage(tag))
    return _stage


class Checking(Simulator):
    """What simulators with the checker share; call `findings()` during the run or after it.

    It only runs forwards: the checker's data cannot be rewound. Of machine code (`is_code`), which does not say what is
    defined, only hazards and faults are found.
    """

    watch: Watch | None = None      # of machine code that runs cycle by cycle

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.is_code = is_machine_code(self.insts)
        if self.is_code:
            return
        how = self.config.compilation()
        self.followed = {kernel.name: followed(kernel, self.module, how) for kernel, _ in self.placement.kernels}
        lines = self.module.text.splitlines()
        self.facts = {kernel.name: facts_of(kernel, lines) for kernel, _ in self.placement.kernels}
        self._watch()

    @staticmethod
    def prepare_module(module: Module) -> None:
        """Keep what decoding a kernel gives besides it: what the checker tracks is found there."""
        kernels: Any = module.kernels
        if isinstance(kernels, Kernels):
            kernels.keeps_last = True

    def renew(self, spec: LaunchSpec, memory: GivenMemory) -> None:
        """Go to cycle 0 of another launch, like Simulator; of those before, only what they wrote is known."""
        super().renew(spec, memory)
        if not self.is_code:
            self._watch()

    def _watch(self) -> None:
        """Reset the checker's data; what is known of given memory stays known."""
        given = self._memory.undefined if self._memory is not None else None
        self.undefined = _undefined(self) if given is None else given
        self.arrays = _arrays(self)
        self.data = _data(self)
        self.sm.scratch[layout.POINTER] = self.data.ctypes.data

    def release(self) -> None:
        """Release the checker's memory once the findings have been read; only `renew` may follow."""
        if self.is_code:
            return
        self.sm.scratch[layout.POINTER] = 0
        del self.data, self.arrays

    def restore(self, checkpoint: Any) -> None:
        """Refuse: the checker cannot go back."""
        raise InputError("check: a run that is checked only goes forwards")

    def findings(self) -> Findings:
        """Return the findings so far in chronological order; a kernel's fault is a finding, too."""
        return findings_of(self)


class CheckedSimulator(Checking):
    """Simulates cycles and looks for undefined behaviour.

    Raises InputError if this process already runs a machine without the checker.
    """

    def link(self) -> None:
        """Link the checked stage in place of the machine's own; a core that is compiled as a whole is watched instead."""
        if self._is_whole:
            return super().link()
        if extern._stage is not None and extern._stage is not stage():
            raise InputError("check: this process runs a machine that is not checked; check in a process of its own")
        journal = self._journal_of()
        extern.link(stage(), self.sm, jit.record(jit.key_dtype()), self.rows, self.insts, self.arena, self.regions,
                    journal.log[0], journal.mem_index, is_usual=False)

    def run(self, marks: list[Checkpoint] | None = None) -> None:
        """Run to the end; machine code on the sub-core is watched for hazards. Raises KernelFault."""
        if not self.is_code:
            return super().run(marks)
        self.watch = Watch(self)
        return self.watch.run()


def run(simulator: Checking) -> Findings:
    """Run to the end, or to a fault of the kernel, and return the findings."""
    try:
        simulator.run()
    except KernelFault:
        pass        # simulator.fault keeps it, and the findings report it
    return simulator.findings()


def _small_pages(count: int, dtype: np.dtype) -> np.ndarray:
    """Return (count,) zeros in pages of the usual size: accesses are far apart, and clearing huge pages would take long.

    Raises InputError if the system has not enough memory.
    """
    size = max(1, count) * dtype.itemsize
    try:
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
    except OSError as error:
        raise InputError(f"check: {size:,} bytes of addresses for what the checker remembers cannot be had "
                         f"({error.strerror or error})") from None
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, dtype, count)


def _arrays(simulator: Checking) -> dict[str, np.ndarray]:
    """Return the arrays beside CHECK, by name, for a simulator before its first cycle. Raises InputError if too large."""
    placement = simulator.placement
    grid = _grid_warps(simulator)
    slots = min(layout.MAX_POOL_SLOTS, max(layout.MIN_POOL_SLOTS,
                                           layout.POOL_BYTES // (layout.PUBLISHED.itemsize * grid)))
    first_steps, steps = packed([simulator.followed[kernel.name] for kernel, _ in placement.kernels])
    words = len(placement.arena)
    sizes = {"instructions": len(placement.insts), "steps": len(steps), "known": layout.MAX_WARPS * grid, "pool": slots,
             "published": slots * grid, "places": 5 * words, "second_readers": 5 * words}
    arrays = {name: _small_pages(size, layout.ARRAYS[name]) for name, size in sizes.items()}
    arrays["steps"][:] = steps
    arrays["instructions"]["first_step"][: len(first_steps)] = first_steps
    for kernel, base in placement.kernels:
        arrays["instructions"]["facts"][base : base + len(kernel.insts)] = simulator.facts[kernel.name]
    return {**arrays, "undefined": simulator.undefined}


def _data(simulator: Checking) -> np.ndarray:
    """Return the checker's data, one CHECK record, for a simulator before its first cycle."""
    data = np.zeros(1, layout.CHECK).view(np.recarray)
    check = data[0]
    for name, array in simulator.arrays.items():
        check[f"{name}_at"], check[f"{name}_size"] = array.ctypes.data, len(array)
    check.arena_words, check.global_word = len(simulator.placement.arena), simulator.placement.global_word
    check.grid_warps = _grid_warps(simulator)
    check.num_followed = min(layout.MAX_FOLLOWED, max(len(one.names) for one in simulator.followed.values()))
    check.new_warp.clock = check.new_warp.sync = 1
    return data


def _grid_warps(simulator: Checking) -> int:
    """Return the number of warps of the largest grid."""
    return max(placed.warps_per_cta * placed.launch.num_ctas for placed in simulator.placement.launches)


def _undefined(simulator: Checking) -> np.ndarray:
    """Return the map of a launch file's global memory: (words,) u4, a bit per byte, set if it is undefined at first."""
    placement = simulator.placement
    undefined = _small_pages(words_for(4 * (len(placement.arena) - placement.global_word)), layout.ARRAYS["undefined"])
    for variable in placement.variables:
        buffer = simulator.spec.buffers.get(variable.name) if variable.kind == "buffer" else None
        if variable.name == HEAP or (buffer is not None and buffer.undefined):
            set_bits(undefined, (variable.word - placement.global_word) * 4, variable.size, True)
    return undefined
