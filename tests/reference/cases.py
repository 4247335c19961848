"""The launch files that the reference interpreter runs: the bundled kernels and the corpus, each loaded once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from rfview.engine import kernels
from rfview.engine.launch import LaunchSpec, load_launch_file
from rfview.engine.ptx import load_module
from tests.reference.interpreter import run_launches

CORPUS = Path(__file__).resolve().parent.parent / "corpus"
BUNDLED = kernels.CORE
CASES = tuple(sorted(path.stem for path in CORPUS.glob("*/*.toml") if path.parent.name != "bad"))
# Bundled kernels short enough for an interpreter that takes microseconds per thread and instruction.
SHORT = ("histogram", "hotspot", "reduction", "vectoradd")


def path_of(name: str) -> Path:
    """Return the launch file of a bundled kernel or corpus case."""
    return kernels.path(name) if name in BUNDLED else CORPUS / name.split(".")[0] / f"{name}.toml"


@cache
def reference_run(name: str) -> tuple[LaunchSpec, dict[str, np.ndarray]]:
    """Return a case's launch file and the memory after the reference interpreter's run, computed once per process."""
    spec = load_launch_file(path_of(name))
    return spec, run_launches(spec, load_module(spec.module_path))
