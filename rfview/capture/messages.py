"""The table of all messages between a program and the server, for both sides in Python and, as a header, in C++.

A request is a head (u4 operation, u4 length of the body) and its body. A reply is a head (i4 status, u4 length of the
result, u4 length of the text), the result and the text. Whatever the status is, a result has the layout of the table or is
empty; the text says what failed. Numbers are little-endian and packed. Only the standard library is used, for any Python.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

VERSION = 2
BASE = 0x7000_0000_0000         # where device memory begins, both in the engine and in the program
SCRATCH = 1 << 30               # bytes at the start of the memory file that only the machine uses
CAPACITY = 7 << 30              # bytes of device memory; only touched pages take up memory
MAX_MODULE = 512 << 20          # bytes of a message that loads a module
MAX_BODY = 64 << 10             # of all other messages
LINK = "RFVIEW_LINK"            # environment variable: the name of the server's socket in the abstract namespace
STOPPED = 0x7FFFFFFF            # a status: the program has done what it was started for and is to exit
FORM_PTX, FORM_FATBIN, FORM_PARTS = range(3)
KIND_DEVICE, KIND_HOST, KIND_MANAGED, KIND_ARRAY = range(4)
COOPERATIVE, CLUSTERS = 1, 2    # flags of launches; CLUSTERS: of more than one CTA

REQUEST_HEAD = struct.Struct("<II")
REPLY_HEAD = struct.Struct("<iII")
TYPES = {"u4": ("I", "uint32_t"), "u8": ("Q", "uint64_t"), "f4": ("f", "float")}     # in struct's notation, in C++


@dataclass(frozen=True)
class Layout:
    """Fields, then `rest`: "" if nothing follows them, else what the bytes that follow are.

    text: NAME:TYPE or NAME:TYPE*COUNT, separated by spaces.
    """

    text: str = ""
    rest: str = ""
    head: struct.Struct = field(init=False, compare=False)

    def __post_init__(self) -> None:
        codes = "".join(f"{count}{TYPES[kind][0]}" for _, kind, count in self.fields())
        object.__setattr__(self, "head", struct.Struct("<" + codes))

    def fields(self) -> list[tuple[str, str, int]]:
        """Return name, type and count of each field."""
        found = []
        for word in self.text.split():
            name, _, kind = word.partition(":")
            kind, _, count = kind.partition("*")
            found.append((name, kind, int(count or 1)))
        return found

    def pack(self, *values: Any, rest: bytes = b"") -> bytes:
        """Return a body; raises struct.error if the values are not those of the layout."""
        if rest and not self.rest:
            raise struct.error(f"{len(rest)} bytes where nothing follows")
        return self.head.pack(*values) + rest

    def unpack(self, body: bytes) -> tuple[Any, ...]:
        """Return the values of a body, then the bytes that follow if the layout has any; raises struct.error."""
        if len(body) < self.head.size or (len(body) > self.head.size and not self.rest):
            raise struct.error(f"{len(body)} bytes; expected {self.head.size}{' or more' if self.rest else ''}")
        values = self.head.unpack_from(body)
        return (*values, body[self.head.size :]) if self.rest else values


@dataclass(frozen=True)
class Message:
    """An operation: its number, the layout of its request's body, and that of its result."""

    name: str
    number: int
    request: Layout
    result: Layout


PARAM = Layout("offset:u4 size:u4")
HELLO = Message("Hello", 1, Layout("version:u4 process:u4"), Layout(      # the reply also carries the memory's descriptor
    "clock_khz:u4 warps:u4 threads:u4 ctas:u4 shared_bytes:u4 registers:u4 bandwidth:u4 capability:u4 megabytes:u4 "
    "l2_bytes:u4 tracks:u4"))      # tracks: whether to send WROTE
MALLOC = Message("Malloc", 2, Layout("size:u8 kind:u4"), Layout("address:u8"))
FREE = Message("Free", 3, Layout("address:u8"), Layout())
LOAD = Message("Load", 4, Layout("form:u4", "the module"), Layout("module:u4"))
FACTS = Message("Facts", 5, Layout("module:u4", "the kernel's name"), Layout(
    "params:u4 registers:u4 shared_bytes:u4 local_bytes:u4 max_threads:u4 code_bytes:u4 target:u4", "a PARAM per parameter"))
KERNELS = Message("Kernels", 6, Layout("module:u4"), Layout("", "names, one per line"))
SYMBOL = Message("Symbol", 7, Layout("module:u4", "the symbol's name"), Layout("address:u8 size:u8"))
LAUNCH = Message("Launch", 8, Layout("module:u4 grid:u4*3 block:u4*3 shared_bytes:u4 flags:u4 name_length:u4",
                                     "the kernel's name, the parameter block"), Layout("cycles:u8", "the kernel's output"))
OCCUPANCY = Message("Occupancy", 9, Layout("module:u4 threads:u4 shared_bytes:u4", "the kernel's name"), Layout("blocks:u4"))
ALIAS = Message("Alias", 10, Layout("host:u8 device:u8 size:u8"), Layout())         # size 0 removes it
TEXTURE = Message("Texture", 11, Layout(        # row_bytes 0: rows are contiguous; kind: 0 signed, 1 unsigned, 2 float
    "address:u8 size:u4*3 channels:u4 bits:u4 kind:u4 linear:u4 normalised:u4 as_float:u4 mode:u4*3 layers:u4 row_bytes:u4 "
    "border:f4*4"), Layout("handle:u8"))
RESET = Message("Reset", 12, Layout(), Layout())
NAME = Message("Name", 13, Layout("address:u8", "name, dtype and shape, a line each"), Layout())
SYNC = Message("Sync", 14, Layout(), Layout())          # the status is the error that a launch left the device with
WROTE = Message("Wrote", 15, Layout(    # rows of device memory that the host has copied or filled (source 0)
    "address:u8 source:u8 row_bytes:u8 source_row_bytes:u8 width:u8 rows:u8"), Layout())
MESSAGES = {one.number: one for one in (HELLO, MALLOC, FREE, LOAD, FACTS, KERNELS, SYMBOL, LAUNCH, OCCUPANCY, ALIAS, TEXTURE,
                                        RESET, NAME, SYNC, WROTE)}


def cpp_header() -> str:
    """Return the C++ header: the constants, a packed struct for each request, and one for its result."""
    constants = {"VERSION": VERSION, "MAX_MODULE": MAX_MODULE, "BASE": BASE, "SCRATCH": SCRATCH, "CAPACITY": CAPACITY}
    lines = ["// Made from messages.py.", "#pragma once", "#include <stdint.h>", "namespace rfview {",
             *(f"const uint64_t {name} = {value}ull;" for name, value in constants.items()),
             f"const int STOPPED = {STOPPED};", f"const uint32_t COOPERATIVE = {COOPERATIVE}, CLUSTERS = {CLUSTERS};",
             "enum Form : uint32_t { PTX, FATBIN, PARTS };", "enum Kind : uint32_t { DEVICE, HOST, MANAGED, ARRAY };",
             "struct __attribute__((packed)) RequestHead { uint32_t operation, size; };",
             "struct __attribute__((packed)) ReplyHead { int32_t status; uint32_t size, text; };",
             f"struct __attribute__((packed)) Param {{ {_members(PARAM)}}};"]
    for one in MESSAGES.values():
        lines += [f"struct __attribute__((packed)) {one.name}Result {{ {_members(one.result)}}};",
                  f"struct __attribute__((packed)) {one.name} {{ using Result = {one.name}Result; "
                  f"enum : uint32_t {{ OPERATION = {one.number} }}; {_members(one.request)}}};"]
    return "\n".join([*lines, "}  // namespace rfview", ""])


def _members(layout: Layout) -> str:
    return "".join(f"{TYPES[kind][1]} {name}{f'[{count}]' if count > 1 else ''}; " for name, kind, count in layout.fields())
