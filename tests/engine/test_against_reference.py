"""The machine against the reference interpreter: the same memory, bit for bit, unless approximate functions are used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rfview.engine import isa
from rfview.engine.launch import LaunchSpec, load_launch_file, verify
from rfview.engine.ptx import load_module
from tests.reference.cases import CASES, SHORT, path_of, reference_run

pytest.importorskip("rfview.engine.simulator", reason="the machine is not there yet", exc_type=ImportError)
# Float atomics round differently in another order; clocks depend on timing.
ORDER_DEPENDENT = {"clocks"}
QUICK = ("hotspot", "histogram")
# Cases of different kinds that end within a few hundred to two thousand cycles: these run without JIT too.
SMALL = ("carry_chain", "generic_pointers", "half_floats", "named_barriers", "printing", "struct_params", "votes")


def is_approximate(name: str) -> bool:
    """Say whether a case uses approximate functions, whose last bits may differ between implementations."""
    module = load_module(load_launch_file(path_of(name)).module_path)
    return any((kernel.insts["op"] == isa.OP_SFU).any() for kernel in module.kernels.values())


def differences(name: str, design: str, scheduler: str) -> list[str]:
    """Run a case on the machine and by values only; return the buffers and symbols that differ from the reference's."""
    from rfview.engine.functional.machine import FunctionalSimulator
    from rfview.engine.simulator import Simulator

    spec, want = reference_run(name)
    simulator = Simulator(spec, design=design, scheduler=scheduler)
    values = FunctionalSimulator(spec, module=simulator.module)
    return [miss for one in (simulator, values) for miss in differences_of(one, name, spec, want)]


def differences_of(simulator: Any, name: str, spec: LaunchSpec, want: dict[str, np.ndarray]) -> list[str]:
    """Run a case; return what differs from the reference interpreter's memory `want`."""
    simulator.run()
    got = {**simulator.buffers(), **simulator.symbols()}
    if spec.order_dependent or name.split(".")[0] in ORDER_DEPENDENT or is_approximate(name):
        return [str(miss) for miss in verify(spec, got)]
    found = []
    for key, array in want.items():
        mine = np.ascontiguousarray(got[key]).reshape(-1).view("u1")
        different = np.flatnonzero(mine != np.ascontiguousarray(array).reshape(-1).view("u1"))
        if different.size:
            found.append(f"{type(simulator).__name__}: {key}: {different.size} bytes differ, first at {different[0]}")
    return found


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in SHORT
])
def test_bundled_kernels_leave_the_reference_interpreters_memory(name: str) -> None:
    assert differences(name, "sram", "gto") == []


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.nojit if name in {f"{case}.sm75" for case in SMALL} else ())
    for name in CASES
])
def test_corpus_kernels_leave_the_reference_interpreters_memory(name: str) -> None:
    assert differences(name, "sram", "gto") == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if name.endswith(".sm75")])
def test_a_slow_register_file_changes_no_result(name: str) -> None:
    assert differences(name, "stt", "lrr") == []
