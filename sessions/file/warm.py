"""Compile the recorder into the disk cache, during a run: `python -m rfview.sessions.file.warm`.

Machine code depends on types, not values: a chunk of a machine that has not run a cycle suffices, and no machine has to be
compiled.
"""

from __future__ import annotations

import gc
import io
import sys

import numpy as np

from rfview.engine.chunk import AFFINE, RAW, UNIFORM, Blocks, Chunk, Rows, Writes
from rfview.engine.compile import cache, jit, stored
from rfview.engine.compile.warm import alone
from rfview.engine.launch.smallest import smallest_run
from rfview.engine.simulator import Simulator
from rfview.sessions.codec import loops
from rfview.sessions.codec.compiling import READY, is_ready
from rfview.sessions.layout import Layout
from rfview.sessions.file.run_info import End
from rfview.sessions.file.writer import Writer

CYCLES = 2


def code_some() -> None:
    """Record a chunk with a change, rows of each kind and a memory word."""
    spec, module = smallest_run()
    simulator = Simulator(spec, module=module)
    layout = Layout(simulator.sm_dtype, simulator.rf_dtype)
    state = layout.field("sm.warp[0].pc")
    key, totals = np.zeros(layout.num_words, np.uint32), np.zeros(len(layout.field("sm.stall_total").offsets), np.int64)
    ends, once = np.ones(CYCLES, np.uint32), np.ones(1, np.uint32)
    blocks = Blocks(ends, state.words[:1].astype(np.uint32), once, once)
    kinds = np.array([UNIFORM, AFFINE, RAW], np.uint32)
    rows = Rows(3 * ends, np.zeros(3, np.uint32), kinds, np.arange(1 + 2 + 32, dtype=np.uint32))
    values = simulator.rows.u.copy(), simulator.arena.copy()
    writer = Writer(io.BytesIO(), layout, simulator.info, CYCLES)
    writer.add(Chunk(0, CYCLES, key, *values, blocks, rows, ends, np.zeros(1, np.uint32), once,
                     Writes(ends, once, once, once, np.zeros(1, np.uint32), np.empty(0, np.uint32))))
    writer.finish(End(), totals)


def main() -> int:
    """Compile, only once if several processes start at the same time."""
    gc.disable()    # as in rfview.engine.compile.child
    with alone("recorder"):
        if not is_ready():
            code_some()
            stored.mark(READY, jit.names_on_disk(part for part in vars(loops).values() if hasattr(part, "signatures")))
    return int(cache.has_unwritten)


if __name__ == "__main__":
    sys.exit(main())
