"""The checker's own suite: small kernels with one known defect each (NAME_bad), and correct twins (NAME_good)."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rfview.engine.launch import Arg, Buffer, Launch, LaunchSpec

FOLDER = Path(__file__).resolve().parent
WORDS = 4096


@dataclass(frozen=True)
class Case:
    """A pair of kernels: their module, name, kind of defect, CTAs and threads per CTA."""

    module: str
    name: str
    kind: str
    grid: int
    block: int


CASES = (
    Case("registers", "never", "unwritten-register", 1, 32),
    Case("registers", "one_branch", "unwritten-register", 1, 32),
    Case("registers", "first_trip", "unwritten-register", 1, 64),
    Case("registers", "predicate", "unwritten-register", 1, 32),
    Case("registers", "guards", "unwritten-register", 1, 32),
    Case("registers", "leader", "unwritten-register", 1, 32),
    Case("registers", "condition", "unwritten-register", 1, 32),
    Case("registers", "copied", "unwritten-register", 1, 32),
    Case("registers", "accumulator", "unwritten-register", 1, 32),
    Case("registers", "padding", "unwritten-register", 1, 32),
    Case("copies", "through_shared", "unwritten-register", 1, 32),
    Case("copies", "never_written", "unwritten-register", 1, 32),
    Case("copies", "through_local", "unwritten-register", 1, 32),
    Case("copies", "through_generic", "unwritten-register", 1, 32),
    Case("copies", "one_of_two", "unwritten-register", 1, 32),
    Case("copies", "wide", "unwritten-register", 1, 32),
    Case("copies", "one_byte", "unwritten-register", 1, 32),
    Case("copies", "twice", "unwritten-register", 1, 32),
    Case("copies", "neighbour", "unwritten-register", 1, 32),
    Case("copies", "as_address", "unwritten-register", 1, 32),
    Case("copies", "decides", "unwritten-register", 1, 32),
    Case("copies", "to_global", "unwritten-register", 1, 32),
    Case("copies", "overwritten", "unwritten-register", 1, 32),
    Case("copies", "counted", "unwritten-shared", 1, 32),
    Case("memory", "shared_never", "unwritten-shared", 2, 32),
    Case("memory", "shared_halo", "unwritten-shared", 1, 64),
    Case("memory", "shared_first_cta", "unwritten-shared", 3, 64),
    Case("memory", "shared_bytes", "unwritten-shared", 1, 32),
    Case("memory", "shared_half", "unwritten-shared", 1, 64),
    Case("memory", "shared_counter", "unwritten-shared", 1, 64),
    Case("memory", "local_never", "unwritten-local", 1, 32),
    Case("memory", "local_last", "unwritten-local", 1, 32),
    Case("memory", "local_bytes", "unwritten-local", 1, 32),
    Case("memory", "global_never", "unwritten-global", 1, 32),
    Case("memory", "global_counter", "unwritten-global", 1, 32),
    Case("memory", "global_half", "unwritten-global", 1, 64),
    Case("memory", "heap_never", "unwritten-global", 1, 32),
    Case("shared", "read_after_write", "race-shared", 1, 64),
    Case("shared", "write_after_read", "race-shared", 1, 64),
    Case("shared", "write_write", "race-shared", 1, 32),
    Case("shared", "one_warp", "race-shared", 1, 32),
    Case("shared", "part_of_warp", "race-shared", 1, 32),
    Case("shared", "counter", "race-shared", 1, 64),
    Case("shared", "loop", "race-shared", 1, 64),
    Case("shared", "named_barrier", "race-shared", 1, 128),
    Case("shared", "bytes", "race-shared", 1, 64),
    Case("shared", "arrive_early", "race-shared", 1, 64),
    Case("shared", "object", "race-shared", 1, 64),
    Case("global", "write_write", "race-global", 2, 64),
    Case("global", "two_ctas", "race-global", 2, 32),
    Case("global", "counter", "race-global", 3, 32),
    Case("global", "one_cta", "race-global", 1, 64),
    Case("global", "last_block", "race-global", 4, 64),
    Case("global", "lock", "race-global", 4, 32),
    Case("global", "flag_scope", "race-global", 2, 32),
    Case("global", "flag_relaxed", "race-global", 2, 32),
    Case("global", "atomic_and_store", "race-global", 2, 32),
    Case("global", "wide_exchange", "race-global", 2, 32),
    Case("barriers", "ended", "barrier-exited", 1, 64),
    Case("barriers", "divergent", "barrier-part", 1, 64),
    Case("barriers", "behind_a_lock", "barrier-part", 1, 128),
    Case("barriers", "other_number", "fault", 1, 64),
    Case("barriers", "too_many", "fault", 1, 64),
    Case("barriers", "guarded", "barrier-part", 1, 32),
    Case("lanes", "inactive", "inactive-lane", 1, 32),
    Case("lanes", "left_out", "mask-without-lane", 1, 32),
    Case("lanes", "absent", "fault", 1, 32),
    Case("lanes", "masks_differ", "masks-differ", 1, 32),
    Case("lanes", "vote", "mask-without-lane", 1, 32),
    Case("lanes", "warp_barrier", "mask-without-lane", 1, 32),
    Case("lanes", "beyond_the_block", "inactive-lane", 1, 20),
    Case("lanes", "match", "mask-without-lane", 1, 32),
    Case("lanes", "redux", "fault", 1, 32),
)


def spec_of(case: Case, twin: str) -> LaunchSpec:
    """Return the launch of a case's kernel. twin: bad or good."""
    return _spec_of(case, f"{case.name}_{twin}")


def _spec_of(case: Case, *kernels: str) -> LaunchSpec:
    """Return launches of kernels. Buffers: out is zeros, data 0, 1, 2 ..., raw undefined."""
    buffers = {
        "out": Buffer("out", np.zeros(WORDS, np.uint32)), "data": Buffer("data", np.arange(WORDS, dtype=np.uint32)),
        "raw": Buffer("raw", np.zeros(WORDS, np.uint32), undefined=True),
    }
    args = tuple(Arg("buffer", name=name) for name in buffers)
    launches = tuple(Launch(name, (case.grid, 1, 1), (case.block, 1, 1), 0, args) for name in kernels)
    path = FOLDER / f"{case.module}.ptx"
    return LaunchSpec(path, case.name, path, launches, buffers, {}, {}, False, "rmse", "", None)


def marked_lines(case: Case, twin: str) -> set[int]:
    """Return the line numbers of a case's kernel that are marked "here" in the PTX."""
    lines = (FOLDER / f"{case.module}.ptx").read_text().splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith(f".visible .entry {case.name}_{twin}("))
    end = next(number for number in range(begin, len(lines)) if lines[number] == "}")
    return {number + 1 for number in range(begin, end) if lines[number].endswith("// here")}


def main(by_values: bool) -> int:
    """Check every kernel in this process, started only for that, and print the findings as one JSON object."""
    from rfview.engine.check.functional import CheckedFunctionalSimulator
    from rfview.engine.check.machine import CheckedSimulator, run
    from rfview.engine.ptx import load_module

    kind = CheckedFunctionalSimulator if by_values else CheckedSimulator

    modules = {name: load_module(FOLDER / f"{name}.ptx") for name in dict.fromkeys(case.module for case in CASES)}
    found = {}
    for case in CASES:
        for twin in ("bad", "good"):
            simulator = kind(spec_of(case, twin), module=modules[case.module], max_cycles=200_000)
            found[f"{case.module}.{case.name}_{twin}"] = run(simulator).as_dict()
    spec = _spec_of(Case("copies", "launches", "unwritten-global", 1, 32), "write_raw", "read_raw")
    found["two launches"] = run(kind(spec, module=modules["copies"])).as_dict()
    json.dump(found, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main("values" in sys.argv[1:]))
