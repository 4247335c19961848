"""Runs random programs whose control codes cover every dependence on the sub-core, and reports the hazards seen: none.

Usage: python -m tests.hazard_programs [--count 10000] [--seed 0] [--seconds 600]

Sixteen programs share a machine, four on each sub-core. With --cut, every stall count above 1 is one less than is needed:
then hazards must be seen. Exit code 1 if what is seen is not what must be.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from dataclasses import replace

import numpy as np

from rfview.engine.hazards.watch import Watch
from tests.reference.subcore_compiler import FIXED, VARIABLE, Operation, covered
from tests.subcore_machine import SubcoreMachine
from tests.subcore_programs import Line

TOGETHER = 16


class Watched(SubcoreMachine):
    """A program on the sub-core with somebody who looks after each cycle."""

    watch: Watch | None = None

    def _note(self) -> None:
        super()._note()
        self.watch = self.watch or Watch(self.simulator)
        self.watch.look()


def operations(chance: random.Random) -> list[Operation]:
    """Return the instructions of a random program."""
    return [(chance.choice(FIXED + VARIABLE), chance.randrange(16), tuple(chance.randrange(16) for _ in range(3)))
            for _ in range(chance.randint(2, 14))]


def cut(program: list[Line]) -> list[Line]:
    """Return a program whose stall counts are one cycle too short."""
    return [replace(line, stall=max(1, line.stall - 1)) for line in program]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600.0, help="of processor time, after which no further machine begins")
    parser.add_argument("--cut", action="store_true")
    args = parser.parse_args()
    chance, ran, cycles, seen, unended = random.Random(args.seed), 0, 0, 0, 0
    while ran < args.count and time.process_time() < args.seconds:
        programs = [covered(operations(chance), "ga10x") for _ in range(min(TOGETHER, args.count - ran))]
        machine = Watched([cut(program) for program in programs] if args.cut else programs,
                          [number % 4 for number in range(len(programs))],
                          values={reg: float(reg) for reg in range(16)})
        assert machine.watch is not None
        unended += not machine.simulator.finished
        for one in machine.watch.seen.values():
            seen += 1
            if not args.cut:
                print(f"program {ran + one.warp}: {one}", file=sys.stderr)
        ran, cycles = ran + len(programs), cycles + machine.simulator.cycle
    print(f"{ran:,} random programs, {cycles:,} cycles: {seen} hazards seen, {unended} machines not ended, "
          f"{time.process_time():.0f} s of processor time")
    return int(bool(unended) or bool(seen) != args.cut)


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main())
