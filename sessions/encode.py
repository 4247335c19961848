"""Bring a chunk's state changes into the order in which they are stored (see format.py, deltas), in compiled loops.

Only recording needs this: numba is imported here, and nothing that replays imports this module.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.bits import bit64, ctz64
from engine.chunk import Blocks
from engine.jit import entry
from sessions.codec import NEW, NUM_MODES, STAMP, XOR, pack
from sessions.layout import Units

PLANES = 4


@entry
def gather(end, first, mask, value, state, unit, place, event_unit, event_cycle, event_mask, event_begin, old, new, times,
           touched):  # fmt: skip
    """List the changes in order of time as events: one unit in one cycle, with a mask of places, old and new values.

    state: the words before, brought up to date. times, touched: events and places of each unit, counted and collected
    here. Returns the number of events; event_begin gets one entry more, the number of changes.
    """
    events = 0
    changes = 0
    block = 0
    for cycle in range(len(end)):
        last_unit = np.int64(-1)
        last_place = np.int64(-1)
        while block < end[cycle]:
            left = np.uint64(mask[block])
            while left != 0:
                bit = ctz64(left)
                left &= ~bit64(bit)
                word = np.int64(first[block]) + bit
                here = np.int64(unit[word])
                at = np.int64(place[word])
                if here != last_unit or at <= last_place:
                    event_unit[events] = here
                    event_cycle[events] = cycle
                    event_mask[events] = 0
                    event_begin[events] = changes
                    times[here] += 1
                    last_unit = here
                    events += 1
                last_place = at
                event_mask[events - 1] |= np.uint32(1) << np.uint32(at)
                touched[here] |= np.uint32(1) << np.uint32(at)
                old[changes] = state[word]
                new[changes] = value[block, bit]
                state[word] = value[block, bit]
                changes += 1
            block += 1
    event_begin[events] = changes
    return events


@entry
def sort_events(event_unit, events, times, place, order):
    """Write the events' numbers unit by unit, in order of time in each; place: scratch as long as `times`."""
    at = 0
    for unit in range(len(times)):
        place[unit] = at
        at += times[unit]
    for event in range(events):
        unit = event_unit[event]
        order[place[unit]] = event
        place[unit] += 1
    return 0


@entry
def code_of(mode, old, new, stamp):
    """Return the code of one change (see codec.py)."""
    if mode == XOR:
        return np.uint32(old ^ new)
    if mode == NEW:
        return np.uint32(new)
    difference = np.uint32(new - stamp) if mode == STAMP else np.uint32(new - old)
    return np.uint32(difference << np.uint32(1)) ^ np.uint32(np.uint32(0) - (difference >> np.uint32(31)))


@entry
def code(events, event_unit, event_cycle, event_mask, event_begin, old, new, unit_column, modes, base_cycle, codes, counts,
         together):  # fmt: skip
    """Code every change under its column's mode, in order of time; count each column's changes, and or their codes."""
    for event in range(events):
        stamp = np.uint32(base_cycle + event_cycle[event])
        left = np.uint64(event_mask[event])
        first = np.int64(unit_column[event_unit[event]])
        for change in range(event_begin[event], event_begin[event + 1]):
            place = ctz64(left)
            left &= ~bit64(place)
            column = first + place
            coded = code_of(modes[column], old[change], new[change], stamp)
            codes[change] = coded
            counts[column] += 1
            together[column] |= coded
    return 0


@entry
def lay_out(order, events, event_unit, event_cycle, event_mask, event_begin, codes, unit_column, widths, plane_at, stride,
            gaps, masks, planes):  # fmt: skip
    """Write gaps, masks and code planes in stored order; plane_at: where each column's next low byte goes (moved on)."""
    last_unit = np.int64(-1)
    last_cycle = np.int64(0)
    for k in range(events):
        event = order[k]
        unit = np.int64(event_unit[event])
        if unit != last_unit:
            last_unit = unit
            last_cycle = np.int64(0)
        gap = np.int64(event_cycle[event]) - last_cycle
        last_cycle = np.int64(event_cycle[event])
        gaps[k] = gap & 255
        gaps[events + k] = gap >> 8
        mask = event_mask[event]
        left = np.uint64(mask)
        for plane in range(PLANES):
            masks[plane * events + k] = mask & np.uint32(255)
            mask = np.uint32(mask >> np.uint32(8))
        first = np.int64(unit_column[unit])
        for change in range(event_begin[event], event_begin[event + 1]):
            place = ctz64(left)
            left &= ~bit64(place)
            column = first + place
            coded = codes[change]
            at = plane_at[column]
            for _ in range(widths[column]):
                planes[at] = coded & np.uint32(255)
                coded = np.uint32(coded >> np.uint32(8))
                at += stride[column]
            plane_at[column] += 1
    return 0


@entry
def entropy(events, event_unit, event_cycle, event_mask, event_begin, old, new, unit_column, base_cycle, slot, table, bits):
    """Sum the bits that each column's codes take under each mode, by how often each byte occurs in each plane.

    slot: (columns,) row of `table` and `bits`; table: (slots, modes, planes, 256) u4 zeros; bits: (slots, modes) f8.
    """
    for event in range(events):
        stamp = np.uint32(base_cycle + event_cycle[event])
        left = np.uint64(event_mask[event])
        first = np.int64(unit_column[event_unit[event]])
        for change in range(event_begin[event], event_begin[event + 1]):
            place = ctz64(left)
            left &= ~bit64(place)
            row = slot[first + place]
            for mode in range(NUM_MODES):
                coded = code_of(mode, old[change], new[change], stamp)
                for plane in range(PLANES):
                    table[row, mode, plane, coded & np.uint32(255)] += 1
                    coded = np.uint32(coded >> np.uint32(8))
    for row in range(len(table)):
        for mode in range(NUM_MODES):
            for plane in range(PLANES):
                total = 0.0
                for byte in range(256):
                    times = table[row, mode, plane, byte]
                    if times != 0:
                        total += times
                        bits[row, mode] -= times * np.log2(times)
                bits[row, mode] += total * np.log2(total)
    return 0


class Encoder:
    """Codes the deltas of one recording's chunks; keeps the modes that it has chosen, and its working space."""

    def __init__(self, units: Units):
        self._units = units
        kinds = np.repeat(np.arange(len(units.kind_begin) - 1), np.diff(units.kind_begin))
        self._unit_column = units.column_begin[kinds]
        self._modes = np.full(units.column_begin[-1], XOR, np.uint8)
        self._size = 0
        self._room(1 << 16)

    def _room(self, changes: int) -> None:
        """Make the working space large enough."""
        if changes <= self._size:
            return
        self._size = size = changes + changes // 4
        self._event = (np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.uint32),
                       np.empty(size + 1, np.int32))  # fmt: skip
        self._order = np.empty(size, np.int32)
        self._old, self._new, self._codes = (np.empty(size, np.uint32) for _ in range(3))

    def encode(self, key: np.ndarray, blocks: Blocks, first_cycle: int, learn: bool) -> tuple[dict[str, Any], np.ndarray]:
        """Return the `deltas` map of format.py, and (num_words,) bool which words change.

        key: (num_words,) u4 state at first_cycle. learn: choose anew how each column is coded.
        """
        units = self._units
        self._room(int(np.bitwise_count(blocks.mask).sum(dtype=np.int64)))
        times, touched = np.zeros(len(units.first), np.int32), np.zeros(len(units.first), np.uint32)
        events = gather(*blocks.arrays(), key.copy(), units.unit, units.place, *self._event, self._old, self._new, times,
                        touched)  # fmt: skip
        base_cycle = np.uint32(first_cycle & 0xFFFFFFFF)
        if learn:
            self._learn(events, base_cycle, touched)
        counts = np.zeros(len(self._modes), np.int32)
        together = np.zeros(len(self._modes), np.uint32)
        code(events, *self._event, self._old, self._new, self._unit_column, self._modes, base_cycle, self._codes, counts,
             together)  # fmt: skip
        sort_events(self._event[0], events, times, np.empty_like(times), self._order)
        columns = np.flatnonzero(counts)
        counts, modes = counts[columns], self._modes[columns]
        widths = byte_widths(together[columns])
        plane_at, stride, total = place_planes(counts, modes, widths)
        gaps, masks, planes = (np.empty(size, np.uint8) for size in (2 * events, PLANES * events, total))
        lay_out(self._order, events, *self._event, self._codes, self._unit_column,
                *self._spread(columns, widths, plane_at, stride), gaps, masks, planes)  # fmt: skip
        active = np.flatnonzero(times)
        changed = np.zeros(len(key), bool)
        bits = np.unpackbits(touched[active].view(np.uint8), bitorder="little").reshape(-1, 32)
        row, place = np.nonzero(bits)
        changed[units.first[active[row]] + place] = True
        return {
            "cycles": len(blocks.end),
            "units": pack(np.diff(active, prepend=0)),
            "times": pack(times[active]),
            "gaps": gaps.tobytes(),
            "masks": masks.tobytes(),
            "columns": pack(np.diff(columns, prepend=0)),
            "counts": pack(counts),
            "modes": pack(modes),
            "widths": pack(widths),
            "planes": planes.tobytes(),
        }, changed

    def _spread(self, columns: np.ndarray, *lists: np.ndarray) -> list[np.ndarray]:
        """Return lists of the changing columns as lists of all columns."""
        found = []
        for values in lists:
            whole = np.zeros(len(self._modes), np.int64)
            whole[columns] = values
            found.append(whole)
        return found

    def _learn(self, events: int, base_cycle: np.uint32, touched: np.ndarray) -> None:
        """Choose the mode that codes each changing column shortest."""
        active = np.flatnonzero(touched)
        row, place = np.nonzero(np.unpackbits(touched[active].view(np.uint8), bitorder="little").reshape(-1, 32))
        columns = np.unique(self._unit_column[active[row]] + place)
        slot = np.zeros(len(self._modes), np.int32)
        slot[columns] = np.arange(len(columns))
        bits = np.zeros((len(columns), NUM_MODES))
        entropy(events, *self._event, self._old, self._new, self._unit_column, base_cycle, slot,
                np.zeros((len(columns), NUM_MODES, PLANES, 256), np.uint32), bits)  # fmt: skip
        self._modes[columns] = np.argmin(bits, axis=1)


def byte_widths(together: np.ndarray) -> np.ndarray:
    """Return how many bytes (0..4) the largest of each column's codes takes, from all its codes or-ed together."""
    return np.sum([together > 0, together > 0xFF, together > 0xFFFF, together > 0xFFFFFF], axis=0).astype(np.uint8)


def place_planes(counts: np.ndarray, modes: np.ndarray, widths: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return where each column's first low byte goes, how far its next plane is, and the bytes of all planes.

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
    return plane_at, sizes[classes], int(bytes_each.sum())
