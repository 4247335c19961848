"""Where jobs run: in this process or in a few beside it (cluster: elsewhere); all are given work as an Executor is.

A pool whose worker processes were killed is started again. Processes end with the one that started them, however that ends.
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

WORKERS = 2


class Pool(ABC):
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

    @abstractmethod
    def _start(self) -> Executor:
        """Return a new executor."""


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
    """A few processes on this machine.

    They leave results in files of a folder of their own and send paths: of a worker killed in the middle of a result that is
    longer than a pipe holds, the executor would wait for the rest for ever.
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
        """Give a task to the processes; one that is started for it never sees a Ctrl-C, which is the parent's."""
        try:
            self._folder = self._folder or tempfile.mkdtemp(prefix="rfview-batch-")
        except OSError as error:
            raise self._not_kept(error) from None
        call = (_into_file, self._folder, function, arguments)
        if not hasattr(signal, "pthread_sigmask"):
            return super().submit(*call)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})      # a child has its parent's mask
        try:
            return super().submit(*call)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def result_of(self, future: Future[Any]) -> Any:
        """Return a finished task's result from its file, which is then no more."""
        path = super().result_of(future)
        with open(path, "rb") as file:
            result = pickle.load(file)
        os.unlink(path)
        return result

    def explain(self, error: BaseException) -> InputError | None:
        """Return that results cannot be kept; a job's own errors are outcomes and never come here."""
        return self._not_kept(error) if isinstance(error, OSError) else None

    def _not_kept(self, error: OSError) -> InputError:
        return InputError(f"{self._folder or 'the folder for temporary files'}: the workers' results cannot be stored there "
                          f"({error.strerror or error}); TMPDIR names another")

    def close(self, *, kill: bool) -> None:
        """End the processes; kill: at once, whatever they are doing."""
        if kill and self._executor is not None:
            for child in set(multiprocessing.active_children()) - self._others:
                child.terminate()
            self._executor.shutdown(wait=True)
        super().close(kill=False)
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = ""

    def cancel(self, future: Future[Any]) -> None:
        """Leave it to `close`: the executor stumbles over cancelled tasks when its processes are killed."""

    def _start(self) -> Executor:
        self._others = set(multiprocessing.active_children())
        return ProcessPoolExecutor(self._workers, multiprocessing.get_context("spawn"), initializer=_begin_worker,
                                   initargs=(self._folder,))


def _into_file(folder: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    """In a worker: do a task and return the path of its pickled result."""
    result = function(*arguments)
    handle, path = tempfile.mkstemp(dir=folder)
    with open(handle, "wb") as file:
        pickle.dump(result, file)
    return path


def _begin_worker(folder: str) -> None:
    """In a new worker: leave Ctrl-C to the parent, and end when it is gone, which no queue would tell."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent, folder), daemon=True).start()


def _end_with(parent: BaseProcess, folder: str) -> None:
    parent.join()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)
