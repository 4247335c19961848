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
from rfview.engine.launch.given import GivenMemory
from rfview.engine.launch.spec import LaunchSpec
from rfview.engine.ptx.lower.device_library import HEAP
from rfview.engine.simulator import Simulator

IN_RECORDS = (layout.H_RECORDS, layout.H_BYTES, layout.H_SECONDS)      # places that are counted in records

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


class CheckedSimulator(Simulator):
    """A simulator that also looks for undefined behaviour; call `findings()` during the run or after it.

    It only runs forwards: the checker's data cannot be rewound. Raises InputError if this process already runs a machine
    without the checker.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        how = self.config.compilation()
        self.followed = {kernel.name: followed(kernel, self.module, how) for kernel, _ in self.placement.kernels}
        self._watch()

    def renew(self, spec: LaunchSpec, memory: GivenMemory) -> None:
        """Go to cycle 0 of another launch, like Simulator; of those before, only what they wrote is known."""
        super().renew(spec, memory)
        self._watch()

    def _watch(self) -> None:
        """Reset the checker's data; what is known of given memory stays known."""
        given = self._memory.undefined if self._memory is not None else None
        self.undefined = _undefined(self) if given is None else given
        self.words = _words(self)
        self.sm.scratch[layout.POINTER] = self.words.ctypes.data
        self.sm.scratch[layout.POINTER_WORDS] = len(self.words)

    def release(self) -> None:
        """Release the checker's memory once the findings have been read; only `renew` may follow."""
        self.words = np.zeros(0, np.uint32)
        self.sm.scratch[layout.POINTER] = 0

    def link(self) -> None:
        """Link the checked stage in place of the machine's own."""
        if extern._stage is not None and extern._stage is not stage():
            raise InputError("check: this process runs a machine that is not checked; check in a process of its own")
        journal = self._journal_of()
        extern.link(stage(), self.sm, jit.record(jit.key_dtype()), self.rows, self.insts, self.arena, self.regions,
                    journal.log[0], journal.mem_index, is_usual=False)

    def restore(self, checkpoint: Any) -> None:
        """Refuse: the checker cannot go back."""
        raise InputError("check: a run that is checked only goes forwards")

    def findings(self) -> Findings:
        """Return the findings so far in chronological order; a kernel's fault is a finding, too."""
        return findings_of(self)


def run(simulator: CheckedSimulator) -> Findings:
    """Run to the end, or to a fault of the kernel, and return the findings."""
    try:
        simulator.run()
    except KernelFault:
        pass        # simulator.fault keeps it, and the findings report it
    return simulator.findings()


def _small_pages(words: int) -> np.ndarray:
    """Return (words,) u4 zeros in pages of the usual size: accesses are far apart, and clearing huge pages would take long.

    Raises InputError if the system has not enough memory.
    """
    try:
        memory = mmap.mmap(-1, 4 * words, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
    except OSError as error:
        raise InputError(f"check: {4 * words:,} bytes of addresses for what the checker remembers cannot be had "
                         f"({error.strerror or error})") from None
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, np.uint32)


def _in_records(words: int) -> int:
    """Return the number of words rounded up to whole records."""
    return -(-words // layout.RECORD_WORDS) * layout.RECORD_WORDS


def _words(simulator: CheckedSimulator) -> np.ndarray:
    """Return the checker's words for a simulator before its first cycle. Raises InputError if there are too many."""
    placement = simulator.placement
    grid = max(placed.warps_per_cta * placed.launch.num_ctas for placed in placement.launches)
    row = layout.POOL_WORDS + layout.POOL_ARRAYS * grid
    slots = min(layout.MAX_POOL_SLOTS, max(layout.MIN_POOL_SLOTS, layout.POOL_BYTES // (4 * row)))
    words = len(placement.arena)
    step_places, steps = packed([simulator.followed[kernel.name] for kernel, _ in placement.kernels])
    sizes = {
        layout.H_PCS: len(placement.insts), layout.H_PLACES: len(placement.insts), layout.H_STEPS: steps.size,
        layout.H_FINDINGS: layout.MAX_FINDINGS * layout.FINDING_WORDS,
        layout.H_KNOWN: layout.MAX_WARPS * grid, layout.H_POOL: slots * row,
        layout.H_RECORDS: words * layout.RECORD_WORDS, layout.H_BYTES: 4 * words * layout.RECORD_WORDS,
        layout.H_SECONDS: 5 * words * layout.SECOND_WORDS,
    }
    places, end = {}, _in_records(layout.FIXED_WORDS)
    for name, size in sizes.items():
        places[name] = end
        end += _in_records(size)
    if end >= layout.MAX_WORDS:
        most = layout.MAX_WORDS // (5 * (layout.RECORD_WORDS + layout.SECOND_WORDS)) * 4
        raise InputError(f"check: this run has {4 * words:,} bytes of memory; at most {most:,} can be checked")
    found = _small_pages(end)
    for name, place in places.items():
        found[name] = place // (layout.RECORD_WORDS if name in IN_RECORDS else 1)
    found[layout.H_GRID_WARPS], found[layout.H_POOL_SLOTS] = grid, slots
    found[layout.H_FOLLOWED] = min(layout.MAX_FOLLOWED, max(len(one.names) for one in simulator.followed.values()))
    undefined = simulator.undefined.ctypes.data
    found[layout.H_UNDEFINED], found[layout.H_UNDEFINED_HIGH] = undefined & 0xFFFFFFFF, undefined >> 32
    found[layout.H_UNDEFINED_WORDS], found[layout.H_GLOBAL] = len(simulator.undefined), placement.global_word
    lines = simulator.module.text.splitlines()
    at = places[layout.H_PCS]
    for kernel, base in placement.kernels:
        found[at + base : at + base + len(kernel.insts)] = facts_of(kernel, lines)
    found[places[layout.H_PLACES] : places[layout.H_PLACES] + len(step_places)] = step_places
    found[places[layout.H_STEPS] : places[layout.H_STEPS] + steps.size] = steps.reshape(-1)
    return found


def _undefined(simulator: CheckedSimulator) -> np.ndarray:
    """Return the map of a launch file's global memory: (words,) u4, a bit per byte, set if it is undefined at first."""
    placement = simulator.placement
    found = _small_pages(words_for(4 * (len(placement.arena) - placement.global_word)))
    for variable in placement.variables:
        held = simulator.spec.buffers.get(variable.name) if variable.kind == "buffer" else None
        if variable.name == HEAP or (held is not None and held.undefined):
            set_bits(found, (variable.word - placement.global_word) * 4, variable.size, True)
    return found
