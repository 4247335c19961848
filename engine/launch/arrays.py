"""The arrays of a launch file: .npy files, or shape, dtype and a way to fill them."""

from __future__ import annotations

import math
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from rfview.engine import files
from rfview.engine.launch.table import Table, shown
from rfview.engine.wording import did_you_mean

# names of types in C and PTX, for a hint to those who write them here; NumPy has no bfloat16
NAMES_OF_DTYPES = {
    "float32": ("float", "f32", "fp32", "single"), "float64": ("double", "f64", "fp64"), "float16": ("half", "f16", "fp16"),
    "int8": ("char", "signed char", "i8", "s8"), "uint8": ("uchar", "unsigned char", "u8", "byte", "bool"),
    "int16": ("short", "i16", "s16"), "uint16": ("ushort", "unsigned short", "u16", "bf16", "bfloat16"),
    "int32": ("int", "i32", "s32"), "uint32": ("uint", "unsigned", "unsigned int", "u32"),
    "int64": ("long", "long long", "i64", "s64"), "uint64": ("ulong", "unsigned long", "u64", "size_t"),
}
DTYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64")
MAX_BUFFER_BYTES = 2**31  # assumed: more than any simulated kernel reads, less than a typing mistake would request
# NumPy's errors for a .npy file with an invalid header, or a header with another size than the file has
HEADER_ERRORS = (ArithmeticError, EOFError, MemoryError, RecursionError, SyntaxError, TokenError, TypeError, ValueError)
FILL_KEYS = ("zeros", "value", "arange", "random", "undefined")


def load_array(table: Table, folder: Path, extra: tuple[str, ...] = ()) -> np.ndarray:
    """Return the array that a table describes: by a .npy file, or by shape, dtype and a way to fill it."""
    table.allow("file", "shape", "dtype", *FILL_KEYS, *extra)
    described = [key for key in ("shape", "dtype", *FILL_KEYS) if key in table]
    if "file" in table:
        if described:
            table.fail(described[0], "expected either file, or shape, dtype and a fill, not both")
        return _load_npy(table, folder / table.text("file"))
    if not described:
        table.fail("", "expected file, or shape, dtype and one of zeros, value, arange, random, undefined")
    shape = _load_shape(table)
    dtype = np.dtype(_known_dtype(table, table.text("dtype")))
    if math.prod(shape) * dtype.itemsize > MAX_BUFFER_BYTES:
        table.fail("shape", f"expected at most {MAX_BUFFER_BYTES} bytes, got {shape} of {dtype}")
    fills = [key for key in FILL_KEYS if key in table]
    if len(fills) != 1:
        table.fail("", f"expected exactly one of {', '.join(FILL_KEYS)}, got {' and '.join(fills) or 'none'}")
    return _fill(table, fills[0], shape, dtype)


def _load_shape(table: Table) -> tuple[int, ...]:
    """Return the shape; every dimension is at least 1."""
    expected = "a list of integers, each at least 1"
    shape = table.take("shape", (list,), expected)
    if not shape or len(shape) > 32 or any(type(size) is not int or size < 1 for size in shape):
        table.fail("shape", f"expected {expected}, got {shown(shape)}")
    return tuple(shape)


def _known_dtype(table: Table, name: str) -> str:
    """Return `name` if it is a type of PTX kernels."""
    if name not in DTYPES:
        meant = [f" (did you mean {dtype!r}?)" for dtype, names in NAMES_OF_DTYPES.items() if name.lower() in names]
        hint = meant[0] if meant else did_you_mean(name, DTYPES)
        table.fail("dtype", f"expected one of {', '.join(DTYPES)}, got {name!r}{hint}")
    return name


def _load_npy(table: Table, file: Path) -> np.ndarray:
    """Return the array of a .npy file, C-contiguous and in native byte order; pickled objects are refused."""
    try:
        with files.opened(file) as stream:
            array = np.lib.format.read_array(stream, allow_pickle=False)
    except FileNotFoundError:
        table.fail("file", f"expected a .npy file, but {file} does not exist")
    except OSError as error:
        table.fail("file", f"{file} cannot be read: {error.strerror or error}")
    except HEADER_ERRORS as error:
        table.fail("file", f"expected a .npy file, but {file} is not one: {error}")
    array, native = np.ascontiguousarray(array), array.dtype.newbyteorder("=")
    if native.kind == "c":  # real and imaginary parts adjacent, as in float2 and double2
        array = array.astype(native).reshape(*array.shape, 1).view(f"f{native.itemsize // 2}")
        native = array.dtype
    elif native.kind == "b":
        array, native = array.view(np.uint8), np.dtype(np.uint8)
    if native.name not in DTYPES:
        advice = "; np.save(FILE, array.view(np.uint8)) saves structs as bytes" if native.names else ""
        table.fail("file", f"expected elements of {', '.join(DTYPES)}, but {file} holds {array.dtype}{advice}")
    if array.size == 0:
        table.fail("file", f"expected at least one element, but {file} has none")
    return np.ascontiguousarray(array, dtype=native)


def _fill(table: Table, fill: str, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return a new array filled by zeros, value, arange or random; undefined memory is zero, too."""
    if fill in ("zeros", "arange", "undefined"):
        if table.take(fill, (bool,), "true") is not True:
            table.fail(fill, "expected true, got false")
        if fill != "arange":
            return np.zeros(shape, dtype)
        count = math.prod(shape)
        if dtype.kind != "f" and count - 1 > np.iinfo(dtype).max:
            table.fail(fill, f"expected at most {int(np.iinfo(dtype).max) + 1} elements of {dtype}, got {count}")
        return np.arange(count).astype(dtype).reshape(shape)
    if fill == "value":
        value = table.take(fill, (int, float), f"a number of type {dtype}")
        if dtype.kind != "f":
            _check_integer(table, fill, value, dtype, 0)
        elif isinstance(value, int) or math.isfinite(value):  # inf and nan are allowed as they are
            _check_float(table, fill, table.number(fill), dtype)
        return np.full(shape, value, dtype)
    random = Table(table.file, f"{table.key}.random", table.take(fill, (dict,), "{seed = N, low = A, high = B}"))
    return _random(random, shape, dtype)


def _random(table: Table, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return seeded values in low <= x < high from RandomState, whose stream never changes between NumPy versions."""
    table.allow("seed", "low", "high")
    seed = table.integer("seed", 0, 2**32 - 1)
    state = np.random.RandomState(seed)
    if dtype.kind == "f":
        low, high = table.number("low", 0.0), table.number("high", 1.0)
        for key, end in (("low", low), ("high", high)):
            _check_float(table, key, end, dtype)
        if not (low < high and math.isfinite(high - low)):
            table.fail("high", f"expected more than low = {low}, got {high}")
        return state.uniform(low, high, size=shape).astype(dtype)
    low, high = (table.take(key, (int,), "an integer") for key in ("low", "high"))
    _check_integer(table, "low", low, dtype, 0)
    _check_integer(table, "high", high, dtype, 1)
    if low >= high:
        table.fail("high", f"expected more than low = {low} (high itself is never drawn), got {high}")
    wide = np.uint64 if high - 1 > np.iinfo(np.int64).max else np.int64
    return state.randint(low, high, size=shape, dtype=wide).astype(dtype)


def _check_integer(table: Table, key: str, value: Any, dtype: np.dtype, above: int) -> None:
    """Refuse what is not an integer of `dtype`; `above` = 1 if the value is an exclusive upper bound."""
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max) + above
    if type(value) is not int or not low <= value <= high:
        table.fail(key, f"expected an integer in {low}..{high} for {dtype}, got {value}")


def _check_float(table: Table, key: str, value: float, dtype: np.dtype) -> None:
    """Refuse a finite number that `dtype` would round to infinity."""
    with np.errstate(over="ignore"):
        if np.isinf(np.array(value).astype(dtype)):
            table.fail(key, f"expected a number in the range of {dtype}, got {value}")
