"""Runs a PTX kernel k(in, out) with one warp over given words, for tests of single instructions."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rfview.engine.launch import load_launch_file
from rfview.engine.simulator import Simulator

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
    """Return the (32, columns) u4 words that the kernel stores in `out`."""
    (folder / "k.ptx").write_text(ptx)
    (folder / "k.toml").write_text(LAUNCH.format(columns=columns))
    np.save(folder / "in.npy", words)
    simulator = Simulator(load_launch_file(folder / "k.toml"))
    simulator.run()
    return simulator.buffers()["out"]
