"""Long runs: whatever the clock and the age of the launch, the machine and every design do the same, past 2^32 cycles too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rfview.engine import kernels
from rfview.engine.launch import load_launch_file
from rfview.engine.plugin.registry import BUILT_IN
from rfview.engine.simulator import Simulator
from rfview.engine.state import SM

WRAPS = 1 << 32
CYCLES = 6000


def run(design: str, clock: int = 0, age: int = 0, settings: dict[str, Any] | None = None) -> tuple[Any, ...]:
    """Run some cycles of hotspot from a clock on, as if the launch were `age` cycles old; return counts, rows, state."""
    simulator = Simulator(load_launch_file(kernels.path("hotspot")), design=design, settings=settings or {},
                          max_cycles=1 << 62)
    simulator.sm.cycle += clock
    simulator.step(1)
    simulator.sm.launch.start_cycle -= age
    if design == "edram":       # of its records, those that count the launch's cycles
        simulator.rf.restored += age
        simulator.rf.turns += age // 512 * 64
    simulator.step(CYCLES)
    states = simulator.sm["warp"]["state"]
    return simulator.cycle - clock, simulator.counts(), simulator.snapshot().rows.tobytes(), states.tolist()


@pytest.mark.parametrize("design", BUILT_IN)
def test_a_clock_that_passes_32_bits_changes_nothing(design: str) -> None:
    expected = run(design)
    for begin in ((WRAPS >> 1) - 2048, WRAPS - 2048, (WRAPS << 8) - 2048):
        assert run(design, clock=begin) == expected, begin


@pytest.mark.parametrize("settings", [
    {"edram.error_mode": "certain", "edram.m": 4}, {"edram.never_refresh_low": 1}, {"edram.postpone": 100},
])
def test_refreshes_and_losses_do_not_depend_on_how_old_a_launch_is(settings: dict[str, Any]) -> None:
    expected = run("edram", age=1 << 30, settings=settings)
    assert expected[1]["bits_lost"] > 0 or "edram.postpone" in settings
    for age in (WRAPS >> 1, WRAPS - 8192, WRAPS, WRAPS << 1):
        assert run("edram", age=age, settings=settings) == expected, age


def test_every_field_of_the_machine_and_of_a_design_that_is_a_cycle_has_64_bits() -> None:
    seen = []
    for design in BUILT_IN:
        simulator = Simulator(load_launch_file(kernels.path("vectoradd")), design=design)
        for dtype in (SM, simulator.rf.dtype):
            seen += [(design, *found) for found in cycles_of(dtype)]
    assert len({name for _, name, _ in seen}) > 20
    assert [entry for entry in seen if entry[2] != 8] == []


def cycles_of(dtype: np.dtype[Any], path: str = "") -> list[tuple[str, int]]:
    """Return the path and bytes of every field whose name says that it is a cycle; durations are plural: latency_cycles."""
    found = []
    for name in dtype.names or ():
        inner = dtype.fields[name][0].base      # type: ignore[index]
        if inner.names:
            found += cycles_of(inner, f"{path}{name}.")
        elif name == "cycle" or name.endswith("_cycle") and not name.endswith(("_per_cycle", "_in_cycle")):
            found.append((path + name, inner.itemsize))
    return found
