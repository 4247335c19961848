"""Ends the program on a signal as on Ctrl-C: incomplete files are removed, workers end, the terminal is restored."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
GRACE_S = 30    # then the system ends the program


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

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        if hasattr(signal, "alarm"):
            signal.alarm(GRACE_S)   # in case Python drops the exception, as in callbacks of weak references
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
