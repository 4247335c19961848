"""The texts of the source files that PTX names: found next to the PTX or the launch file, or at the compiler's path.

Names in PTX are untrusted, and what is read here goes into recordings that people share. So only regular files of limited
size with the suffixes of source code are read, and only as text.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from rfview.engine.info import Text
from rfview.engine.ptx.parse.locations import Locations, SourceFile, locations

SUFFIXES = frozenset(
    ".cu .cuh .c .cc .cpp .cxx .c++ .h .hh .hpp .hxx .h++ .inl .inc .ipp .tpp .py .pyx .jl .rs .f90 .cuf .cl .mojo".split())
MAX_BYTES = 1 << 20         # bytes of one file
MAX_TOTAL = 4 << 20         # bytes of all files of a PTX module
MAX_FILES = 64


def source_texts(places: Locations, folders: Iterable[Path]) -> list[Text]:
    """Return the PTX's source files whose text was found, in the order of their numbers.

    Only files with instructions (Locations.own) are searched for, not the toolkit's headers. folders: those of the PTX and
    of the launch file; a copy there is preferred to the compiler's path.
    """
    used = places.own_files()
    wanted = [file for number, file in sorted(places.files.items()) if number in used]
    beside = list(dict.fromkeys(folder.resolve() for folder in folders))
    texts: list[Text] = []
    room = MAX_TOTAL
    for file in wanted:
        text = None if len(texts) >= MAX_FILES else _text_of(file, beside, min(MAX_BYTES, room))
        if text is not None and all(file.path != known.path for known in texts):
            texts.append(Text(path=file.path, text=text))
            room -= len(text)
    return texts


def texts_to_copy(ptx: str, folders: Iterable[Path]) -> dict[str, str]:
    """Return the texts of the source files that a PTX text names, by the names under which they are found beside it.

    Of files with the same name in several folders none: the copy of one would be taken for the others.
    """
    texts = source_texts(locations(ptx), folders)
    names = Counter(posixpath.basename(entry.path) for entry in texts)
    return {name: entry.text for entry in texts if names[name := posixpath.basename(entry.path)] == 1}


def _text_of(file: SourceFile, beside: list[Path], most: int) -> str | None:
    """Return a file's text; None if it is not found or must not be read."""
    path = file.path
    if posixpath.splitext(path)[1].lower() not in SUFFIXES or "\0" in path or len(path) > 4096:
        return None
    tried = [folder / posixpath.basename(path) for folder in beside]
    tried += [Path(path)] if posixpath.isabs(path) else [folder / path for folder in beside]
    for name in tried:
        raw = _read(name, most)
        if raw is not None and (file.size < 0 or len(raw) == file.size) and b"\0" not in raw:
            return raw.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    return None


def _read(path: Path, most: int) -> bytes | None:
    """Return the contents of a regular file of at most so many bytes."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)     # a pipe without a writer would block
    except (OSError, ValueError):
        return None
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode) or about.st_size > most:
            return None
        with os.fdopen(handle, "rb", closefd=False) as file:
            raw = file.read(most + 1)
    except OSError:
        return None
    finally:
        os.close(handle)
    return raw if len(raw) <= most else None
