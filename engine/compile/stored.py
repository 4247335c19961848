"""Machine code on disk: a file per function and types of arguments, verified before it is loaded; marks of what is there.

numba keeps an index per function, in which processes that save at the same time lose each other's entries, and loads
whatever its files contain. Here a file's name follows from its key. It is written under a temporary name and renamed, and
begins with the hash of its key and content: nothing has to be locked. A file that is damaged, of another key, or not the
user's own is replaced, never loaded.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import pickle
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core import caching
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from rfview.engine import files
from rfview.engine.compile import cache, numba_parts
from rfview.engine.interrupts import signals_deferred

MAGIC = b"rfviewmc"
HASH_BYTES = hashlib.sha256().digest_size
MOST_BYTES, MOST_MARKED = 1 << 28, 1 << 16      # of a file, a machine's takes about 1 MB; of a mark
NAME = re.compile(r"\w+-[0-9a-f]{64}\.code")
FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Unusable(Exception):
    """A file that must not be loaded; says why."""


class Stored(caching.NullCache):
    """numba's cache of one function; functions of equal content share machine code, wherever their files are.

    content: a hash of the sources, other than its own file, that no type of its arguments carries. makes_arrays: its code
    needs numba's runtime, which takes numba as long to prepare as all else that loading needs.
    """

    def __init__(self, function: Callable[..., Any], content: str = "", makes_arrays: bool = True):
        self.function, code, self.makes_arrays = function, function.__code__, makes_arrays
        with suppress(OSError):     # a function typed in a notebook has no file
            content += hashlib.sha256(Path(inspect.getfile(function)).read_bytes()).hexdigest()
        closed_over = tuple(cell.cell_contents for cell in function.__closure__ or ())
        self.identity = (function.__module__, function.__qualname__, code.co_firstlineno, code.co_code, content,
                         hashlib.sha256(dumps(closed_over)).hexdigest())

    @property
    def cache_path(self) -> str:
        """Return the folder, for numba's statistics."""
        return str(cache.CACHE_FOLDER)

    def name_of(self, types: Iterable[Any]) -> str:
        """Return the name of the file for these types of arguments."""
        digest = hashlib.sha256(repr((self.identity, tuple(types))).encode()).hexdigest()
        return f"{self.function.__name__}-{digest}.code"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the machine code for these types, None if it has to be compiled; an unusable file is removed."""
        name = self.name_of(sig)
        # without numba_parts, what compiling needs is also needed to load
        if not numba_parts.FITS:
            target_context.refresh()
        elif self.makes_arrays:
            rtsys.initialize(target_context)
        try:
            content = read(name)
            with signals_deferred():        # LLVM calls back into Python to get the code
                return None if content is None else CompileResult._rebuild(target_context, *pickle.loads(content))
        except Unusable as error:
            _remove(name, str(error))
        except Exception as error:      # of another version of a module that it names
            _remove(name, f"cannot be loaded ({type(error).__name__})")
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store machine code. A full disk is reported, and does not end the run."""
        if data.lifted or data.library.has_dynamic_globals:     # it has addresses of this process in it
            return
        try:
            write(self.name_of(sig), dumps(data._reduce()))
        except OSError as error:
            cache.report_unwritten(error)


def read(name: str) -> bytes | None:
    """Return the verified content of a file, None if there is no such file. Raises Unusable."""
    try:
        handle = os.open(cache.CACHE_FOLDER / name, FLAGS)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unusable(f"cannot be read ({error.strerror})") from None
    with os.fdopen(handle, "rb") as file:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode) or info.st_size > MOST_BYTES:
            raise Unusable("is not a file of machine code")
        if problem := cache.distrust(info):
            raise Unusable(problem)
        data = file.read()
    digest, content = data[len(MAGIC) : len(MAGIC) + HASH_BYTES], data[len(MAGIC) + HASH_BYTES :]
    if data[: len(MAGIC)] != MAGIC or digest != _digest(name, content):
        raise Unusable("is damaged")
    return content


def write(name: str, content: bytes) -> None:
    """Store content under a name. Raises OSError."""
    folder = cache.CACHE_FOLDER
    handle, made = tempfile.mkstemp(dir=folder, prefix="new-", suffix=".tmp")     # only its owner may read or write it
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(MAGIC + _digest(name, content) + content)
        os.replace(made, folder / name)
    except BaseException:
        with suppress(OSError):
            os.unlink(made)
        raise


def _digest(name: str, content: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\0" + content).digest()


def _remove(name: str, problem: str) -> None:
    """Remove a file, or whatever is in its place, and report it."""
    path = cache.CACHE_FOLDER / name
    cache.tell(f"{path}: {problem}: it is compiled again")
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def mark(path: Path, names: Iterable[str]) -> None:
    """Write a file that marks something as cached: the names of its machine code. Not if code could not be written."""
    if not cache.has_unwritten:
        with suppress(OSError):
            path.write_text("".join(f"{name}\n" for name in names), encoding="ascii")


def is_marked(path: Path) -> bool:
    """Return whether something was marked as cached, and all of its machine code is there; unusable files are removed."""
    try:
        names = files.read(path, MOST_MARKED).decode("ascii").splitlines()
        return bool(names) and all(NAME.fullmatch(name) and _is_usable(name) for name in names)
    except (OSError, UnicodeDecodeError):
        return False


def _is_usable(name: str) -> bool:
    try:
        return read(name) is not None
    except Unusable as error:
        _remove(name, str(error))
        return False
