"""Compiles the bundled kernels with nvcc and regenerates inputs and expected results: for developers, after an edit.

Usage: python -m rfview.engine.kernels.make [--listings] [NAME ...]

--listings: make only the listings of machine code, NAME.sm_75.sass and so on, with ptxas and nvdisasm; not the PTX.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

from rfview.engine import kernels
from rfview.engine.launch import LaunchSpec, load_launch_file
from rfview.engine.sass.load import listing_of_ptx
from rfview.engine.wording import known_words

LISTED = (75, 80, 90)      # architectures whose machine code the bundled kernels have
NVCC = ("nvcc", "-ptx", "-arch=compute_75", "-O3", "-lineinfo")


def reference_module(name: str) -> ModuleType:
    """Import a kernel's reference.py; a NAME_double without one has NAME's, which computes in the buffers' type."""
    file = kernels.FOLDER / name / "reference.py"       # the folder's name may not be a Python identifier
    if not file.exists():
        file = kernels.FOLDER / name.removesuffix("_double") / "reference.py"
    spec = importlib.util.spec_from_file_location(f"reference_of_{name}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def expected(name: str, spec: LaunchSpec) -> dict[str, np.ndarray]:
    """Return the reference's results from a launch file's buffers and symbols, by name."""
    memory = {**spec.buffers, **spec.symbols}
    return reference_module(name).reference({key: held.array for key, held in memory.items()})


def compile_kernel(name: str) -> None:
    """Regenerate NAME.ptx; its .file names sources without folders, so that it is the same on every machine."""
    folder = kernels.FOLDER / name
    subprocess.run([*NVCC, "-o", f"{name}.ptx", f"{name}.cu"], cwd=folder, check=True)
    ptx = folder / f"{name}.ptx"
    ptx.write_text(re.sub(r'(\.file\s+\d+\s+)"[^"]*/', r'\1"', ptx.read_text()))


def make_listings(name: str) -> None:
    """Regenerate the listings of a kernel's PTX, beside it."""
    ptx = kernels.FOLDER / name / f"{name}.ptx"
    text = ptx.read_text(encoding="utf-8")
    for sm in LISTED:
        ptx.with_suffix(f".sm_{sm}.sass").write_text(listing_of_ptx(text, sm, ptx.name), encoding="utf-8")


def make(name: str) -> None:
    """Compile one kernel, then write its inputs (if its reference makes any) and expected results as .npy."""
    folder = kernels.FOLDER / name
    compile_kernel(name)
    for key, array in getattr(reference_module(name), "inputs", dict)().items():
        np.save(folder / f"{key}.npy", array)
    bare = without_expectations(folder / f"{name}.toml")
    try:
        results = expected(name, load_launch_file(bare))
    finally:
        bare.unlink()
    for key, array in results.items():
        np.save(folder / f"{key}_expected.npy", array)


def without_expectations(file: Path) -> Path:
    """Write a copy of a launch file up to its first [expect...], since those arrays may not exist yet."""
    bare = file.with_suffix(".bare.toml")
    bare.write_text(file.read_text().split("\n[expect.")[0] + "\n")
    return bare


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if word != "--listings"]
    for kernel in known_words(given, kernels.names()) or kernels.names():
        if "--listings" not in sys.argv:
            make(kernel)
        make_listings(kernel)
