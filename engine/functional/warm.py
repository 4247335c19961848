"""Compile the functional loop into the disk cache: `python -m rfview.engine.functional.warm`."""

from __future__ import annotations

import gc
import sys

from rfview.engine.compile import cache
from rfview.engine.compile.warm import alone
from rfview.engine.functional.machine import FunctionalSimulator
from rfview.engine.launch.smallest import smallest_run


def main() -> int:
    """Compile by running the smallest kernel, only once if several processes start at the same time."""
    gc.disable()    # as in rfview.engine.compile.child
    with alone("functional"):
        spec, module = smallest_run()
        FunctionalSimulator(spec, module=module).run()
    return int(cache.has_unwritten)


if __name__ == "__main__":
    sys.exit(main())
