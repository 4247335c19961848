"""Runs the bundled kernels as machine code and compares memory with that of their PTX, byte for byte.

Usage: python -m tests.sass_kernels [--isa sm_75,sm_80,..] [--kernels nw,gemm,..] [--core PRESET [--designs 'sram;stt;..']] [--json]

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
from rfview.engine.simulator import Simulator

ISAS = ("sm_75", "sm_80", "sm_86", "sm_90", "sm_120")
KINDS = ("equal", "within", "outside", "refused")
MAX_CYCLES = 30_000_000


def memory_of(simulator: FunctionalSimulator | Simulator) -> dict[str, bytes]:
    """Return the bytes of every buffer and variable."""
    return {name: np.ascontiguousarray(array).tobytes() for name, array in
            {**simulator.symbols(), **simulator.buffers()}.items()}


def finished(spec: LaunchSpec, isa: str, preset: str = "", design: str = "sram") -> FunctionalSimulator | Simulator:
    """Return the simulator of a launch that has run to its end: of its values, or cycle by cycle on a preset's sub-core."""
    if preset:
        cycles = Simulator(spec, design=design, preset=preset, settings={"kernel.isa": isa})
        while not cycles.finished and cycles.cycle < MAX_CYCLES:
            cycles.step(100_000)
        return cycles
    simulator = FunctionalSimulator(spec, settings={"kernel.isa": isa}, max_cycles=MAX_CYCLES)
    simulator.run()
    return simulator


def compared(spec: LaunchSpec, isa: str, wanted: Mapping[str, bytes], preset: str = "", design: str = "sram",
             ) -> tuple[str, str, int]:
    """Return (kind, what differs or why it is refused, static instructions) of a kernel for an architecture."""
    try:
        simulator = finished(spec, isa, preset, design)
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
    parser.add_argument("--core", default="", metavar="PRESET", help="cycle by cycle on the sub-core of a preset")
    parser.add_argument("--designs", default="sram", metavar="A;B;..", help="with --core")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    designs = args.designs.split(";") if args.core else [""]
    columns = [(isa, design) for isa in args.isa.split(",") for design in designs]
    rows = {column: {**dict.fromkeys(KINDS, 0), "instructions": 0, "cpu_s": 0.0} for column in columns}
    names = args.kernels.split(",")
    for name in names:
        spec = load_launch_file(kernels.path(name))
        wanted = memory_of(finished(spec, "ptx"))
        for isa, design in columns:
            row, began = rows[isa, design], time.process_time()
            kind, said, count = compared(spec, isa, wanted, args.core, design)
            row[kind] += 1
            row["instructions"] += count
            row["cpu_s"] += time.process_time() - began
            if said:
                print(f"{isa} {design} {name}: {kind}: {said[:300]}", file=sys.stderr, flush=True)
    if args.json:
        print(json.dumps({" ".join(filter(None, column)): row for column, row in rows.items()}))
    else:
        print(f"{len(names)} kernels".ljust(16) + "".join((design or isa).rjust(24) for isa, design in columns))
        for kind in (*KINDS, "instructions", "cpu_s"):
            print(kind.ljust(16) + "".join(f"{row[kind]:>24,.0f}" for row in rows.values()))
    return int(any(row["outside"] or row["refused"] for row in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
