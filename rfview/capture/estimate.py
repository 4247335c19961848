"""Estimates of the cycles of launches that run by their values only: their instructions times cycles per instruction.

The rate is 1 (assumed), or measured in a sample: the first cycles of a kernel's first launch with as many CTAs at once, on a
machine whose writes to memory are private. The sample is short, so caches are colder than in the whole launch.
"""

from __future__ import annotations

from contextlib import suppress

from rfview.capture.memory import DeviceMemory
from rfview.capture.modules import Loaded
from rfview.engine.errors import KernelFault
from rfview.engine.launch.spec import LaunchSpec
from rfview.engine.program import Kernel
from rfview.engine.simulator import Simulator

SAMPLE_CYCLES = 20_000
ASSUMED_RATE = 1.0      # cycles per warp instruction

Key = tuple[int, str, int, int]     # module, kernel, threads per CTA, CTAs at once


class Estimates:
    """The rates of a device's kernels. samples: measure them; else all are ASSUMED_RATE."""

    def __init__(self, samples: bool) -> None:
        self.samples = samples
        self._rates: dict[Key, float] = {}

    def prepare(self, module: Loaded, kernel: Kernel, spec: LaunchSpec, limit: int, machine: Simulator,
                memory: DeviceMemory) -> Key:
        """Take the sample that a launch needs, before it runs; return what `cycles` takes. machine: ready to run it."""
        placed = machine.placement.launches[0]
        key = (id(module), kernel.name, placed.launch.num_threads_per_cta, min(placed.resident_ctas, placed.launch.num_ctas))
        if self.samples and key not in self._rates and not kernel.architecture:    # machine code has no cycles to sample
            sample = module.separate_machine(spec, memory.private_image(module.image()), limit)
            with suppress(KernelFault):     # the launch itself reports it
                sample.step(SAMPLE_CYCLES)
            self._rates[key] = sample.cycle / sample.instructions if sample.instructions else ASSUMED_RATE
        return key

    def cycles(self, key: Key, instructions: int) -> int:
        """Return the estimated cycles of a launch that has executed so many warp instructions, at least 1."""
        return max(1, round(instructions * self._rates.get(key, ASSUMED_RATE)))
