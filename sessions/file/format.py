"""The session file (.rfs): its bytes, and the reading and writing of header, chunks and index.

    file     := magic frame(HEAD) (frame(CHNK) | frame(ZONE))* frame(INDX) trailer
    magic    := 89 52 46 53 0D 0A 1A 0A                                     ("\\x89RFS\\r\\n\\x1a\\n")
    frame    := tag[4] length:u8 crc:u4 payload[length]      crc = CRC32 of tag, length and payload
    trailer  := offset of INDX:u8 crc:u4 of those 8 bytes, 52 46 53 45 4E 44 0D 0A                   ("RFSEND\\r\\n")

All numbers are little endian. Every byte belongs to a magic or under a CRC. A file without a good trailer and INDX (a run
that was killed, a damaged index) is read by going from frame to frame up to the last whole one; frames of unknown tags are
passed over. Every map is msgpack, read by field name, and unknown names are ignored, so fields can be added without a new
format number; `format` goes up when a field changes its meaning, and a reader refuses one that it does not know.

A blob is zstd; what `streams` and number lists are is in codec/README.md, with the streams of each blob.

HEAD payload, a map
    format, layout   1, 4; until a release, what changes in the layout of format 1 changes the second number alone
    body         blob of a map: sm_dtype, rf_dtype (dtypes as below), info (Simulator.info: kernel, launches, design,
                 scheduler, parameters, seed, engine_version, source_hash, stalls, events, panels, program, ptx,
                 buffers, launch_toml ...), first (cycle), chunk_cycles
    state, memory, rows   blobs of u4: at `first`, the words of [sm recorded | rf], the arena, the recorded rows' 32 lanes
dtype        := {"itemsize": n, "fields": [{"name", "offset", "format": "<u4" or a nested dtype, "shape": [..] if any}]}

CHNK payload := number:u4 num:u4 first:u8 chain:u4, then a map: the chunk turns the state at c0 = first into those at
c0 + 1 .. c0 + num. chain = CRC32 of number, num, first and the crc of the chunk frame before (of chunk 0: of the HEAD
frame), carried on from that chunk's chain (of chunk 0: 0): a chunk that is missing, out of order or of another run shows.
    totals       stall totals at c0 (warp-cycles per stall code)
    state        streams: keyframe and state changes
    rows, memory, writes   streams: register rows, memory words, and architectural registers written
    row_sum, mem_sum   where the chunk's number k > 0 is a multiple of 8**level, level > 0 the highest such: streams as
                 of rows and memory, counts empty: every row and word written in chunks k - 8**level .. k - 1, with its
                 value at c0. Values at any chunk's start are so reached in at most 7 steps per level of 8.
    row_writes, mem_writes, row_sums, mem_sums   entries in rows, memory, row_sum, mem_sum
    printed      [[cycle, text], ..] lines that the kernel printed

ZONE payload, a map: the zone map that follows every 64th chunk, and the last. c = chunks it covers, of each the states from
its first cycle to the one behind its last. bits := for each place, ceil(c / 8) bytes with one bit per chunk, low bit first
    first, num   number of the first of these chunks, and c
    words        number list: of each kind of words the first. A kind: words at the same place of an array's records
                 (Layout.kinds)
    ranged, parts   for each of them: whether it is watched, and a blob of: bits for its words, ascending: the chunk
                 changes them; if watched, u4 numbers word by word, chunk by chunk, in byte planes: the least value as
                 difference to the chunk before, then those of the greatest minus the least. The bytes of a word that
                 holds fields of less than 4 bytes have minima and maxima of their own. Kinds that are not there do not
                 change
    states       blob of u8 sets of states of each warp slot, chunk by chunk, in byte planes
    registers    blob of bits: registers written, register r of warp slot w at place 64 w + r
    rows, pages  blobs of bits: recorded rows written; memory written, word w being at place w / 32 modulo 1024

INDX payload, a map
    first, num, chain, offset, row_writes, mem_writes, row_sums, mem_sums   number lists, one entry per chunk, inside a blob
    zones        in the same blob: number list, where each ZONE is, the first one that of chunks 0..63
    totals       in the same blob: number list, (chunks + 1) x codes; the last row is the state after the last chunk
    printed      in the same blob: all printed lines
    end          map: finished (the kernel ran to its end), fault (text or nil), summary (the run's result or nil)
"""

from __future__ import annotations

import os
import struct
import zlib
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple

import msgpack
import numpy as np

from rfview.engine.errors import InputError
from rfview.sessions.codec import limits, streams
from rfview.sessions.layout import Layout
from rfview.sessions.file import run_info

FORMAT, LAYOUT = 1, 4
# arrays of the header, each a blob of its own
VALUES = ("state", "memory", "rows")
HEADER_LEVEL = 3
MAGIC = b"\x89RFS\r\n\x1a\n"
# of recordings from before format 1, which had numbers of their own
OLD_MAGIC = b"\x89RFV\r\n\x1a\n"
END_MAGIC = b"RFSEND\r\n"
FRAME = struct.Struct("<4sQI")
CHUNK_HEAD = struct.Struct("<IIQI")
TRAILER = struct.Struct("<QI8s")
HEAD, CHUNK, ZONE, INDEX = b"HEAD", b"CHNK", b"ZONE", b"INDX"
RADIX = 8
# no chunk has more cycles; what a printed line takes in memory, beside its text
MAX_CYCLES, LINE_BYTES = 1 << 16, 256


class Damage(Exception):
    """A frame that is cut short or whose checksum is wrong; callers turn it into a warning or an InputError."""


def dtype_to_json(dtype: np.dtype) -> Any:
    """Return a dtype as plain data: a format string, or a map of itemsize and fields."""
    if dtype.names is None:
        return dtype.str
    fields = []
    for name in dtype.names:
        inner, offset = dtype.fields[name][:2]  # type: ignore[index]
        entry: dict[str, Any] = {"name": name, "offset": offset, "format": dtype_to_json(inner.base)}
        if inner.shape:
            entry["shape"] = list(inner.shape)
        fields.append(entry)
    return {"itemsize": dtype.itemsize, "fields": fields}


def dtype_from_json(stored: Any) -> np.dtype:
    """Return the dtype behind `dtype_to_json`."""
    if isinstance(stored, str):
        found = np.dtype(stored)
        if found.kind not in "uif":
            raise ValueError(f"a field cannot be {stored!r}")
        return found
    names = [entry["name"] for entry in stored["fields"]]
    formats = [(dtype_from_json(entry["format"]), tuple(entry.get("shape", ()))) for entry in stored["fields"]]
    offsets = [entry["offset"] for entry in stored["fields"]]
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": stored["itemsize"]})


def write_frame(file: Any, tag: bytes, *payload: bytes | memoryview) -> tuple[int, int]:
    """Write one frame, its payload in parts, into a binary file, which may be unbuffered; return its offset and its CRC."""
    offset, length = file.tell(), sum(map(len, payload))
    crc = zlib.crc32(tag + struct.pack("<Q", length))
    for part in payload:
        crc = zlib.crc32(part, crc)
    for part in (FRAME.pack(tag, length, crc), *payload):
        write_all(file, part)
    return offset, crc


def write_all(file: BinaryIO, data: bytes | memoryview) -> None:
    """Write all of the bytes into a file that may be unbuffered, and then take fewer at a time."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


class Frame(NamedTuple):
    """A frame as read; end: the offset behind it."""

    tag: bytes
    payload: bytes
    end: int
    crc: int


def read_frame(file: BinaryIO, offset: int, expected: bytes | None = None) -> Frame:
    """Return the frame at an offset; raises Damage. No more is read than the file has."""
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


@dataclass(frozen=True)
class ChunkHead:
    """What each chunk begins with. chain: the running check over this head and all chunks before."""

    number: int
    num: int
    first: int
    chain: int

    @staticmethod
    def following(number: int, num: int, first: int, before: tuple[int, int]) -> ChunkHead:
        """Return the head of a chunk; before: chain and frame's CRC of the one before, of chunk 0: 0 and that of HEAD."""
        chain, crc = before
        return ChunkHead(number, num, first, zlib.crc32(struct.pack("<IIQI", number, num, first, crc), chain))

    def pack(self) -> bytes:
        """Return its bytes."""
        return CHUNK_HEAD.pack(self.number, self.num, self.first, self.chain)

    @staticmethod
    def split(payload: bytes) -> tuple[ChunkHead, memoryview]:
        """Return a CHNK payload's head and the bytes of its map; raises Damage."""
        if len(payload) < CHUNK_HEAD.size:
            raise Damage("has no head")
        head = ChunkHead(*CHUNK_HEAD.unpack_from(payload))
        if not 0 < head.num <= MAX_CYCLES:
            raise Damage(f"cannot have {head.num:,} cycles")
        return head, memoryview(payload)[CHUNK_HEAD.size :]

    def check(self, number: int, first: int, before: tuple[int, int]) -> None:
        """Raise Damage unless it follows the chunk before, which ends at cycle `first`; before: as in `following`."""
        if (self.number, self.first) != (number, first):
            raise Damage(f"chunk {self.number} from cycle {self.first:,} on is where chunk {number} from cycle {first:,} on "
                         "should be")  # fmt: skip
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


@dataclass
class Header:
    """What a session file says about its run, and its format number.

    state, memory: (words,) u4, rows: (n, 32) u4, all at cycle `first`.
    """

    layout: Layout
    info: dict[str, Any]
    first: int
    state: np.ndarray
    memory: np.ndarray
    rows: np.ndarray
    chunk_cycles: int
    number: int = FORMAT

    def pack(self) -> bytes:
        """Return the HEAD payload."""
        body = {
            "sm_dtype": dtype_to_json(self.layout.sm_dtype),
            "rf_dtype": dtype_to_json(self.layout.rf_dtype),
            "info": self.info,
            "first": self.first,
            "chunk_cycles": self.chunk_cycles,
        }
        values = {name: streams.compress(np.ascontiguousarray(getattr(self, name), "<u4").data) for name in VALUES}
        packed = streams.compress_map(body, HEADER_LEVEL)
        return msgpack.packb({"format": FORMAT, "layout": LAYOUT, "body": packed, **values})

    @staticmethod
    def unpack(payload: bytes, path: Any) -> Header:
        """Read the HEAD payload; raises InputError for a newer format or a header that makes no sense."""
        try:
            outer = limits.unpacked(payload, "the header", limits.ARRAYS)
            number = outer["format"]
            if number != FORMAT:
                raise InputError(f"{path}: session format {number}, this rfview reads format {FORMAT}; update it")
            if outer.get("layout") != LAYOUT:
                raise InputError(f"{path}: a recording in layout {outer.get('layout', 1)} of session format {FORMAT}, this "
                                 f"rfview reads layout {LAYOUT}; record the run again")  # fmt: skip
            body = streams.decompress_map(outer["body"], f"{path}: header")
            layout = Layout(dtype_from_json(body["sm_dtype"]), dtype_from_json(body["rf_dtype"]))
            if layout.sm_dtype.itemsize % 4 or layout.rf_dtype.itemsize % 4:
                raise ValueError("its states are not made of whole words")
            limits.allow(sum(streams.size_of(outer[name]) for name in VALUES), limits.ARRAYS, "state, memory and registers")
            values = {name: np.frombuffer(streams.decompress(outer[name], limits.ARRAYS), "<u4") for name in VALUES}
            if len(values["state"]) != layout.num_words:
                raise ValueError(f"its first state has {len(values['state'])} words, expected {layout.num_words}")
            values["rows"] = values["rows"].reshape(-1, 32)
            run_info.check(body["info"], layout, len(values["rows"]), len(values["memory"]))
            run_info.whole(0, 1 << 62)(body["first"], "its first cycle")
            run_info.whole(1, MAX_CYCLES)(body["chunk_cycles"], "its cycles per chunk")
            return Header(layout, body["info"], body["first"], **values, chunk_cycles=body["chunk_cycles"], number=number)
        except streams.DAMAGE as error:
            raise InputError(f"{path}: the header cannot be read ({error!r})") from None


@dataclass
class Index:
    """Where the chunks are and what they hold in short; one entry per chunk in each list.

    totals: (chunks + 1, codes) i8. zones: where each zone map is. end: finished, fault, summary of the run.
    """

    first: list[int] = field(default_factory=list)
    num: list[int] = field(default_factory=list)
    chain: list[int] = field(default_factory=list)
    offset: list[int] = field(default_factory=list)
    row_writes: list[int] = field(default_factory=list)
    mem_writes: list[int] = field(default_factory=list)
    row_sums: list[int] = field(default_factory=list)
    mem_sums: list[int] = field(default_factory=list)
    totals: list[np.ndarray] = field(default_factory=list)
    zones: list[int] = field(default_factory=list)
    printed: list[tuple[int, str]] = field(default_factory=list)
    end: dict[str, Any] = field(default_factory=dict)

    HEADS = ("first", "num", "chain")
    COUNTS = ("row_writes", "mem_writes", "row_sums", "mem_sums")
    LISTS = (*HEADS, "offset", *COUNTS)

    @property
    def last(self) -> int:
        """Return the cycle behind the last chunk."""
        return self.first[-1] + self.num[-1] if self.first else 0

    def add(self, head: ChunkHead, chunk: dict[str, Any], offset: int) -> None:
        """Add a chunk's head and map; its totals at the start go in, those at its end are appended when all is written."""
        for name in self.HEADS:
            getattr(self, name).append(getattr(head, name))
        for name in self.COUNTS:
            getattr(self, name).append(int(chunk.get(name, 0)))
        self.offset.append(offset)
        self.totals.append(np.array(chunk["totals"], np.int64))
        limits.allow(LINE_BYTES * (len(self.printed) + len(chunk["printed"])), limits.ARRAYS, "the lines that it printed")
        self.printed += [(int(cycle), str(text)) for cycle, text in chunk["printed"]]

    def check(self, number: int, head: ChunkHead) -> None:
        """Raise Damage unless a chunk's head is the one that belongs there."""
        if head != ChunkHead(number, self.num[number], self.first[number], self.chain[number]):
            raise Damage("it is not the one that the index names")

    def cut(self, number: int) -> None:
        """Forget chunk `number` and all after it; the totals at its start become the final ones."""
        for name in self.LISTS:
            del getattr(self, name)[number:]
        del self.totals[number + 1 :]
        self.printed = [(cycle, text) for cycle, text in self.printed if cycle < self.last]
        self.end = {}

    def pack(self) -> bytes:
        """Return the INDX payload."""
        body: dict[str, Any] = {name: streams.pack(np.array(getattr(self, name), np.uint64)) for name in self.LISTS}
        body["totals"] = streams.pack(np.array(self.totals, np.int64).astype(np.uint64))
        body["zones"] = streams.pack(np.array(self.zones, np.uint64))
        body["printed"] = self.printed
        return msgpack.packb({"body": streams.compress_map(body), "end": self.end}, default=streams.plain)

    @staticmethod
    def unpack(payload: bytes) -> Index:
        """Read the INDX payload; raises Damage when it makes no sense."""
        try:
            outer = limits.unpacked(payload, "the index")
            body = streams.decompress_map(outer["body"], "the index")
            index = Index(*(streams.unpack(body[name], np.int64).tolist() for name in Index.LISTS))
            count = len(index.first)
            if any(len(getattr(index, name)) != count for name in Index.LISTS):
                raise ValueError("its lists differ in length")
            if index.first[1:] != [first + num for first, num in zip(index.first, index.num)][:-1]:
                raise ValueError("its chunks do not follow one another")
            index.totals = list(streams.unpack(body["totals"], np.int64).reshape(count + 1, -1))
            index.zones = streams.unpack(body["zones"], np.int64).tolist()
            index.printed = [(int(cycle), str(text)) for cycle, text in body["printed"]]
            index.end = outer.get("end", {})
            run_info.END(index.end, "its end")
        except (*streams.DAMAGE, InputError) as error:
            raise Damage(f"cannot be read ({error!r})") from None
        return index


def level_of(number: int) -> int:
    """Return the highest level > 0 whose stretch of 8**level chunks ends right before chunk `number`, or 0."""
    level = 0
    while number and number % RADIX ** (level + 1) == 0:
        level += 1
    return level
