"""Compiles the corpus and writes inputs, expected results and the launch files of further variants; for developers only.

Usage: python -m tests.corpus.make [CASE ...], with nvcc and ptxas on PATH. Triton and numba-cuda cases are compiled by
running their own source files in an environment that has those packages. The launch file of a case's first variant is
written by hand; those of the other variants differ from it only in the module.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType

import numpy as np

from rfview.engine import kernels
from rfview.engine.kernels.make import without_expectations
from rfview.engine.launch import LaunchSpec, load_launch_file
from rfview.engine.wording import known_words

FOLDER = Path(__file__).parent
FLAGS = {
    "sm75": ("-arch=compute_75", "-O3"),
    "sm80": ("-arch=compute_80", "-O3"),
    "sm100": ("-arch=compute_100", "-O3"),
    "sm120": ("-arch=compute_120", "-O3"),
    "fast": ("-arch=compute_75", "-O3", "-use_fast_math"),
    "debug": ("-arch=compute_75", "-G"),
    "lineinfo": ("-arch=compute_75", "-O3", "-lineinfo"),
}
CASES: dict[str, tuple[str, ...]] = {
    "async_barrier": ("sm80",),
    "atomics": ("sm75", "sm100"),
    "bit_ops": ("sm75", "sm100", "lineinfo"),
    "calls": ("sm75", "sm120", "debug"),
    "carry_chain": ("sm75", "sm100"),
    "clocks": ("sm75",),
    "constant_table": ("sm75", "sm100"),
    "conversions": ("sm75", "sm100"),
    "divergence": ("sm75", "sm100", "debug"),
    "dynamic_shared": ("sm75", "sm100"),
    "f32_library": ("sm75", "sm120"),
    "f64_math": ("sm75", "sm100"),
    "float_edges": ("sm75", "sm120"),
    "generic_pointers": ("sm75", "debug"),
    "grid_barrier": ("sm75", "sm100"),
    "grid_sync": ("sm75", "sm120", "debug"),
    "group_reduce": ("sm75", "sm120"),
    "half_floats": ("sm75", "sm100"),
    "indirect_calls": ("sm75", "sm120", "debug"),
    "int_division": ("sm75", "sm100"),
    "local_array": ("sm75", "sm120", "debug"),
    "named_barriers": ("sm75", "sm100"),
    "narrow_types": ("sm75", "sm120", "debug"),
    "newer_forms": ("sm100",),
    "numba_math": ("sm75",),
    "numba_stencil": ("sm75",),
    "printing": ("sm75", "sm100"),
    "recursion": ("sm75", "sm120", "debug"),
    "sfu_approx": ("sm75", "fast", "sm120"),
    "shuffles": ("sm75", "sm100", "fast"),
    "struct_params": ("sm75", "sm100"),
    "tensor_tiles": ("sm80",),
    "triton_add": ("sm75", "sm80"),
    "triton_matmul": ("sm75", "sm80"),
    "triton_softmax": ("sm75",),
    "two_kernels": ("sm75", "lineinfo"),
    "vector_access": ("sm75", "sm100", "fast"),
    "votes": ("sm75", "sm100", "debug"),
    "wide_division": ("sm75", "debug"),
}


def reference_module(case: str) -> ModuleType:
    """Import reference.py of one case."""
    spec = importlib.util.spec_from_file_location(f"reference_of_{case}", FOLDER / case / "reference.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def expected(case: str, spec: LaunchSpec) -> dict[str, np.ndarray]:
    """Return what the reference computes from a launch file's buffers and symbols, by name."""
    memory = {**spec.buffers, **spec.symbols}
    with np.errstate(all="ignore"):
        return reference_module(case).reference({name: held.array for name, held in memory.items()})


def compile_case(case: str, variant: str) -> None:
    """Compile one variant in a folder inside the system's temporary one, since debug sections contain its path."""
    build = Path(tempfile.gettempdir()) / "corpus" / case
    build.mkdir(parents=True, exist_ok=True)
    shutil.copy(FOLDER / case / f"{case}.cu", build)
    name = f"{case}.{variant}.ptx"
    subprocess.run(["nvcc", "-ptx", "-std=c++17", *FLAGS[variant], "-o", name, f"{case}.cu"], cwd=build, check=True)
    text = (build / name).read_text().replace(f"{build}/", "")
    (FOLDER / case / name).write_text(text)


def make(case: str) -> None:
    """Compile one case, then write its inputs (if its reference has any), results and other launch files."""
    folder, first = FOLDER / case, CASES[case][0]
    if (folder / f"{case}.cu").is_file():
        for variant in CASES[case]:
            compile_case(case, variant)
    for key, array in getattr(reference_module(case), "inputs", dict)().items():
        np.save(folder / f"{key}.npy", array)
    bare = without_expectations(folder / f"{case}.{first}.toml")
    try:
        results = expected(case, load_launch_file(bare))
    finally:
        bare.unlink()
    for key, array in results.items():
        np.save(folder / f"{key}_expected.npy", array)
    text = (folder / f"{case}.{first}.toml").read_text()
    for variant in CASES[case][1:]:
        (folder / f"{case}.{variant}.toml").write_text(text.replace(f"{case}.{first}.ptx", f"{case}.{variant}.ptx"))


def ptxas_registers(ptx: Path) -> dict[str, int]:
    """Return the registers per thread that ptxas gives each kernel of a module; CalledProcessError if it refuses."""
    # numba-cuda's compiler may be newer than ptxas, which refuses nothing but the version.
    text = re.sub(r"^\.version 9\.[1-9]", ".version 9.0", ptx.read_text(), flags=re.MULTILINE)
    target = re.search(r"^\.target\s+(sm_\w+)(.*)", text, re.MULTILINE)
    assert target is not None
    options = ["-g"] if "debug" in target[2] else []
    done = subprocess.run(["ptxas", "-v", *options, f"-arch={target[1]}", "-", "-o", "/dev/null"], check=True,
                          input=text, capture_output=True, text=True)
    found: dict[str, int] = {}
    kernel = None
    for line in done.stderr.splitlines():
        if entry := re.search(r"Compiling entry function '([^']+)'", line):
            kernel = entry[1]
        elif (used := re.search(r"Used (\d+) registers", line)) and kernel:
            found[kernel], kernel = int(used[1]), None
    return found


def make_register_table() -> None:
    """Write ptxas_registers.json: {path from the repository root: {kernel: registers per thread}}."""
    root = FOLDER.parent.parent
    files = sorted([*kernels.FOLDER.glob("*/*.ptx"), *FOLDER.glob("*/*.ptx")])
    table = {}
    for ptx in files:
        if ptx.parent.name == "bad":
            continue
        try:
            table[str(ptx.relative_to(root))] = ptxas_registers(ptx)
        except subprocess.CalledProcessError as error:
            print(f"{ptx.name}: {error.stderr}", file=sys.stderr)
    (FOLDER / "ptxas_registers.json").write_text(json.dumps(table, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    for each in known_words(sys.argv[1:], CASES) or CASES:
        make(each)
    make_register_table()
