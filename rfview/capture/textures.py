"""Textures and surfaces that a program makes at run time: their headers in the device's memory."""

from __future__ import annotations

import numpy as np

from rfview.capture.memory import GLOBAL_WORD, DeviceMemory
from rfview.capture.protocol import TEXTURE_BODY
from rfview.engine.errors import InputError
from rfview.engine.textures import HEADER_BYTES, Texture, header

DTYPES = {(0, 8): "i1", (0, 16): "i2", (0, 32): "i4", (1, 8): "u1", (1, 16): "u2", (1, 32): "u4",
          (2, 16): "f2", (2, 32): "f4"}  # fmt: skip


def header_of(memory: DeviceMemory, body: bytes) -> int:
    """Write a header for what a TEXTURE message describes; return its address, the handle that kernels get.

    Raises InputError for texels that lie in no allocation, or that the machine's textures do not have.
    """
    (address, x, y, z, channels, bits, kind, linear, normalised, as_float, mode_x, mode_y, mode_z, _layers,
     *border) = TEXTURE_BODY.unpack(body)  # fmt: skip
    size = (max(x, 1), max(y, 1), max(z, 1))
    if (kind, bits) not in DTYPES or channels not in (1, 2, 4):
        raise InputError(f"a texture of {channels} channels of {bits} bits; there are 1, 2, 4 channels of 8, 16, 32 bits")
    dtype = np.dtype(DTYPES[kind, bits])
    held = memory.find(address)
    needed = size[0] * size[1] * size[2] * channels * dtype.itemsize
    if held is None or address + needed > held.address + held.size or address % 4:
        raise InputError(f"a texture of {needed:,} bytes at 0x{address:x}, which no allocation holds")
    if max(mode_x, mode_y, mode_z) > 3:
        raise InputError("a texture with an unknown address mode")
    texture = Texture("", held.name, address - held.address, size, channels, bool(linear), bool(normalised), bool(as_float),
                      (mode_x, mode_y, mode_z), (border[0], border[1], border[2], border[3]))  # fmt: skip
    handle = memory.allocate(HEADER_BYTES, kind="texture")
    if not handle:
        raise InputError("no room for a texture's header in the device's memory")
    words = header(texture, dtype, held.address, GLOBAL_WORD + held.at // 4)
    memory.view(memory.live[handle])[:] = words.view(np.uint8)
    return handle
