"""Damages machine code on disk: whatever is there, functions return the right values, and nothing unverified is executed.

A case damages the files of two small functions, stored as the machine's are, and calls each in a new dispatcher, as a new
process would: files that are as they were are loaded, all others are replaced.
"""

from __future__ import annotations

import functools
import os
import pickle
import random
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rfview.engine.compile import cache, jit, stored

SLOW_S = 20.0
NOBODY = 65534
LENGTHS = (0, 1, len(stored.MAGIC), len(stored.MAGIC) + stored.HASH_BYTES, 4096)


def doubled(x: Any) -> Any:
    """Return twice a number."""
    return 2 * x


def tripled(x: Any) -> Any:
    """Return three times a number."""
    return 3 * x


CALLS: tuple[tuple[Callable[[Any], Any], Any, Any], ...] = ((doubled, 5, 10), (doubled, 1.25, 2.5), (tripled, 5, 15))


class Executed:
    """Its pickle creates a file when it is loaded."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


@functools.cache
def originals() -> dict[str, bytes]:
    """Return the files by name; compiled once."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "CACHE_FOLDER", Path(folder))
        for function, x, _ in CALLS:
            jit.entry(function)(x)
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def flip(chance: random.Random, path: Path) -> None:
    """Change some bits, most of them in the first bytes."""
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 1, 2, 8))):
        data[chance.randrange(min(len(data), chance.choice((100, len(data)))))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def cut(chance: random.Random, path: Path) -> None:
    """Cut the file, or drop bytes from its middle."""
    data = path.read_bytes()
    at = chance.choice((*LENGTHS, chance.randrange(len(data))))
    path.write_bytes(data[:at] + (data[at + chance.randrange(1, 100) :] if chance.random() < 0.3 else b""))


def extend(chance: random.Random, path: Path) -> None:
    """Append bytes, or make the file a large one with a hole."""
    if chance.random() < 0.5:
        path.write_bytes(path.read_bytes() + chance.randbytes(chance.randrange(1, 100)))
    else:
        os.truncate(path, chance.choice((1 << 20, 1 << 34, 1 << 40)))


def garbage(chance: random.Random, path: Path) -> None:
    """Replace it by other bytes, by text, or by a pickle that executes something, with or without a header."""
    start = chance.choice((b"", stored.MAGIC, stored.MAGIC + bytes(stored.HASH_BYTES)))
    content = (chance.randbytes(500), b"text\n" * 100, pickle.dumps(Executed(path.parent / "executed")), bytes(5000))
    path.write_bytes(start + chance.choice(content))


def other(chance: random.Random, path: Path) -> None:
    """Put another function's file there, or swap the two."""
    name = chance.choice([name for name in originals() if name != path.name])
    path.write_bytes(originals()[name])
    if chance.random() < 0.5 and (path.parent / name).is_file():        # not what `replaced` has put there
        (path.parent / name).write_bytes(originals()[path.name])


def unloadable(chance: random.Random, path: Path) -> None:
    """Store what has the right hash, but is not machine code, as an earlier version of numba may have."""
    content = chance.choice((b"", b"garbage", pickle.dumps(3), pickle.dumps(("a", 1)), b"cno_such_module\nname\n."))
    stored.write(path.name, content)


def foreign(chance: random.Random, path: Path) -> None:
    """Make it writable by others, or another user's; with a right hash, too."""
    if chance.random() < 0.5:
        stored.write(path.name, pickle.dumps(Executed(path.parent / "executed")))
    if os.geteuid() == 0 and chance.random() < 0.5:
        os.chown(path, NOBODY, -1)
    else:
        path.chmod(chance.choice((0o666, 0o660, 0o602, 0o777)))


def replaced(chance: random.Random, path: Path) -> None:
    """Put something there that is not a file, or nothing."""
    path.unlink()
    how = chance.randrange(4)
    if how == 0:
        path.mkdir()
        (path / "file").write_bytes(b"content")
    elif how == 1:
        target = path.with_suffix(".elsewhere")
        target.write_bytes(originals()[path.name])
        path.symlink_to(chance.choice((target, path.name, "/dev/zero", "nowhere")))
    elif how == 2:
        os.mkfifo(path)


DAMAGE = (flip, flip, cut, extend, garbage, other, unloadable, foreign, replaced)


def tried(folder: Path, chance: random.Random) -> tuple[str, str]:
    """Damage some files and call the functions; return what became of it (loaded, refused, or what is wrong), and details."""
    told: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "CACHE_FOLDER", folder)
        patch.setattr(cache, "tell", told.append)
        for name, data in originals().items():
            (folder / name).write_bytes(data)
            (folder / name).chmod(0o600)
        stored.mark(folder / "all.ready", originals())
        names = chance.sample(sorted(originals()), chance.choice((0, 1, 1, 1, 2, 3)))
        for name in names:
            chance.choice(DAMAGE)(chance, folder / name)
        if chance.random() < 0.2:
            (folder / "all.ready").write_bytes(chance.choice((b"", b"\xff", b"\0\n", b"../x\n", b"/dev/zero\n", b"doubled-0.code\n")))
            if stored.is_marked(folder / "all.ready"):
                return "marked", ""
        for function, x, value in CALLS:
            entry = jit.entry(function)
            result = entry(x)
            if result != value or type(result) is not type(value):
                return "wrong", f"{function.__name__}({x}) is {result}"
            name = jit.name_on_disk(entry, [x])
            if stored.read(name) is None:
                return "not replaced", function.__name__
            if not names and not entry.stats.cache_hits:
                return "not loaded", function.__name__
        if (folder / "executed").exists():
            return "executed", ""
        stored.mark(folder / "all.ready", originals())
        if not stored.is_marked(folder / "all.ready"):
            return "unmarked", ""
        if any(len(text.splitlines()) != 1 for text in told):
            return "said", repr(told)
    return ("refused", told[0]) if told else ("loaded", "")


def cases(seed: int, first: int, count: int) -> Iterator[tuple[int, str, str]]:
    """Try the cases first..first + count - 1 of a seed; yield (number, outcome, detail)."""
    for number in range(first, first + count):
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                outcome, detail = tried(Path(folder), random.Random(f"cache {seed} {number}"))
            except Exception:
                outcome, detail = "traceback", traceback.format_exc()[-300:]
        yield number, "slow" if time.monotonic() - began > SLOW_S else outcome, detail
