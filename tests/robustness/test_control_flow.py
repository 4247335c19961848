"""A few of the random kernels of control_flow.py; `python -m tests.robustness --only control_flow` tries thousands."""

from __future__ import annotations

import random

import pytest

from tests.robustness.control_flow import FUNCTIONAL, PACKED, cases
from tests.robustness.random_kernel import RandomKernel


@pytest.mark.parametrize("seed", [1, 2])
def test_random_kernels_leave_the_memory_of_the_reference_interpreter(seed: int) -> None:
    assert [case for case in cases(seed, 0, PACKED, (FUNCTIONAL, "sram")) if case[1] != "equal"] == []


def test_a_seed_gives_the_same_kernel_each_time() -> None:
    one, two, other = (RandomKernel("k", random.Random(seed)) for seed in ("1 5", "1 5", "1 6"))
    assert one.ptx(0) == two.ptx(0) and (one.data() == two.data()).all()
    assert one.ptx(0) != other.ptx(0)
