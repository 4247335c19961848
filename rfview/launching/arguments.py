"""Arrays and numbers as arguments of a launch, given by Python or as text such as f4[1024]:random."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rfview.engine import files
from rfview.engine.errors import InputError
from rfview.engine.launch.arrays import DTYPES, HEADER_ERRORS, MAX_BUFFER_BYTES, NAMES_OF_DTYPES

FILLS = ("zeros", "arange", "random")
EXPECTED = ("expected DTYPE[SHAPE] or DTYPE[SHAPE]:FILL for an array (f4[1024], f2[64,64]:random, i4[8]:arange, f4[8]:1.5), "
            "FILE.npy, a number (1024, 0.5, i4:1024), or null")
_ARRAY = re.compile(r"([A-Za-z][\w ]*)\[([\d,_ x]+)\](?::(.+))?\Z")
_NUMBER = re.compile(r"(?:([A-Za-z][\w ]*):)?"
                     r"([-+]?(?:\d[\d_]*|0x[\da-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|inf|nan))\Z")


@dataclass(frozen=True, eq=False)
class Argument:
    """One argument. kind: 'array', 'number' or 'null'.

    dtype: NumPy's name, "" for a number of unspecified type. array: the contents, C-contiguous; None if `fill`, a line of
    a launch file's [buffers.NAME] table, defines them. value: of a number. back: the caller's array for the results.
    """

    name: str
    kind: str
    dtype: str = ""
    shape: tuple[int, ...] = ()
    array: np.ndarray | None = field(default=None, repr=False)
    fill: str = ""
    value: int | float | bool = 0
    back: np.ndarray | None = field(default=None, repr=False)


def dtype_of(text: str, where: str) -> str:
    """Return NumPy's name of a type written as f4, float32 or float; raises InputError for types unknown to PTX."""
    name = text.strip()
    if re.fullmatch(r"[fiu]\d", name):
        try:
            name = np.dtype(name).name
        except TypeError:
            name = text
    if name in DTYPES:
        return name
    for dtype, names in NAMES_OF_DTYPES.items():
        if name.lower() in names:
            return dtype
    raise InputError(f"{where}: {text!r} is not a number type; expected one of f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8")


def from_words(text: str, place: int) -> Argument:
    """Return the argument NAME=VALUE; place: its number from 0, which seeds random values. Raises InputError."""
    name, equals, value = (part.strip() for part in text.partition("="))
    where = f"--arg {text}"
    if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise InputError(f"{where}: expected NAME=VALUE, such as out=f4[1024] or n=1024")
    if value == "null":
        return Argument(name, "null")
    if value.endswith(".npy"):
        return of_array(name, _loaded(value, where), where)
    if match := _ARRAY.match(value):
        return _array(name, match, where, place)
    if match := _NUMBER.match(value):
        dtype = dtype_of(match[1], where) if match[1] else ""
        return Argument(name, "number", dtype, value=_number(match[2]))
    if value in ("true", "false"):
        return Argument(name, "number", value=value == "true")
    raise InputError(f"{where}: {EXPECTED}")


def _array(name: str, match: re.Match[str], where: str, place: int) -> Argument:
    """Return the array DTYPE[SHAPE]:FILL."""
    dtype = dtype_of(match[1], where)
    try:
        shape = tuple(int(size.replace("_", "")) for size in re.split(r"[,x]", match[2].replace(" ", "")))
    except ValueError:
        raise InputError(f"{where}: {EXPECTED}") from None
    if min(shape) < 1 or math.prod(shape) * np.dtype(dtype).itemsize > MAX_BUFFER_BYTES:
        raise InputError(f"{where}: expected sizes of at least 1, and {MAX_BUFFER_BYTES:,} bytes at most")
    fill, *ends = (match[3] or "zeros").split(":")
    if fill in FILLS and fill != "random" and not ends:
        return Argument(name, "array", dtype, shape, fill=f"{fill} = true")
    if fill == "random" and len(ends) in (0, 2) and all(_NUMBER.match(end) for end in ends):
        is_float = np.dtype(dtype).kind == "f"
        low, high = (_number(end) for end in ends) if ends else ((0.0, 1.0) if is_float else (0, 100))
        return Argument(name, "array", dtype, shape,
                        fill=f"random = {{seed = {place + 1}, low = {low}, high = {high}}}")
    if not ends and (number := _NUMBER.match(fill)) and not number[1]:
        return Argument(name, "array", dtype, shape, fill=f"value = {_number(fill)}")
    raise InputError(f"{where}: expected zeros, arange, random, random:LOW:HIGH or a number after the colon, got "
                     f"{match[3]}")


def _number(text: str) -> int | float:
    plain = text.replace("_", "")
    try:
        return int(plain, 0)
    except ValueError:
        return float(plain)


def _loaded(file: str, where: str) -> np.ndarray:
    try:
        with files.opened(file) as stream:
            return np.lib.format.read_array(stream, allow_pickle=False)
    except OSError as error:
        raise InputError(f"{where}: {file} cannot be read: {error.strerror or error}") from None
    except HEADER_ERRORS as error:
        raise InputError(f"{where}: {file} is not a .npy file: {error}") from None


def of_array(name: str, array: np.ndarray, where: str, back: np.ndarray | None = None) -> Argument:
    """Return an array as an argument: complex numbers as pairs, booleans as u1, structs as bytes. Raises InputError."""
    held = np.ascontiguousarray(array)
    held = held.astype(held.dtype.newbyteorder("="), copy=False)
    if held.dtype.kind == "c":
        held = held.reshape(*held.shape, 1).view(f"f{held.dtype.itemsize // 2}")
    elif held.dtype.kind in "bVmM":
        held = held.view(np.uint8) if held.dtype.kind in "bV" else held.view(np.int64)
    if held.dtype.name not in DTYPES:
        raise InputError(f"{where}: an array of {array.dtype}; expected elements of {', '.join(DTYPES)}")
    if held.size == 0:
        raise InputError(f"{where}: expected at least one element, got none")
    return Argument(name, "array", held.dtype.name, held.shape or (1,), held.reshape(held.shape or (1,)), back=back)


def of_value(name: str, value: Any, where: str) -> Argument:
    """Return the argument for a Python value: an array (or a tensor in the CPU's memory), a number, None for null."""
    if value is None:
        return Argument(name, "null")
    if isinstance(value, bool | int | float):
        return Argument(name, "number", value=value)
    if isinstance(value, np.bool_ | np.integer | np.floating):
        return Argument(name, "number", value.dtype.name if value.dtype.name in DTYPES else "", value=value.item())
    if isinstance(value, np.ndarray):
        return of_array(name, value, where, value)
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        try:
            array = np.asarray(value)
        except (TypeError, ValueError, RuntimeError) as error:
            raise InputError(f"{where}: NumPy cannot see it as an array: {error}") from None
        return of_array(name, array, where, array)
    raise InputError(f"{where}: expected a NumPy array, a number or None, got {type(value).__name__}")
