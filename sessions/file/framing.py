"""The frames of a session file, written and read with their CRCs, and a chunk's head, which chains all chunks before it.

This folder's `__init__.py` describes their contents.
"""

from __future__ import annotations

import os
import struct
import zlib
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

from rfview.engine import files
from rfview.sessions.codec import limits

MAGIC = files.RECORDING
# of recordings from before format 1
OLD_MAGIC = files.OLD_RECORDING
END_MAGIC = b"RFSEND\r\n"
FRAME = struct.Struct("<4sQI")
CHUNK_HEAD = struct.Struct("<IIQI")
TRAILER = struct.Struct("<QI8s")
HEAD, BASE, CHUNK, ZONE, PART, INDEX, KEYFRAME = b"HEAD", b"BASE", b"CHNK", b"ZONE", b"PART", b"INDX", b"KEYF"
# last_frame reads at most so many bytes, in blocks, and tries so many places that look like a frame's begin
SEARCHED_BYTES, BLOCK_BYTES, MOST_TRIED = 256 << 20, 4 << 20, 8


class Damage(Exception):
    """A frame that is cut short or whose checksum is wrong; callers turn it into a warning or an InputError."""


def write_frame(file: Any, tag: bytes, *payload: bytes | memoryview) -> tuple[int, int]:
    """Write one frame, with its payload in parts, to a binary file, which may be unbuffered; return its offset and CRC."""
    offset, length = file.tell(), sum(map(len, payload))
    crc = zlib.crc32(tag + struct.pack("<Q", length))
    for part in payload:
        crc = zlib.crc32(part, crc)
    for part in (FRAME.pack(tag, length, crc), *payload):
        write_all(file, part)
    return offset, crc


def write_all(file: BinaryIO, data: bytes | memoryview) -> None:
    """Write all bytes to a file that may be unbuffered, and so write fewer at a time."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


class Frame(NamedTuple):
    """A frame as read. end: the offset after it."""

    tag: bytes
    payload: bytes
    end: int
    crc: int


def read_frame(file: BinaryIO, offset: int, expected: bytes | None = None) -> Frame:
    """Return the frame at an offset; raises Damage. Never allocates more than the file's size."""
    try:
        left = file.seek(0, os.SEEK_END) - offset - FRAME.size
        if offset < 0 or left < 0:
            raise Damage("cut short")
        file.seek(offset)
        head = file.read(FRAME.size)
        tag, length, crc = FRAME.unpack(head)
        if length > left:
            raise Damage("cut short")
        limits.allow(length, limits.ARRAYS, "a frame")
        payload = file.read(length)
    except ValueError as error:
        raise Damage(str(error)) from None
    except (OSError, struct.error) as error:     # struct.error: the file has become shorter
        raise Damage(f"cannot be read: {error}") from None
    if len(payload) < length or zlib.crc32(payload, zlib.crc32(head[:12])) != crc:
        raise Damage("wrong checksum")
    if expected is not None and tag != expected:
        raise Damage(f"holds {tag!r} instead of {expected!r}")
    return Frame(tag, payload, offset + FRAME.size + length, crc)


def last_frame(file: BinaryIO, tag: bytes) -> Frame | None:
    """Return the last intact frame with a tag, searched for from the file's end; None if there is none near it."""
    end, tried = file.seek(0, os.SEEK_END), 0
    for begin in range(end - BLOCK_BYTES, end - SEARCHED_BYTES, -BLOCK_BYTES):
        file.seek(max(begin, 0))
        block = file.read(min(BLOCK_BYTES, BLOCK_BYTES + begin) + len(tag) - 1)
        at = block.rfind(tag)
        while at >= 0 and tried < MOST_TRIED:
            try:
                return read_frame(file, max(begin, 0) + at, tag)
            except Damage:      # of other contents that happen to have these bytes, or cut short
                tried += 1
            at = block.rfind(tag, 0, at)
        if begin <= 0 or tried == MOST_TRIED:
            return None
    return None


@dataclass(frozen=True)
class ChunkHead:
    """The head of a chunk. chain: the running check over this head and all chunks before it."""

    number: int
    num: int
    first: int
    chain: int

    @staticmethod
    def following(number: int, num: int, first: int, before: tuple[int, int]) -> ChunkHead:
        """Return the head of a chunk. before: chain and frame's CRC of that before; of chunk 0: 0, and of BASE or HEAD."""
        chain, crc = before
        return ChunkHead(number, num, first, zlib.crc32(CHUNK_HEAD.pack(number, num, first, crc), chain))

    def pack(self) -> bytes:
        """Return its bytes."""
        return CHUNK_HEAD.pack(self.number, self.num, self.first, self.chain)

    @staticmethod
    def split(payload: bytes) -> tuple[ChunkHead, memoryview]:
        """Return a CHNK payload's head and the bytes of its map; raises Damage."""
        if len(payload) < CHUNK_HEAD.size:
            raise Damage("has no head")
        head = ChunkHead(*CHUNK_HEAD.unpack_from(payload))
        if not 0 < head.num <= limits.MAX_CYCLES:
            raise Damage(f"cannot have {head.num:,} cycles")
        return head, memoryview(payload)[CHUNK_HEAD.size :]

    def check(self, number: int, first: int, before: tuple[int, int]) -> None:
        """Raise Damage unless it follows the previous chunk, which ends at cycle `first`. before: as in `following`."""
        if (self.number, self.first) != (number, first):
            raise Damage(f"chunk {self.number} from cycle {self.first:,} on is where chunk {number} from cycle {first:,} on "
                         "should be")
        if ChunkHead.following(self.number, self.num, self.first, before) != self:
            raise Damage("it does not follow the chunk before it")


def write_trailer(file: BinaryIO, index_offset: int) -> None:
    """Write the end of a finished file."""
    write_all(file, TRAILER.pack(index_offset, zlib.crc32(struct.pack("<Q", index_offset)), END_MAGIC))


def read_trailer(file: BinaryIO, size: int) -> int:
    """Return the offset of INDX; raises Damage."""
    if size < TRAILER.size:
        raise Damage("cut short")
    try:
        file.seek(size - TRAILER.size)
        offset, crc, magic = TRAILER.unpack(file.read(TRAILER.size))
    except (OSError, struct.error) as error:     # struct.error: the file has become shorter
        raise Damage(f"cannot be read: {error}") from None
    if magic != END_MAGIC or zlib.crc32(struct.pack("<Q", offset)) != crc:
        raise Damage("the end of the file is missing or damaged")
    return offset
