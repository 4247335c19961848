"""Reads regular files only, and writes files so that nothing is lost: next to the target, then renamed when complete.

A name of anything but a regular file (a link, a device, a pipe, a folder) is never written to, nor is
a file that is being read, nor one that another program has written meanwhile: then both files are kept.
Only a recording replaces a recording: it may have taken hours, and tables and pictures can be made again.
"""

from __future__ import annotations

import errno
import io
import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO

from rfview.engine.errors import InputError

Identity = tuple[int, int, int, int]    # device, file, time of its last change, size
KINDS = ((stat.S_ISDIR, "a folder"), (stat.S_ISLNK, "a link"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"),
         (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"))
# how recordings begin, and those of the first format
RECORDING, OLD_RECORDING = b"\x89RFS\r\n\x1a\n", b"\x89RFV\r\n\x1a\n"
MOST_TEXT = 256 << 20       # most bytes of a text file: far more than any real one has, far less than memory
LONGEST_STEM = 80           # of a file's name that is made of another name; most systems allow 255 bytes
UNSAFE = re.compile(r"[^A-Za-z0-9_$%.+=-]+|^[.-]+")


def opened(path: str | Path) -> BinaryIO:
    """Open a regular file for reading; raises OSError, also for pipes, which may block, and devices, which may never end."""
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0)))
    mode = os.fstat(file.fileno()).st_mode
    if not stat.S_ISREG(mode):
        file.close()
        kind = next((name for test, name in KINDS if test(mode)), "not a regular file")
        raise OSError(errno.EINVAL, f"is {kind}; expected a file", str(path))
    return file


def read(path: str | Path, most: int = MOST_TEXT) -> bytes:
    """Return a regular file's content; raises OSError like `opened`, and for more than `most` bytes."""
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(errno.EFBIG, f"has {size:,} bytes; at most {most:,} are read", str(path))
        return file.read(most)


def read_text(path: str | Path, most: int = MOST_TEXT) -> str:
    """Return a regular file's text: UTF-8, without the byte order mark that some editors write.

    Raises OSError like `read`, and UnicodeDecodeError.
    """
    return read(path, most).decode("utf-8-sig")


def read_json(path: str | Path, most: int = MOST_TEXT) -> Any:
    """Return a regular file's JSON. Raises OSError like `read`, and ValueError, also for what is nested too deeply."""
    import json     # start-up

    try:
        return json.loads(read(path, most))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def stems_of(names: Iterable[str]) -> list[str]:
    """Return for each name (of a kernel, buffer, symbol, option) the name of a file without suffix, all in one folder.

    A name that is ASCII letters, digits and _ $ % . + = -, does not begin with . or - and has at most LONGEST_STEM of them
    stays as it is; other characters become _, and the end is cut off. The stems differ even where a file system ignores
    case: the second of two that would be equal ends in _2.
    """
    stems: list[str] = []
    used: set[str] = set()
    for name in names:
        plain = UNSAFE.sub("_", name)[:LONGEST_STEM] or "_"
        stem, number = plain, 2
        while stem.lower() in used:
            stem, number = f"{plain}_{number}", number + 1
        used.add(stem.lower())
        stems.append(stem)
    return stems


def stem_of(name: str) -> str:
    """Return what `stems_of` makes of a single name."""
    return stems_of([name])[0]


def check_target(path: str | Path, inputs: Iterable[str | Path] = (), *, is_recording: bool = False) -> Path:
    """Return the path of a file to write, after checking that it can be written.

    inputs: files being read. is_recording: a recording will be written, which may replace another. Raises
    InputError if the name belongs to anything but a regular file, is that of an input or of a recording, or cannot be
    written.
    """
    target = Path(path)
    if str(path) == "-":
        raise InputError("-: standard output is not possible here, since a file gets its name when it is complete; "
                         "expected the name of a file (./- for one called so)")
    if str(path).endswith(os.sep):      # which a Path drops
        raise InputError(f"{path}: is the name of a folder; expected the name of a file in it")
    try:
        status = target.lstat()
    except FileNotFoundError:
        status = None
    except OSError as error:
        raise _cannot(target, error) from None
    if status is not None and not stat.S_ISREG(status.st_mode):
        kind = next((name for test, name in KINDS if test(status.st_mode)), "not a regular file")
        raise InputError(f"{path}: is {kind}; expected the name of a file")
    if status is not None and any(_is_same(status, one) for one in inputs):
        raise InputError(f"{path}: is being read from; give another name to write to")
    if status is not None and not is_recording and is_recorded(target):
        raise InputError(f"{path}: is a recording, which only another recording replaces; give another name to write to")
    if not target.parent.is_dir():
        raise InputError(f"{path}: there is no folder {target.parent}")
    if not os.access(target.parent, os.W_OK) or (status is not None and not os.access(target, os.W_OK)):
        raise InputError(f"{path}: cannot be written: permission denied")
    return target


def is_recorded(path: Path) -> bool:
    """Return whether a file is a recording, complete or not, by its first bytes; False if it cannot be read."""
    try:
        with opened(path) as file:
            return file.read(len(RECORDING)) in (RECORDING, OLD_RECORDING)
    except OSError:
        return False


def _is_same(status: os.stat_result, other: str | Path) -> bool:
    try:
        return os.path.samestat(status, os.stat(other))
    except OSError:
        return False


def _cannot(target: Path, error: OSError) -> InputError:
    return InputError(f"{target}: cannot be written: {error.strerror or error}")


class ChangedMeanwhile(InputError):
    """Another program has written the target while we were writing our file."""


class NewFile:
    """A file being written, under a temporary name in the target's folder.

    file: unbuffered, for bytes. path: its temporary name, TARGET with six letters and `suffix`, preceded by a dot if
    hidden. The target does not change until `commit`; `discard` removes the temporary file; without either it remains, for
    recovery.
    """

    def __init__(self, target: str | Path, *, inputs: Iterable[str | Path] = (), suffix: str = ".tmp", hidden: bool = False,
                 is_recording: bool = False):
        """Raises InputError if the target cannot be written. is_recording: as in check_target."""
        self.target = check_target(target, inputs, is_recording=is_recording)
        self._before = identity(self.target)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        stem = self.target.stem if self.target.suffix and suffix.endswith(self.target.suffix) else self.target.name
        stem = f".{stem}" if hidden else stem
        while True:
            self.path = self.target.with_name(f"{stem}.{secrets.token_hex(3)}{suffix}")
            try:
                handle = os.open(self.path, flags, 0o666)
                break
            except FileExistsError:
                continue
            except OSError as error:
                raise _cannot(self.target, error) from None
        self.file: BinaryIO = os.fdopen(handle, "wb", buffering=0)  # type: ignore[assignment]

    def claim(self) -> None:
        """Show other processes that the file is being written for as long as this one lives; see `is_abandoned`."""
        with suppress(ImportError, OSError):    # without such locks, no file counts as abandoned
            import fcntl

            fcntl.flock(self.file, fcntl.LOCK_EX)

    def commit(self, *, replaces: bool = True) -> None:
        """Sync the file to disk and give it the target's name. replaces: whether an existing file may be replaced.

        Raises OSError, and ChangedMeanwhile if another program has written the target: both files are then kept.
        """
        os.fsync(self.file.fileno())
        self.file.close()
        now = identity(self.target)
        if now != self._before or (now is not None and not replaces):
            raise ChangedMeanwhile(f"{self.target}: another program has written it in the meantime, so it was not replaced; "
                             f"what was to be written is in {self.path.name}")
        os.replace(self.path, self.target)
        sync_folder(self.target.parent)

    def discard(self) -> None:
        """Close and remove the file."""
        with suppress(OSError):
            self.file.close()
        with suppress(OSError):
            self.path.unlink()


def is_abandoned(path: Path) -> bool:
    """Return whether a temporary file that was claimed is nobody's any more; False if the system cannot tell."""
    try:
        import fcntl

        with opened(path) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except (ImportError, OSError):
        return False


def identity(path: Path) -> Identity | None:
    """Return a value that changes when a name refers to another file or another content; None for no file."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size


def sync_folder(folder: Path) -> None:
    """Sync a folder's entries to disk, if the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def writing(target: str | Path, *, inputs: Iterable[str | Path] = (), replaces: bool = True,
            hidden: bool = False) -> Iterator[IO[bytes]]:
    """Yield a buffered binary file that becomes `target` when complete; on failure the target is unchanged.

    replaces, hidden: as in NewFile. Raises InputError, which names the target, if it cannot be written or the disk is full.
    """
    made = NewFile(target, inputs=inputs, hidden=hidden)
    try:
        with open(made.file.fileno(), "wb", closefd=False) as file:
            yield file
        made.commit(replaces=replaces)
    except ChangedMeanwhile:
        raise
    except OSError as error:
        made.discard()
        raise _cannot(made.target, error) from None
    except BaseException:
        made.discard()
        raise


@contextmanager
def writing_text(target: str | Path, *, inputs: Iterable[str | Path] = ()) -> Iterator[IO[str]]:
    """Like `writing`, for a text file: UTF-8, unpaired surrogates as escapes, line ends unchanged."""
    with writing(target, inputs=inputs) as file:
        text = io.TextIOWrapper(file, "utf-8", "backslashreplace", newline="")
        yield text
        text.flush()
        text.detach()


def write(target: str | Path, content: str | bytes, *, inputs: Iterable[str | Path] = (), replaces: bool = True) -> None:
    """Write a whole file, like `writing`; text as UTF-8, unpaired surrogates as escapes."""
    with writing(target, inputs=inputs, replaces=replaces) as file:
        file.write(content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content)
