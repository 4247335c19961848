"""Checks that every stalled warp's chain ends in a named resource, with a relief that the machine takes.

    python -m tests.why_everywhere [--kernels gemm,nw] [--designs hrf,rfc] [--preset ampere] [--cycles 40] [--seed 1]

For each kernel (all bundled ones) and design, under the paper's scheduler and another one that changes from kernel to kernel, cycles are
sampled evenly over the run (its first MAX_CYCLES); in each, one warp of every stall state present is examined.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from rfview.sessions.why import why
from rfview.sessions.why.links import Chain
from rfview.engine import defaults, plugin as designs, kernels
from rfview.engine.config import load_preset
from rfview.engine.errors import InputError
from rfview.engine.plugin import BUILT_IN
from rfview.engine.machine.schedulers import SCHEDULERS
from tests.why_counterfactual import IDLE, run

DESIGNS = (*BUILT_IN, "stt[stall=bank]")


@dataclass
class Findings:
    """The chains of a run's sampled warps: counts by state and by resource, and the text of each incomplete one."""

    states: Counter[str] = field(default_factory=Counter)
    resources: Counter[str] = field(default_factory=Counter)
    lacking: list[str] = field(default_factory=list)


def examine(kernel: str, design: str, scheduler: str, cycles: int, seed: int | str,
            preset: str = defaults.PRESET) -> Findings:
    """Compute the chains of stalled warps of one run."""
    session = run(kernel, design, scheduler, preset=preset)
    timeline = session.timeline
    rng = random.Random(f"{kernel} {design} {seed}")
    names = {int(entry.code): entry.name for entry in session.info.stalls}
    found = Findings()
    for cycle in rng.sample(range(1, timeline.last), min(cycles, timeline.last - 1)):
        states = timeline.states(cycle, cycle + 1)[0]
        for code in np.unique(states):
            name = names[int(code)]
            if name in IDLE:
                continue
            warp = rng.choice(np.flatnonzero(states == code).tolist())
            chain = why(session, warp, cycle)
            found.states[name] += 1
            if chain.resource is None or not chain.resource.name or len(chain.links) < 2 or chain.state != name:
                found.lacking.append(f"{kernel} {design} {scheduler}: w{warp} at {cycle}, {name}\n{chain.text()}")
            else:
                found.resources[chain.resource.name.split(":")[0]] += 1
                found.lacking += [f"{kernel} {design}: w{warp} at {cycle}: {slip}" for slip in refused(preset, chain)]
    return found


def refused(preset: str, chain: Chain) -> list[str]:
    """Return what the machine says against the settings that a chain proposes, [] if it takes them."""
    machine, slips = load_preset(preset), []
    for name, value in chain.resource.relief.items() if chain.resource is not None else ():
        if name.partition(".")[0] in machine.sections:
            try:
                machine.with_setting(name, value)
            except InputError as error:
                slips.append(str(error))
    return slips


def schedulers(number: int, design: str, preset: str) -> tuple[str, ...]:
    """Return the scheduler of the design's paper, and another one that depends on the kernel's number; a sub-core has one."""
    if load_preset(preset).core == "subcore":
        return (defaults.SCHEDULER,)
    paper = designs.design(designs.parse_variant(design)[0]).paper_scheduler
    others = [name for name in SCHEDULERS if name != paper]
    return paper, others[number % len(others)]


def main() -> int:
    """Examine the requested kernels and designs; print a line for each run; return 1 if a chain is incomplete."""
    parser = argparse.ArgumentParser(prog="python -m tests.why_everywhere", description=__doc__)
    parser.add_argument("--kernels", default=",".join(kernels.CORE))
    parser.add_argument("--designs", default=",".join(DESIGNS))
    parser.add_argument("--preset", default=defaults.PRESET)
    parser.add_argument("--cycles", type=int, default=40, help="sampled cycles of each run")
    parser.add_argument("--seed", default="1")
    args = parser.parse_args()
    states: Counter[str] = Counter()
    lacking: list[str] = []
    for number, kernel in enumerate(args.kernels.split(",")):
        for design in args.designs.split(","):
            for scheduler in schedulers(number, design, args.preset):
                found = examine(kernel, design, scheduler, args.cycles, args.seed, args.preset)
                states += found.states
                lacking += found.lacking
                print(f"{kernel:<12} {design:<16} {scheduler:<16} {sum(found.states.values()):5} chains, "
                      f"{len(found.lacking)} lacking", flush=True)
    print("\n".join(lacking))
    print(f"{sum(states.values()):,} chains of {len(states)} states, {len(lacking)} without a named resource")
    print(", ".join(f"{name} {count}" for name, count in states.most_common()))
    return 1 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
