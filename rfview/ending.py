"""Ends the program on Ctrl-C and on signals: incomplete files are removed, workers end, the terminal is restored.

Python handles a signal only between two steps of the main thread. Compiled code has none, so a thread watches which signals
have come: it ends the program if a second one is not handled either, or if what the first one has begun does not end.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from types import FrameType
from typing import Any, NoReturn

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
AGAIN_S, GRACE_S = 3, 30     # when it is raised again if nothing handles it; when the program ends in any case
SECOND_S = 1.0               # from a second signal to the end of the program
LATE_S = 0.2                 # the watching thread may learn of a signal so long after it was handled
LOOK_S = 0.05


class Ended(SystemExit):
    """A signal that ends the program was received. code: 128 + its number, as shells report it."""

    def __init__(self, code: int):
        super().__init__(code)


@contextmanager
def by_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt in the body on SIGINT, and Ended on SIGTERM and SIGHUP, unless they are ignored.

    A second signal ends the program within SECOND_S; a first one after GRACE_S (Ctrl-C does not: what it interrupts may go
    on, as a prompt does).
    """
    if threading.current_thread() is not threading.main_thread():   # no other thread may handle signals
        yield
        return
    with _Signals().handled():
        yield


def end_now(code: int) -> NoReturn:
    """End the program although something still runs; files keep what is written."""
    with suppress(OSError):
        os.write(2, b"rfview: error: ended at once: what was running did not stop\n")
    os._exit(code)


class _Signals:
    """The signals of one command. error: what the latest one raised; ends_at: when the program ends in any case."""

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.ends_at, self.code = float("inf"), 0
        self.handled_at = 0.0           # by the main thread
        self._over = False
        self._target = -1               # the end of the watching thread's pipe that signals are written to

    @contextmanager
    def handled(self) -> Iterator[None]:
        """Handle signals in the body."""
        interrupt = signal.getsignal(signal.SIGINT)
        ours = [number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL]
        self._usual = sys.unraisablehook
        with self._watched() if hasattr(signal, "setitimer") else nullcontext():
            try:
                sys.unraisablehook = self._dropped
                for number in ours:
                    signal.signal(number, self._end)
                if callable(interrupt):
                    signal.signal(signal.SIGINT, self._interrupt)
                yield
            finally:
                if hasattr(signal, "setitimer"):
                    signal.setitimer(signal.ITIMER_REAL, 0)
                for number in ours:
                    signal.signal(number, signal.SIG_DFL)
                if callable(interrupt):
                    signal.signal(signal.SIGINT, interrupt)
                sys.unraisablehook = self._usual

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt; while the program ends because of an earlier one, shorten that instead."""
        self.handled_at = time.monotonic()
        if self.error is not None and _is_being_handled(self.error):
            self._end_within(SECOND_S, number)
            return
        self.error = KeyboardInterrupt()
        raise self.error

    def _end(self, number: int, frame: FrameType | None) -> None:
        self.handled_at = time.monotonic()
        signal.signal(number, signal.SIG_DFL)
        self.error = Ended(128 + number)
        self._end_within(GRACE_S, number)
        self._raise_again(AGAIN_S)
        raise self.error

    def _end_within(self, seconds: float, number: int) -> None:
        self.ends_at, self.code = min(self.ends_at, time.monotonic() + seconds), 128 + number
        self._wake()

    def _wake(self) -> None:
        """Have the watching thread look again: it may have seen the signal before its handler ran."""
        with suppress(OSError):     # there is none, or a full pipe wakes it anyway
            os.write(self._target, b"\0")

    def _raise_again(self, seconds: float) -> None:
        """Raise the error once more after some time, and each second for Ended, unless it is being handled."""
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, self._again)
            signal.setitimer(signal.ITIMER_REAL, seconds, 1 if isinstance(self.error, Ended) else 0)

    def _again(self, number: int, frame: FrameType | None) -> None:
        if self.error is not None and not _is_being_handled(self.error):
            raise self.error

    def _dropped(self, unraisable: Any) -> None:
        """Have our error raised again where Python drops it, as in a callback of C code or of a weak reference."""
        if self.error is not None and unraisable.exc_value is self.error:
            self._raise_again(LOOK_S)
        else:
            self._usual(unraisable)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Watch in a thread which signals come."""
        source, self._target = os.pipe()
        os.set_blocking(self._target, False)
        before = signal.set_wakeup_fd(self._target, warn_on_full_buffer=False)
        thread = threading.Thread(target=self._look, args=(source,), name="rfview-signals", daemon=True)
        thread.start()
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            self._over = True
            self._wake()
            thread.join()
            os.close(source)
            os.close(self._target)

    def _look(self, source: int) -> None:
        came: list[tuple[float, int]] = []      # signals that the main thread has not handled
        while not self._over:
            waits = bool(came) or self.ends_at < float("inf")
            if select.select([source], [], [], LOOK_S if waits else None)[0]:
                came += [(time.monotonic(), number) for number in os.read(source, 64) if number in (signal.SIGINT, *ENDING)]
            now = time.monotonic()
            came = [(at, number) for at, number in came if at > self.handled_at + LATE_S]
            if len(came) > 1 and now > came[1][0] + SECOND_S:
                end_now(128 + came[-1][1])
            if came and came[0][1] != signal.SIGINT and now > came[0][0] + GRACE_S:
                end_now(128 + came[0][1])
            if now > self.ends_at:
                end_now(self.code)


def _is_being_handled(error: BaseException) -> bool:
    """Return whether an `except` or `finally` that this thread is in handles an error, or another that came of it."""
    handled = sys.exc_info()[1]
    while handled is not None and handled is not error:
        handled = handled.__context__
    return handled is error
