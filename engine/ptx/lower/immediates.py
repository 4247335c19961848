"""Converts numbers in PTX to the bits of a value of some type, and says which types a number can have."""

from __future__ import annotations

import math
import struct

from rfview.engine.isa import TYPE_BITS
from rfview.engine.ptx.parse.syntax import Number


def is_of_type(number: Number, type_name: str) -> bool:
    """Return whether an instruction that works on a type takes a number, as in ptxas: halves and packed values have none.

    Floating-point numbers go with .f32, .f64 and the bits of their own width; decimal ones are doubles.
    """
    if "f16" in type_name or "x2" in type_name:
        return False
    if number.kind == "int":
        return type_name[0] != "f"
    return type_name in ("f32", "f64", number.kind.replace("f", "b"))


def immediate_bits(number: Number, type_name: str) -> int:
    """Return the bits of an immediate as a value of type `type_name`."""
    bits = TYPE_BITS[type_name]
    if number.kind == "int":
        if type_name not in ("f32", "f64"):
            return number.value & ((1 << bits) - 1)
        value = float(number.value)
    elif number.kind == "f32" and bits == 64:
        (value,) = struct.unpack("<f", struct.pack("<I", number.value))
    elif number.kind == "f64" and bits == 32:
        (value,) = struct.unpack("<d", struct.pack("<Q", number.value))
    else:
        return number.value & ((1 << bits) - 1)
    try:
        return int.from_bytes(struct.pack("<f" if bits == 32 else "<d", value), "little")
    except OverflowError:       # a double beyond the largest float
        return int.from_bytes(struct.pack("<f", math.copysign(math.inf, value)), "little")
