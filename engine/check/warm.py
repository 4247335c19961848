"""Compile the functional loop with the checker into the disk cache: `python -m rfview.engine.check.warm`.

Nothing imports this module, as it is with child.py.
"""

from __future__ import annotations

import gc
import sys

from rfview.engine import kernels
from rfview.engine.check.functional import CheckedFunctionalSimulator
from rfview.engine.compile import cache
from rfview.engine.compile.warm import alone
from rfview.engine.launch import load_launch_file


def main() -> int:
    """Compile for a kernel of which the PTX is known, only once if several processes start at the same time."""
    gc.disable()    # as in rfview.engine.compile.child
    with alone("check"):
        CheckedFunctionalSimulator(load_launch_file(kernels.path("vectoradd"))).compile()
    return int(cache.has_unwritten)


if __name__ == "__main__":
    sys.exit(main())
