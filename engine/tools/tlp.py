"""The TLP search of the racetrack paper: the fastest number of CTAs per SM, from three profiling runs for each number.

Liang & Wang, JCST 31(1), 2016, section 4.2: P(N) = P_cache(N) - (P_ideal(N) - P_RM(N)), all of them IPC. P_cache has the
real caches and no shift time, P_ideal has an L1 that always hits and no shift time, P_RM has that L1 and real shifts. TLP
is fixed before mapping and preshift (Fig. 4), so P_RM has neither, but registers spread over the ports if they are (B5.13).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rfview.engine import defaults
from rfview.engine.config import load_preset
from rfview.engine.tools.mapping import SPREAD

if TYPE_CHECKING:
    from rfview.engine.launch import LaunchSpec
    from rfview.engine.program import Module
    from rfview.engine.progress import Progress

NO_SHIFT_TIME = {"racetrack.shift_cycles": 0}
PLAIN_TAPES = {"racetrack.preshift": 0, "racetrack.mapping": "identity"}
IDEAL_L1 = {"memory.l1_enabled": 2, "memory.fixed_memory_cycles": 0}      # every load hits; stores are unchanged


@dataclass(frozen=True)
class Point:
    """One number of CTAs per SM and the IPC of its three runs."""

    ctas: int
    cache_ipc: float
    ideal_ipc: float
    racetrack_ipc: float

    @property
    def ipc(self) -> float:
        """Return P(N), equation (2)."""
        return self.cache_ipc - (self.ideal_ipc - self.racetrack_ipc)


def best(points: Sequence[Point]) -> Point:
    """Return the point with the highest P(N); of several, the one with the fewest CTAs."""
    return max(points, key=lambda point: (point.ipc, -point.ctas))


def curve(
    spec: LaunchSpec,
    *,
    design: str = "racetrack",
    scheduler: str = "lrr",
    preset: str = defaults.PRESET,
    settings: Mapping[str, Any] | None = None,
    max_cycles: int = defaults.MAX_CYCLES,
    progress: Progress | None = None,
    module: Module | None = None,
) -> list[Point]:
    """Profile N = 1 .. the number of CTAs that fit (of the largest launch); return a point for each. Raises KernelFault."""
    from rfview.engine.simulator import Simulator      # imports numba, which drawing the curve does not need

    given = dict(settings or {})
    say = progress or (lambda fraction, text: None)

    layout = str(given.get("racetrack.mapping", ""))
    plain = {**PLAIN_TAPES, **({"racetrack.mapping": layout} if layout.startswith(SPREAD) else {})}

    def machine(ctas: int, *changes: Mapping[str, Any]) -> Simulator:
        merged = {**given, "sm.max_ctas": ctas}
        for change in changes:
            merged |= change
        return Simulator(spec, design=design, scheduler=scheduler, preset=preset, settings=merged, max_cycles=max_cycles,
                         progress=progress, module=module)

    def ipc(ctas: int, *changes: Mapping[str, Any]) -> float:
        simulator = machine(ctas, *changes)
        simulator.run()
        return simulator.counts()["instructions"] / max(simulator.cycle, 1)

    most = int(given.get("sm.max_ctas", load_preset(preset)["sm.max_ctas"]))
    most = max(placed.resident_ctas for placed in machine(most).placement.launches)
    points = []
    for ctas in range(1, most + 1):
        say((ctas - 1) / most, f"{ctas} of {most} CTAs per SM")
        points.append(Point(ctas, ipc(ctas, NO_SHIFT_TIME), ipc(ctas, NO_SHIFT_TIME, IDEAL_L1),
                            ipc(ctas, plain, IDEAL_L1)))
    return points
