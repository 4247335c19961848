"""The folder of machine code on disk, and the hash of the sources compiled into it.

numba keys its cache on the file that defines an entry point only. So every entry point takes a record (`spec` or `key`)
whose dtype carries the hash of all sources compiled into it: an edit makes a new type, and so a new cache entry.
"""

from __future__ import annotations

import atexit
import errno
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
import numpy as np

KEEP_FOLDERS = 8
# folders with sources of the compiled step; plugin/variants.py adds a design's own file
COMPILED_ROOMS = ("compile", "machine", "values")
HOST_ONLY = frozenset(
    "__init__ compilation config defaults simulator info snapshot errors escapes files html progress wording".split())


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


def _prepared() -> Path:
    """Create this version's cache folder, remove all but the KEEP_FOLDERS used last, and return it."""
    tag = source_hash(engine_files())
    root = cache_root()
    folder = root / f"numba-{numba.__version__}-numpy-{np.__version__}-{tag}"
    config: Any = numba.config
    try:
        if root.parts[:1] == ("~",):
            raise FileNotFoundError(errno.ENOENT, "there is no home folder")
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        tempfile.TemporaryFile(dir=folder).close()
        used = sorted(folder.parent.glob("numba-*"), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in used[KEEP_FOLDERS:]:
            shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        folder = _for_now(root, error, told=bool(config.DISABLE_JIT))
    config.CACHE_DIR = str(folder)
    return folder


def _for_now(root: Path, error: OSError, told: bool) -> Path:
    """Return a temporary folder for this run and the processes it starts, and say once that code is not kept."""
    folder = Path(tempfile.mkdtemp(prefix="rfview-code-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["RFVIEW_CACHE_DIR"] = str(folder)
    if not told:
        _tell(root, error)
    return folder


def _tell(root: Path, error: OSError) -> None:
    if sys.stderr is not None:
        print(f"rfview: {root}: compiled code cannot be kept there ({error.strerror or error}); each run "
              "compiles again until RFVIEW_CACHE_DIR names a folder that can be written", file=sys.stderr)


def report_unwritten(error: OSError) -> None:
    """Report once that compiled code could not be written, as on a full disk; from then on nothing is marked as cached."""
    global has_unwritten
    if not has_unwritten:
        has_unwritten = True
        _tell(cache_root(), error)


def mark_cached(path: Path) -> None:
    """Create the empty file that marks something as cached, unless compiled code could not be written."""
    if not has_unwritten:
        with suppress(OSError):
            path.touch()


has_unwritten = False     # something compiled by this process could not be written
CACHE_FOLDER = _prepared()
