"""Pools, in which jobs run: this process or several (cluster: on other machines), with the interface of an Executor.

A pool whose worker processes were killed is restarted. Processes end with the one that started them, however that ends.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import shutil
import signal
import tempfile
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from multiprocessing.process import BaseProcess
from typing import Any

from rfview.engine.errors import InputError
from rfview.engine.interrupts import signals_deferred

WORKERS = 2


class Pool(ABC):
    """A series of executors, one at a time; a context manager, which ends the work if an error leaves it.

    broken: the exceptions of a task whose worker was killed. shares_fate: whether all tasks are lost with it. retries:
    whether the pool itself first gives such a task to other workers. is_elsewhere: may run on other machines.
    """

    broken: tuple[type[BaseException], ...] = (BrokenExecutor,)
    shares_fate = True
    retries = False
    is_elsewhere = False

    def __init__(self) -> None:
        self._executor: Executor | None = None

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *error: object) -> None:
        self.close(kill=error[0] is not None)

    def width(self) -> int:
        """Return how many tasks can run at once; 0 while there is no worker."""
        return 1

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Give a task to the executor, like its own `submit`; raises one of `broken` if it is broken."""
        if self._executor is None:
            self._executor = self._start()
        return self._executor.submit(function, *arguments)

    def renew(self) -> None:
        """Have the executor replaced with the next task."""
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
        self._executor = None

    def close(self, *, kill: bool) -> None:
        """End the executor; kill: without waiting for running tasks."""
        if self._executor is not None:
            self._executor.shutdown(wait=not kill, cancel_futures=True)
        self._executor = None

    def cancel(self, future: Future[Any]) -> None:
        """Cancel a task whose result is no longer needed."""
        future.cancel()

    def result_of(self, future: Future[Any]) -> Any:
        """Return a finished task's result; raises one of `broken`, InputError if the pool is unusable, or its error."""
        try:
            return future.result()
        except self.broken:
            raise
        except BaseException as error:
            raise self.explain(error) or error from None

    def explain(self, error: BaseException) -> InputError | None:
        """Return what the user can do about an error of the pool rather than of a job; None for any other error."""
        return None

    @abstractmethod
    def _start(self) -> Executor:
        """Return a new executor."""


class _Here(Executor):
    """Executes each task immediately, in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class InProcess(Pool):
    """A pool of only this process."""

    def _start(self) -> Executor:
        return _Here()


class Processes(Pool):
    """A few processes on this machine.

    They write results to files in a temporary folder and send the paths: if a worker were killed while sending a result
    longer than a pipe's buffer, the executor would wait for the rest forever.
    """

    def __init__(self, workers: int = WORKERS) -> None:
        super().__init__()
        self._workers = workers
        self._others: set[BaseProcess] = set()
        self._folder = ""

    def width(self) -> int:
        """Return the number of processes."""
        return self._workers

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Give a task to the processes; a process started for it ignores Ctrl-C, which is for the parent."""
        try:
            self._folder = self._folder or tempfile.mkdtemp(prefix="rfview-batch-")
        except OSError as error:
            raise self._not_kept(error) from None
        call = (_into_file, self._folder, function, arguments)
        with signals_deferred():
            if not hasattr(signal, "pthread_sigmask"):
                return super().submit(*call)
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})      # a child inherits its parent's mask
            try:
                return super().submit(*call)
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def result_of(self, future: Future[Any]) -> Any:
        """Return a finished task's result from its file, which is then deleted."""
        path = super().result_of(future)
        with open(path, "rb") as file:
            result = pickle.load(file)
        os.unlink(path)
        return result

    def explain(self, error: BaseException) -> InputError | None:
        """Return that results cannot be stored; a job's own errors are outcomes and do not get here."""
        return self._not_kept(error) if isinstance(error, OSError) else None

    def _not_kept(self, error: OSError) -> InputError:
        return InputError(f"{self._folder or 'the folder for temporary files'}: the workers' results cannot be stored there "
                          f"({error.strerror or error}); TMPDIR names another")

    def close(self, *, kill: bool) -> None:
        """End the processes; kill: immediately, whatever they are doing."""
        if kill and self._executor is not None:
            for child in set(multiprocessing.active_children()) - self._others:
                child.terminate()
            self._executor.shutdown(wait=True)
        super().close(kill=False)
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = ""

    def cancel(self, future: Future[Any]) -> None:
        """Do nothing, and leave it to `close`: the executor cannot handle cancelled tasks when its processes are killed."""

    def _start(self) -> Executor:
        self._others = set(multiprocessing.active_children())
        return ProcessPoolExecutor(self._workers, multiprocessing.get_context("spawn"), initializer=_begin_worker,
                                   initargs=(self._folder,))


def _into_file(folder: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    """In a worker: execute a task and return the path of its pickled result."""
    result = function(*arguments)
    handle, path = tempfile.mkstemp(dir=folder)
    with open(handle, "wb") as file:
        pickle.dump(result, file)
    return path


def _begin_worker(folder: str) -> None:
    """In a new worker: ignore Ctrl-C, which is for the parent, and end when the parent is gone, which no queue reports."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent, folder), daemon=True).start()


def _end_with(parent: BaseProcess, folder: str) -> None:
    parent.join()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)
