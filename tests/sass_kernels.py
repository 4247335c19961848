"""Runs the bundled kernels as machine code and compares memory with that of their PTX, byte for byte.

Usage: python -m tests.sass_kernels [--isa sm_75,sm_80,..] [--kernels nw,gemm,..] [--json]

Prints a table: kernels whose every buffer is equal, within the launch file's tolerance, outside of it, refused. Architectures
without listings (sm_86, sm_120) take ptxas and nvdisasm. Exit code 1 if one is outside of its tolerance or refused.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping

import numpy as np

from rfview.engine import kernels
from rfview.engine.errors import RfviewError
from rfview.engine.functional.machine import FunctionalSimulator
from rfview.engine.launch import LaunchSpec, load_launch_file

ISAS = ("sm_75", "sm_80", "sm_86", "sm_90", "sm_120")
KINDS = ("equal", "within", "outside", "refused")
MAX_CYCLES = 30_000_000


def memory_of(simulator: FunctionalSimulator) -> dict[str, bytes]:
    """Return the bytes of every buffer and variable."""
    return {name: np.ascontiguousarray(array).tobytes() for name, array in
            {**simulator.symbols(), **simulator.buffers()}.items()}


def finished(spec: LaunchSpec, isa: str) -> FunctionalSimulator:
    """Return the simulator of a launch that has run to its end."""
    simulator = FunctionalSimulator(spec, settings={"kernel.isa": isa}, max_cycles=MAX_CYCLES)
    simulator.run()
    return simulator


def compared(spec: LaunchSpec, isa: str, wanted: Mapping[str, bytes]) -> tuple[str, str, int]:
    """Return (kind, what differs or why it is refused, static instructions) of a kernel for an architecture."""
    try:
        simulator = finished(spec, isa)
    except RfviewError as problem:
        return "refused", str(problem), 0
    got = memory_of(simulator)
    count = len(simulator.insts)
    differing = [name for name in got if name in wanted and got[name] != wanted[name]]
    # ptxas leaves out variables that no kernel uses; a buffer is never missing
    missing = [name for name in spec.buffers if name not in got]
    if not differing and not missing:
        return "equal", "", count
    verified, mismatches = simulator.verify()
    return "within" if verified and not missing else "outside", f"{differing + missing}: {mismatches[:1]}", count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--isa", default=",".join(ISAS))
    parser.add_argument("--kernels", default=",".join(kernels.names()))
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    isas, names = args.isa.split(","), args.kernels.split(",")
    rows = {isa: {**dict.fromkeys(KINDS, 0), "instructions": 0, "cpu_s": 0.0} for isa in isas}
    for name in names:
        spec = load_launch_file(kernels.path(name))
        wanted = memory_of(finished(spec, "ptx"))
        for isa in isas:
            began = time.process_time()
            kind, said, count = compared(spec, isa, wanted)
            rows[isa][kind] += 1
            rows[isa]["instructions"] += count
            rows[isa]["cpu_s"] += time.process_time() - began
            if said:
                print(f"{isa} {name}: {kind}: {said[:300]}", file=sys.stderr, flush=True)
    if args.json:
        print(json.dumps(rows))
    else:
        print(f"{len(names)} kernels".ljust(16) + "".join(isa.rjust(10) for isa in isas))
        for kind in (*KINDS, "instructions", "cpu_s"):
            print(kind.ljust(16) + "".join(f"{rows[isa][kind]:>10,.0f}" for isa in isas))
    return int(any(row["outside"] or row["refused"] for row in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
