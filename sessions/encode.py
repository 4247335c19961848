"""Bring a chunk's changes into the form in which they are stored (see format.py), in compiled loops that hold no lock.

Only recording needs this: numba is imported here, and nothing that replays imports this module.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.bits import bit64, ctz64, popcount
from engine.chunk import Blocks
from engine.jit import entry
from sessions.codec import AFFINE, NEW, NUM_MODES, PLANES, RAW, STAMP, UNIFORM, WIDTH, XOR, pack, zigzag
from sessions.extent import BYTES, WHOLE, Extent

TABLE_FULL = -1
# what a code costs that its column's width has no room for, in bytes: its place and the rest of it
FAR_BYTES = 5
# of a long column, so many codes tell how it is coded best
LEARN_CODES = 1024


@entry
def index_events(first, mask, kind_of, slot_of, slot_first, slot_kind, slot_times, slot_touched, table, pattern_kind,
                 pattern_mask, pattern_times, pattern_rank, kind_patterns, event_slot, event_pattern, event_at,
                 found):  # fmt: skip
    """Number the blocks (slots) and the masks of each kind of block (patterns) as they come up, and count both.

    kind_of: (words,) kind of the block that begins there. slot_of: (words,) all -1. table: zeros, a power of 2 long;
    kind_patterns: (kinds,) zeros. event_at: where each event's words begin among the values. found: gets the number of
    slots, and of patterns. Returns 0, or TABLE_FULL when there are more patterns than the table should take.
    """
    slots = np.int64(0)
    patterns = np.int64(0)
    at = np.int64(0)
    last = np.uint64(len(table) - 1)
    for event in range(len(first)):
        word = np.int64(first[event])
        slot = np.int64(slot_of[word])
        if slot < 0:
            slot = slots
            slot_of[word] = slot
            slot_first[slot] = word
            slot_kind[slot] = kind_of[word]
            slot_times[slot] = 0
            slot_touched[slot] = 0
            slots += 1
        kind = np.int64(slot_kind[slot])
        bits = mask[event]
        slot_times[slot] += 1
        slot_touched[slot] |= bits
        spread = np.uint64(bits) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(kind) * np.uint64(0xC2B2AE3D27D4EB4F)
        place = (spread ^ (spread >> np.uint64(29))) & last
        pattern = np.int64(table[place]) - 1
        while pattern >= 0 and (pattern_mask[pattern] != bits or pattern_kind[pattern] != kind):
            place = (place + np.uint64(1)) & last
            pattern = np.int64(table[place]) - 1
        if pattern < 0:
            if 2 * patterns >= len(table):
                return TABLE_FULL
            pattern = patterns
            pattern_kind[pattern] = kind
            pattern_mask[pattern] = bits
            pattern_times[pattern] = 0
            pattern_rank[pattern] = kind_patterns[kind]
            kind_patterns[kind] += 1
            patterns += 1
            table[place] = patterns
        pattern_times[pattern] += 1
        event_slot[event] = slot
        event_pattern[event] = pattern
        event_at[event] = at
        at += popcount(bits)
    for slot in range(slots):
        slot_of[slot_first[slot]] = -1
    found[0] = slots
    found[1] = patterns
    return 0


@entry
def count_columns(patterns, pattern_kind, pattern_mask, pattern_times, counts):
    """Add up how often each column changes; counts: (kinds x 32,) zeros."""
    for pattern in range(patterns):
        left = np.uint64(pattern_mask[pattern])
        first = np.int64(pattern_kind[pattern]) * WIDTH
        while left != 0:
            place = ctz64(left)
            left &= ~bit64(place)
            counts[first + place] += pattern_times[pattern]
    return 0


@entry
def sort_events(end, event_slot, event_pattern, event_at, slot_next, sorted_cycle, sorted_pattern, sorted_at):
    """Bring the events into the order of their blocks, in order of time in each; slot_next: first place of each slot."""
    event = 0
    for cycle in range(len(end)):
        while event < end[cycle]:
            slot = event_slot[event]
            place = slot_next[slot]
            slot_next[slot] = place + 1
            sorted_cycle[place] = cycle
            sorted_pattern[place] = event_pattern[event]
            sorted_at[place] = event_at[event]
            event += 1
    return 0


@entry
def spread(order, slot_first, slot_kind, slot_times, slot_touched, sorted_cycle, sorted_pattern, sorted_at, pattern_mask,
           pattern_rank, value, column_next, values, cycles, gaps, ranks, run_word, run_begin, run_end):  # fmt: skip
    """Write every changed word's value, and in which cycle, into its column; list the runs that are of one word.

    order: slots in the order of storing. column_next: where each column's next value goes (moved on). gaps, ranks: per
    event the cycles since the block's last, and its pattern's rank. Returns the number of runs.
    """
    one = np.uint64(1)
    begins = np.empty(WIDTH, np.uint32)
    event = np.uint64(0)
    runs = 0
    for slot in order:
        column_first = np.uint64(slot_kind[slot] * WIDTH)
        for place in range(WIDTH):
            begins[place] = column_next[column_first + np.uint64(place)]
        last_cycle = np.uint32(0)
        for _ in range(slot_times[slot]):
            cycle = np.uint32(sorted_cycle[event])
            pattern = np.uint64(sorted_pattern[event])
            at = np.uint64(sorted_at[event])
            gaps[event] = cycle - last_cycle
            ranks[event] = pattern_rank[pattern]
            last_cycle = cycle
            event += one
            left = np.uint64(pattern_mask[pattern])
            while left != 0:
                column = column_first + np.uint64(ctz64(left))
                left &= left - one
                goes = np.uint64(column_next[column])
                column_next[column] = goes + one
                values[goes] = value[at]
                cycles[goes] = cycle
                at += one
        left = np.uint64(slot_touched[slot])
        while left != 0:
            place = np.uint64(ctz64(left))
            left &= left - one
            run_word[runs] = np.uint64(slot_first[slot]) + place
            run_begin[runs] = begins[place]
            run_end[runs] = column_next[column_first + place]
            runs += 1
    return runs


@entry
def code(runs, run_word, run_begin, run_end, run_mode, key, values, cycles, base_cycle, codes):
    """Write the codes of the values of each run under its mode (see format.py, deltas); key: (words,) u4 state before."""
    one = np.uint32(1)
    for run in range(runs):
        mode = run_mode[run]
        low, high = np.uint64(run_begin[run]), np.uint64(run_end[run])
        old = key[run_word[run]]
        if mode == XOR:
            codes[low] = values[low] ^ old
            for at in range(low + np.uint64(1), high):
                codes[at] = values[at] ^ values[at - np.uint64(1)]
        elif mode == NEW:
            for at in range(low, high):
                codes[at] = values[at]
        elif mode == STAMP:
            for at in range(low, high):
                found = np.uint32(values[at] - (base_cycle + np.uint32(cycles[at])))
                codes[at] = np.uint32(found << one) ^ np.uint32(np.uint32(0) - (found >> np.uint32(31)))
        else:
            found = np.uint32(values[low] - old)
            codes[low] = np.uint32(found << one) ^ np.uint32(np.uint32(0) - (found >> np.uint32(31)))
            for at in range(low + np.uint64(1), high):
                found = np.uint32(values[at] - values[at - np.uint64(1)])
                codes[at] = np.uint32(found << one) ^ np.uint32(np.uint32(0) - (found >> np.uint32(31)))
    return 0


@entry
def widen(runs, run_word, run_begin, run_end, values, watch, low, high, state_of, state_shift, states):
    """Widen the least and greatest of the watched words, low and high, and the states' sets, by the values of the runs.

    watch: (words,) WHOLE, BYTES (each of a word's four by itself), or not at all. state_of: (words,) which warp slot's state
    lies in a word, -1 = none; state_shift: where in it.
    """
    ones = np.uint32(0xFF)
    for run in range(runs):
        word = run_word[run]
        begin, end = np.uint64(run_begin[run]), np.uint64(run_end[run])
        least, most = low[word], high[word]
        if watch[word] == WHOLE:
            for at in range(begin, end):
                least = min(least, values[at])
                most = max(most, values[at])
        elif watch[word] == BYTES:
            for shift in (np.uint32(0), np.uint32(8), np.uint32(16), np.uint32(24)):
                least_byte, most_byte = (least >> shift) & ones, (most >> shift) & ones
                for at in range(begin, end):
                    least_byte = min(least_byte, (values[at] >> shift) & ones)
                    most_byte = max(most_byte, (values[at] >> shift) & ones)
                least = (least & ~(ones << shift)) | (least_byte << shift)
                most = (most & ~(ones << shift)) | (most_byte << shift)
        low[word] = least
        high[word] = most
        if state_of[word] >= 0:
            for at in range(begin, end):
                states[state_of[word]] |= bit64((values[at] >> state_shift[word]) & np.uint32(63))
    return 0


@entry
def count_wide(codes, begin, counts, wide):
    """Count the codes of each column that take more than 0, 1, 2, 3 bytes: wide, (columns, 4) i4."""
    for column in range(len(begin)):
        one = two = three = four = np.int32(0)
        for at in range(begin[column], begin[column] + counts[column]):
            coded = codes[at]
            one += np.int32(coded > np.uint32(0))
            two += np.int32(coded > np.uint32(0xFF))
            three += np.int32(coded > np.uint32(0xFFFF))
            four += np.int32(coded > np.uint32(0xFFFFFF))
        wide[column, 0] = one
        wide[column, 1] = two
        wide[column, 2] = three
        wide[column, 3] = four
    return 0


@entry
def lay_planes(order, begin, counts, widths, plane_at, stride, num_far, codes, planes, far, beyond):
    """Write the columns' codes as byte planes; list the codes that have more bytes, by place among all, and the rest.

    order: columns in the order of storing. plane_at, stride: where a column's low bytes go, and how far its next plane is.
    num_far: how many of a column's codes are too wide for it.
    """
    done = np.int64(0)
    listed = 0
    for column in order:
        low = np.int64(begin[column])
        count = np.int64(counts[column])
        width = np.int64(widths[column])
        to = np.int64(plane_at[column])
        for plane in range(width):
            shift = np.uint32(8 * plane)
            for k in range(count):
                planes[to + k] = np.uint8((codes[low + k] >> shift) & np.uint32(255))
            to += stride[column]
        if num_far[column] != 0:
            shift = np.uint64(8 * width)
            for k in range(count):
                rest = np.uint64(codes[low + k]) >> shift
                if rest != 0:
                    far[listed] = done + k
                    beyond[listed] = rest
                    listed += 1
        done += count
    return 0


@entry
def byte_bits(codes, columns, begin, counts, logs, table, bits):
    """Write how many bits the bytes of each column's codes take, by how often each occurs in each plane, into bits[column].

    logs: log2 of every number up to the largest count. table: (256,) zeros, left as such.
    """
    for column in columns:
        low, high = begin[column], begin[column] + counts[column]
        total = logs[counts[column]] * (PLANES * counts[column])
        for plane in range(PLANES):
            shift = np.uint32(8 * plane)
            for at in range(low, high):
                table[(codes[at] >> shift) & np.uint32(255)] += 1
            for at in range(low, high):
                total -= logs[table[(codes[at] >> shift) & np.uint32(255)]]
            for at in range(low, high):
                table[(codes[at] >> shift) & np.uint32(255)] = 0
        bits[column] = total
    return 0


@entry
def split_rows(value, kind, base, step, raw):
    """Sort rows of 32 lanes by kind (see codec.pack_rows); return how many bases, steps and raw words there are."""
    bases = steps = words = 0
    for row in range(len(value)):
        first = value[row, 0]
        stride = np.uint32(value[row, 1] - first)
        wrong = np.uint32(0)
        for lane in range(32):
            wrong |= value[row, lane] ^ np.uint32(first + np.uint32(lane) * stride)
        if wrong != 0:
            kind[row] = RAW
            for lane in range(32):
                raw[words + lane] = value[row, lane]
            words += 32
            continue
        kind[row] = AFFINE if stride != 0 else UNIFORM
        base[bases] = first
        bases += 1
        if stride != 0:
            step[steps] = stride
            steps += 1
    return bases, steps, words


@entry
def split_bytes(values, planes):
    """Write the byte planes of u4 numbers, low byte first; planes: (width, count) u1."""
    for plane in range(len(planes)):
        shift = np.uint32(8 * plane)
        for at in range(len(values)):
            planes[plane, at] = np.uint8((values[at] >> shift) & np.uint32(255))
    return 0


@entry
def differences(values, codes):
    """Write the zigzag codes of the differences between u4 numbers, the first from 0."""
    last = np.uint32(0)
    for at in range(len(values)):
        step = np.uint32(values[at] - last)
        last = values[at]
        codes[at] = np.uint32(step << np.uint32(1)) ^ np.uint32(np.uint32(0) - (step >> np.uint32(31)))
    return 0


def pack_steps(values: np.ndarray) -> list[Any]:
    """Store (k,) u4 numbers as zigzag differences."""
    codes = np.empty(len(values), np.uint32)
    differences(values, codes)
    return pack_many(codes)


def pack_many(values: np.ndarray) -> list[Any]:
    """Return the same as codec.pack for (k,) u4 numbers, sooner where there are many."""
    top = int(values.max()) if len(values) else 0
    width = 0 if top == 0 else 1 if top < 1 << 8 else 2 if top < 1 << 16 else 4
    planes = np.empty((width, len(values)), np.uint8)
    split_bytes(values, planes)
    return [len(values), width, planes.tobytes()]


def pack_rows(index: np.ndarray, value: np.ndarray) -> dict[str, Any]:
    """Store (k,) row numbers and their (k, 32) u4 lanes: equal as one word, v0 + lane * d as two, others whole."""
    count = len(index)
    kind, base, step, raw = np.empty(count, np.uint8), *(np.empty(size, np.uint32) for size in (count, count, count * 32))
    bases, steps, words = split_rows(value, kind, base, step, raw)
    return {
        "index": pack_steps(index),
        "kind": pack(kind),
        "base": pack_many(base[:bases]),
        "step": pack_many(zigzag(step[:steps])),
        "raw": pack_many(raw[:words]),
    }


def pack_words(index: np.ndarray, value: np.ndarray) -> dict[str, Any]:
    """Store (k,) word numbers and their u4 values."""
    return {"index": pack_steps(index), "value": pack_many(value)}


@dataclass
class Coded:
    """A chunk's changes in the order of storing, with views into the encoder's working space.

    slots: how the blocks were numbered, in the order of storing; first, kind, times, touched: (slots,) as in
    index_events. pattern_kind, pattern_mask, pattern_rank: likewise. begin, counts: of each column's values. runs: how many
    there are, and word, first value and the one behind the last of each. gaps, ranks: (events,) u4.
    """

    slots: np.ndarray
    first: np.ndarray
    kind: np.ndarray
    times: np.ndarray
    touched: np.ndarray
    pattern_kind: np.ndarray
    pattern_mask: np.ndarray
    pattern_rank: np.ndarray
    begin: np.ndarray
    counts: np.ndarray
    runs: tuple[int, np.ndarray, np.ndarray, np.ndarray]
    gaps: np.ndarray
    ranks: np.ndarray


class Encoder:
    """Codes the deltas of one recording's chunks; keeps the modes that it has chosen, and its working space.

    kind_of: (words,) i4 kind of the block that begins at each word (Layout.kinds). watch: (words,) u1 0, WHOLE or BYTES: how
    the least and greatest values of each word are wanted. states_at: (warp slots,) the byte that each one's state is in.
    """

    def __init__(self, kind_of: np.ndarray, watch: np.ndarray, states_at: np.ndarray):
        self._kind_of = kind_of
        words = len(kind_of)
        self._state_of, self._state_shift = np.full(words, -1, np.int32), np.zeros(words, np.uint32)
        self._state_of[states_at // 4] = np.arange(len(states_at))
        self._state_shift[states_at // 4] = states_at % 4 * 8
        self._watch, self._states_at = watch, states_at
        self._num_kinds = int(kind_of.max()) + 1
        self._slot_of = np.full(len(kind_of), -1, np.int32)
        self._slot = (*(np.empty(len(kind_of), np.int32) for _ in range(3)), np.empty(len(kind_of), np.uint32))
        self._low, self._high = (np.empty(words, np.uint32) for _ in range(2))
        self._run = tuple(np.empty(words, np.uint32) for _ in range(3))
        self._states = np.zeros(len(states_at), np.uint64)
        self._table = np.empty(1 << 12, np.int32)
        self._sizes = (0, 0)
        self._room(1 << 15, 1 << 17)
        self.modes = np.full(self._num_kinds * WIDTH, XOR, np.uint8)

    def _room(self, events: int, changes: int) -> None:
        """Make the working space large enough."""
        if events > self._sizes[0] or changes > self._sizes[1]:
            events, changes = (max(size, need + need // 4) for size, need in zip(self._sizes, (events, changes)))
            self._sizes = (events, changes)
            self._event = tuple(np.empty(events, np.int32) for _ in range(3))
            self._sorted = (np.empty(events, np.uint16), *(np.empty(events, np.int32) for _ in range(2)))
            self._gaps, self._ranks = np.empty(events, np.uint32), np.empty(events, np.uint32)
            self._codes, self._values = np.empty(changes, np.uint32), np.empty(changes, np.uint32)
            self._cycles = np.empty(changes, np.uint16)

    def _index(self, blocks: Blocks) -> tuple[int, int]:
        """Number blocks and patterns; return how many there are of each."""
        found = np.zeros(2, np.int64)
        while True:
            half = len(self._table) // 2 + 1
            self._pattern = (np.empty(half, np.int32), np.empty(half, np.uint32), *np.empty((2, half), np.int32))
            self._table[:] = 0
            answer = index_events(blocks.first, blocks.mask, self._kind_of, self._slot_of, *self._slot, self._table,
                                  *self._pattern, np.zeros(self._num_kinds, np.int32), *self._event, found)  # fmt: skip
            if answer != TABLE_FULL:
                return int(found[0]), int(found[1])
            self._slot_of[:] = -1
            self._table = np.empty(4 * len(self._table), np.int32)

    def _spread(self, blocks: Blocks) -> Coded:
        """Bring the changes into the order of storing."""
        events = len(blocks.first)
        self._room(events, len(blocks.value))
        slots, patterns = self._index(blocks)
        first, kind, times, touched = (array[:slots] for array in self._slot)
        pattern_kind, pattern_mask, pattern_times, pattern_rank = (array[:patterns] for array in self._pattern)
        order = np.lexsort((first, kind))
        slot_next = np.empty(slots, np.int64)
        slot_next[order] = np.cumsum(times[order]) - times[order]
        counts = np.zeros(len(self.modes), np.int32)
        count_columns(patterns, pattern_kind, pattern_mask, pattern_times, counts)
        begin = np.cumsum(counts, dtype=np.int32) - counts
        sort_events(blocks.end, *self._event, slot_next, *self._sorted)
        runs = spread(order, first, kind, times, touched, *self._sorted, pattern_mask, pattern_rank, blocks.value,
                      begin.copy(), self._values, self._cycles, self._gaps, self._ranks, *self._run)  # fmt: skip
        return Coded(order, first, kind, times, touched, pattern_kind, pattern_mask, pattern_rank, begin, counts,
                     (runs, *self._run), self._gaps[:events], self._ranks[:events])  # fmt: skip

    def encode(self, key: np.ndarray, blocks: Blocks, first_cycle: int, learn: bool) -> tuple[dict[str, Any], Extent]:
        """Return the `deltas` map of format.py, and what the words that change come to.

        key: (num_words,) u4 state at first_cycle. learn: choose anew how each column is coded.
        """
        coded = self._spread(blocks)
        base_cycle = np.uint32(first_cycle & 0xFFFFFFFF)

        def code_by(modes: np.ndarray) -> None:
            # a run's column: columns follow one another, so its first value tells
            column = np.searchsorted(coded.begin, coded.runs[2][: coded.runs[0]], side="right") - 1
            code(*coded.runs, modes[column], key, self._values, self._cycles, base_cycle, self._codes)

        if learn:
            self._learn(coded, code_by)
        code_by(self.modes)
        columns = np.flatnonzero(coded.counts)
        begin, counts, modes = coded.begin[columns], coded.counts[columns], self.modes[columns]
        wide = np.empty((len(columns), PLANES), np.int32)
        count_wide(self._codes, begin, counts, wide)
        widths, num_far = choose_widths(counts, wide)
        planes, far, beyond = self._planes(begin, counts, modes, widths, num_far)
        by_kind = np.lexsort((coded.pattern_rank, coded.pattern_kind))
        blocks_of, patterns_of = (np.bincount(kind, minlength=self._num_kinds) for kind in (coded.kind, coded.pattern_kind))
        kinds = np.flatnonzero(blocks_of)
        stored = {
            "cycles": len(blocks.end),
            "kinds": pack(blocks_of[kinds]),
            "blocks": pack_steps(coded.first[coded.slots].view(np.uint32)),
            "times": pack(coded.times[coded.slots]),
            "patterns": pack(patterns_of[kinds]),
            "masks": pack(coded.pattern_mask[by_kind]),
            "gaps": pack_many(coded.gaps),
            "ranks": pack_many(coded.ranks),
            "modes": pack(modes),
            "widths": pack(widths),
            "planes": planes.tobytes(),
            "far": pack(np.diff(far, prepend=np.int64(0))),
            "beyond": pack(beyond),
        }
        return stored, self._extent(coded, key)

    def _extent(self, coded: Coded, key: np.ndarray) -> Extent:
        """Return what the words that change come to."""
        self._low[:] = self._high[:] = key
        self._states[:] = np.uint64(1) << (key.view(np.uint8)[self._states_at] & 63).astype(np.uint64)
        widen(*coded.runs, self._values, self._watch, self._low, self._high, self._state_of, self._state_shift, self._states)
        words = np.sort(coded.runs[1][: coded.runs[0]]).astype(np.int64)
        return Extent(words, self._low[words], self._high[words], self._states.copy())

    def _planes(self, begin: np.ndarray, counts: np.ndarray, modes: np.ndarray, widths: np.ndarray,
                num_far: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
        """Return the byte planes of all codes, and place and rest of those that are wider than their column."""
        order, plane_at, stride, total = place_planes(counts, modes, widths)
        planes = np.empty(total, np.uint8)
        far, beyond = np.empty(int(num_far.sum()), np.int64), np.empty(int(num_far.sum()), np.uint32)
        lay_planes(order, begin, counts, widths, plane_at, stride, num_far, self._codes, planes, far, beyond)
        return planes, far, beyond

    def _learn(self, coded: Coded, code_by: Callable[[np.ndarray], None]) -> None:
        """Choose for each column that changes in the chunk the mode that codes it shortest there."""
        table, columns = np.zeros(256, np.int32), np.flatnonzero(coded.counts)
        bits = np.empty((NUM_MODES, len(self.modes)))
        counts = np.minimum(coded.counts, LEARN_CODES)
        logs = np.log2(np.maximum(np.arange(LEARN_CODES + 1), 1))
        for mode in range(NUM_MODES):
            code_by(np.full(len(self.modes), mode, np.uint8))
            byte_bits(self._codes, columns, coded.begin, counts, logs, table, bits[mode])
        self.modes[columns] = np.argmin(bits[:, columns], axis=0)


def choose_widths(counts: np.ndarray, wide: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return in how many bytes (0..4) each column's codes are stored shortest, and how many codes need more.

    wide: (columns, 4) how many codes take more than 0, 1, 2, 3 bytes.
    """
    more = np.concatenate([wide, np.zeros((len(wide), 1), np.int32)], axis=1)
    widths = np.argmin(np.arange(PLANES + 1) * counts[:, None] + FAR_BYTES * more, axis=1)
    return widths.astype(np.uint8), more[np.arange(len(more)), widths]


def place_planes(counts: np.ndarray, modes: np.ndarray,
                 widths: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:  # fmt: skip
    """Return the order of the columns, where each one's low bytes go, how far its next plane is, and the bytes of all.

    Columns of one mode and width stand together, as format.py says; planes are those of all their codes.
    """
    classes = modes.astype(np.int64) * (PLANES + 1) + widths
    order = np.argsort(classes, kind="stable")
    sizes = np.bincount(classes, counts, NUM_MODES * (PLANES + 1)).astype(np.int64)
    bytes_each = sizes * (np.arange(len(sizes)) % (PLANES + 1))
    class_at = np.cumsum(bytes_each) - bytes_each
    before = np.cumsum(counts[order]) - counts[order]
    class_first = np.cumsum(sizes) - sizes
    plane_at = np.empty(len(counts), np.int64)
    plane_at[order] = class_at[classes[order]] + before - class_first[classes[order]]
    return order, plane_at, sizes[classes], int(bytes_each.sum())
