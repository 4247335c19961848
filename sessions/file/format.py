"""The session file (.rfs): its bytes, and the reading and writing of header, chunks and index.

    file     := magic frame(HEAD) (frame(CHNK) | frame(SUMM))* frame(INDX) trailer
    magic    := 89 52 46 56 0D 0A 1A 0A                                     ("\\x89RFV\\r\\n\\x1a\\n")
    frame    := tag[4] length:u8 crc:u4 payload[length]      little endian; crc = CRC32 of tag, length and payload
    trailer  := offset of INDX:u8 crc:u4 of those 8 bytes, 52 46 56 45 4E 44 0D 0A                   ("RFVEND\\r\\n")

Every byte belongs to a magic or under a CRC. A file without a good trailer and INDX (a run that was killed, a damaged
index) is read by going from frame to frame up to the last whole one. Every map is read by field name and unknown names
are ignored, so fields can be added without a new format number; `format` goes up when a field changes its meaning, and a
reader refuses one that it does not know. Formats 4, without two kinds of rows, 3, also without numbered columns, and 2,
which differs in its blobs, can still be read (codec.py, format2.py).

A `blob` is zstd (level 1) over msgpack. `streams` are zstd over (count:u4 width:u4) of each, in the order given here, and
then the bytes of each: unsigned numbers of width 0 (all zero), 1, 2 or 4 bytes, in byte planes: all low bytes, then all
next bytes, and so on. All numbers are little endian.

HEAD payload, a msgpack map
    format       5
    body         blob of a map: sm_dtype, rf_dtype (dtypes as below), info (Simulator.info: kernel, launches, design,
                 scheduler, parameters, seed, engine_version, source_hash, stalls, events, panels, program, ptx,
                 buffers, launch_toml ...), first (cycle), chunk_cycles
    state, memory, rows   zstd of u4: at `first`, the words of [sm recorded | rf], the arena, the recorded rows' 32 lanes
dtype        := {"itemsize": n, "fields": [{"name", "offset", "format": "<u4" or a nested dtype, "shape": [..] if any}]}

CHNK payload, a msgpack map; c0 = first
    first, num   the chunk turns the state at c0 into those at c0 + 1 .. c0 + num
    totals       stall totals at c0 (warp-cycles per stall code)
    state        streams of what the run changes, in 20 parts:
                 key_step, key_bits: the state at c0: the words that differ from the header's state, as steps from word to
                 word, and how, xor-ed. The rest are the changes. The words that the run compared together, at most 32, are
                 a block; blocks that are alike inside are of one kind; an event is one cycle in which a block changes.
                 kinds, patterns: of each kind, how many blocks there are, and how many different masks their events have;
                 blocks: their first words, kind after kind, ascending in each, as zigzag differences; times: events of
                 each. masks: those of each kind, low bit = first word of the block. Then per event, block after block:
                 gaps: cycles since the block's event before, at first since c0; ranks: which of its kind's masks it has.
                 Of both the low bytes; long_gaps, high_ranks: places, as differences, of those that need more, and
                 gaps_beyond, ranks_beyond: what of them stands above. Where many do, the first stream has them whole.
                 A column is one place of the blocks of one kind; per column that changes, ascending by kind and place,
                 modes and widths: how it is coded, and in how many bytes. planes, bytes: for each (mode, width),
                 ascending, the codes of its columns, ascending, each column's in the order of the events, in byte planes.
                 far: places, among all these codes, of those that are wider, as differences; beyond: what of them stands
                 above their width. The codes of a column of width 5 are given in one plane, by number among the different
                 ones: distinct: how many these are, column by column as in widths, and known: the codes themselves. A code
                 is by mode 0 new - old, 1 new xor old, 2 new, 3 new - cycle (small for stamps of the running cycle); 0 and
                 3 as zigzag (0, -1, 1, -2 ... -> 0, 1, 2, 3 ...), all modulo 2**32. A change in cycle offset i shows in the
                 state at c0 + i + 1. Never a change: sm.cycle, and sm.stall_total, which grows in each cycle by the
                 sm.state_count that the cycle leaves behind.
    rows         streams counts, index, kind, base, step, raw, short, steps: row writes in order; counts per cycle; index as
                 zigzag differences; kind 0 = 32 equal lanes (base), 1 = base + lane * step (zigzag), 2 = 32 words in raw,
                 3 = 32 words in short, all less than 2**16, 4 = base and in steps 31 zigzag differences from lane to lane,
                 modulo 2**32, likewise
    memory       streams counts, index, value: u4 memory words written, in order, likewise
    level, row_sum, mem_sum   where the chunk's number k > 0 is a multiple of 8**level, level > 0 the highest such:
                 streams as of rows and memory, counts empty: every row and word written in chunks k - 8**level .. k - 1,
                 with its value at c0. Values at any chunk's start are so reached in at most 7 steps per level of 8.
    row_writes, mem_writes, row_sums, mem_sums   entries in rows, memory, row_sum, mem_sum
    printed      [[cycle, text], ..] lines that the kernel printed

SUMM payload, a msgpack map; it follows every 64th chunk, and the last. c = chunks summed up, of each the states from its
first cycle to the one behind its last. bits := for each place, ceil(c / 8) bytes with one bit per chunk, low bit first
    first, num   number of the first of these chunks, and c
    words        number list: of each kind of words the first. A kind: words of the state that hold the same fields of
                 different elements of arrays (summaries.py, WordKinds)
    ranged, parts   for each of them: whether it is watched, and zstd of: bits for its words, ascending: the chunk
                 changes them; if watched, u4 numbers word by word, chunk by chunk, in byte planes: the least value as
                 difference to the chunk before, then those of the greatest minus the least. The bytes of a word that
                 holds fields of less than 4 bytes have ends of their own. Kinds that are not there do not change
    states       zstd of u8 sets of states of each warp slot, chunk by chunk, in byte planes
    rows, lines  zstd of bits: recorded rows written; memory written, word w being at place w / 32 modulo 1024

A number list in a map is [count, width, planes], like a stream, of widths up to 8.

INDX payload, a msgpack map
    first, num, offset, row_writes, mem_writes, row_sums, mem_sums   number lists, one entry per chunk, inside a blob
    summary      in the same blob: number list, where each SUMM is, the first one that of chunks 0..63
    totals       in the same blob: number list, (chunks + 1) x codes; the last row is the state after the last chunk
    printed      in the same blob: all printed lines
    end          map: finished (the kernel ran to its end), fault (text or nil), summary (the run's result or nil)
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import msgpack
import numpy as np

from rfview.engine.errors import InputError
from rfview.sessions.codec import codec
from rfview.sessions.file import format2
from rfview.sessions.layout import Layout

FORMAT = 5
# the first formats with columns stored by number, and with the row kinds 3 and 4
NUMBERED_SINCE, SHORT_SINCE = 4, 5
# arrays of the header, each a blob of its own
VALUES = ("state", "memory", "rows")
HEADER_LEVEL = 3
MAGIC = b"\x89RFV\r\n\x1a\n"
END_MAGIC = b"RFVEND\r\n"
FRAME = struct.Struct("<4sQI")
TRAILER = struct.Struct("<QI8s")
HEAD, CHUNK, SUMMARY, INDEX = b"HEAD", b"CHNK", b"SUMM", b"INDX"
RADIX = 8
MAX_FRAME = 1 << 34


class Damage(Exception):
    """A frame that is cut short or whose check sum is wrong; callers turn it into a warning or an InputError."""


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
        return np.dtype(stored)
    names = [entry["name"] for entry in stored["fields"]]
    formats = [(dtype_from_json(entry["format"]), tuple(entry.get("shape", ()))) for entry in stored["fields"]]
    offsets = [entry["offset"] for entry in stored["fields"]]
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": stored["itemsize"]})


def write_frame(file: Any, tag: bytes, payload: bytes | memoryview) -> int:
    """Write one frame into a binary file, which may be unbuffered; return its offset there."""
    offset = file.tell()
    crc = zlib.crc32(payload, zlib.crc32(tag + struct.pack("<Q", len(payload))))
    for part in (FRAME.pack(tag, len(payload), crc), payload):
        left = memoryview(part)
        while left:
            left = left[file.write(left) :]
    return offset


def read_frame(file: BinaryIO, offset: int, expected: bytes | None = None) -> tuple[bytes, bytes, int]:
    """Return (tag, payload, offset behind the frame); raises Damage."""
    file.seek(offset)
    head = file.read(FRAME.size)
    if len(head) < FRAME.size:
        raise Damage("cut short")
    tag, length, crc = FRAME.unpack(head)
    if length > MAX_FRAME:
        raise Damage("check sum wrong")
    payload = file.read(length)
    if len(payload) < length:
        raise Damage("cut short")
    if zlib.crc32(payload, zlib.crc32(head[:12])) != crc:
        raise Damage("check sum wrong")
    if expected is not None and tag != expected:
        raise Damage(f"holds {tag!r} instead of {expected!r}")
    return tag, payload, offset + FRAME.size + length


def write_trailer(file: BinaryIO, index_offset: int) -> None:
    """Write the end of a finished file."""
    file.write(TRAILER.pack(index_offset, zlib.crc32(struct.pack("<Q", index_offset)), END_MAGIC))


def read_trailer(file: BinaryIO, size: int) -> int:
    """Return the offset of INDX; raises Damage."""
    if size < TRAILER.size:
        raise Damage("cut short")
    file.seek(size - TRAILER.size)
    offset, crc, magic = TRAILER.unpack(file.read(TRAILER.size))
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
        values = {name: codec.squeeze(np.ascontiguousarray(getattr(self, name), "<u4").data) for name in VALUES}
        return msgpack.packb({"format": FORMAT, "body": codec.compress(body, HEADER_LEVEL), **values})

    @staticmethod
    def unpack(payload: bytes, path: Any) -> Header:
        """Read the HEAD payload; raises InputError for a newer format or a header that makes no sense."""
        try:
            outer = msgpack.unpackb(payload, strict_map_key=False)
            number = outer["format"]
            if number > FORMAT:
                raise InputError(f"{path}: session format {number}, this rfview reads format {FORMAT}; update it")
            if number < format2.NUMBER:
                raise InputError(f"{path}: session format {number}, this rfview reads format {FORMAT}; record the run again")
            body = codec.expand(outer["body"], f"{path}: header")
            layout = Layout(dtype_from_json(body["sm_dtype"]), dtype_from_json(body["rf_dtype"]))
            if number == format2.NUMBER:
                values = format2.header_values(body)
            else:
                values = {name: np.frombuffer(codec.unsqueeze(outer[name]), "<u4") for name in VALUES}
                if len(values["state"]) != layout.num_words:
                    raise ValueError(f"its first state has {len(values['state'])} words, expected {layout.num_words}")
            values["rows"] = values["rows"].reshape(-1, 32)
            return Header(layout, body["info"], body["first"], **values, chunk_cycles=body["chunk_cycles"], number=number)
        except (KeyError, TypeError, ValueError, msgpack.UnpackException, codec.ZstdError) as error:
            raise InputError(f"{path}: the header cannot be read ({error!r})") from None


@dataclass
class Index:
    """Where the chunks are and what they hold in short; one entry per chunk in each list.

    totals: (chunks + 1, codes) i8. summary: where each summary is. end: finished, fault, summary of the run.
    """

    first: list[int] = field(default_factory=list)
    num: list[int] = field(default_factory=list)
    offset: list[int] = field(default_factory=list)
    row_writes: list[int] = field(default_factory=list)
    mem_writes: list[int] = field(default_factory=list)
    row_sums: list[int] = field(default_factory=list)
    mem_sums: list[int] = field(default_factory=list)
    totals: list[np.ndarray] = field(default_factory=list)
    summary: list[int] = field(default_factory=list)
    printed: list[tuple[int, str]] = field(default_factory=list)
    end: dict[str, Any] = field(default_factory=dict)

    LISTS = ("first", "num", "offset", "row_writes", "mem_writes", "row_sums", "mem_sums")

    def add(self, chunk: dict[str, Any], offset: int) -> None:
        """Add a chunk's unpacked map; its totals at the start go in, those at its end are appended by `finish`."""
        for name in self.LISTS:
            if name != "offset":
                getattr(self, name).append(int(chunk.get(name, 0)))
        self.offset.append(offset)
        self.totals.append(np.array(chunk["totals"], np.int64))
        self.printed += [(int(cycle), str(text)) for cycle, text in chunk["printed"]]

    def cut(self, number: int) -> None:
        """Forget chunk `number` and all after it; the totals at its start become the final ones."""
        for name in self.LISTS:
            del getattr(self, name)[number:]
        del self.totals[number + 1 :]
        last = self.first[-1] + self.num[-1] if number else 0
        self.printed = [(cycle, text) for cycle, text in self.printed if cycle < last]
        self.end = {}

    def pack(self) -> bytes:
        """Return the INDX payload."""
        body: dict[str, Any] = {name: codec.pack(np.array(getattr(self, name), np.uint64)) for name in self.LISTS}
        body["totals"] = codec.pack(np.array(self.totals, np.int64).astype(np.uint64))
        body["summary"] = codec.pack(np.array(self.summary, np.uint64))
        body["printed"] = self.printed
        return msgpack.packb({"body": codec.compress(body), "end": self.end}, default=codec._plain)

    @staticmethod
    def unpack(payload: bytes) -> Index:
        """Read the INDX payload; raises Damage when it makes no sense."""
        try:
            outer = msgpack.unpackb(payload, strict_map_key=False)
            body = codec.expand(outer["body"], "the index")
            index = Index(*(codec.unpack(body[name], np.int64).tolist() for name in Index.LISTS))
            count = len(index.first)
            index.totals = list(codec.unpack(body["totals"], np.int64).reshape(count + 1, -1))
            index.summary = codec.unpack(body["summary"], np.int64).tolist() if "summary" in body else []
            index.printed = [(int(cycle), str(text)) for cycle, text in body["printed"]]
            index.end = outer.get("end", {})
        except (KeyError, TypeError, ValueError, InputError, msgpack.UnpackException) as error:
            raise Damage(f"cannot be read ({error!r})") from None
        return index


def level_of(number: int) -> int:
    """Return the highest level > 0 whose stretch of 8**level chunks ends right before chunk `number`, or 0."""
    level = 0
    while number and number % RADIX ** (level + 1) == 0:
        level += 1
    return level
