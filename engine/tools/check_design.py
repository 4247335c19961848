"""Does a design keep what it is given? Bundled kernels under every scheduler, their memory compared with sram's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine import designs, kernels
from engine.errors import RfviewError
from engine.launch import load_launch_file
from engine.simulator import Simulator
from engine.state import SCHEDULERS
from engine.warm import Progress

CHECKED = ("vectoradd", "reduction", "scalarprod")
PATIENCE = 50           # a design that takes so many times sram's cycles is taken to hang
FINE = "ok"


@dataclass(frozen=True)
class Checked:
    """One run: its cycles, sram's, and FINE or what is wrong."""

    kernel: str
    scheduler: str
    cycles: int
    sram_cycles: int
    verdict: str


def check(variant: str, progress: Progress | None = None) -> Iterator[Checked]:
    """Yield a run of every kernel and scheduler; raises InputError for a design that does not exist or is misspelt.

    Fine is: the kernel's own reference and sram's memory to the bit, warp-cycles that add up, and an end.
    """
    designs.find(designs.parse_variant(variant)[0])
    for name in CHECKED:
        spec = load_launch_file(kernels.path(name))
        for scheduler in SCHEDULERS:
            plain = Simulator(spec, scheduler=scheduler, progress=progress)
            plain.run()
            own = Simulator(spec, design=variant, scheduler=scheduler, progress=progress,
                            max_cycles=PATIENCE * plain.cycle)  # fmt: skip
            verdict = verdict_of(plain, own)
            yield Checked(name, scheduler, own.cycle, plain.cycle, verdict)


def verdict_of(plain: Simulator, own: Simulator) -> str:
    """Run a design's machine; return FINE, or what is wrong with it beside sram's, which has run."""
    try:
        own.run()
    except RfviewError as error:
        return f"stopped: {error}"
    slips = [name for name, data in plain.buffers().items() if data.tobytes() != own.buffers()[name].tobytes()]
    if slips and not plain.spec.order_dependent:
        return f"memory differs from sram's: {', '.join(slips)}"
    summary = own.summary()
    if not summary["verified"]:
        return "the kernel's results are wrong"
    if summary["issued"] + sum(summary["stalls"].values()) != summary["warp_cycles"]:
        return "warp-cycles do not add up"
    return FINE
