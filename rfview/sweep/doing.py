"""Send a sweep's jobs to the workers of a pool and their rows to the dataset, with a progress bar."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from typing import Any

from rfview.engine.batch import Pool, compile_machines, share_out, signals_deferred
from rfview.engine.progress import Progress
from rfview.sweep import rows
from rfview.sweep.dataset import Dataset
from rfview.sweep.plan import Planned


def do_all(todo: Sequence[Planned], dataset: Dataset, pool: Pool, say: Progress) -> Counter[str]:
    """Run jobs, add a row for each to the dataset, and return the number of jobs per outcome.

    Raises InputError if the pool is lost or workers read other files; rows received before that are in the dataset.
    """
    compile_on(pool, list(dict.fromkeys((planned.job.design, planned.job.preset) for planned in todo)), say)
    outcomes: Counter[str] = Counter()
    began, latest = time.monotonic(), ""
    say(0.0, f"0 of {len(todo):,} jobs")
    for arrived in share_out(pool, rows.do, todo, _like):
        new = [rows.row_of(done) for done in arrived]
        dataset.add(new)
        outcomes.update(row["outcome"] for row in new)
        if new:
            latest = _result(new[-1])
        number = outcomes.total()
        seconds = (time.monotonic() - began) / number * (len(todo) - number) if number else None
        say(number / len(todo), _status(outcomes, len(todo), seconds, pool.width()) + latest)
    return outcomes


def _like(planned: Planned) -> tuple[str, str]:
    return planned.job.path, planned.job.design


def _status(outcomes: Counter[str], total: int, seconds: float | None, width: int) -> str:
    """Return the progress: jobs, failed jobs, and the time left."""
    bad = ", ".join(f"{outcomes[name]:,} {name}" for name in (rows.WRONG, rows.MISBEHAVED, rows.FAILED) if outcomes[name])
    left = "waiting for workers" if not width else f"{duration(seconds)} left" if seconds is not None else ""
    return ", ".join(part for part in (f"{outcomes.total():,} of {total:,} jobs", bad, left) if part)


def _result(row: rows.Row) -> str:
    """Return a summary of the latest row in a few words."""
    what = f"IPC {row['ipc']:.3f}" if row["ipc"] is not None else row["outcome"]
    return f" · {row['kernel']} {row['design']} {row['scheduler']}: {what}"


def duration(seconds: float) -> str:
    """Return a duration as text: 8 s, 12 min, 3 h 05 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02} min"


def compile_on(pool: Pool, machines: Sequence[tuple[str, str]], say: Progress) -> None:
    """Compile (design, preset) pairs before their jobs: here for workers on this machine, else as tasks of the workers."""
    if not pool.is_elsewhere:
        compile_machines(machines, max(1, pool.width()), say)
        return
    # the first compiles what all designs share
    waiting = list(machines)
    running: set[Future[Any]] = set()
    while waiting or running:
        while waiting and len(running) < (1 if len(waiting) == len(machines) else max(1, pool.width())):
            running.add(pool.submit(_compile, waiting.pop(0)))
        with signals_deferred():
            finished, running = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
        for future in finished:
            with suppress(*pool.broken):        # a job with this design will report the error
                pool.result_of(future)
        number = len(machines) - len(waiting) - len(running)
        text = "waiting for workers" if not pool.width() else f"workers compile {len(machines)} designs (first run only)"
        say(number / len(machines) if number < len(machines) else None, text)


def _compile(of: tuple[str, str]) -> None:
    """Compile a design for a preset's core in a worker."""
    compile_machines([of], 1, lambda fraction, text: None)
