"""Random kernels whose lanes meet in barriers, collectives, flags and locks at many places: the machine, and the functional mode, against the reference.

All threads of a kernel take part in the same list of events, in order, unless they have ended before or an event is for some
of them only. So no thread ever waits for one that cannot come, however the threads are scheduled, and every value is
determined. But where in the program a thread comes to an event is random: in an arm of a branch or a switch, behind it, in a
loop, in a function, under a guard. Each kernel stores one word per thread, and what its atomics have added.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rfview.engine.errors import KernelFault
from rfview.engine.functional.machine import FunctionalSimulator
from rfview.engine.launch import LaunchSpec, load_launch_file
from rfview.engine.ptx import load_module
from rfview.engine.simulator import Simulator
from tests.reference.interpreter import run_launches
from tests.robustness.random_kernel import WORDS, RandomKernel

FUNCTIONAL = "functional"   # a design here, for short
DESIGNS = (FUNCTIONAL, "sram", "rfc", "hrf")
PACKED = 10                 # kernels in a module: one machine runs them one after another
MAX_CYCLES = 4_000_000      # for all of them, which take some 30,000 without locks and flags; more is a hang

HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"
LAUNCH = '[[launch]]\nkernel = "{name}"\ngrid = [{ctas}]\nblock = [{threads}]\nargs = [{{buffer = "in"}}, {{buffer = "out"}}]\n'
BUFFERS = """module = "k.ptx"
[buffers.in]
file = "in.npy"
[buffers.out]
shape = [{words}]
dtype = "uint32"
zeros = true
"""


def cases(seed: int, first: int, count: int, designs: tuple[str, ...] = DESIGNS) -> Iterator[tuple[int, str, str]]:
    """Try kernels first .. first + count - 1 of a seed on every design; yield (number, "equal" or what went wrong, detail)."""
    for begin in range(first, first + count, PACKED):
        packed = {number: RandomKernel(f"k{number}", random.Random(f"{seed} {number}"))
                  for number in range(begin, min(begin + PACKED, first + count))}
        wrong = differences(list(packed.values()), designs)
        if wrong:       # one that does not end keeps those behind it from running
            alone = {number: differences([kernel], designs) for number, kernel in packed.items()}
        for number in packed:
            yield number, *(alone[number] if wrong and alone[number] else ("equal", ""))


def differences(kernels: list[RandomKernel], designs: tuple[str, ...]) -> tuple[str, str] | None:
    """Run kernels on every design; return what is wrong and where, None if their memory is that of the reference."""
    with tempfile.TemporaryDirectory() as folder:
        spec = write_module(Path(folder), kernels)
        module = load_module(spec.module_path)
    want = run_launches(spec, module)["out"]
    for design in designs:
        kind, given = (FunctionalSimulator, {}) if design == FUNCTIONAL else (Simulator, {"design": design})
        simulator = kind(spec, module=module, max_cycles=MAX_CYCLES, **given)
        try:
            simulator.run()
        except KernelFault as fault:
            return "stuck", f"{design}: {fault}"
        if (different := np.flatnonzero(simulator.buffers()["out"] != want)).size:
            return "differs", f"{design}: {different.size} words, the first at {different[0]}"
    return None


def write_module(folder: Path, kernels: list[RandomKernel]) -> LaunchSpec:
    """Write kernels as one module with a launch for each; kernel k reads row k of `in` and stores in row k of `out`."""
    text = HEADER + "".join(kernel.ptx(place) for place, kernel in enumerate(kernels))
    (folder / "k.ptx").write_text(text)
    np.save(folder / "in.npy", np.concatenate([kernel.data() for kernel in kernels]))
    launches = "".join(LAUNCH.format(name=kernel.name, ctas=1, threads=kernel.threads) for kernel in kernels)
    (folder / "k.toml").write_text(BUFFERS.format(words=WORDS * len(kernels)).replace("[buffers", launches + "[buffers", 1))
    return load_launch_file(folder / "k.toml")
