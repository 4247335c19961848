"""numba's part: entry points, which are called from Python and cached on disk, and the marked helpers linked into them.

With NUMBA_DISABLE_JIT=1 everything here is a plain Python function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import numba
import numpy as np
from numba.extending import overload

from rfview.engine.compile import device, intrinsics, numba_parts, stored
from rfview.engine.compile.cache import CACHE_FOLDER, engine_files, source_hash

__all__ = ["CACHE_FOLDER", "OFF", "compiled", "engine_files", "entry", "key_dtype", "lean_entry",
           "name_on_disk", "names_on_disk", "numba", "record", "source_hash", "step_jit"]

config: Any = numba.config     # numba's stubs declare neither its settings nor `_nrt`
njit: Any = numba.njit
OFF = bool(config.DISABLE_JIT)

# for functions that are never called from Python (see numba_parts.py), and that create no arrays: no references are counted
PART: Any = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}


def entry(function: Callable[..., Any]) -> Any:
    """Compile a step entry point, cached on disk; its arguments must include a hashed record (`spec` or `key`)."""
    return _stored(function)


def lean_entry(function: Callable[..., Any], content: str = "") -> Any:
    """Compile an `entry` that creates no arrays, so that its arguments' references need no counting.

    content: a hash of the other sources compiled into it, if no record carries it.
    """
    return _stored(function, content, _nrt=False)


def _stored(function: Callable[..., Any], content: str = "", **options: Any) -> Any:
    if OFF:     # NumPy's scalars wrap like the machine's words, but warn about it
        return np.errstate(all="ignore")(function)
    made = njit(nogil=True, error_model="numpy", **options)(function)
    made._cache = stored.Stored(function, content, makes_arrays=options.get("_nrt", True))
    return made


def names_on_disk(entries: Iterable[Any]) -> list[str]:
    """Return the names of the files for which entry points are compiled or loaded in this process."""
    return [each._cache.name_of(types) for each in entries for types in each.signatures]


def name_on_disk(entry: Any, arguments: Iterable[Any]) -> str:
    """Return the name of an entry point's file for arguments like these."""
    return entry._cache.name_of(numba.typeof(argument) for argument in arguments)


def compiled(entry: Any, arguments: Iterable[Any]) -> Any:
    """Return the code of an entry point for arguments like these, compiled or loaded.

    For callers that call it often: numba may look up the types of records for milliseconds on each call of an entry point
    if several of them take records of the same types.
    """
    if OFF:
        return entry
    types = tuple(numba.typeof(argument) for argument in arguments)
    entry.compile(types)
    return entry.overloads[types].entry_point


def step_jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a hook as in the step, but on its own and without caching."""
    return njit(nogil=True, error_model="numpy", _nrt=False)(function)


@lru_cache
def key_dtype() -> np.dtype:
    """Return the dtype of the `key` record that shared, design-free entry points take."""
    return np.dtype([("engine", "u1"), (f"src_{source_hash(engine_files())}", "u1")], align=True)


def record(dtype: np.dtype) -> Any:
    """Return one zeroed record of `dtype` that behaves the same with and without JIT."""
    return np.zeros(1, dtype).view(np.recarray)[0]


def _bind(function: Callable[..., Any], choose: Callable[..., Any], is_inlined: bool) -> None:
    """Let compiled code call a plain function; `choose` returns the implementation for the types of its arguments."""
    overload(function, strict=False, jit_options={**PART, "forceinline": is_inlined})(choose)


if not OFF:
    numba_parts.install()
    intrinsics.register(PART)
    device.connect(_bind)
