"""One PTX instruction form: its modifiers, consumed one by one, and the OpInfo made from them."""

from __future__ import annotations

from typing import NamedTuple

from rfview.engine.isa import (FLAG_FTZ, FLAG_SAT, OP_INT, ROUND_RM, ROUND_RN, ROUND_RP, ROUND_RZ, ROUND_SHIFT,
                               TYPE_BITS, TYPE_CODES, TYPES)
from rfview.engine.program import LAT_OTHER, UNIT_SFU, UNIT_SP, WAIT_FIXED, WAIT_SHORT


class OpInfo(NamedTuple):
    """What the front end copies into an INST, and the operand types it checks; see the package docstring."""

    op: int
    flags: int
    aux: int
    unit: int
    latency_class: int
    wait_class: int
    src_types: tuple[str, ...]
    dst_type: str | None
    num_pdst: int
    num_psrc: int
    is_float: bool


class Refused(Exception):
    """Raised for a combination of modifiers that does not exist; lookup turns it into UnsupportedOpcode."""


class Form:
    """The modifiers of one instruction, consumed one by one; any left over are refused."""

    def __init__(self, base: str, modifiers: tuple[str, ...]) -> None:
        self.base = base
        self.types = [m for m in modifiers if m in TYPES]
        self.left = [m for m in modifiers if m not in TYPES]

    def take(self, name: str) -> bool:
        """Remove modifier `name` if present; return whether it was."""
        if name in self.left:
            self.left.remove(name)
            return True
        return False

    def one_of(self, names: dict[str, int], default: int | None = None) -> int:
        """Remove the modifier found in `names` and return its value; if none is, return `default`, or refuse without one."""
        for name in self.left:
            if name in names:
                self.left.remove(name)
                return names[name]
        if default is None:
            raise Refused
        return default

    def type(self, allowed: str = "") -> str:
        """Return the form's only type, which must be among `allowed` (separated by blanks; "" allows all)."""
        if len(self.types) != 1 or (allowed and self.types[0] not in allowed.split()):
            raise Refused
        return self.types[0]

    def done(self) -> None:
        """Refuse any modifiers left over."""
        if self.left:
            raise Refused


INTS = "u16 s16 u32 s32 u64 s64"
BITS = "b16 b32 b64"
FLOATS = "f32 f64 f16 f16x2 bf16 bf16x2"
ROUNDS = {"rn": ROUND_RN, "rz": ROUND_RZ, "rm": ROUND_RM, "rp": ROUND_RP}
INT_ROUNDS = {"rni": ROUND_RN, "rzi": ROUND_RZ, "rmi": ROUND_RM, "rpi": ROUND_RP}


def op_info(op: int, src: tuple[str, ...], dst: str | None, latency: int = LAT_OTHER, unit: int = UNIT_SP,
            flags: int = 0, aux: int = 0, pdst: int = 0, psrc: int = 0, is_float: bool = False) -> OpInfo:
    """Make an OpInfo; waits for the special-function unit count as short, all others as fixed latency."""
    wait = WAIT_SHORT if unit == UNIT_SFU else WAIT_FIXED
    return OpInfo(op, flags, aux, unit, latency, wait, src, dst, pdst, psrc, is_float)


def general_int(sub: int, kind: str, src: tuple[str, ...], dst: str, latency: int, flags: int = 0,
                unit: int = UNIT_SP) -> OpInfo:
    """Make an OpInfo of OP_INT, the opcode of all integer operations without an opcode of their own."""
    return op_info(OP_INT, src, dst, latency, unit, flags=flags, aux=sub | TYPE_CODES[kind] << 8)


def is_signed(kind: str) -> bool:
    """Return whether an integer type is signed."""
    return kind[0] == "s"


def widened(kind: str) -> str:
    """Return the type with twice as many bits."""
    return kind[0] + str(TYPE_BITS[kind] * 2)


def float_flags(form: Form, rounding: bool) -> int:
    """Return the flags for .ftz and .sat, and for the rounding mode if `rounding` allows one."""
    flags = 0
    if rounding:
        flags |= form.one_of(ROUNDS, ROUND_RN) << ROUND_SHIFT
    if form.take("ftz"):
        flags |= FLAG_FTZ
    if form.take("sat"):
        flags |= FLAG_SAT
    return flags
