"""Reads a launch file's [textures.NAME] tables, checked against the buffers that contain the texels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rfview.engine.launch.pointers import load_address
from rfview.engine.launch.table import Table, shown
from rfview.engine.textures import ADDRESS_MODES, KINDS, Texture

FILTERS, READS = ("point", "linear"), ("element", "normalized_float")
MAX_PITCH = 0x7FFF_FFFF  # bytes (cudaDeviceProp.memPitch)
MAX_FLOAT = float(np.finfo(np.float32).max)
MAX_EXTENT = 1 << 27  # texels of the longest texture, a 1D one over linear memory (CUDA C++ Programming Guide)


def load_texture(name: str, table: Table, buffers: Mapping[str, Any]) -> Texture:
    """Read a [textures.NAME] table; raises LaunchError through it."""
    table.allow("buffer", "offset", "type", "size", "pitch", "channels", "filter", "address", "border", "normalized",
                "read", "handle")
    buffer = table.text("buffer")
    if buffer not in buffers:
        table.fail("buffer", f"expected the name of a [buffers.NAME] table ({', '.join(buffers) or 'none is defined'}), "
                             f"got {buffer!r}")
    array = _as_texels(table, buffer, buffers[buffer].array)
    channels = table.integer("channels", 1, 4, 1)
    if channels == 3:
        table.fail("channels", "expected 1, 2 or 4, got 3")
    offset = table.integer("offset", 0, array.nbytes, 0)
    pitch = table.integer("pitch", 1, MAX_PITCH, 0)
    size = _size(table, array, channels, offset, pitch)
    reads_float = _one_of(table, "read", READS, "element") == "normalized_float"
    if reads_float and array.dtype.name not in ("uint8", "int8", "uint16", "int16"):
        table.fail("read", f"normalized_float needs 8- or 16-bit integers, but {buffer} holds {array.dtype}")
    is_linear = _one_of(table, "filter", FILTERS, "point") == "linear"
    if is_linear and array.dtype.kind != "f" and not reads_float:
        table.fail("filter", f"linear needs floats, or read = \"normalized_float\"; {buffer} holds {array.dtype}")
    border = _border(table, reads_float or array.dtype.kind == "f")
    return Texture(name, buffer, offset, array.dtype.name, size, channels, is_linear,
                   table.take("normalized", (bool,), "true or false", False), reads_float, _address(table), border, pitch,
                   load_address(table, "handle"))


def _as_texels(table: Table, buffer: str, array: np.ndarray) -> np.ndarray:
    """Return a buffer as elements of the texels' type: the buffer's own if the table names no other."""
    if "type" in table:
        dtype = np.dtype(_one_of(table, "type", tuple(KINDS), ""))
        if "size" not in table or array.nbytes % dtype.itemsize:
            table.fail("type", "expected together with size, and for a buffer of whole elements; "
                               f"{buffer} has {array.nbytes} bytes")
        return np.ascontiguousarray(array).reshape(-1).view(dtype)
    if array.dtype.name not in KINDS:
        table.fail("buffer", f"expected texels of {', '.join(KINDS)}, but {buffer} holds {array.dtype}; "
                             "type names another")
    return array


def _one_of(table: Table, key: str, known: tuple[str, ...], default: str) -> str:
    """Return the word under `key`, one of `known`."""
    word = table.text(key, default)
    if word not in known:
        table.fail(key, f"expected one of {', '.join(known)}, got {word!r}")
    return str(word)


def _size(table: Table, array: np.ndarray, channels: int, offset: int, pitch: int) -> tuple[int, int, int]:
    """Return the texels in x, y and z: as given, else the buffer's shape reversed; pitch: bytes, 0 without padding."""
    shape = list(array.shape)
    if channels > 1 and shape[-1] == channels and "size" not in table:
        shape.pop()
    elif channels > 1 and "size" not in table:
        table.fail("channels", f"expected a buffer whose last dimension is {channels}, or size; it has {array.shape}")
    expected = "a list of 1 to 3 integers, the texels in x, y and z"
    size = table.take("size", (list,), expected, shape[::-1])
    if not 1 <= len(size) <= 3 or any(type(n) is not int or not 1 <= n <= MAX_EXTENT for n in size):
        table.fail("size", f"expected {expected}, got {shown(size)}")
    x, y, z = [*size, 1, 1][:3]
    row = x * channels * array.dtype.itemsize
    if pitch and (pitch < row or pitch % (channels * array.dtype.itemsize)):
        table.fail("pitch", f"expected at least the {row} bytes of a row, and a multiple of a texel's, got {pitch}")
    needed = (y * z - 1) * (pitch or row) + row + offset
    if needed > array.nbytes:
        table.fail("size", f"{x} x {y} x {z} texels end at byte {needed}, the buffer has {array.nbytes}")
    return x, y, z


def _address(table: Table) -> tuple[int, int, int]:
    """Return the address mode of each dimension: one word for all, or a list."""
    expected = f"one of {', '.join(ADDRESS_MODES)}, or a list of them"
    given = table.take("address", (str, list), expected, "clamp")
    words = [given] * 3 if isinstance(given, str) else (given + given[-1:] * 3)[:3]
    if not words or any(type(word) is not str or word not in ADDRESS_MODES for word in words):
        table.fail("address", f"expected {expected}, got {shown(given)}")
    x, y, z = (ADDRESS_MODES[word] for word in words)
    return x, y, z


def _border(table: Table, is_float: bool) -> tuple[float, float, float, float]:
    """Return the border colour: four numbers that a texel can be, by default zeros."""
    least, most = (-MAX_FLOAT, MAX_FLOAT) if is_float else (-(1 << 31), (1 << 32) - 1)
    expected = f"a list of four numbers in {least}..{most}"
    given = table.take("border", (list,), expected, [0.0] * 4)
    if len(given) != 4 or any(type(value) not in (int, float) or not least <= value <= most for value in given):
        table.fail("border", f"expected {expected}, got {shown(given)}")
    a, b, c, d = (float(value) for value in given)
    return a, b, c, d
