"""Reference of bit_ops in Python's integers, one function per row, as the PTX manual defines them."""

from __future__ import annotations

import numpy as np

M32, M64 = 2**32 - 1, 2**64 - 1


def signed(value: int, bits: int = 32) -> int:
    """Return the value in two's complement."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def reverse(value: int, bits: int) -> int:
    """Return the bits in reverse order."""
    return int(f"{value:0{bits}b}"[::-1], 2)


def extract(a: int, position: int, length: int, bits: int, is_signed: bool) -> int:
    """bfe: the field of `length` bits at `position`; beyond the top, the sign of the field or zeros."""
    top = bits - 1
    field = (a >> position) & ((1 << length) - 1) if length else 0
    sign = is_signed and length and a >> min(position + length - 1, top) & 1
    width = max(min(length, bits - position), 0)
    if sign:
        field |= M64 << width
    return field & ((1 << bits) - 1)


def insert(a: int, b: int, position: int, length: int, bits: int) -> int:
    """bfi: b with `length` bits from `position` on replaced by the low bits of a."""
    mask = (((1 << length) - 1) << position) & ((1 << bits) - 1)
    return b & ~mask | a << position & mask


def permute(a: int, b: int, selectors: int) -> int:
    """prmt: four bytes picked out of b:a; bit 3 of a selector copies the byte's sign into all its bits."""
    data = (b << 32 | a).to_bytes(8, "little")
    result = 0
    for place in range(4):
        selector = selectors >> 4 * place & 15
        byte = data[selector & 7]
        if selector & 8:
            byte = 0xFF if byte & 0x80 else 0
        result |= byte << 8 * place
    return result


def find(value: int, bits: int) -> int:
    """bfind.u: the position of the highest one bit; all ones if there is none."""
    return value.bit_length() - 1 & ((1 << bits) - 1)


def dot4(a: int, b: int, c: int) -> int:
    """dp4a: four products of signed bytes, summed."""
    return c + sum(signed(a >> k & 255, 8) * signed(b >> k & 255, 8) for k in (0, 8, 16, 24))


def row32(a: int, b: int) -> list[int]:
    """Return the 32-bit results of one thread."""
    c, pair = a ^ (b << 3 & M32), b << 32 | a
    sb = signed(b)
    shift = b & 63
    return [
        a.bit_count(), 32 - a.bit_length(), reverse(a, 32), (a & -a).bit_length(), permute(a, b, b & 0x7777),
        (pair << (shift & 31)) >> 32, pair >> min(shift, 32),
        extract(a, b & 31, b >> 5 & 63, 32, False), extract(a, b & 31, b >> 5 & 63, 32, True),
        insert(a, b, b & 31, b >> 5 & 31, 32), a & b | a & c | b & c,
        find(a, 32), 31 - find(~sb & M32 if sb < 0 else b, 32) if (~sb if sb < 0 else b) else M32,
        (a * b >> 32) ^ (signed(a) * sb >> 32), abs(signed(a) - sb) + 7, dot4(a, b, 5),
        (a >> 8 * (b & 3) & 255) * 0x01010101,  # .rc8 copies the byte that the selector names to all four places
        permute(a, b, b & 0xFFFF), (a & 0xFFFFFF) * (b & 0xFFFFFF), (a + b >> 1) + (signed(a) + sb + 1 >> 1),
        a << shift, signed(a) >> min(shift, 31), int(a & 1 == 0)]


def row64(a: int, b: int) -> list[int]:
    """Return the 64-bit results of one thread."""
    w = a << 32 | b
    return [
        w.bit_count(), 64 - (w >> (b & 31)).bit_length(), reverse(w, 64), w * (w ^ M64) >> 64,
        extract(w, b & 63, a >> 4 & 31, 64, True), insert(w, w ^ M64, b & 63, a & 31, 64), find(w >> 9, 32),
        w << (b & 31) ^ w >> (a & 63) ^ signed(w, 64) >> (b & 63)]


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return one row per operation."""
    pairs = [(int(a), int(b)) for a, b in zip(buffers["a"], buffers["b"])]
    out = np.array([[value & M32 for value in row32(a, b)] for a, b in pairs], np.uint32).T
    wide = np.array([[value & M64 for value in row64(a, b)] for a, b in pairs], np.uint64).T
    return {"out": out.copy(), "wide": wide.copy()}
