"""Finds the bundled kernels: one folder each with CUDA C source, PTX, launch file, reference and expected results.

    make        compiles kernels with nvcc and regenerates inputs and expected results
    rounding    fused multiply-adds for the references
"""

from __future__ import annotations

import difflib
from pathlib import Path

from rfview.engine.launch import LaunchError

FOLDER = Path(__file__).parent
# a small but diverse set of programs, for runs under many machines
CORE = ("2dconv", "atax", "bfs", "binomial", "btree", "fwt", "gemm", "gemm_double", "histogram", "hotspot", "montecarlo",
        "mriq", "nw", "reduction", "scalarprod", "vectoradd")
SIZES = ("small", "full")


def names() -> tuple[str, ...]:
    """Return the names of the bundled kernels in alphabetical order."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*/*.toml") if file.stem == file.parent.name))


def path(name: str, size: str = "small") -> Path:
    """Return the launch file of a bundled kernel; raises LaunchError if there is no such kernel or size.

    size: "small" for a few thousand cycles, "full" for several waves of CTAs; some kernels have only one size.
    """
    known = names()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise LaunchError(f"{name}: no bundled kernel has this name; {hint}`rfview kernels` lists all {len(known)}")
    assert size in SIZES, size
    full = FOLDER / name / "full.toml"
    return full if size == "full" and full.exists() else FOLDER / name / f"{name}.toml"
