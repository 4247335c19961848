"""Textures and the headers in memory that their handles point to; plain data, no numba.

A texture is a buffer read through texture instructions. Its *header* is in the arena after the buffers and symbols;
the header's address is the handle that a kernel gets (a u64 parameter, or a .texref variable of the same name).
Texels are stored row by row in their buffer, without tiling: [depth or layer][height][width][channels], with a gap
after each row if the pitch says so.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from rfview.engine.isa import T_F16, T_F32, T_S8, T_S16, T_S32, T_U8, T_U16, T_U32

# words of a header
(H_WIDTH, H_HEIGHT, H_DEPTH, H_TEXEL_BYTES, H_BASE_LOW, H_BASE_HIGH, H_PITCH, H_BASE_WORD, H_KIND, H_CHANNELS, H_FLAGS,
 H_ADDRESS_X, H_ADDRESS_Y, H_ADDRESS_Z) = range(14)
H_BORDER = 14                # four words: the result of a fetch outside the texture in address mode border
H_ORDER, H_DATA_TYPE = 18, 19  # results of txq for channel_order and channel_data_type
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

    buffer: name of the buffer with the texels, which begin `offset` bytes into it. dtype: NumPy's name of their type.
    size: texels (x, y, z), 1 for missing dimensions; z is the depth or the number of layers. address: ADDRESS_* per
    dimension. border: floats. pitch: bytes from one row to the next, 0 if there is no gap. handle: the header's
    address, None for any.
    """

    name: str
    buffer: str
    offset: int
    dtype: str
    size: tuple[int, int, int]
    channels: int
    is_linear: bool
    is_normalized: bool
    reads_float: bool
    address: tuple[int, int, int]
    border: tuple[float, float, float, float]
    pitch: int = 0
    handle: int | None = None

    @property
    def texel_bytes(self) -> int:
        """Return the bytes of one texel."""
        return self.channels * np.dtype(self.dtype).itemsize

    @property
    def row_bytes(self) -> int:
        """Return the bytes from one row to the next."""
        return self.pitch or self.size[0] * self.texel_bytes

    @property
    def extent(self) -> int:
        """Return the bytes from the first texel to the end of the last."""
        x, y, z = self.size
        return (y * z - 1) * self.row_bytes + x * self.texel_bytes


def header(texture: Texture, address: int, word: int) -> np.ndarray:
    """Return the header, (HEADER_WORDS,) u4. address, word: address and arena word of the texels' buffer."""
    words = np.zeros(HEADER_WORDS, np.uint32)
    kind = KINDS[texture.dtype]
    base = address + texture.offset
    words[H_WIDTH], words[H_HEIGHT], words[H_DEPTH] = texture.size
    words[H_TEXEL_BYTES], words[H_PITCH] = texture.texel_bytes, texture.row_bytes
    words[H_BASE_LOW], words[H_BASE_HIGH], words[H_BASE_WORD] = base & 0xFFFFFFFF, base >> 32, (
        word + texture.offset // 4)
    words[H_KIND], words[H_CHANNELS] = kind, texture.channels
    words[H_FLAGS] = (F_LINEAR * texture.is_linear | F_NORMALIZED * texture.is_normalized
                      | F_READ_FLOAT * texture.reads_float)
    words[H_ADDRESS_X], words[H_ADDRESS_Y], words[H_ADDRESS_Z] = texture.address
    is_float = texture.reads_float or kind in (T_F16, T_F32)
    for k, value in enumerate(texture.border):
        pattern = struct.pack("<f", value) if is_float else struct.pack("<q", int(value))[:4]
        words[H_BORDER + k] = int.from_bytes(pattern, "little")
    words[H_ORDER] = _ORDERS[texture.channels]
    words[H_DATA_TYPE] = (_NORMALIZED_TYPES if texture.reads_float else _DATA_TYPES)[kind]
    return words


def described(words: np.ndarray, name: str, buffer: str, address: int, handle: int) -> Texture:
    """Return the texture that a header describes. name, address: of the buffer. handle: the header's address."""
    dtype = next(name for name, kind in KINDS.items() if kind == words[H_KIND])
    flags = int(words[H_FLAGS])
    is_float = flags & F_READ_FLOAT or np.dtype(dtype).kind == "f"
    border = words[H_BORDER : H_BORDER + 4].view("<f4" if is_float else "<i4" if dtype[0] == "i" else "<u4")
    base = int(words[H_BASE_LOW]) | int(words[H_BASE_HIGH]) << 32
    x, y, z = (int(size) for size in words[H_WIDTH : H_DEPTH + 1])
    modes = (int(words[H_ADDRESS_X]), int(words[H_ADDRESS_Y]), int(words[H_ADDRESS_Z]))
    a, b, c, d = (float(value) for value in border)
    return Texture(name, buffer, base - address, dtype, (x, y, z), int(words[H_CHANNELS]), bool(flags & F_LINEAR),
                   bool(flags & F_NORMALIZED), bool(flags & F_READ_FLOAT), modes, (a, b, c, d), int(words[H_PITCH]), handle)
