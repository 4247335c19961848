"""Ends the program on a signal as on Ctrl-C: incomplete files are removed, workers end, the terminal is restored."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
AGAIN_S, GRACE_S = 3, 30     # when it is raised again if nothing handles it; when the system ends the program


class Ended(SystemExit):
    """A signal that ends the program was received. code: 128 + its number, as shells report it."""

    def __init__(self, code: int):
        super().__init__(code)


@contextmanager
def by_signals() -> Iterator[None]:
    """Raise Ended in the body on SIGTERM and SIGHUP, unless they are ignored.

    A second signal ends the program at once; so does the system if ending takes longer than GRACE_S.
    """
    if threading.current_thread() is not threading.main_thread():   # no other thread may handle signals
        yield
        return
    ours = [number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _end)
    try:
        yield
    finally:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)
    ended, seconds = Ended(128 + number), iter(range(AGAIN_S, GRACE_S))

    def again(alarm: int, frame: FrameType | None) -> None:
        """Raise it once more where it was dropped, as in a callback of a weak reference, which nothing waits for."""
        if next(seconds, None) is None:
            signal.raise_signal(number)
        if not _is_being_handled(ended):
            raise ended

    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, again)
        signal.setitimer(signal.ITIMER_REAL, AGAIN_S, 1)
    raise ended


def _is_being_handled(error: BaseException) -> bool:
    """Return whether an `except` or `finally` that this thread is in handles an error, or another that came of it."""
    found = sys.exc_info()[1]
    while found is not None and found is not error:
        found = found.__context__
    return found is error
