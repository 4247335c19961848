"""Converts numbers in PTX to the bits of a value of some type."""

from __future__ import annotations

import struct

from rfview.engine.isa import TYPE_BITS
from rfview.engine.ptx.parse.syntax import Number


def immediate_bits(number: Number, type_name: str) -> int:
    """Return the bits of an immediate as a value of type `type_name`."""
    bits = TYPE_BITS[type_name]
    if number.kind == "int":
        if type_name == "f32":
            return struct.unpack("<I", struct.pack("<f", float(number.value)))[0] if number.value else 0
        if type_name == "f64":
            return struct.unpack("<Q", struct.pack("<d", float(number.value)))[0]
        return number.value & ((1 << bits) - 1)
    if number.kind == "f32" and bits == 64:
        value = struct.unpack("<f", struct.pack("<I", number.value))[0]
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    if number.kind == "f64" and bits == 32:
        value = struct.unpack("<d", struct.pack("<Q", number.value))[0]
        return struct.unpack("<I", struct.pack("<f", value))[0]
    return number.value & ((1 << bits) - 1)
