"""The folder of machine code on disk, and the hash of the sources compiled into it.

Every entry point takes a record (`spec` or `key`) whose dtype carries the hash of all sources compiled into it: an edit
makes a new type, and so a new file of machine code (stored.py). No code is loaded from a folder or file that belongs to
another user or that others may write: anyone could have put it there.
"""

from __future__ import annotations

import atexit
import errno
import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite.binding import get_host_cpu_name
from numba.core import codegen

config: Any = numba.config     # numba's stubs do not declare its settings
KEEP_FOLDERS = 8
FOLDER = re.compile(r"numba-.+-numpy-.+-[0-9a-f]{16}")
# folders with sources of the compiled step; plugin/variants.py adds a design's own file
COMPILED_ROOMS = ("compile", "machine", "values")
HOST_ONLY = frozenset(("__init__ compilation config defaults simulator info snapshot errors escapes files html interrupts "
                       "progress wording").split())


def cache_root() -> Path:
    """Return the folder for compiled code: the user's cache folder, or RFVIEW_CACHE_DIR."""
    if given := os.environ.get("RFVIEW_CACHE_DIR"):
        return Path(given)
    if sys.platform == "darwin":
        return Path(os.path.expanduser("~")) / "Library" / "Caches" / "rfview"
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path(os.path.expanduser("~")) / ".cache") / "rfview"


def source_hash(files: Iterable[Path]) -> str:
    """Return a short hash of the contents of `files`, in the given order."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def engine_files(*, compiled: bool = True) -> list[Path]:
    """Return the engine's source files in a fixed order. compiled: only those that may be part of the compiled step."""
    root = Path(__file__).parents[1]
    files = sorted([*root.glob("*.py"), *(file for room in COMPILED_ROOMS for file in (root / room).rglob("*.py"))])
    return [file for file in files if not (compiled and file.parent == root and file.stem in HOST_ONLY)]


def place() -> str:
    """Return a hash of what machine code depends on besides the types of arguments: engine, Python, compiler, processor."""
    parts = (source_hash(engine_files()), sys.implementation.cache_tag, llvmlite.__version__, config.CPU_NAME,
             config.CPU_FEATURES, get_host_cpu_name(), codegen.get_host_cpu_features())
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _prepared() -> Path:
    """Create this version's cache folder, remove all but the KEEP_FOLDERS used last, and return it."""
    root = cache_root()
    folder = root / f"numba-{numba.__version__}-numpy-{np.__version__}-{place()}"
    try:
        if root.parts[:1] == ("~",):
            raise FileNotFoundError(errno.ENOENT, "there is no home folder")
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        for path in (root, folder):
            if problem := distrust(path.stat(), is_root=path == root):
                raise PermissionError(errno.EACCES, f"{path} {problem}")
        os.utime(folder)
        tempfile.TemporaryFile(dir=folder).close()
        _hold(folder)
        _remove_old(root)
    except OSError as error:
        folder = _for_now(root, error, is_used=not config.DISABLE_JIT)
    return folder


def distrust(info: os.stat_result, *, is_root: bool = False) -> str:
    """Return why no code from a file or folder is executed, "" if it may be: only the user can have written it.

    is_root: of the cache's root, which may be the system's, as /tmp is; what is in it is examined, too.
    """
    if not hasattr(os, "geteuid"):
        return ""
    if info.st_uid != os.geteuid() and not (is_root and info.st_uid == 0):
        return "belongs to another user"
    if is_root and (info.st_mode & stat.S_ISVTX or not info.st_mode & stat.S_IWOTH and _is_own_group(info.st_gid)):
        return ""       # others cannot replace what is in it
    return "may be written by others (chmod go-w)" if info.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else ""


def _is_own_group(number: int) -> bool:
    """Return whether a group has only the user in it, as on systems where each user gets one and new folders are its own."""
    import grp
    import pwd

    with suppress(KeyError):
        group, user = grp.getgrgid(number), pwd.getpwuid(os.geteuid())
        return group.gr_name == user.pw_name and user.pw_gid == number and set(group.gr_mem) <= {user.pw_name}
    return False


def _lock(path: Path, how: str) -> int:
    """Return a handle that holds a lock of a folder (LOCK_SH or LOCK_EX), -1 without such locks; raises OSError if taken."""
    try:
        import fcntl
    except ImportError:
        return -1
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, getattr(fcntl, how) | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise
    return handle


def _hold(folder: Path) -> None:
    """Keep other versions from removing the folder while this process lives."""
    with suppress(OSError):     # a file system without locks
        _lock(folder, "LOCK_SH")


def _remove_old(root: Path) -> None:
    """Remove the user's folders of other versions except those used last and those in use."""
    ours = [path for path in root.glob("numba-*") if FOLDER.fullmatch(path.name) and not distrust(path.stat())]
    for old in sorted(ours, key=lambda path: path.stat().st_mtime, reverse=True)[KEEP_FOLDERS:]:
        with suppress(OSError):
            handle = _lock(old, "LOCK_EX")
            shutil.rmtree(old, ignore_errors=True)
            if handle >= 0:
                os.close(handle)


def _for_now(root: Path, error: OSError, is_used: bool) -> Path:
    """Return a temporary folder for this run and the processes it starts, and say once that code is not stored."""
    folder = Path(tempfile.mkdtemp(prefix="rfview-code-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["RFVIEW_CACHE_DIR"] = str(folder)
    if is_used:
        _tell_unkept(root, error)
    return folder


def tell(text: str) -> None:
    """Print one line about the cache on standard error, only the first in this process: what follows has the same cause."""
    global _has_told
    if sys.stderr is not None and not _has_told:
        print(f"rfview: {text}", file=sys.stderr)
    _has_told = True


def _tell_unkept(root: Path, error: OSError) -> None:
    tell(f"{root}: compiled code cannot be kept there ({error.strerror or error}); each run compiles again until "
         "RFVIEW_CACHE_DIR names a folder that is yours alone and can be written")


def report_unwritten(error: OSError) -> None:
    """Report once that compiled code could not be written, as on a full disk; from then on nothing is marked as cached."""
    global has_unwritten
    if not has_unwritten:
        has_unwritten = True
        _tell_unkept(cache_root(), error)


_has_told = False
has_unwritten = False     # something compiled by this process could not be written
CACHE_FOLDER = _prepared()
