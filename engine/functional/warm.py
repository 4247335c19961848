"""Compile a functional loop into the disk cache: `python -m rfview.engine.functional.warm [values|machine_values]`."""

from __future__ import annotations

import gc
import sys

import numpy as np

from rfview.engine.compile import cache
from rfview.engine.compile.warm import alone
from rfview.engine.functional import machine_turn
from rfview.engine.functional.machine import FunctionalSimulator
from rfview.engine.launch.smallest import smallest_run
from rfview.engine.machine_code import MACHINE_INST


def main() -> int:
    """Compile for the machine of the smallest kernel, only once if several processes start at the same time."""
    gc.disable()    # as in rfview.engine.compile.child
    name = sys.argv[1] if len(sys.argv) > 1 else "values"
    with alone(f"functional-{name}"):
        spec, module = smallest_run()
        simulator = FunctionalSimulator(spec, module=module)
        if name == machine_turn.NAME:
            simulator.insts = np.zeros(1, MACHINE_INST).view(np.recarray)
        simulator.compile()
    return int(cache.has_unwritten)


if __name__ == "__main__":
    sys.exit(main())
