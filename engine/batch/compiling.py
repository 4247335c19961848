"""Compiles the machines that jobs will need, in advance and in parallel."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from rfview.engine import IMPORT_ROOT
from rfview.engine.defaults import PAPER
from rfview.engine.errors import InputError
from rfview.engine.progress import Progress

POLL_SECONDS = 0.2


def is_whole(words: list[str]) -> bool:
    """Return whether a machine compiles as a whole, as those on a sub-core do. words: design, and preset of the latter."""
    return len(words) > 1


def compile_machines(machines: Iterable[tuple[str, str]], workers: int, say: Progress) -> None:
    """Compile (variant, preset) pairs that are not yet in the cache, as many at once as there are workers.

    A design that does not exist or does not run on a preset's core is left to its jobs, which say so.
    """
    # imports numba, which reading results does not need
    from rfview.engine.compile import extern, warm
    from rfview.engine.plugin import files, selection   # start-up
    from rfview.engine.plugin.variants import SUBCORE   # likewise
    from rfview.engine.simulator import engine_hash     # imports numba

    known: dict[Any, list[str]] = {}
    for variant, preset in machines:
        with suppress(InputError):
            built = selection.select(variant, PAPER, preset, {}, engine_hash=engine_hash()).built
            known.setdefault(built.spec_dtype, [files.absolute(variant), *([preset] if built.core == SUBCORE else [])])
    waiting = [words for dtype, words in known.items() if not warm.is_ready(dtype)]
    total = len(waiting)
    running: list[subprocess.Popen[bytes]] = []
    began = time.monotonic()
    while waiting or running:
        # the first one compiles what all on Fermi's core share, in a separate process
        while waiting and len(running) < (workers if extern.is_ready() or is_whole(waiting[0]) else 1):
            command = [sys.executable, "-m", "rfview.engine.compile.child", *waiting.pop(0)]
            running.append(subprocess.Popen(command, cwd=IMPORT_ROOT, stdout=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL))
        running = [child for child in running if child.poll() is None]
        done = total - len(waiting) - len(running)
        what = f"{total} designs" if total > 1 else "a design"
        say(done / total, f"compiling {what} (first run only), {time.monotonic() - began:.0f} s")
        time.sleep(POLL_SECONDS)
