"""A kernel's parameter block: arguments converted to the types that the kernel declares."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from rfview.engine.launch.pointers import write_pointers
from rfview.engine.launch.spec import Arg, Launch
from rfview.engine.launch.table import LaunchError
from rfview.engine.program import MAX_PARAM_BYTES


class ParamDecl(Protocol):
    """One .param of a kernel as its PTX declares it: type such as 'u64', 'f32', 'b8'; sizes in bytes."""

    @property
    def name(self) -> str: ...

    @property
    def type(self) -> str: ...

    @property
    def size(self) -> int: ...

    @property
    def align(self) -> int: ...

    @property
    def offset(self) -> int: ...


def pack_params(launch: Launch, param_decls: Sequence[ParamDecl], buffer_address: Mapping[str, int],
                where: str, address_bytes: int = 8) -> bytes:
    """Return the kernel's parameter block: every argument converted to its parameter's type, at its offset.

    buffer_address: address of each buffer and symbol by name. where: the beginning of errors, such as "gemm.toml:
    launch 1". address_bytes: 4 if the module has 32-bit addresses: then a parameter may be an address's low word.
    Raises LaunchError if an argument does not fit its parameter, or if there are too many or too few.
    """
    if len(launch.args) != len(param_decls):
        listed = ", ".join(f"{_short_name(decl)}: {_type_of(decl)}" for decl in param_decls) or "none"
        raise LaunchError(f"{where}: args: expected {len(param_decls)} arguments ({listed}), got {len(launch.args)}")
    size = max((decl.offset + decl.size for decl in param_decls), default=0)
    if size > MAX_PARAM_BYTES:
        raise LaunchError(f"{where}: args: expected at most {MAX_PARAM_BYTES} bytes of parameters, got {size}")
    block = bytearray(size)
    for place, (arg, decl) in enumerate(zip(launch.args, param_decls)):
        begin = f"{where}: args[{place}] ({_short_name(decl)}: {_type_of(decl)})"
        block[decl.offset:decl.offset + decl.size] = _pack_one(arg, decl, buffer_address, begin, address_bytes)
    return bytes(block)


def _short_name(decl: ParamDecl) -> str:
    """Return a parameter's name without the kernel's mangled name that compilers prepend: 'param_2'."""
    return re.sub(r".*_(param_\d+)\Z", r"\1", decl.name)


def _type_of(decl: ParamDecl) -> str:
    """Return a parameter's type: 'u64', or 'b8[24]' for an aggregate."""
    width = int(decl.type[1:]) // 8
    return decl.type if decl.size == width else f"{decl.type}[{decl.size // width}]"


def _pack_one(arg: Arg, decl: ParamDecl, buffer_address: Mapping[str, int], begin: str, address_bytes: int) -> bytes:
    """Return the little-endian bytes of one argument, `decl.size` of them."""
    if arg.kind == "bytes":
        assert isinstance(arg.value, bytes)
        if len(arg.value) != decl.size:
            raise LaunchError(f"{begin}: expected {decl.size} bytes, got {len(arg.value)}")
        raw = bytearray(arg.value)
        write_pointers(raw, arg.pointers, buffer_address, address_bytes, begin)
        return bytes(raw)
    kind, width = decl.type[0], int(decl.type[1:]) // 8
    if arg.kind in ("buffer", "symbol", "texture", "null"):
        if decl.size not in (8, address_bytes) or kind == "f":
            raise LaunchError(f"{begin}: expected {_wanted(decl)}, got the 64-bit address of "
                              f"{arg.name or 'null'}")
        address = 0 if arg.kind == "null" else buffer_address[arg.name] + arg.offset
        return struct.pack("<Q", address)[:decl.size]
    if decl.size != width:
        raise LaunchError(f"{begin}: expected {_wanted(decl)}, got the value {arg.value!r}")
    if kind == "f" or (kind == "b" and isinstance(arg.value, float)):
        return _pack_float(arg.value, decl, begin)
    if isinstance(arg.value, float):
        raise LaunchError(f"{begin}: expected an integer, got the float {arg.value}")
    bits, number = 8 * width, int(arg.value)  # type: ignore[arg-type]
    # nvcc declares C's `int` and `signed char` as .u32 and .u8, and .b is untyped: either signedness is accepted
    low = -(1 << (bits - 1))
    high = (1 << (bits - 1)) - 1 if kind == "s" else (1 << bits) - 1
    if not low <= number <= high:
        raise LaunchError(f"{begin}: expected an integer in {low}..{high}, got {number}")
    return (number & ((1 << bits) - 1)).to_bytes(width, "little")


def _pack_float(value: Any, decl: ParamDecl, begin: str) -> bytes:
    """Return a number rounded to the nearest float of decl.size bytes."""
    codes = {2: "<f2", 4: "<f4", 8: "<f8"}
    if isinstance(value, bool) or decl.size not in codes:
        raise LaunchError(f"{begin}: expected {_wanted(decl)}, got {value}")
    with np.errstate(over="ignore"):
        try:
            packed = np.array(float(value)).astype(codes[decl.size])
        except OverflowError:
            packed = np.array(math.inf)
    if np.isinf(packed) and not (isinstance(value, float) and math.isinf(value)):
        raise LaunchError(f"{begin}: expected a number in the range of {decl.type}, got {value}")
    return packed.tobytes()


def _wanted(decl: ParamDecl) -> str:
    """Return which argument would fit a parameter, for errors."""
    if decl.size != int(decl.type[1:]) // 8:
        return f"{{bytes = ...}} of {decl.size} bytes"
    return "a number" if decl.type[0] == "f" else "an integer"
