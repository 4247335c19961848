"""The compiled loops of recording: over events, changes, columns, rows and summaries; they hold no lock.

Numbers that index are unsigned where a loop is long: for signed ones the compiler must allow for negative ones, which count
from the end, and then does one element at a time.
"""

from __future__ import annotations

import numpy as np

from engine.bits import bit64, ctz64, popcount, prefetch
from engine.jit import entry
from sessions.codec import AFFINE, NEW, NUM_MODES, PLANES, RAW, STAMP, UNIFORM, WIDTH, XOR
from sessions.extent import BYTES, WHOLE

TABLE_FULL = -1
# what a code costs that its column's width has no room for, in bytes: its place and the rest of it
FAR_BYTES = 5
# so many events before a block's values are needed they are asked for
AHEAD = 16
# words in a line of the processor's cache
LINE_WORDS = 16


@entry
def index_events(first, mask, kind_of, slot_of, slot_first, slot_kind, slot_times, slot_touched, event_slot):
    """Number the blocks (slots) as they come up; count the events of each and collect the words that change in it.

    kind_of: (words,) kind of the block that begins there. slot_of: (words,) all -1, and left so. Returns how many slots.
    """
    slots = np.int32(0)
    for event in range(np.uint64(len(first))):
        word = np.uint64(first[event])
        found = slot_of[word]
        if found < 0:
            found = slots
            slots += np.int32(1)
            slot_of[word] = found
            slot_first[np.uint64(found)] = word
            slot_kind[np.uint64(found)] = kind_of[word]
            slot_times[np.uint64(found)] = 0
            slot_touched[np.uint64(found)] = 0
        slot = np.uint64(found)
        slot_times[slot] += 1
        slot_touched[slot] |= mask[event]
        event_slot[event] = found
    for slot in range(np.uint64(slots)):
        slot_of[np.uint64(slot_first[slot])] = -1
    return slots


@entry
def place_slots(order, slot_first, slot_kind, slot_times, slot_next, first, times, kind_slots, begin):
    """List first words and events of the blocks in the order of storing, where their events begin, and blocks per kind.

    begin: (kinds x 32,) gets where each column's values may begin: there is room for all events of its kind.
    """
    event = np.int64(0)
    for place in range(len(order)):
        slot = order[place]
        slot_next[slot] = event
        event += slot_times[slot]
        first[place] = slot_first[slot]
        times[place] = slot_times[slot]
        kind_slots[slot_kind[slot]] += 1
    place = 0
    room = np.int64(0)
    for kind in range(len(kind_slots)):
        events = np.int64(0)
        for _ in range(kind_slots[kind]):
            events += times[place]
            place += 1
        for column in range(WIDTH):
            begin[kind * WIDTH + column] = room
            room += events
    return 0


@entry
def sort_events(end, mask, event_slot, slot_next, ordered):
    """Bring the events into the order of their blocks, in order of time in each; slot_next: first place of each slot.

    ordered: (events, 2) u8: where its values begin | its mask << 32, and its cycle.
    """
    one = np.uint64(1)
    event = np.uint64(0)
    at = np.uint64(0)
    for cycle in range(np.uint64(len(end))):
        stop = np.uint64(end[cycle])
        while event < stop:
            slot = np.uint64(event_slot[event])
            place = np.uint64(slot_next[slot])
            slot_next[slot] = place + one
            bits = np.uint64(mask[event])
            ordered[place, np.uint64(0)] = at | (bits << np.uint64(32))
            ordered[place, one] = cycle
            at += np.uint64(popcount(bits))
            event += one
    return 0


@entry
def spread(order, slot_first, slot_kind, slot_times, slot_touched, ordered, events, stamped, value, table, masks,
           kind_patterns, column_next, values, cycles, gaps, ranks, run_word, run_begin, run_end,
           run_column):  # fmt: skip
    """Write every changed word's value into its column; number the masks of each kind of block; list the runs of one word.

    order: slots in the order of storing. ordered: of sort_events, the first `events`. stamped: (kinds x 32,) bool, the
    columns of which the cycles are wanted, too. table: zeros, a power of 2 long. masks: gets those of all kinds,
    kind_patterns, zeros, how many each has. column_next: where each column's next value goes (moved on). gaps, ranks: per
    event the cycles since the block's last, and the number of its mask. Returns the number of runs, or TABLE_FULL when there
    are more masks than the table should take, and that of masks.
    """
    one, low = np.uint64(1), np.uint64(0xFFFFFFFF)
    begins = np.empty(WIDTH, np.uint32)
    wanted = np.uint64(0)
    event, runs, last = np.uint64(0), np.uint64(0), np.uint64(events - 1)
    most = np.uint64(len(table) - 1)
    patterns = kind_first = np.int64(0)
    kind = np.int64(-1)
    for which in range(np.uint64(len(order))):
        slot = np.uint64(order[which])
        if slot_kind[slot] != kind:
            kind = np.int64(slot_kind[slot])
            kind_first = patterns
            wanted = np.uint64(0)
            for place in range(np.uint64(WIDTH)):
                wanted |= np.uint64(stamped[np.uint64(kind) * np.uint64(WIDTH) + place]) << place
        column_first = np.uint64(kind) * np.uint64(WIDTH)
        for place in range(np.uint64(WIDTH)):
            begins[place] = column_next[column_first + place]
        before = np.uint64(0)
        for _ in range(slot_times[slot]):
            at = ordered[event, np.uint64(0)] & low
            left = ordered[event, np.uint64(0)] >> np.uint64(32)
            cycle = ordered[event, one]
            # a block's values lie cycles apart, and another core may have written them; many lie across two lines
            ahead = ordered[min(event + np.uint64(AHEAD), last), np.uint64(0)] & low
            prefetch(value, ahead)
            prefetch(value, ahead + np.uint64(LINE_WORDS - 1))
            # entries of kinds before count as empty: they are never passed over, only written over
            place = ((left * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)) & most
            pattern = np.int64(table[place]) - 1
            while pattern >= kind_first and masks[np.uint64(pattern)] != left:
                place = (place + one) & most
                pattern = np.int64(table[place]) - 1
            if pattern < kind_first:
                if 2 * (patterns - kind_first) >= len(table):
                    return TABLE_FULL, patterns
                pattern = patterns
                masks[np.uint64(pattern)] = left
                kind_patterns[np.uint64(kind)] += 1
                patterns += 1
                table[place] = patterns
            gaps[event] = cycle - before
            ranks[event] = pattern - kind_first
            before = cycle
            event += one
            stamps = left & wanted
            while stamps != 0:
                cycles[np.uint64(column_next[column_first + np.uint64(ctz64(stamps))])] = cycle
                stamps &= stamps - one
            while left != 0:
                column = column_first + np.uint64(ctz64(left))
                left &= left - one
                goes = np.uint64(column_next[column])
                column_next[column] = goes + one
                values[goes] = value[at]
                at += one
        touched = np.uint64(slot_touched[slot])
        while touched != 0:
            place = np.uint64(ctz64(touched))
            touched &= touched - one
            run_word[runs] = np.uint64(slot_first[slot]) + place
            run_begin[runs] = begins[place]
            run_end[runs] = column_next[column_first + place]
            run_column[runs] = column_first + place
            runs += one
    return np.int64(runs), patterns


@entry
def code(runs, run_word, run_begin, run_end, run_column, modes, key, values, cycles, base_cycle, codes):
    """Write the codes of the values of each run under its column's mode (see format.py); key: (words,) u4 state before."""
    one = np.uint32(1)
    for run in range(runs):
        mode = modes[run_column[run]]
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
def widen(runs, run_word, run_begin, run_end, key, values, watch, low, high, state_of, state_shift, states):
    """Write the least and greatest value of each run's word, the one before included; widen the states' sets.

    watch: (words,) WHOLE, BYTES (each of a word's four by itself), or not at all. state_of: (words,) which warp slot's state
    lies in a word, -1 = none; state_shift: where in it.
    """
    ones = np.uint32(0xFF)
    for run in range(runs):
        word = run_word[run]
        begin, end = np.uint64(run_begin[run]), np.uint64(run_end[run])
        least = most = key[word]
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
        low[run] = least
        high[run] = most
        if state_of[word] >= 0:
            for at in range(begin, end):
                states[state_of[word]] |= bit64((values[at] >> state_shift[word]) & np.uint32(63))
    return 0


@entry
def count_wide(codes, begin, counts, wide):
    """Count the codes of each column that take more than 0, 1, 2, 3 bytes: wide, (columns, 4) i4."""
    for column in range(len(begin)):
        one = two = three = four = np.int32(0)
        low = np.uint64(begin[column])
        for at in range(low, low + np.uint64(counts[column])):
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
def place_planes(counts, modes, wide, widths, num_far, order, plane_at, stride):
    """Choose in how many bytes (0..4) each column's codes are stored shortest, and where: see format.py, planes.

    counts, modes, wide: of the columns, as in count_wide. Written for each column: its width, how many codes are wider,
    where its low bytes go and how far its next plane is; and into `order` the columns in the order of storing.
    Returns the bytes of all planes, and how many codes are wider than their columns.
    """
    sizes, first = np.zeros(NUM_MODES * (PLANES + 1), np.int64), np.zeros(NUM_MODES * (PLANES + 1), np.int64)
    columns, places = np.zeros(len(sizes) + 1, np.int64), np.empty(len(counts), np.int64)
    all_far = np.int64(0)
    for column in range(len(counts)):
        best, width = np.int64(FAR_BYTES) * wide[column, 0], 0
        for more in range(1, PLANES + 1):
            far = np.int64(wide[column, more]) if more < PLANES else np.int64(0)
            cost = more * np.int64(counts[column]) + FAR_BYTES * far
            if cost < best:
                best, width = cost, more
        widths[column] = width
        num_far[column] = wide[column, width] if width < PLANES else 0
        all_far += num_far[column]
        place = np.int64(modes[column]) * (PLANES + 1) + width
        places[column] = place
        plane_at[column] = sizes[place]
        sizes[place] += counts[column]
        columns[place + 1] += 1
    total = np.int64(0)
    for place in range(len(sizes)):
        first[place] = total
        total += sizes[place] * (place % (PLANES + 1))
        columns[place + 1] += columns[place]
    for column in range(len(counts)):
        place = places[column]
        plane_at[column] += first[place]
        stride[column] = sizes[place]
        order[columns[place]] = column
        columns[place] += 1
    return total, all_far


@entry
def lay_planes(order, begin, counts, widths, plane_at, stride, num_far, codes, planes, far, beyond):
    """Write the columns' codes as byte planes; list the codes that have more bytes, by place among all, and the rest.

    order: columns in the order of storing. plane_at, stride: where a column's low bytes go, and how far its next plane is.
    num_far: how many of a column's codes are too wide for it. far, as differences, and beyond: one longer than needed.
    """
    done = np.uint64(0)
    before = np.uint64(0)
    listed = np.uint64(0)
    for column in order:
        low = np.uint64(begin[column])
        count = np.uint64(counts[column])
        width = np.uint64(widths[column])
        to = np.uint64(plane_at[column])
        for plane in range(width):
            shift = np.uint32(8 * plane)
            for k in range(count):
                planes[to + k] = np.uint8((codes[low + k] >> shift) & np.uint32(255))
            to += np.uint64(stride[column])
        if num_far[column] != 0:
            # the next one is written over a code that is not too wide: which are is not to be guessed
            shift = np.uint64(8) * width
            for k in range(count):
                rest = np.uint64(codes[low + k]) >> shift
                far[listed] = done + k - before
                beyond[listed] = rest
                before = done + k if rest != 0 else before
                listed += np.uint64(rest != 0)
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
def narrow(values, planes):
    """Write u4 numbers as byte planes, low bytes first, as few as hold them all: 0, 1, 2 or 4; return how many.

    planes: (4 x numbers,) u1.
    """
    count = np.uint64(len(values))
    found = np.uint32(0)
    for at in range(count):
        found |= values[at]
    width = 0 if found == 0 else 1 if found < 1 << 8 else 2 if found < 1 << 16 else 4
    for plane in range(np.uint64(width)):
        shift = np.uint32(8) * np.uint32(plane)
        first = plane * count
        for at in range(count):
            planes[first + at] = np.uint8((values[at] >> shift) & np.uint32(255))
    return width


@entry
def per_cycle(end, counts):
    """Write how many entries each cycle of a log has, from prefix counts."""
    last = np.uint32(0)
    for at in range(np.uint64(len(end))):
        counts[at] = end[at] - last
        last = end[at]
    return 0


@entry
def differences(values, codes):
    """Write the zigzag codes of the differences between u4 numbers, the first from 0."""
    last = np.uint32(0)
    for at in range(np.uint64(len(values))):
        step = np.uint32(values[at] - last)
        last = values[at]
        codes[at] = np.uint32(step << np.uint32(1)) ^ np.uint32(np.uint32(0) - (step >> np.uint32(31)))
    return 0


@entry
def put_rows(values, index, value):
    """Write rows of 32 lanes, in order."""
    for at in range(np.uint64(len(index))):
        row = np.uint64(index[at])
        for lane in range(np.uint64(32)):
            values[row, lane] = value[at, lane]
    return 0


@entry
def put_words(values, index, value):
    """Write words, in order."""
    for at in range(np.uint64(len(index))):
        values[np.uint64(index[at])] = value[at]
    return 0


@entry
def sum_up(key, watched, slot, words, least, most, low, high, changed, bit):
    """Set a bit in `changed` of a chunk's changed words, and write down the ends of all watched ones.

    key: state before. watched: its watched words; slot: (words,) which of them, -1 = none. words, least, most: of an Extent.
    low, high: of each watched word; changed: (words,) u8.
    """
    for at in range(np.uint64(len(watched))):
        value = key[np.uint64(watched[at])]
        low[at] = value
        high[at] = value
    for at in range(np.uint64(len(words))):
        word = np.uint64(words[at])
        changed[word] |= bit64(bit)
        if slot[word] >= 0:
            place = np.uint64(slot[word])
            low[place] = least[at]
            high[place] = most[at]
    return 0


@entry
def mark_places(index, share, marks, bit):
    """Set a bit in the marks of the places written: (n,) u8, each for `share` places that follow one another, and on."""
    size, each = np.uint32(len(marks)), np.uint32(share)
    for at in range(np.uint64(len(index))):
        marks[np.uint64(index[at] // each % size)] |= bit64(bit)
    return 0


@entry
def pack_marks(words, marks, chunks, out):
    """Write the low bits of the marks of words, as many as chunks, in whole bytes; return how many bytes."""
    at = np.uint64(0)
    for k in range(np.uint64(len(words))):
        left = np.uint64(marks[np.uint64(words[k])])
        for _ in range((chunks + 7) // 8):
            out[at] = left & np.uint64(255)
            left >>= np.uint64(8)
            at += np.uint64(1)
    return at


@entry
def pack_ends(slots, chunks, low, high, to, out):
    """Write the ends of watched words as format.py says of `parts`; low, high: (chunks, slots). Returns the place behind."""
    size = np.uint64(len(slots)) * np.uint64(chunks)
    at = np.uint64(to)
    for k in range(np.uint64(len(slots))):
        slot = np.uint64(slots[k])
        before = np.uint32(0)
        for chunk in range(np.uint64(chunks)):
            step = np.uint32(low[chunk, slot] - before)
            width = np.uint32(high[chunk, slot] - low[chunk, slot])
            before = low[chunk, slot]
            for plane in range(np.uint64(PLANES)):
                shift = np.uint32(8) * np.uint32(plane)
                out[at + plane * size] = (step >> shift) & np.uint32(255)
                out[at + (plane + np.uint64(PLANES)) * size] = (width >> shift) & np.uint32(255)
            at += np.uint64(1)
    return np.uint64(to) + np.uint64(2 * PLANES) * size
