"""Reads regular files alone, and writes them so that nothing is lost: beside the target, whose place a whole file takes.

A name that stands for something else than a regular file (a link, a device, a pipe, a folder) is never written to, nor is
the file that a program is reading from, nor one that somebody else has written since: that one stays, and so does ours.
"""

from __future__ import annotations

import errno
import io
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO

from rfview.engine.errors import InputError

Identity = tuple[int, int, int, int]    # device, file, time of its last change, size
KINDS = ((stat.S_ISDIR, "a folder"), (stat.S_ISLNK, "a link"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"),
         (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"))
MOST_TEXT = 256 << 20       # bytes of a text: far more than anybody's, far less than memory


def opened(path: str | Path) -> BinaryIO:
    """Open a regular file to be read; raises OSError, also for a pipe, which may wait, and a device, which may never end."""
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0)))
    mode = os.fstat(file.fileno()).st_mode
    if not stat.S_ISREG(mode):
        file.close()
        kind = next((name for test, name in KINDS if test(mode)), "no regular file")
        raise OSError(errno.EINVAL, f"is {kind}; expected a file", str(path))
    return file


def read(path: str | Path, most: int = MOST_TEXT) -> bytes:
    """Return a regular file's content; raises OSError as `opened`, and for more than `most` bytes."""
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(errno.EFBIG, f"has {size:,} bytes; at most {most:,} are read", str(path))
        return file.read(most)


def check_target(path: str | Path, inputs: Iterable[str | Path] = ()) -> Path:
    """Return the path of a file to write after making sure, now, that it can be written.

    inputs: files that are being read. Raises InputError where the name is not that of a regular file or of none, is that of
    an input, or cannot be written.
    """
    target = Path(path)
    if str(path) == "-":
        raise InputError("-: standard output takes no file that is named once it is whole; expected the name of a file "
                         "(./- for one called so)")
    try:
        found = target.lstat()
    except FileNotFoundError:
        found = None
    except OSError as error:
        raise _cannot(target, error) from None
    if found is not None and not stat.S_ISREG(found.st_mode):
        kind = next((name for test, name in KINDS if test(found.st_mode)), "no regular file")
        raise InputError(f"{path}: is {kind}; expected the name of a file")
    if found is not None and any(_is_same(found, one) for one in inputs):
        raise InputError(f"{path}: is being read from; give another name to write to")
    if not target.parent.is_dir():
        raise InputError(f"{path}: there is no folder {target.parent}")
    if not os.access(target.parent, os.W_OK) or (found is not None and not os.access(target, os.W_OK)):
        raise InputError(f"{path}: cannot be written: permission denied")
    return target


def _is_same(found: os.stat_result, other: str | Path) -> bool:
    try:
        return os.path.samestat(found, os.stat(other))
    except OSError:
        return False


def _cannot(target: Path, error: OSError, more: str = "") -> InputError:
    return InputError(f"{target}: cannot be written: {error.strerror or error}{more}")


class ChangedMeanwhile(InputError):
    """Another program has written the target while ours was written beside it."""


class NewFile:
    """A file that is being written, under a name of its own in the target's folder.

    file: unbuffered, for bytes. path: its name for now, TARGET with six letters and `suffix`, after a dot where it is
    hidden. Leaves the target as it was until `commit`; `discard` takes it away; whoever does neither leaves it there, for
    others to find.
    """

    def __init__(self, target: str | Path, *, inputs: Iterable[str | Path] = (), suffix: str = ".tmp", hidden: bool = False):
        """Raises InputError where the target cannot be written."""
        self.target = check_target(target, inputs)
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

    def commit(self, *, replaces: bool = True) -> None:
        """Give the file its target's name, when it is on the disk; replaces: false where no file may be there.

        Raises OSError, and ChangedMeanwhile where another program has written the target meanwhile: the file stays as it is.
        """
        os.fsync(self.file.fileno())
        self.file.close()
        now = identity(self.target)
        if now != self._before or (now is not None and not replaces):
            raise ChangedMeanwhile(f"{self.target}: another program has written it meanwhile, and it is left as it is; "
                             f"what was to be written is in {self.path.name}")
        os.replace(self.path, self.target)
        sync_folder(self.target.parent)

    def discard(self) -> None:
        """Close the file and take it away."""
        with suppress(OSError):
            self.file.close()
        with suppress(OSError):
            self.path.unlink()


def identity(path: Path) -> Identity | None:
    """Return what tells whether a name still stands for the same file with the same content; None for no file."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


def sync_folder(folder: Path) -> None:
    """Have a folder's names on the disk, where the system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def writing(target: str | Path, *, inputs: Iterable[str | Path] = (), replaces: bool = True,
            hidden: bool = False) -> Iterator[IO[bytes]]:
    """Yield a buffered binary file that becomes `target` when all is written; if anything fails the target stays as it was.

    replaces, hidden: as of NewFile. Raises InputError, naming the target, where it cannot be written, on a full disk too.
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
    """Do what `writing` does with a text file: UTF-8, unpaired surrogates as escapes, line ends as they are written."""
    with writing(target, inputs=inputs) as file:
        text = io.TextIOWrapper(file, "utf-8", "backslashreplace", newline="")
        yield text
        text.flush()
        text.detach()


def write(target: str | Path, content: str | bytes, *, inputs: Iterable[str | Path] = (), replaces: bool = True) -> None:
    """Write a whole file; text as UTF-8, unpaired surrogates as escapes. As `writing`."""
    with writing(target, inputs=inputs, replaces=replaces) as file:
        file.write(content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content)
