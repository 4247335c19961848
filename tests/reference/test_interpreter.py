"""The reference interpreter against the NumPy results of the bundled kernels and the corpus."""

from __future__ import annotations

import numpy as np
import pytest

from rfview.engine.launch import load_launch_file, verify
from rfview.engine.program import INST
from rfview.engine.ptx import forms, load_module
from tests.reference.cases import CASES, CORPUS, SHORT, reference_run
from tests.reference.interpreter import TOGETHER, run_launches
from tests.reference.memory import Fault
from tests.ptx_forms import opcodes
from tests.reference.operations import operation

QUICK = ("hotspot", "histogram")


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in SHORT
])
def test_bundled_kernels_give_what_numpy_gives(name: str) -> None:
    spec, memory = reference_run(name)
    assert not [str(miss) for miss in verify(spec, memory)]


@pytest.mark.parametrize("name", CASES)
def test_corpus_kernels_give_what_numpy_gives(name: str) -> None:
    spec, memory = reference_run(name)
    assert not [str(miss) for miss in verify(spec, memory)]


def test_every_opcode_that_the_table_can_give_has_a_meaning_here() -> None:
    for example in (opcode for base in forms.BASES for opcode in opcodes(base)):
        base, *modifiers = example.split(".")
        info = forms.lookup(base, tuple(modifiers))
        inst = np.zeros(1, INST)[0]
        inst["op"], inst["aux"], inst["flags"] = info.op, info.aux, info.flags
        assert operation(inst) is not None or info.op in TOGETHER, example


@pytest.mark.parametrize("name", [
    "assert_fails", "barrier_deadlock", "misaligned_access", "misaligned_vector", "null_read", "out_of_bounds_read",
    "out_of_bounds_write", "shared_out_of_bounds", "trap",
])
def test_kernels_that_misbehave_are_faults(name: str) -> None:
    spec = load_launch_file(CORPUS / "bad" / f"{name}.toml")
    with pytest.raises(Fault):
        run_launches(spec, load_module(spec.module_path))
