"""Ending by a signal as by Ctrl-C: files that are not complete are removed, workers end, the terminal is given back."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
GRACE_S = 30    # after which the system ends the program


class Ended(SystemExit):
    """A signal that ends the program was received. code: what shells report of it, 128 and its number."""

    def __init__(self, code: int):
        super().__init__(code)


@contextmanager
def by_signals() -> Iterator[None]:
    """Raise Ended in the body on SIGTERM and SIGHUP, unless they are ignored.

    A second one ends the program at once, and so does an end that takes too long.
    """
    if threading.current_thread() is not threading.main_thread():   # no other thread may handle signals
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        if hasattr(signal, "alarm"):
            signal.alarm(GRACE_S)   # where Python drops what a handler raises, as in weak references' callbacks
        raise Ended(128 + number)

    ours = [number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, end)
    try:
        yield
    finally:
        if hasattr(signal, "alarm"):
            signal.alarm(0)
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
