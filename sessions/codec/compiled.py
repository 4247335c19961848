"""The compiled entry points of recorder and reader: kept on disk by a hash of all that they are compiled from.

numba itself looks at the file of an entry point only, not at those whose functions and numbers go into it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rfview.engine.compile import jit

SOURCES = ("arrange", "codec", "codes", "compiled", "deal", "direct", "extent", "streams", "sums", "workspace")
FOLDER = jit.CACHE_FOLDER / f"recorder-{jit.source_hash(Path(__file__).with_name(f'{name}.py') for name in SOURCES)}"


def entry(function: Callable[..., Any]) -> Any:
    """Compile an entry point that makes no arrays, cached on disk."""
    return _kept(jit.lean_entry, function)


def array_entry(function: Callable[..., Any]) -> Any:
    """Compile an entry point that makes arrays, cached on disk."""
    return _kept(jit.entry, function)


def _kept(compiled: Callable[..., Any], function: Callable[..., Any]) -> Any:
    """Return a function as rfview.engine.compile.jit compiles it, kept in the recorder's own folder."""
    if jit.OFF:
        return compiled(function)
    config: Any = jit.numba.config
    usual, config.CACHE_DIR = config.CACHE_DIR, str(FOLDER)
    try:
        return compiled(function)
    finally:
        config.CACHE_DIR = usual
