"""Sections that no signal interrupts: the exceptions of Python's handlers come at their end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Have signals that Python handles act at the end of the body, which must be short.

    Their exceptions could otherwise leave a lock taken, or be dropped by C code that calls Python. Other threads than the
    main one handle no signals.
    """
    came: list[int] = []
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: handler for number in ENDING if callable(handler := signal.getsignal(number))}
    for number in before:
        signal.signal(number, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)
