"""Marks for functions that run inside the compiled step, without importing numba.

`device` functions and hooks stay plain Python until jit.py is imported, which gives each a numba overload. So
design files, and everything that lists or replays, load without numba, and NUMBA_DISABLE_JIT=1 runs the same functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

Bind = Callable[[Callable[..., Any], Callable[..., Any], bool], None]
_bind: Bind | None = None
_pending: list[tuple[Callable[..., Any], Callable[..., Any], bool]] = []


def declare(function: Callable[..., Any], choose: Callable[..., Any], is_inlined: bool = False) -> None:
    """Let compiled code call `function`; `choose(*types)` returns the Python function to compile for it."""
    if _bind is None:
        _pending.append((function, choose, is_inlined))
    else:
        _bind(function, choose, is_inlined)


def device(function: F) -> F:
    """Let compiled code call `function` itself."""
    declare(function, lambda *types: function)
    return function


def inlined(function: F) -> F:
    """Inline the function at each call in compiled code: for functions called several times per cycle."""
    declare(function, lambda *types: function, is_inlined=True)
    return function


def connect(bind: Bind) -> None:
    """Give every marked function, past and future, to `bind` (called once, by rfview.engine.compile.jit)."""
    global _bind
    _bind = bind
    while _pending:
        bind(*_pending.pop(0))
