"""The messages between a program and the server over their socket; uses only the standard library, for any Python.

A request is a head (u4 operation, u4 length of the body) and its body; the answer is (i4 status, u4 length) and its body.
Numbers are little-endian. A status is a cudaError_t; STOPPED means that the program has done what it was started for and
is to exit. If a status is an error, the body is its message. Each request is answered before the next one is read.
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

VERSION = 1
BASE = 0x7000_0000_0000         # where device memory begins, both in the engine and in the program
SCRATCH = 1 << 30               # bytes at the start of the memory file that only the machine uses
CAPACITY = 7 << 30              # bytes of device memory; only touched pages take up memory
LINK, MEMORY = "RFVIEW_LINK", "RFVIEW_MEMORY"     # environment variables: the descriptors that the program inherits

# operations: body of the request -> body of the answer
HELLO = 1           # u4 version, u4 process -> properties, PROPERTIES
MALLOC = 2          # u8 size, u4 kind -> u8 address
FREE = 3            # u8 address ->
LOAD = 4            # u4 form, module -> u4 module
FACTS = 5           # u4 module, kernel -> FACTS_HEAD, a PARAM per parameter
KERNELS = 6         # u4 module -> names, one per line
SYMBOL = 7          # u4 module, name -> u8 address, u8 size
LAUNCH = 8          # LAUNCH_HEAD, kernel, parameter block -> u8 cycles, printed text
OCCUPANCY = 9       # u4 module, u4 threads, u4 dynamic shared bytes, kernel -> u4 blocks
ALIAS = 10          # u8 host address, u8 device address, u8 size -> ; size 0 removes it
TEXTURE = 11        # TEXTURE_BODY -> u8 handle
RESET = 12          # ->
NAME = 13           # u8 address, name -> ; an allocation's name in lists and captured folders
SYNC = 14           # -> ; the status is the device's sticky error
FORM_PTX, FORM_FATBIN, FORM_PARTS = 0, 1, 2
KIND_DEVICE, KIND_HOST, KIND_MANAGED, KIND_ARRAY = range(4)
COOPERATIVE = 1

HEAD = struct.Struct("<II")
REPLY = struct.Struct("<iI")
FACTS_HEAD = struct.Struct("<7I")       # parameters, registers, shared, local, most threads, code bytes, target
PARAM = struct.Struct("<II")            # offset, size
LAUNCH_HEAD = struct.Struct("<10I")     # module, grid x y z, block x y z, dynamic shared bytes, flags, length of the name
PROPERTIES = struct.Struct("<10I")      # clock in kHz, warps, threads, CTAs, shared bytes, registers, MHz x bytes of memory,
#                                         compute capability x 10, capacity in MiB, L2 bytes
TEXTURE_BODY = struct.Struct("<Q14I4f")  # address, size x y z, channels, bits, kind of number (0 s, 1 u, 2 f), linear,
#                                         normalised coordinates, read as float, address mode x y z, layers,
#                                         bytes from row to row (0: rows are contiguous); border
MAX_MODULE = 512 << 20
MAX_BODY = 64 << 10             # of all other messages

SUCCESS, INVALID_VALUE, MEMORY_ALLOCATION, INVALID_CONFIGURATION, INVALID_SYMBOL = 0, 1, 2, 9, 13
INVALID_DEVICE_FUNCTION, NO_KERNEL_IMAGE, INVALID_PTX, NOT_SUPPORTED = 98, 209, 218, 801
ILLEGAL_ADDRESS, OUT_OF_RESOURCES, TIMEOUT, ASSERT, MISALIGNED, INVALID_PC = 700, 701, 702, 710, 716, 718
LAUNCH_FAILURE, COOPERATIVE_TOO_LARGE = 719, 720
STOPPED = 0x7FFFFFFF


class LinkError(ConnectionError):
    """The other side has gone, or sent something that is not a message."""


@dataclass(frozen=True)
class Facts:
    """A kernel's resources and parameters. target: 75 for sm_75. params: offset and size of each in the parameter block."""

    registers: int
    shared_bytes: int
    local_bytes: int
    max_threads: int
    code_bytes: int
    target: int
    params: tuple[tuple[int, int], ...]


def read_exactly(link: socket.socket, size: int) -> bytes:
    """Return the next `size` bytes; b"" if the other side closed before the first.

    Raises LinkError if it closed later, or if nothing more comes within the socket's timeout.
    """
    parts, missing = [], size
    while missing:
        try:
            part = link.recv(min(missing, 1 << 20))
        except TimeoutError:
            raise LinkError(f"{missing:,} bytes of a message have not come") from None
        if not part:
            if missing == size:
                return b""
            raise LinkError(f"the connection was closed {missing:,} bytes before the end of a message")
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def read_request(link: socket.socket) -> tuple[int, bytes] | None:
    """Return the next (operation, body), None if the program has closed; raises LinkError if it is too long or cut off."""
    head = read_exactly(link, HEAD.size)
    if not head:
        return None
    operation, size = HEAD.unpack(head)
    if size > (MAX_MODULE if operation == LOAD else MAX_BODY):
        raise LinkError(f"a message of {size:,} bytes; at most {MAX_MODULE if operation == LOAD else MAX_BODY:,} are read")
    body = read_exactly(link, size)
    if len(body) < size:
        raise LinkError(f"the connection was closed before a message's body of {size:,} bytes")
    return operation, body


def write_reply(link: socket.socket, status: int, body: bytes) -> None:
    """Answer a request."""
    link.sendall(REPLY.pack(status, len(body)) + body)
