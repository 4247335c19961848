"""Compile into the disk cache in a separate process: `python -m rfview.engine.compile.child [DESIGN [PRESET]]`.

Nothing imports this module: it depends on the machine that it compiles.
"""

from __future__ import annotations

import gc
import subprocess
import sys
from contextlib import nullcontext

from rfview.engine import IMPORT_ROOT, defaults
from rfview.engine.compile import cache, extern
from rfview.engine.compile.warm import alone, is_ready, marker
from rfview.engine.machine_code import MACHINE_INST
from rfview.engine.program import INST


def main(words: list[str]) -> int:
    """Compile one design, or without arguments the part shared by all designs; both in parallel if both are missing.

    With a preset, whose core is the sub-core, a design is compiled as a whole.
    """
    is_whole = len(words) > 1
    # nearly everything numba allocates is kept, so garbage collection would only cost time
    gc.disable()
    begins_other = bool(words) and not is_whole and not extern.is_ready()
    command = [sys.executable, "-m", "rfview.engine.compile.child"]
    # started first, since it takes longer
    with subprocess.Popen(command, cwd=IMPORT_ROOT) if begins_other else nullcontext() as shared:
        from rfview.engine.launch.smallest import smallest_run      # start-up: the other child compiles meanwhile
        from rfview.engine.simulator import Simulator      # likewise

        spec, module = smallest_run(MACHINE_INST if is_whole else INST)
        design, preset, *_ = [*words, *(defaults.DESIGN, defaults.PRESET)[len(words) :]]
        simulator = Simulator(spec, design=design, preset=preset, module=module)
        if not words:
            with alone("shared"):
                simulator.link()
            return int(cache.has_unwritten)
        with alone(marker(simulator.built.spec_dtype).stem):
            if not is_ready(simulator.built.spec_dtype):
                simulator.compile()
    return int(cache.has_unwritten) if shared is None else shared.returncode or int(cache.has_unwritten)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
