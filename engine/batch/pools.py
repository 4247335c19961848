"""Where jobs run: in this process, in a few beside it, or on a Dask cluster; all are given work as an Executor is.

A pool whose worker processes were killed is made anew. Processes end with the one that started them, however that ends.
"""

from __future__ import annotations

import logging
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from rfview.engine.errors import InputError

WORKERS = 2
CONNECT_SECONDS = 20
WIDTH_SECONDS = 5.0     # for how long the number of a cluster's workers is taken as known


class Pool:
    """A number of executors, of which one is at work at a time; a context manager, which ends the work of an error's.

    broken: what the future of a task raises whose worker was killed. shares_fate: whether all tasks are lost with it.
    retries: whether the pool itself gives such a task to other workers first. is_elsewhere: on other machines, perhaps.
    """

    broken: tuple[type[BaseException], ...] = (BrokenExecutor,)
    shares_fate = True
    retries = False
    is_elsewhere = False

    def __init__(self) -> None:
        self._executor: Executor | None = None

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close(kill=error[0] is not None)

    def width(self) -> int:
        """Return how many tasks run at once; 0 while there is no worker."""
        return 1

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Give a task to the executor, as its own `submit`; raises one of `broken` where it is broken."""
        if self._executor is None:
            self._executor = self._start()
        return self._executor.submit(function, *arguments)

    def renew(self) -> None:
        """Make the executor anew with the next task."""
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
        self._executor = None

    def close(self, *, kill: bool) -> None:
        """End the executor; kill: without waiting for what runs."""
        if self._executor is not None:
            self._executor.shutdown(wait=not kill, cancel_futures=True)
        self._executor = None

    def cancel(self, future: Future[Any]) -> None:
        """Cancel a task that nobody waits for any more."""
        future.cancel()

    def result_of(self, future: Future[Any]) -> Any:
        """Return a finished task's result; raises one of `broken`, InputError where the pool is of no use, or the error."""
        try:
            return future.result()
        except self.broken:
            raise
        except BaseException as error:
            raise self.explain(error) or error from None

    def explain(self, error: BaseException) -> InputError | None:
        """Return what the user can do about an error that is the pool's, not a job's; None for any other."""
        return None

    def _start(self) -> Executor:
        raise NotImplementedError


class _Here(Executor):
    """Does each task at once, in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class InProcess(Pool):
    """This process alone."""

    def _start(self) -> Executor:
        return _Here()


class Processes(Pool):
    """A few processes on this machine."""

    def __init__(self, workers: int = WORKERS) -> None:
        super().__init__()
        self._workers = workers
        self._lifeline: Connection | None = None

    def width(self) -> int:
        """Return the number of processes."""
        return self._workers

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Give a task to the processes; one that is started for it never sees a Ctrl-C, which is the parent's."""
        if not hasattr(signal, "pthread_sigmask"):
            return super().submit(_work, function, *arguments)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})      # a child has its parent's mask
        try:
            return super().submit(_work, function, *arguments)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def close(self, *, kill: bool) -> None:
        """End the processes; kill: in the middle of their tasks."""
        if kill and self._lifeline is not None and self._executor is not None:
            self._lifeline.close()
            self._executor.shutdown(wait=True)
        super().close(kill=False)

    def cancel(self, future: Future[Any]) -> None:
        """Leave it to `close`: the executor stumbles over cancelled tasks when its processes are killed."""

    def _start(self) -> Executor:
        theirs, self._lifeline = multiprocessing.Pipe(duplex=False)
        return ProcessPoolExecutor(self._workers, multiprocessing.get_context("spawn"), initializer=_begin_worker,
                                   initargs=(theirs,))


class _Ending:
    """How a worker ends: in a task, never between two, where half of a result would keep its reader waiting for the rest."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.is_working = self.is_called_for = False

    def call_for(self) -> None:
        """End now, or else with the next task."""
        with self.lock:
            self.is_called_for = True
            if self.is_working:
                os._exit(1)

    def working(self, is_working: bool) -> None:
        """Note that a task begins or is over."""
        with self.lock:
            self.is_working = is_working
            if is_working and self.is_called_for:
                os._exit(1)


_ending = _Ending()


def _begin_worker(lifeline: Connection) -> None:
    """In a new worker: leave Ctrl-C to the parent, and end when it says so or is gone, which no queue would tell."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent, lifeline), daemon=True).start()


def _end_with(parent: BaseProcess, lifeline: Connection) -> None:
    multiprocessing.connection.wait([parent.sentinel, lifeline])    # the parent sends nothing: the line ends
    _ending.call_for()
    parent.join()
    os._exit(1)


def _work(function: Callable[..., Any], *arguments: Any) -> Any:
    """Do a task in a worker."""
    _ending.working(True)
    try:
        return function(*arguments)
    finally:
        _ending.working(False)


class Cluster(Pool):
    """The workers of a Dask cluster. address: of its scheduler, or the path of the scheduler file that it wrote.

    Raises InputError where dask.distributed is missing, or nobody answers there.
    """

    shares_fate = False
    retries = True
    is_elsewhere = True

    def __init__(self, address: str) -> None:
        super().__init__()
        try:
            from dask.distributed import Client, KilledWorker       # an extra of the installation
        except ModuleNotFoundError:
            raise InputError("--cluster needs dask.distributed; pip install 'rfview[cluster]' brings it") from None
        self.address = address
        self.broken = (KilledWorker,)
        # of a scheduler that is gone we say a sentence, where Dask's client logs tracebacks
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        where = {"scheduler_file": address} if os.path.isfile(address) else {"address": address}
        try:
            self._client = Client(**where, timeout=CONNECT_SECONDS)
        except Exception as error:      # any address or file may be given
            reason = str(error).partition("\n")[0] or type(error).__name__
            raise InputError(f"--cluster {address}: no Dask scheduler answers there ({reason}); expected an address such as "
                             "tcp://host:8786, or the path of a scheduler file") from None
        self._width, self._width_until = 0, 0.0

    def width(self) -> int:
        """Return the number of the workers' threads, as it was a few seconds ago at most."""
        if time.monotonic() >= self._width_until:
            try:
                self._width = sum(self._client.nthreads().values())
            except Exception as error:
                raise self._lost(error) from None
            self._width_until = time.monotonic() + (WIDTH_SECONDS if self._width else 0.5)
        return self._width

    def close(self, *, kill: bool) -> None:
        """Leave the cluster, which goes on running; it forgets the tasks that nobody waits for."""
        self._executor = None
        with suppress(Exception):       # of a cluster that is gone
            self._client.close(timeout=5)

    def explain(self, error: BaseException) -> InputError | None:
        """Return that the cluster is lost, or that its workers cannot run rfview."""
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
    """Return the cluster at an address, or as many processes, or for one worker this process."""
    if cluster is not None:
        return Cluster(cluster)
    return Processes(workers) if workers > 1 else InProcess()
