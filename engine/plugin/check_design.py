"""Check a design: bundled kernels on each core that it has hooks for, under every scheduler, with memory as sram's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rfview.engine.machine import faults
from rfview.engine.compile import jit
from rfview.engine import defaults, kernels
from rfview.engine.errors import InputError, RfviewError
from rfview.engine.launch import load_launch_file
from rfview.engine.launch.smallest import smallest_run
from rfview.engine.simulator import Progress, Simulator
from rfview.engine.machine.schedulers import SCHEDULERS
from rfview.engine.plugin import on_subcore, plain_trial
from rfview.engine.plugin.variants import parse_variant

CHECKED = ("vectoradd", "reduction", "hotspot")     # memory-bound; barriers; partial writes, which wrong masks would corrupt
SUBCORE_PRESETS = ("ampere",)     # on which they run as machine code, if the design has hooks for the sub-core
PATIENCE = 50           # a design that takes this many times sram's cycles is considered to hang
FINE = "ok"


@dataclass(frozen=True)
class Checked:
    """One run: its scheduler and, on the sub-core, preset; its cycles, sram's cycles, and FINE or what is wrong."""

    kernel: str
    scheduler: str
    cycles: int
    sram_cycles: int
    verdict: str


def check(variant: str, progress: Progress | None = None) -> Iterator[Checked]:
    """Yield a run for every kernel and scheduler; raises InputError if the design does not exist or does not compile.

    FINE means: the kernel's own reference and sram's memory bit for bit, warp-cycles that add up, and an end; for the first
    run also the same result if idle cycles are not skipped, which reveals a wrong next_event. Before all of them the
    design's first cycles run as plain Python, which detects indices out of bounds.
    """
    if jit.OFF:
        raise InputError("designs --check: takes hours without the compiler; run it without NUMBA_DISABLE_JIT")
    small, module = smallest_run()
    Simulator(small, design=variant, module=module).try_hooks()
    if problem := plain_trial.trial(variant):
        raise InputError(f"{variant}, run as plain Python: {problem}")
    machines = [(defaults.PRESET, scheduler) for scheduler in SCHEDULERS]
    if on_subcore.runs(parse_variant(variant)[0]):
        machines += [(preset, defaults.OF_CORE) for preset in SUBCORE_PRESETS]
    skipped = {(CHECKED[0], preset): scheduler for preset, scheduler in reversed(machines)}     # by the first scheduler
    for name in CHECKED:
        spec = load_launch_file(kernels.path(name))
        for preset, scheduler in machines:
            plain = Simulator(spec, scheduler=scheduler, preset=preset, progress=progress)
            plain.run()
            own = Simulator(spec, design=variant, scheduler=scheduler, preset=preset, progress=progress,
                            max_cycles=PATIENCE * plain.cycle)
            verdict = verdict_of(plain, own)
            if verdict == FINE and skipped.get((name, preset)) == scheduler:
                verdict = skipping(own, Simulator(spec, design=variant, scheduler=scheduler, preset=preset))
            where = scheduler if preset == defaults.PRESET else f"{scheduler} · {preset}"
            yield Checked(name, where, own.cycle, plain.cycle, verdict)


def verdict_of(plain: Simulator, own: Simulator) -> str:
    """Run a design's machine; return FINE, or what is wrong compared with sram's, which has run."""
    try:
        own.run()
    except InputError:
        raise               # it cannot run at all, under any scheduler
    except RfviewError as error:
        if own.cycle >= own.max_cycles:
            return f"not finished after {PATIENCE} times sram's cycles; the warps: {faults.states_of(own)}"
        return f"stopped: {error}"
    slips = [name for name, data in plain.buffers().items() if data.tobytes() != own.buffers()[name].tobytes()]
    if slips and not plain.spec.order_dependent:
        return f"memory differs from sram's: {', '.join(slips)}"
    if not own.verify()[0]:
        return "the kernel's results are wrong"
    if int(own.sm.stall_total.sum()) != int(own.config["sm.num_warps"]) * own.cycle:
        return "warp-cycles do not add up"
    return FINE


def skipping(own: Simulator, every: Simulator) -> str:
    """Run a second machine without skipping idle cycles; return FINE, or what differs from the first, which has run."""
    while not every.finished:
        every.sm.was_idle = 0        # idle cycles are skipped only after an idle one
        every.step(1)
    counts, stalls = own.counts(), own.sm.stall_total.tolist()
    pairs = {"cycles": (own.cycle, every.cycle)}
    pairs |= {name: (counts.get(name, 0), value) for name, value in every.counts().items()}
    pairs |= {stall.name: (stalls[stall.code], int(every.sm.stall_total[stall.code])) for stall in every.built.stalls}
    wrong = [f"{name} {measured:,} instead of {value:,}" for name, (measured, value) in pairs.items() if measured != value]
    return f"next_event is too late, idle cycles that matter are skipped: {', '.join(wrong[:3])}" if wrong else FINE
