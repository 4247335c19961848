"""Textures and surfaces that a program creates at run time: their headers in device memory, and tables of launch files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import numpy as np

from rfview.capture.memory import GLOBAL_WORD, Allocation, DeviceMemory
from rfview.capture.messages import TEXTURE
from rfview.engine.errors import InputError
from rfview.engine.textures import ADDRESS_MODES, H_BASE_HIGH, H_BASE_LOW, HEADER_BYTES, Texture, described, header

DTYPES = {(0, 8): "i1", (0, 16): "i2", (0, 32): "i4", (1, 8): "u1", (1, 16): "u2", (1, 32): "u4",
          (2, 16): "f2", (2, 32): "f4"}


def header_of(memory: DeviceMemory, body: bytes) -> int:
    """Write the header for a TEXTURE message; return its address, which is the handle that kernels use.

    Raises InputError if the texels are not inside an allocation, or the machine has no such textures.
    """
    (address, x, y, z, channels, bits, kind, linear, normalised, as_float, mode_x, mode_y, mode_z, _layers, pitch,
     *border) = TEXTURE.request.unpack(body)
    size = (max(x, 1), max(y, 1), max(z, 1))
    if (kind, bits) not in DTYPES or channels not in (1, 2, 4):
        raise InputError(f"a texture of {channels} channels of {bits} bits; expected 1, 2 or 4 channels of 8, 16 or 32 bits")
    dtype = np.dtype(DTYPES[kind, bits])
    if max(mode_x, mode_y, mode_z) > 3:
        raise InputError("a texture with an unknown address mode")
    held = memory.find(address)
    start, name = (held.address, held.name) if held is not None else (address, "")
    texture = Texture("", name, address - start, dtype.name, size, channels, bool(linear), bool(normalised), bool(as_float),
                      (mode_x, mode_y, mode_z), (border[0], border[1], border[2], border[3]), pitch)
    if held is None or texture.offset + texture.extent > held.size or address % 4:
        raise InputError(f"a texture of {texture.extent:,} bytes at 0x{address:x}, which is not inside an allocation")
    handle = memory.allocate(HEADER_BYTES, kind="texture")
    if not handle:
        raise InputError("no room for a texture's header in the device's memory")
    words = header(texture, held.address, GLOBAL_WORD + held.at // 4)
    memory.view(memory.live[handle])[:] = words.view(np.uint8)
    return handle


def table_of(handle: int, words: np.ndarray, names: Mapping[int, str], holders: Iterable[Allocation]) -> list[str]:
    """Return a launch file's lines for the texture or surface of a header; holders: the buffers that may contain texels.

    names: of headers and buffers, by address. Raises InputError if the texels are in no buffer (in a symbol, or nowhere).
    """
    base = int(words[H_BASE_LOW]) | int(words[H_BASE_HIGH]) << 32
    holder = next((held.address for held in holders if held.address <= base < held.address + held.size), None)
    if holder is None:
        raise InputError(f"the launch reads a texture or surface whose texels, at 0x{base:x}, are in no buffer; a folder "
                         "can store only textures of buffers")
    one = described(words, names[handle], names[holder], holder, handle)
    modes = {number: word for word, number in ADDRESS_MODES.items()}
    return ["", f"[textures.{json.dumps(one.name)}]", f"buffer = {json.dumps(one.buffer)}", f"offset = {one.offset}",
            f'type = "{one.dtype}"', f"size = {list(one.size)}", f"pitch = {one.row_bytes}", f"channels = {one.channels}",
            f'filter = "{"linear" if one.is_linear else "point"}"', f"address = {[modes[mode] for mode in one.address]}",
            f"border = {list(one.border)}", f"normalized = {str(one.is_normalized).lower()}",
            f'read = "{"normalized_float" if one.reads_float else "element"}"', f"handle = 0x{handle:x}"]
