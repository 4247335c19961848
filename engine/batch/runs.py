"""Runs with results kept in memory, each done once, for comparisons and the papers' claims."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from rfview.engine.batch.compiling import compile_machines
from rfview.engine.batch.jobs import Job, Result, run_job
from rfview.engine.batch.pools import WORKERS, InProcess, Pool, Processes
from rfview.engine.batch.sharing import share_out
from rfview.engine.progress import Progress


class Runs:
    """Runs jobs in a few processes and keeps every result; a context manager. workers = 1: in this process."""

    def __init__(self, progress: Progress | None = None, workers: int = WORKERS) -> None:
        self._say = progress or (lambda fraction, text: None)
        self._workers = workers
        self._pool: Pool | None = None
        self._results: dict[Job, Result] = {}

    def __enter__(self) -> Runs:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.close(kill=error[0] is not None)

    def __len__(self) -> int:
        return len(self._results)

    def __getitem__(self, job: Job) -> Result:
        return self.all([job])[0]

    def all(self, jobs: Sequence[Job]) -> list[Result]:
        """Return the results of jobs, running those that have not run yet. Raises InputError."""
        todo = sorted(dict.fromkeys(job for job in jobs if job not in self._results), key=lambda job: job.design)
        if todo:
            compile_machines(((job.design, job.preset) for job in todo), self._workers, self._say)
            self._say(0.0, todo[0].title)
            before = len(self._results)
            for arrived in share_out(self._pool_for(todo), run_job, todo, attrgetter("path", "kind")):
                for done in arrived:
                    self._results[done.item] = done.value()
                    self._say((len(self._results) - before) / len(todo), done.item.title)
        return [self._results[job] for job in jobs]

    def _pool_for(self, jobs: Sequence[Job]) -> Pool:
        """Return this process for a single job, otherwise the worker processes, which are started once."""
        if self._workers == 1 or len(jobs) == 1:
            return InProcess()
        if self._pool is None:
            self._pool = Processes(self._workers)
        return self._pool
