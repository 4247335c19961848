"""Encode a chunk's parts as blobs (README.md lists their streams): its state changes, its logs, sums of logs.

Only recording needs this: it imports numba, and nothing that replays imports this module.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rfview.engine.chunk import AFFINE, LANES, NO_ROW, RAW, REGISTERS_OF_WARP, ROW_WORDS, UNIFORM, Blocks, Rows, Writes
from rfview.sessions.codec import loops
from rfview.sessions.codec.changes import STATE
from rfview.sessions.codec.loops import PLANES, WIDTH
from rfview.sessions.codec.streams import HEAD_BYTES, deltas, per_cycle, zigzag

NOTHING = np.empty(0, np.uint32)


def put_streams(streams: tuple[np.ndarray, ...], sizes: np.ndarray, out: np.ndarray, at: int) -> int:
    """Write u4 streams to out[at..], their sizes to (streams, 2) u4; return the place after them."""
    for stream, size in zip(streams, sizes, strict=True):
        at = loops.put_stream(stream, out, at, size)
    return at


def head_of(out: np.ndarray, number: int) -> np.ndarray:
    """Return (number, 2) u4: the sizes of its streams at the start of a blob."""
    return out[: HEAD_BYTES * number].view(np.uint32).reshape(-1, 2)


def log_blob(*streams: np.ndarray) -> memoryview:
    """Return the bytes of u4 streams, to be compressed."""
    begin = HEAD_BYTES * len(streams)
    out = np.empty(begin + PLANES * sum(map(len, streams)), np.uint8)
    return out[: put_streams(streams, head_of(out, len(streams)), out, begin)].data


def rows_blob(rows: Rows) -> memoryview:
    """Return the streams of row writes."""
    parts = np.empty((3, len(rows.word)), np.uint32)
    sizes = loops.split_rows(rows.kind, rows.word, *parts)
    base, step, raw = (part[:size] for part, size in zip(parts, sizes))
    return log_blob(per_cycle(rows.end), deltas(rows.index), rows.kind, base, zigzag(step), raw)


def rows_of_values(index: np.ndarray, value: np.ndarray) -> Rows:
    """Return (k, 32) u4 lanes of rows as chunk.Rows, each in as few words as possible, without counts."""
    step = value[:, 1] - value[:, 0]
    is_even = (value == value[:, :1] + LANES * step[:, None]).all(axis=1)
    kind = np.where(is_even, np.where(step == 0, UNIFORM, AFFINE), RAW).astype(np.uint32)
    words = value.copy()
    words[is_even, 1] = step[is_even]
    return Rows(NOTHING, index, kind, words[ROW_WORDS[kind][:, None] > LANES])


def memory_blob(index: np.ndarray, value: np.ndarray, end: np.ndarray = NOTHING) -> memoryview:
    """Return the streams of memory writes: (k,) u4 words, their values, and (cycles,) u4 prefix counts."""
    return log_blob(per_cycle(end), deltas(index), value)


def writes_blob(writes: Writes, row_end: np.ndarray) -> memoryview:
    """Return the streams of register writes; row_end: prefix counts of the chunk's row writes.

    Registers, lanes and instructions are stored warp by warp: each warp follows the program, so differences are small.
    """
    count = per_cycle(writes.end)
    cycle = np.repeat(np.arange(len(count)), count)
    before = np.concatenate(([0], row_end[:-1])).astype(np.uint32)[cycle]
    row = np.where(writes.row == NO_ROW, np.uint32(0), writes.row - before + np.uint32(1))
    warp = writes.register // np.uint32(REGISTERS_OF_WARP)
    order = np.argsort(warp.astype(np.uint8), kind="stable")     # for bytes, sorting takes the time of one pass
    lanes = writes.lanes[order]
    before_lanes = np.concatenate((np.zeros(1, np.uint32), lanes))[:-1]
    return log_blob(count, warp, row, writes.register[order] % np.uint32(REGISTERS_OF_WARP), deltas(writes.pc[order]),
                    lanes ^ before_lanes, writes.word)


class Seen(NamedTuple):
    """What zone maps keep of a chunk, determined while coding it.

    chunk_bit: u8 with one bit set. changed: (words,) u8 gets that bit if a word changes. watched: (words,) i4 number of each
    word whose range is kept, or -1. low, high: (watched,) u4 its first and then its smallest and largest value; for those
    numbered below `packed`, of each byte. sets: (warp slots,) u8 for the first of these: bits for the values of the
    6 bits from bit `shift` on, which are a warp's state.
    """

    chunk_bit: np.uint64
    changed: np.ndarray
    watched: np.ndarray
    packed: int
    low: np.ndarray
    high: np.ndarray
    shift: np.uint32
    sets: np.ndarray


class Encoder:
    """Codes the state changes of one recording's chunks.

    groups: (words,) i4 layout group of the block that begins at each word (Layout.groups). state: (words,) u4 at the
    start of the next chunk; the caller writes the fields that blocks do not cover.
    """

    def __init__(self, groups: np.ndarray, state: np.ndarray):
        words = len(groups)
        self._groups = groups
        self._place = np.empty(words, np.int64)     # of a block in storage order
        self._place[np.argsort(groups, kind="stable")] = np.arange(words)
        self._slot_of, self._slots = np.full(words, -1, np.int32), np.empty((2, words), np.uint32)
        self._arrays: dict[str, np.ndarray] = {}
        self._free: list[np.ndarray] = []
        self._base, self.state = state.copy(), state.copy()
        self._begins = np.empty(WIDTH, np.uint64)

    def encode(self, blocks: Blocks, seen: Seen) -> memoryview:
        """Return the streams of a chunk's keyframe and changes, to be compressed; `state` becomes that after the chunk."""
        differing = np.flatnonzero(self.state != self._base)
        key = np.diff(differing, prepend=0).astype(np.uint32), self.state[differing] ^ self._base[differing]
        first, events, (masks, cycles, values_at) = self._sorted(blocks)
        group = self._groups[first]
        begins = np.flatnonzero(np.diff(group, prepend=-1))     # first block of each group
        blocks_of = np.diff(begins, append=len(first)).astype(np.uint32)
        group = np.repeat(np.arange(len(begins), dtype=np.uint32), blocks_of)
        gaps, ranks, dictionary = (self._work(name, len(masks)) for name in ("gaps", "ranks", "dictionary"))
        group_masks = np.zeros(len(begins), np.uint32)
        table = self._work("table", 1 << max(4, (2 * len(masks)).bit_length())).view(np.int32)
        table[:] = 0
        number = loops.number_masks(group, events, masks, cycles, table, gaps, ranks, dictionary, group_masks)
        # no column has more codes than its group has events: with that much room for each, nothing must be counted first
        room = np.repeat(np.bincount(group, events, len(begins)).astype(np.uint64), WIDTH)
        begin = np.cumsum(room) - room
        end, codes = begin.copy(), self._work("codes", int(room.sum()))
        loops.code_values(first, group, events, masks, values_at, blocks.value, end, self._begins, codes, self.state, *seen)
        sizes, widths = (end - begin).astype(np.uint32), np.empty(len(begin), np.uint32)
        streams = (*key, blocks_of, group_masks, deltas(first), events, dictionary[:number], gaps, ranks)
        most = len(blocks.value) + sum(map(len, streams)) + 2 * len(sizes)
        at = HEAD_BYTES * len(STATE)
        out = self._buffer(at + PLANES * most)
        head, behind = head_of(out, len(STATE)), loops.put_columns(begin, end, codes, widths, out, at)
        head[0] = behind - at, 1
        used = sizes > 0
        return out[: put_streams((*streams, sizes[used], widths[used]), head[1:], out, behind)].data

    def _buffer(self, size: int) -> np.ndarray:
        """Return a buffer of this size, reused from a blob that has been written if possible."""
        buffer = self._free.pop() if self._free else None
        return buffer if buffer is not None and len(buffer) >= size else np.empty(size + size // 4, np.uint8)

    def give_back(self, blob: memoryview) -> None:
        """Return the buffer of an encoded blob for reuse; may be called from any thread."""
        self._free.append(blob.obj.base)  # type: ignore[attr-defined]

    def _work(self, name: str, size: int) -> np.ndarray:
        """Return (size,) u4 working memory, reused for every chunk: new memory each time would cost a fifth of the time."""
        array = self._arrays.get(name)
        if array is None or len(array) < size:
            array = self._arrays[name] = np.empty(size + size // 4, np.uint32)
        return array[:size]

    def _sorted(self, blocks: Blocks) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Return each block's first word and number of events, and each event's mask, cycle and first value,
        all in storage order: by group, first word, time.
        """
        first, events = self._slots
        count = loops.number_blocks(blocks.first, self._slot_of, first, events)
        order = np.argsort(self._place[first[:count]])
        first, events = first[order], events[order]
        next_place = np.empty(count, np.int64)
        next_place[order] = np.cumsum(events) - events
        ordered = [self._work(name, len(blocks.first)) for name in ("ordered masks", "cycles", "values at")]
        loops.sort_events(blocks.end, blocks.first, blocks.mask, self._slot_of, next_place, *ordered)
        self._slot_of[first] = -1
        return first, events, ordered
