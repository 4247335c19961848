"""Finds whether mutants of ptxas's code that matter are found: stall counts cut short, waits left out, reuse bits across writes.

Usage: python -m tests.hazard_mutants [--kernels gemm,..] [--count 200] [--seed 0] [--json]

A mutant matters if memory at the end of its run on the sub-core (preset ampere, sm_80) is not that of ptxas's own code, with one CTA. Prints
how many matter, were found on all paths (engine/hazards/flow) and were seen reading a wrong value while running
(engine/hazards/watch). Exit code 1 if one that matters is not found, or ptxas's own code has a hazard.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np

from rfview.engine import kernels, modules
from rfview.engine.compilation import Compilation
from rfview.engine.errors import RfviewError
from rfview.engine.hazards.effects import effects_of
from rfview.engine.hazards.flow import hazards_of
from rfview.engine.hazards.watch import Sighting, Watch
from rfview.engine.launch import LaunchSpec, load_launch_file
from rfview.engine.program import Kernel, Module
from tests.sass_kernels import memory_of
from rfview.engine.simulator import Simulator

KERNELS = "gemm,scalarprod,histo_main,pathfinder,vectoradd,sorting_networks,spmv,nw,gesummv,hotspot"
MAX_CYCLES = 50_000
LONGER = 2          # times the cycles of ptxas's own code, after which a mutant is stopped: it differs


def mutations(kernel: Kernel) -> Iterator[tuple[str, int, int]]:
    """Yield (kind, pc, new control code) of every mutation of a kernel."""
    effects = effects_of(kernel, kernel.architecture)
    for pc, (inst, own) in enumerate(zip(kernel.insts, effects, strict=True)):
        control = int(inst["control"])
        if control & 15 > 1:
            yield "stall", pc, control - 1
        for counter in range(6):
            if control >> 11 & 1 << counter:
                yield "wait", pc, control & ~(1 << 11 + counter)
        for operand, register, stays in own.reuse:
            if not stays and across_a_write(effects[pc : pc + 12], operand, register):
                yield "reuse", pc, control | 1 << 17 + operand


def across_a_write(following: list, operand: int, register: int) -> bool:
    """Return whether the next reader of an operand's place in the reuse cache finds the register written since."""
    written = register in following[0].writes
    for own in following[1:]:
        at_place = [reg for place, reg, _ in own.reuse if place == operand and reg & 1 == register & 1]
        if at_place or own.is_control:
            return register in at_place and written
        written = written or register in own.writes
    return False


def one_cta(spec: LaunchSpec) -> LaunchSpec:
    """Return a launch file's first launch with one CTA, so that a mutant takes a second."""
    return replace(spec, launches=(replace(spec.launches[0], grid=(1, 1, 1)),))


def run(spec: LaunchSpec, module: Module, max_cycles: int = MAX_CYCLES) -> tuple[Mapping[str, bytes] | str, int]:
    """Return memory at the end, or how the run failed, and the cycles."""
    simulator = Simulator(spec, design="sram", preset="ampere", module=module, max_cycles=max_cycles)
    try:
        simulator.run()
    except RfviewError as problem:
        return str(problem), simulator.cycle
    return memory_of(simulator), simulator.cycle


def watched(spec: LaunchSpec, module: Module, max_cycles: int) -> list[Sighting]:
    """Return what is seen of hazards, cycle by cycle, which takes ten times as long."""
    watch = Watch(Simulator(spec, design="sram", preset="ampere", module=module, max_cycles=max_cycles))
    with suppress(RfviewError):
        watch.run()
    return list(watch.seen.values())


def mutated(module: Module, kernel: Kernel, pc: int, control: int) -> tuple[Module, Kernel]:
    """Return a module and its kernel with another control code."""
    insts = kernel.insts.copy()
    insts["control"][pc] = control
    mutant = replace(kernel, insts=insts)
    return replace(module, kernels={**{name: module.kernels[name] for name in module.kernels}, kernel.name: mutant}), mutant


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", default=KERNELS)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    names, chance = args.kernels.split(","), random.Random(args.seed)
    table = {kind: dict.fromkeys(("mutants", "matter", "found", "found_matter", "wrong_value"), 0) for kind in ("stall", "wait", "reuse")}
    missed: list[str] = []
    for number, name in enumerate(names):
        spec = one_cta(load_launch_file(kernels.path(name)))
        module = modules.load_module(spec.module_path, how=Compilation(isa="sm_80"))
        own, cycles = run(spec, module)
        if cycles >= MAX_CYCLES:
            parser.error(f"{name}: one CTA takes more than {MAX_CYCLES:,} cycles: choose another kernel")
        seen = watched(spec, module, MAX_CYCLES)
        if seen or any(hazards_of(module.kernels[launch.kernel]) for launch in spec.launches):
            missed.append(f"{name}: ptxas's own code: {seen[:2]}")
        kernel = module.kernels[spec.launches[0].kernel]
        every = list(mutations(kernel))
        by_kind = {kind: [one for one in every if one[0] == kind] for kind in table}
        share = args.count * (number + 1) // len(names) - args.count * number // len(names)
        chosen = [chance.choice(by_kind[kind]) for at in range(share)
                  for kind in [list(table)[at % 3] if by_kind[list(table)[at % 3]] else "stall"]]
        for kind, pc, control in chosen:
            module_of_mutant, mutant = mutated(module, kernel, pc, control)
            found, (memory, _) = bool(hazards_of(mutant)), run(spec, module_of_mutant, LONGER * cycles)
            row, matters = table[kind], memory != own
            seen = watched(spec, module_of_mutant, LONGER * cycles) if matters else []
            row["mutants"] += 1
            row["matter"] += matters
            row["found"] += found
            row["found_matter"] += matters and found
            row["wrong_value"] += matters and any(one.lane >= 0 for one in seen)
            if matters and not found:
                missed.append(f"{name}: {kind} {16 * pc:04x} {kernel.texts[pc]}: {seen[:1]}")
        print(f"{name}: {len(chosen)} of {len(every)} mutants; so far {table}", file=sys.stderr, flush=True)
    print(json.dumps(table) if args.json else "\n".join(f"{kind:6} {row}" for kind, row in table.items()))
    for text in missed:
        print(text, file=sys.stderr)
    return int(bool(missed))


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main())
