"""Compile what a recording is coded with into the disk cache: `python -m sessions.warm`, as `rfview warm` does."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from pathlib import Path

from engine import jit

CYCLES = 2048       # of a bundled kernel: enough that every part of the coder is used


def marker() -> Path:
    """Return the file whose presence says that the coder, as it is, has been compiled."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    return jit.CACHE_FOLDER / f"recorder-{digest}.ready"


def is_ready() -> bool:
    """Say whether a recording compiles nothing."""
    return jit.OFF or marker().exists()


def note_ready() -> None:
    """Remember that a recording has been made."""
    try:
        marker().touch()
    except OSError:
        return


def main() -> int:
    """Make a recording and throw it away."""
    from engine import kernels
    from engine.launch import load_launch_file
    from engine.simulator import Simulator
    from sessions.record import record

    with tempfile.TemporaryDirectory() as folder:
        record(Simulator(load_launch_file(kernels.path("vectoradd"))), Path(folder) / "warm.rfs", max_cycles=CYCLES)
    note_ready()
    return 0


if __name__ == "__main__":
    sys.exit(main())
