"""Reading and writing messages on a socket, and the errors of CUDA that replies carry; uses only the standard library.

Each request is answered before the next one is read. A status is a cudaError_t, or STOPPED.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass

from rfview.capture.messages import LOAD, MAX_BODY, MAX_MODULE, REPLY_HEAD, REQUEST_HEAD

SUCCESS, INVALID_VALUE, MEMORY_ALLOCATION, INITIALIZATION, INVALID_CONFIGURATION, INVALID_SYMBOL = 0, 1, 2, 3, 9, 13
INVALID_DEVICE_FUNCTION, NO_KERNEL_IMAGE, INVALID_PTX, NOT_SUPPORTED = 98, 209, 218, 801
ILLEGAL_ADDRESS, OUT_OF_RESOURCES, TIMEOUT, ASSERT, MISALIGNED, INVALID_PC = 700, 701, 702, 710, 716, 718
LAUNCH_FAILURE, COOPERATIVE_TOO_LARGE = 719, 720


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


@dataclass(frozen=True)
class Reply:
    """What a request is answered with. result: in the layout of the operation, or empty; text: what failed."""

    status: int
    result: bytes = b""
    text: str = ""


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
    head = read_exactly(link, REQUEST_HEAD.size)
    if not head:
        return None
    operation, size = REQUEST_HEAD.unpack(head)
    most = MAX_MODULE if operation == LOAD.number else MAX_BODY
    if size > most:
        raise LinkError(f"a message of {size:,} bytes; at most {most:,} are read")
    body = read_exactly(link, size)
    if len(body) < size:
        raise LinkError(f"the connection was closed before a message's body of {size:,} bytes")
    return operation, body


def write_reply(link: socket.socket, reply: Reply, descriptors: Sequence[int] = ()) -> None:
    """Answer a request; descriptors: open files that the program receives with it."""
    text = reply.text.encode("utf-8", "replace")
    head = REPLY_HEAD.pack(reply.status, len(reply.result), len(text))
    if descriptors:
        socket.send_fds(link, [head], descriptors)
        head = b""
    link.sendall(head + reply.result + text)


def read_reply(link: socket.socket, descriptors: int = 0) -> tuple[Reply, list[int]]:
    """Return the reply to a request, and the open files that came with it, at most `descriptors`; raises LinkError."""
    files: list[int] = []
    if descriptors:
        first, files, *_ = socket.recv_fds(link, 1, descriptors, socket.MSG_CMSG_CLOEXEC)
        head = first + read_exactly(link, REPLY_HEAD.size - 1) if first else b""
    else:
        head = read_exactly(link, REPLY_HEAD.size)
    if len(head) < REPLY_HEAD.size:
        raise LinkError("the connection was closed")
    status, size, length = REPLY_HEAD.unpack(head)
    body = read_exactly(link, size + length)
    if len(body) < size + length:
        raise LinkError("the connection was closed before the end of a message")
    return Reply(status, body[:size], body[size:].decode("utf-8", "replace")), files
