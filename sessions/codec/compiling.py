"""Have the recorder compiled in a child process, file/warm.py, beside the first recording."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rfview.engine.compile import jit
from rfview.engine import IMPORT_ROOT
from rfview.engine.compile.warm import Progress, watch
from rfview.sessions.codec.loops import FOLDER

# says by its presence that all is compiled
READY = FOLDER / "ready"
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
    command = [sys.executable, "-m", "rfview.sessions.file.warm"]
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
