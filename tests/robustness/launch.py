"""Fuzzes launch files, key by key as valid TOML and as raw text, and .npy files with wrong headers.

A case is one launch file next to its kernel's files: it must load and fit the machine, or be refused with one error that
names a file.
"""

from __future__ import annotations

import copy
import functools
import math
import random
import shutil
import tempfile
import time
import tomllib
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rfview.engine import kernels
from rfview.engine.errors import InputError, RfviewError
from rfview.engine.launch import load_launch_file
from rfview.engine.simulator import Simulator
from tests.robustness.found import keep

SLOW_S = 10.0
VALUES: tuple[Any, ...] = (
    0, 1, -1, 2, 31, 32, 33, 255, 1 << 16, (1 << 31) - 1, 1 << 31, 1 << 32, (1 << 63) - 1, -(1 << 63), 0.0, -0.0, 1.5, 1e308,
    float("inf"), float("nan"), True, False, "", "x", "a" * 5000, "\x1b[2J", "../../etc/passwd", "/dev/zero", "/dev/null", ".", "A",
    [], [0], [1, 2, 3, 4], [[1]], ["x"], {}, {"value": 1}, {"buffer": "A"}, {"x": {"y": [{}]}}, [1 << 40], [65535, 65535, 64],
    "float32", "uint8", "complex64", "object", "int64",
)


@functools.cache
def samples() -> tuple[tuple[str, Path], ...]:
    """Return the text and folder of every bundled launch file."""
    return tuple((path.read_text(encoding="utf-8"), path.parent) for path in map(kernels.path, kernels.CORE))


def toml(value: Any) -> str:
    """Return a value as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + "".join(f"\\u{ord(c):04x}" if c in '"\\' or not c.isprintable() else c for c in value) + '"'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(str(key))} = {toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return repr(value)


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to every value inside a value."""
    if way:
        yield way
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*way, key))


def changed(chance: random.Random, content: dict[str, Any]) -> dict[str, Any]:
    """Return a parsed launch file with values changed, dropped, doubled or renamed."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        *way, last = chance.choice(list(places(content)))
        parent: Any = content
        for key in way:
            parent = parent[key]
        how = chance.random()
        if how < 0.15:
            del parent[last]
        elif how < 0.25 and isinstance(parent, list) and "shape" not in way:     # filling gigabytes legitimately takes time
            parent += parent
        elif how < 0.35 and isinstance(parent, dict):
            parent[chance.choice(("x", str(last) + "s", "dtype", "shape", "file", "value", "grid", "module"))] = parent.pop(last)
        elif how < 0.5 and isinstance(parent[last], int) and not isinstance(parent[last], bool):
            parent[last] += chance.choice((-1, 1, 3, parent[last], -parent[last]))
        else:
            parent[last] = copy.deepcopy(chance.choice(VALUES))      # a case must not change the values of the next
        if not content:
            break
    return content


def asks_gigabytes(content: Any) -> bool:
    """Return whether a buffer is to be filled with more than 2^26 elements, but within the limit."""
    for part in ("buffers", "symbols"):
        tables = content.get(part)
        for table in tables.values() if isinstance(tables, dict) else ():
            shape = table.get("shape") if isinstance(table, dict) else None
            if isinstance(shape, list) and all(type(size) is int for size in shape) and 1 << 26 < math.prod(shape) <= 1 << 31:
                return True
    return False


def changed_text(chance: random.Random, text: str) -> bytes:
    """Return a launch file's text with bytes or lines changed."""
    data = bytearray(text.encode())
    for _ in range(chance.choice((1, 2, 8))):
        at = chance.randrange(len(data))
        data[at : at + chance.choice((0, 1, 5))] = chance.choice((b"\x00", b"\xff", b"]", b"[", b"=", b'"', b"\n", b"#", b"9" * 5000, b"["))
    return bytes(data)


def changed_array(chance: random.Random, data: bytes) -> bytes:
    """Return a .npy file whose header is invalid or does not match the data."""
    head, rest = data[:128], data[128:]
    how = chance.randrange(6)
    if how == 0:
        other = chance.choice((b"|O", b"<f8", b"<c16", b"|S99", b"<U9", b">i4", b"|V8"))
        head = head.replace(b"<f4", other).replace(b"<u4", other).replace(b"<i4", other)
    elif how == 1:
        head = head.replace(b"(", chance.choice((b"(99999999999,", b"(-1,", b"((", b"(1,1,1,1,1,")))
    elif how == 2:
        return data[: chance.randrange(len(data))]
    elif how == 3:
        head = bytes(byte if chance.random() > 0.05 else chance.randrange(256) for byte in head)
    elif how == 4:
        head = head[:8] + chance.choice((b"\xff\xff", b"\x00\x00")) + head[10:]
    else:
        rest = rest[:-4]
    return head + rest


def tried(path: Path) -> tuple[str, str]:
    """Return the outcome of a launch file: loaded or refused, else what is wrong; and details."""
    try:
        Simulator(load_launch_file(path))
    except InputError as error:
        return ("refused", "") if any(part in str(error) for part in (str(path.parent), ".ptx", ".npy")) else ("unnamed", str(error))
    except RfviewError as error:
        return "unnamed", str(error)
    except Exception as error:
        lines = " < ".join(f"{Path(one.filename).name}:{one.lineno}" for one in traceback.extract_tb(error.__traceback__)[:-4:-1])
        return "traceback", f"{type(error).__name__}: {error} {lines}"
    return "loaded", ""


def cases(seed: int, first: int, count: int) -> Iterator[tuple[int, str, str]]:
    """Try launch files first..first + count - 1 of a seed; yield (number, outcome, detail)."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + count):
            chance = random.Random(f"launch {seed} {number}")
            text, source = chance.choice(samples())
            place = Path(folder) / source.name
            if not place.exists():
                shutil.copytree(source, place)
            path, array = place / "case.toml", None
            arrays = sorted(place.glob("*.npy"))
            if chance.random() < 0.15:
                path.write_bytes(changed_text(chance, text))
            elif arrays and chance.random() < 0.2:
                array = chance.choice(arrays)
                path.write_text(text, encoding="utf-8")
                array.write_bytes(changed_array(chance, array.read_bytes()))
            else:
                content = changed(chance, {"module": f"{source.name}.ptx", **tomllib.loads(text)})
                while asks_gigabytes(content):      # valid, but slow
                    content = changed(chance, {"module": f"{source.name}.ptx", **tomllib.loads(text)})
                path.write_text("\n".join(f"{toml(str(key))} = {toml(value)}" for key, value in content.items()), encoding="utf-8")
            began = time.process_time()
            outcome, detail = tried(path)
            if time.process_time() - began > SLOW_S:
                outcome, detail = "slow", f"{source.name}: {time.process_time() - began:.1f} s {detail}"
            if array is None:
                keep(outcome, f"launch.{source.name}.{seed}-{number}.toml", path.read_bytes())
            if array is not None:
                shutil.copy(source / array.name, array)
            yield number, outcome, detail
