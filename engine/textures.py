"""Textures: what one is, and the header in memory that its handle points to; plain data, no numba.

A texture is a buffer read through texture instructions. Its *header* lies in the arena behind the buffers and symbols; the
header's address is the handle that a kernel gets (a u64 parameter, or a .texref variable of the same name). Texels lie
row by row in their buffer, without tiling: [depth or layer][height][width][channels].
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from rfview.engine.isa import T_F16, T_F32, T_S8, T_S16, T_S32, T_U8, T_U16, T_U32

# words of a header
(H_WIDTH, H_HEIGHT, H_DEPTH, H_TEXEL_BYTES, H_BASE_LOW, H_BASE_HIGH, H_BASE_WORD, H_KIND, H_CHANNELS, H_FLAGS,
 H_ADDRESS_X, H_ADDRESS_Y, H_ADDRESS_Z) = range(13)
H_BORDER = 13                # four words: what a fetch outside the texture gives where the address mode is border
H_ORDER, H_DATA_TYPE = 17, 18  # what txq gives for channel_order and channel_data_type
HEADER_WORDS = 32
HEADER_BYTES = 4 * HEADER_WORDS
REGION_KIND_TEXTURE = 3      # `kind` of a header's region (engine/values/access.py)

F_LINEAR, F_NORMALIZED, F_READ_FLOAT = 1, 2, 4
ADDRESS_WRAP, ADDRESS_CLAMP, ADDRESS_MIRROR, ADDRESS_BORDER = range(4)  # CUDA's cudaTextureAddressMode
ADDRESS_MODES = {"wrap": ADDRESS_WRAP, "clamp": ADDRESS_CLAMP, "mirror": ADDRESS_MIRROR, "border": ADDRESS_BORDER}
KINDS = {"uint8": T_U8, "int8": T_S8, "uint16": T_U16, "int16": T_S16, "uint32": T_U32, "int32": T_S32,
         "float16": T_F16, "float32": T_F32}
# PTX manual, txq: channel_order R, RG, RGBA and channel_data_type, OpenCL 1.1's numbers
_ORDERS = {1: 0x10B0, 2: 0x10B2, 4: 0x10B5}
_DATA_TYPES = {T_S8: 0x10D7, T_S16: 0x10D8, T_S32: 0x10D9, T_U8: 0x10DA, T_U16: 0x10DB, T_U32: 0x10DC,
               T_F16: 0x10DD, T_F32: 0x10DE}
_NORMALIZED_TYPES = {T_S8: 0x10D0, T_S16: 0x10D1, T_U8: 0x10D2, T_U16: 0x10D3}


@dataclass(frozen=True)
class Texture:
    """A texture, as a launch file's [textures.NAME] table describes it.

    buffer: name of the buffer with the texels, which begin `offset` bytes into it. size: texels (x, y, z), 1 where a
    dimension is missing; z is the depth or the number of layers. address: ADDRESS_* per dimension. border: floats.
    """

    name: str
    buffer: str
    offset: int
    size: tuple[int, int, int]
    channels: int
    is_linear: bool
    is_normalized: bool
    reads_float: bool
    address: tuple[int, int, int]
    border: tuple[float, float, float, float]


def header(texture: Texture, dtype: np.dtype, address: int, word: int) -> np.ndarray:
    """Return the header's words (HEADER_WORDS,) u4; address and arena word of the buffer with the texels."""
    words = np.zeros(HEADER_WORDS, np.uint32)
    kind = KINDS[dtype.name]
    base = address + texture.offset
    words[H_WIDTH], words[H_HEIGHT], words[H_DEPTH] = texture.size
    words[H_TEXEL_BYTES] = texture.channels * dtype.itemsize
    words[H_BASE_LOW], words[H_BASE_HIGH], words[H_BASE_WORD] = base & 0xFFFFFFFF, base >> 32, (
        word + texture.offset // 4)
    words[H_KIND], words[H_CHANNELS] = kind, texture.channels
    words[H_FLAGS] = (F_LINEAR * texture.is_linear | F_NORMALIZED * texture.is_normalized
                      | F_READ_FLOAT * texture.reads_float)  # fmt: skip
    words[H_ADDRESS_X], words[H_ADDRESS_Y], words[H_ADDRESS_Z] = texture.address
    is_float = texture.reads_float or kind in (T_F16, T_F32)
    for k, value in enumerate(texture.border):
        pattern = struct.pack("<f", value) if is_float else struct.pack("<q", int(value))[:4]
        words[H_BORDER + k] = int.from_bytes(pattern, "little")
    words[H_ORDER] = _ORDERS[texture.channels]
    words[H_DATA_TYPE] = (_NORMALIZED_TYPES if texture.reads_float else _DATA_TYPES)[kind]
    return words
