"""Runs a PTX kernel k(in, out) with one warp over given words, for tests of single instructions."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rfview.engine.errors import KernelFault
from rfview.engine.functional.machine import FunctionalSimulator
from rfview.engine.launch import LaunchSpec, load_launch_file
from rfview.engine.program import Module
from rfview.engine.ptx import load_module
from rfview.engine.simulator import Simulator
from tests.reference.interpreter import run_launches

LAUNCH = """
[[launch]]
grid = [1]
block = [32]
args = [{{buffer = "in"}}, {{buffer = "out"}}]
[buffers.in]
file = "in.npy"
[buffers.out]
shape = [32, {columns}]
dtype = "uint32"
zeros = true
"""


def run_one_warp(folder: Path, ptx: str, words: np.ndarray, columns: int) -> np.ndarray:
    """Return the (32, columns) u4 words that the kernel stores in `out`; the functional mode must give the same.

    Raises KernelFault, as the functional mode must, too.
    """
    (folder / "k.ptx").write_text(ptx)
    (folder / "k.toml").write_text(LAUNCH.format(columns=columns))
    np.save(folder / "in.npy", words)
    spec = load_launch_file(folder / "k.toml")
    module = load_module(spec.module_path)
    found, values = (outcome(kind, spec, module) for kind in (Simulator, FunctionalSimulator))
    if isinstance(found, KernelFault):
        assert isinstance(values, KernelFault) and values.args[0].split(", lane")[0] == found.args[0].split(", lane")[0]
        assert (values.pc, values.warp, values.lane) == (found.pc, found.warp, found.lane)
        raise found
    assert not isinstance(values, KernelFault)
    np.testing.assert_array_equal(found, values)
    return found


def outcome(kind: type[Simulator], spec: LaunchSpec, module: Module) -> np.ndarray | KernelFault:
    """Return what a run leaves in `out`, or the fault that ends it."""
    simulator = kind(spec, module=module)
    try:
        simulator.run()
    except KernelFault as fault:
        return fault
    return simulator.buffers()["out"]


def run_on_both(folder: Path, ptx: str, words: np.ndarray, columns: int) -> np.ndarray:
    """Do what `run_one_warp` does, after which the reference interpreter must leave the same words in `out`."""
    found = run_one_warp(folder, ptx, words, columns)
    spec = load_launch_file(folder / "k.toml")
    np.testing.assert_array_equal(run_launches(spec, load_module(spec.module_path))["out"], found)
    return found
