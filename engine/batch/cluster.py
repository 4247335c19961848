"""A Dask cluster as a pool, and the choice of a pool by a command's options."""

from __future__ import annotations

import logging
import os
import time
from concurrent.futures import Executor
from contextlib import suppress

from rfview.engine.batch.pools import WORKERS, InProcess, Pool, Processes
from rfview.engine.errors import InputError

CONNECT_SECONDS = 20
WIDTH_SECONDS = 5.0     # for how long the number of a cluster's workers is cached


class Cluster(Pool):
    """The workers of a Dask cluster. address: of its scheduler, or the path of the scheduler file that it wrote.

    Raises InputError if dask.distributed is missing, or if there is no answer.
    """

    shares_fate = False
    retries = True
    is_elsewhere = True

    def __init__(self, address: str) -> None:
        super().__init__()
        try:
            from dask.distributed import Client, KilledWorker       # an optional dependency
        except ModuleNotFoundError:
            raise InputError("--cluster needs dask.distributed; pip install 'rfview[cluster]' installs it") from None
        self.address = address
        self.broken = (KilledWorker,)
        # a lost scheduler is reported in one sentence; Dask's client would log tracebacks
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        where = {"scheduler_file": address} if os.path.isfile(address) else {"address": address}
        try:
            self._client = Client(**where, timeout=CONNECT_SECONDS)
        except Exception as error:      # addresses and files are user input
            reason = str(error).partition("\n")[0] or type(error).__name__
            raise InputError(f"--cluster {address}: no Dask scheduler answers there ({reason}); expected an address such as "
                             "tcp://host:8786, or the path of a scheduler file") from None
        self._width, self._width_until = 0, 0.0

    def width(self) -> int:
        """Return the number of the workers' threads, at most a few seconds old."""
        if time.monotonic() >= self._width_until:
            try:
                self._width = sum(self._client.nthreads().values())
            except Exception as error:
                raise self._lost(error) from None
            self._width_until = time.monotonic() + (WIDTH_SECONDS if self._width else 0.5)
        return self._width

    def close(self, *, kill: bool) -> None:
        """Disconnect from the cluster, which keeps running but drops the tasks that no client waits for."""
        self._executor = None
        with suppress(Exception):       # the cluster is gone
            self._client.close(timeout=5)

    def explain(self, error: BaseException) -> InputError | None:
        """Return a sentence if the cluster is lost or its workers cannot run rfview."""
        from concurrent.futures import CancelledError

        if isinstance(error, CancelledError | OSError):
            return self._lost(error)
        return InputError(f"--cluster {self.address}: {type(error).__name__}: {error}; its workers need the same rfview and "
                          "Python packages as this process")

    def _lost(self, error: BaseException) -> InputError:
        return InputError(f"--cluster {self.address}: the scheduler is gone ({type(error).__name__})")

    def _start(self) -> Executor:
        return self._client.get_executor()


def pool_of(workers: int = WORKERS, cluster: str | None = None) -> Pool:
    """Return the cluster at an address, or else this number of processes; this process if it is one."""
    if cluster is not None:
        return Cluster(cluster)
    return Processes(workers) if workers > 1 else InProcess()
