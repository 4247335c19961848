"""Reads `.nv.info` of a cubin: registers, stack, parameters and launch bounds of each function."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from rfview.engine.errors import SassError
from rfview.engine.sass.cubin import TEXT, Cubin

# attributes; an entry is format u8, code u8, u16, and with format 4 as many bytes as the u16 says
FORMAT_SIZED = 4
MAX_THREADS, PARAM_CBANK, REQUIRED_THREADS, FRAME_SIZE, MIN_STACK_SIZE, PARAMETER, REGISTERS, LARGE_PARAMETER, BARRIERS = (
    0x05, 0x0A, 0x10, 0x11, 0x12, 0x17, 0x2F, 0x45, 0x4C)
# of a parameter's size in the last word; LARGE_PARAMETER: of kernels with more than 4,352 bytes of parameters
SIZE_SHIFT = {PARAMETER: 18, LARGE_PARAMETER: 0}
NO_STACK = 0xFFFFFFFF   # as MIN_STACK_SIZE: the compiler does not know it (recursion, calls through pointers)


@dataclass
class FunctionInfo:
    """What .nv.info says of a function. params: (offset, bytes) by ordinal, from `param_base` of constant bank 0 on."""

    registers: int = 0
    frame: int = 0
    stack: int = 0
    barriers: int = 0
    param_base: int = 0
    params: dict[int, tuple[int, int]] = field(default_factory=dict)
    max_threads: int = 0
    required_threads: tuple[int, int, int] = (0, 0, 0)


def function_infos(cubin: Cubin) -> dict[str, FunctionInfo]:
    """Return what is said of each function, by name. Raises SassError if an attribute is damaged."""
    infos = {section.name.removeprefix(TEXT): FunctionInfo(registers=section.info >> 24)
             for section in cubin.sections if section.name.startswith(TEXT)}
    try:
        for section in cubin.sections:
            if section.name == ".nv.info":
                _read_module(cubin, section.data, infos)
            elif section.name.startswith(".nv.info."):
                own = infos.get(section.name.removeprefix(".nv.info."))
                if own is not None:
                    _read_function(section.data, own)
    except (struct.error, IndexError):
        raise SassError(f"{cubin.path}: damaged cubin: an attribute of .nv.info is too short") from None
    return infos


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        form, code, number = struct.unpack_from("<BBH", data, at)
        at += 4
        if form == FORMAT_SIZED:
            yield code, data[at : at + number]
            at += number
        else:
            yield code, struct.pack("<H", number)


def _read_module(cubin: Cubin, data: bytes, infos: dict[str, FunctionInfo]) -> None:
    for code, value in _attributes(data):
        if code in (REGISTERS, FRAME_SIZE, MIN_STACK_SIZE):
            symbol, number = struct.unpack_from("<II", value)
            own = infos.get(cubin.symbols[symbol].name)
            if own is not None:
                setattr(own, {REGISTERS: "registers", FRAME_SIZE: "frame", MIN_STACK_SIZE: "stack"}[code], number)


def _read_function(data: bytes, own: FunctionInfo) -> None:
    for code, value in _attributes(data):
        if code == PARAM_CBANK:
            _, own.param_base, _ = struct.unpack_from("<IHH", value)
        elif code in SIZE_SHIFT:
            _, ordinal, offset, word = struct.unpack_from("<IHHI", value)
            own.params[ordinal] = offset, word >> SIZE_SHIFT[code]
        elif code == BARRIERS:
            own.barriers = value[0]
        elif code == REQUIRED_THREADS:
            own.required_threads = struct.unpack_from("<III", value)
        elif code == MAX_THREADS:
            x, y, z = struct.unpack_from("<III", value)
            own.max_threads = x * y * z
