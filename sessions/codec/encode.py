"""Bring a chunk's parts into blobs (README.md has their streams): its state changes, its logs, sums of logs.

Only recording needs this: numba is imported here, and nothing that replays imports this module.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rfview.engine.chunk import AFFINE, LANES, NO_ROW, RAW, ROW_WORDS, UNIFORM, Blocks, Rows, Writes
from rfview.sessions.codec import loops
from rfview.sessions.codec.changes import STATE
from rfview.sessions.codec.loops import PLANES, WIDTH
from rfview.sessions.codec.streams import HEAD_BYTES, deltas, per_cycle

NOTHING = np.empty(0, np.uint32)
# a code of so many bits needs more than 0, 1, 2, 3 bytes
WIDER = np.array([[0], [0xFF], [0xFFFF], [0xFFFFFF]], np.uint32)


def put_streams(streams: tuple[np.ndarray, ...], number: int, out: np.ndarray) -> int:
    """Write u4 streams as the first ones of a blob of so many; return where the next one begins."""
    sizes, at = out[: HEAD_BYTES * number].view(np.uint32).reshape(-1, 2), HEAD_BYTES * number
    for stream, size in zip(streams, sizes):
        at = loops.put_stream(stream, out, at, size)
    return at


def log_blob(*streams: np.ndarray) -> memoryview:
    """Return the bytes of u4 streams, to be compressed."""
    out = np.empty(HEAD_BYTES * len(streams) + PLANES * sum(map(len, streams)), np.uint8)
    return out[: put_streams(streams, len(streams), out)].data


def rows_blob(rows: Rows) -> memoryview:
    """Return the streams of row writes."""
    parts = np.empty((3, len(rows.word)), np.uint32)
    sizes = loops.split_rows(rows.kind, rows.word, *parts)
    base, step, raw = (part[:size] for part, size in zip(parts, sizes))
    return log_blob(per_cycle(rows.end), deltas(rows.index), rows.kind, base, step, raw)


def rows_of_values(index: np.ndarray, value: np.ndarray) -> Rows:
    """Return (k, 32) u4 lanes of rows as chunk.Rows has them, each in as few words as say it; without counts."""
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

    Registers, lanes and instructions go warp by warp: each warp follows the program, and so do the differences.
    """
    count = per_cycle(writes.end)
    cycle = np.repeat(np.arange(len(count)), count)
    before = np.concatenate(([0], row_end[:-1])).astype(np.uint32)[cycle]
    row = np.where(writes.row == NO_ROW, np.uint32(0), writes.row - before + np.uint32(1))
    warp = writes.register >> np.uint32(6)
    order = np.argsort(warp.astype(np.uint8), kind="stable")     # of bytes, the time is that of one pass
    lanes = writes.lanes[order]
    before_lanes = np.concatenate((np.zeros(1, np.uint32), lanes))[:-1]
    return log_blob(count, warp, row, writes.register[order] & np.uint32(63), deltas(writes.pc[order]),
                    lanes ^ before_lanes, writes.word)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Watch:
    """What of the values is kept for the zone maps.

    how: (words,) u1 NOT_WATCHED, WHOLE, BYTES or STATE (loops.py). state_of: (words,) i4 whose state lies in a word;
    shift: (words,) u4 where in it. states_at: (warp slots,) the byte that each one's state is in.
    """

    how: np.ndarray
    state_of: np.ndarray
    shift: np.ndarray
    states_at: np.ndarray

    @staticmethod
    def of(how: np.ndarray, states_at: np.ndarray) -> Watch:
        """Return it for the words to watch, and the bytes of the states, which are watched, too."""
        state_of, shift = np.zeros(len(how), np.int32), np.zeros(len(how), np.uint32)
        state_of[states_at // 4], shift[states_at // 4] = np.arange(len(states_at)), states_at % 4 * 8
        how = how.copy()
        how[states_at // 4] = loops.STATE
        return Watch(how, state_of, shift, states_at)


class Encoder:
    """Codes the state changes of one recording's chunks, and finds what zone maps say of each.

    groups: (words,) i4 layout group of the block that begins at each word (Layout.groups). stamps: (groups,) u4 the places
    of each group that hold cycles (Layout.stamps). state: (words,) u4 that of the next chunk's begin; the fields of which
    blocks say nothing are written there from outside. low, high: (words,) u4 the least and greatest value of each watched
    word in the last chunk; changed: (words,) u8 gets a chunk's bit where a word changes; sets: (warp slots,) u8 the states
    that each warp had in it.
    """

    def __init__(self, groups: np.ndarray, stamps: np.ndarray, watch: Watch, state: np.ndarray):
        words = len(groups)
        self._groups, self.stamps, self._watch = groups, stamps, watch
        self._place = np.empty(words, np.int64)     # of a block in the order of storing
        self._place[np.argsort(groups, kind="stable")] = np.arange(words)
        self._slot_of, self._slots = np.full(words, -1, np.int32), np.empty((2, words), np.uint32)
        self._arrays: dict[str, np.ndarray] = {}
        self._free: list[np.ndarray] = []
        self._base, self.state = state.copy(), state.copy()
        self._watched = np.flatnonzero(watch.how)
        self.low, self.high = np.empty((2, words), np.uint32)
        self.changed, self.sets = np.zeros(words, np.uint64), np.zeros(len(watch.states_at), np.uint64)

    def encode(self, blocks: Blocks, first_cycle: int, chunk_bit: int = 0) -> memoryview:
        """Return the streams of a chunk's keyframe and changes, to be compressed; `state` becomes that behind it.

        chunk_bit: for `changed`.
        """
        differing = np.flatnonzero(self.state != self._base)
        key = np.diff(differing, prepend=0).astype(np.uint32), self.state[differing] ^ self._base[differing]
        first, events, ordered = self._sorted(blocks)
        group = self._groups[first]
        begins = np.flatnonzero(np.diff(group, prepend=-1))     # first block of each group that is present
        present, blocks_of = group[begins], np.diff(begins, append=len(first)).astype(np.uint32)
        group = np.repeat(np.arange(len(present), dtype=np.uint32), blocks_of)
        gaps, ranks, dictionary, uses = (self._work(name, len(blocks.first)) for name in ("gaps", "ranks", "masks", "uses"))
        group_masks, counts = np.zeros(len(present), np.uint32), np.zeros(len(present) * WIDTH, np.uint32)
        table = self._work("table", 1 << max(4, (2 * len(blocks.first)).bit_length())).view(np.int32)
        table[:] = 0
        masks = loops.number_masks(group, events, ordered[0], ordered[1], table, gaps, ranks, dictionary, uses,
                                   group_masks, counts)  # fmt: skip
        begin = np.cumsum(counts, dtype=np.int64) - counts
        codes, used = self._work("codes", len(blocks.value)), np.zeros(len(counts), np.uint32)
        self.low[self._watched] = self.high[self._watched] = self.state[self._watched]
        states = self.state.view(np.uint8)[self._watch.states_at] & np.uint8(63)
        np.left_shift(np.uint64(1), states.astype(np.uint64), out=self.sets)
        stamps, watch = self.stamps[present], self._watch
        loops.code_values(first, group, events, *ordered, blocks.value, stamps, begin.copy(), codes, used,
                          np.uint32(first_cycle & 0xFFFFFFFF), self.state, self.low, self.high, self.changed,
                          np.uint64(chunk_bit), watch.how, watch.state_of, watch.shift, self.sets)  # fmt: skip
        widths = (used > WIDER).sum(axis=0, dtype=np.uint8)
        streams = (*key, blocks_of, group_masks, stamps, deltas(first), events, dictionary[:masks], gaps, ranks,
                   widths[counts > 0].astype(np.uint32))  # fmt: skip
        size = int(counts @ widths.astype(np.int64))
        out = self._buffer(HEAD_BYTES * len(STATE) + PLANES * sum(map(len, streams)) + size)
        at = put_streams(streams, len(STATE), out)
        out[: HEAD_BYTES * len(STATE)].view(np.uint32)[-2:] = size, 1
        return out[: loops.put_planes(begin, counts, widths, codes, out, at)].data

    def _buffer(self, size: int) -> np.ndarray:
        """Return room for so many bytes, that of a blob which is written already if there is such."""
        found = self._free.pop() if self._free else None
        return found if found is not None and len(found) >= size else np.empty(size + size // 4, np.uint8)

    def give_back(self, blob: memoryview) -> None:
        """Take back what `encode` returned, for another blob; may be called from any thread."""
        self._free.append(blob.obj.base)  # type: ignore[attr-defined]

    def _work(self, name: str, size: int) -> np.ndarray:
        """Return (size,) u4 to work on, the same memory for every chunk: to take it anew would cost a fifth of the time."""
        kept = self._arrays.get(name)
        if kept is None or len(kept) < size:
            kept = self._arrays[name] = np.empty(size + size // 4, np.uint32)
        return kept[:size]

    def _sorted(self, blocks: Blocks) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Return of each block its first word and number of events, and of the events masks, cycles and where values begin,
        all in the order of storing: by group, first word, time.
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
