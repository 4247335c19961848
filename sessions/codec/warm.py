"""Compile the recorder into the disk cache, beside a run: `python -m rfview.sessions.codec.warm`.

Types, not values, make machine code: a chunk of a machine that has not run a cycle will do, and so no machine has to be
compiled.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from rfview.engine.compile import jit
from rfview.engine.chunk import AFFINE, RAW, UNIFORM, Blocks, Chunk, Rows, Writes
from rfview.engine import IMPORT_ROOT
from rfview.engine.compile.warm import Progress, alone, smallest_run, watch
from rfview.sessions.codec.loops import FOLDER

# says by its presence that all is compiled
READY = FOLDER / "ready"
CYCLES = 2
TYPICAL_SECONDS = 6.0


def is_ready() -> bool:
    """Say whether a recording compiles nothing."""
    return jit.OFF or READY.exists()


@contextmanager
def beside(progress: Progress | None) -> Iterator[None]:
    """Have the recorder compiled in a child process while the body runs, and be ready behind it.

    numba's type inference holds the interpreter lock for seconds. A child that fails leaves the work to this process.
    progress: told of what is waited for behind the body.
    """
    if is_ready():
        yield
        return
    command = [sys.executable, "-m", "rfview.sessions.codec.warm"]
    quiet = subprocess.DEVNULL
    try:
        FOLDER.mkdir(parents=True, exist_ok=True)    # where nothing can be kept, a child would compile in vain
        child = subprocess.Popen(command, cwd=IMPORT_ROOT, stdin=quiet, stdout=quiet, stderr=quiet)
    except OSError:
        yield
        return
    try:
        yield
        told = progress or (lambda part, text: None)
        text = "compiling the recorder (first recording only)"
        watch(child, lambda part: told(part, text), TYPICAL_SECONDS)
        told(1.0, text)
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()


def code_some(folder: Path) -> None:
    """Bring a chunk with a change, rows of each kind and a word through all that a recording does with it."""
    from rfview.engine.simulator import Simulator
    from rfview.sessions.layout import Layout
    from rfview.sessions.file.writer import Writer

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
    writer = Writer(folder / "warm.rfs", layout, simulator.info, CYCLES)
    writer.add(Chunk(0, CYCLES, key, *values, blocks, rows, ends, np.zeros(1, np.uint32), once,
                     Writes(ends, once, once, once, np.zeros(1, np.uint32), np.empty(0, np.uint32))))
    writer.finish({}, totals)


def main() -> int:
    """Compile, once where several begin at the same time."""
    gc.disable()    # as rfview.engine.compile.child does
    with alone("recorder"):
        if not is_ready():
            with tempfile.TemporaryDirectory() as folder:
                code_some(Path(folder))
            try:
                READY.touch()
            except OSError:
                return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
