"""Compile the recorder in a child process, file/warm.py, during the first recording."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rfview.engine.compile import jit, stored
from rfview.engine import IMPORT_ROOT
from rfview.engine.compile.warm import Progress, watch
from rfview.sessions.codec.loops import CONTENT

# marks the recorder as cached
READY = jit.CACHE_FOLDER / f"recorder-{CONTENT}.ready"
TYPICAL_SECONDS = 6.0


def is_ready() -> bool:
    """Return whether a recording needs no compilation."""
    return jit.OFF or stored.is_marked(READY)


@contextmanager
def beside(progress: Progress | None) -> Iterator[None]:
    """Compile the recorder in a child process while the body runs; it is ready after the body.

    numba's type inference holds the interpreter lock for seconds. If the child fails, this process compiles.
    progress: called while waiting after the body.
    """
    if is_ready():
        yield
        return
    command = [sys.executable, "-m", "rfview.sessions.file.warm"]
    quiet = subprocess.DEVNULL
    try:
        child = subprocess.Popen(command, cwd=IMPORT_ROOT, stdin=quiet, stdout=quiet, stderr=quiet)
    except OSError:
        yield
        return
    try:
        yield
        report = progress or (lambda part, text: None)
        text = "compiling the recorder (first recording only)"
        watch(child, lambda part: report(part, text), TYPICAL_SECONDS)
        report(1.0, text)
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
