"""The state at a cycle straight from a chunk's bytes, compiled: one question of those that changes.py answers.

It reads what format.py says of `state`, and trusts nothing: all that indexes is looked at before. Where parts do not fit
together it says so, and changes.py will say what is damaged. The streams are numbered as in codec.STATE.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rfview.engine.compile.jit import array_jit, jit
from rfview.sessions.codec.codec import (DIFFERENCE, MOST_NUMBER, MOST_ZEROS, NUM_MODES, NUMBERED, PLANES, PLANES_OF,
                                         STAMP, STATE, WIDTH, XOR)  # fmt: skip
from rfview.sessions.codec.codes import class_of
from rfview.sessions.codec.compiled import array_entry

(KEY_STEP, KEY_BITS, KINDS, PATTERNS, BLOCKS, TIMES, MASKS, GAPS, LONG_GAPS, GAPS_BEYOND, RANKS, HIGH_RANKS, RANKS_BEYOND,
 MODES, WIDTHS, CODES, FAR, BEYOND, DISTINCT, KNOWN) = range(len(STATE))  # fmt: skip
NUM_STREAMS = len(STATE)
CLASSES = NUM_MODES * len(PLANES_OF)
ONE = np.uint32(1)
# numbers of events are kept two in a word
HALF, REST = np.uint32(16), np.uint32(0xFFFF)


class Streams(NamedTuple):
    """numbers: u4 those of all streams, in order; begin: (streams + 1,) i8 where each begins. codes: u1 the bytes
    of codes, a stream that has no numbers there.
    """

    numbers: np.ndarray
    begin: np.ndarray
    codes: np.ndarray


class Blocks(NamedTuple):
    """The blocks and their events, kind after kind.

    blocks_of, patterns_of: (kinds,) u4 blocks and masks of each kind. first, times: (blocks,) u4 first word, and events.
    masks: u4 of the kinds. gaps, ranks: (events,) u4 cycles since the block's event before, and which of its kind's masks.
    """

    blocks_of: np.ndarray
    patterns_of: np.ndarray
    first: np.ndarray
    times: np.ndarray
    masks: np.ndarray
    gaps: np.ndarray
    ranks: np.ndarray


class Tally(NamedTuple):
    """Of each word of each block, (blocks, 32) u4:

    counts: in how many events it changes before the cycle that is asked for, in the high half, and in how many from then on,
    in the low one. last: in which cycle offset the last one before is. And size: (kinds, 32) i8 codes of each column.
    """

    counts: np.ndarray
    last: np.ndarray
    size: np.ndarray


class Columns(NamedTuple):
    """How each place of each kind is coded, (kinds * 32,) each.

    mode, width: u1. first: i8 where its codes begin among all. begin: i8 where in `codes` their low bytes do, and stride: i8
    from there to their next plane. known: i8 where the codes that its numbers stand for begin. far, far_end: i8 which of the
    wide codes are its.
    """

    mode: np.ndarray
    width: np.ndarray
    first: np.ndarray
    begin: np.ndarray
    stride: np.ndarray
    known: np.ndarray
    far: np.ndarray
    far_end: np.ndarray


class Codes(NamedTuple):
    """planes: u1 all codes. known: u4 those that numbers stand for. far: i8 where among all codes the wide ones are, in
    ascending order, and beyond: u4 what stands above their width.
    """

    planes: np.ndarray
    known: np.ndarray
    far: np.ndarray
    beyond: np.ndarray


@jit
def unzigzag(code):
    """Return the u4 difference behind a zigzag code."""
    return np.uint32(code >> ONE) ^ np.uint32(np.uint32(0) - np.uint32(code & ONE))


@array_jit
def unpack(blob):
    """Return the streams, and whether their lengths fit; the bytes of codes are left where they are."""
    begin = np.zeros(NUM_STREAMS + 1, np.int64)
    sizes = blob[: 8 * NUM_STREAMS].view(np.uint32)
    behind = np.int64(8 * NUM_STREAMS)
    for stream in range(NUM_STREAMS):
        count, width = np.int64(sizes[2 * stream]), np.int64(sizes[2 * stream + 1])
        if width > PLANES or (width == 0 and count > MOST_ZEROS):
            return Streams(np.zeros(0, np.uint32), begin, blob[:0]), False
        begin[stream + 1] = begin[stream] + (0 if stream == CODES else count)
        behind += count * width
    if behind != len(blob) or (sizes[2 * CODES] and sizes[2 * CODES + 1] != 1):
        return Streams(np.zeros(0, np.uint32), begin, blob[:0]), False
    numbers, codes = np.zeros(begin[NUM_STREAMS], np.uint32), blob[:0]
    at = np.int64(8 * NUM_STREAMS)
    for stream in range(NUM_STREAMS):
        count = np.int64(sizes[2 * stream])
        if stream == CODES:
            codes = blob[at : at + count]
            at += count
            continue
        found = numbers[begin[stream] : begin[stream + 1]]
        for plane in range(np.int64(sizes[2 * stream + 1])):
            part = blob[at : at + count]
            for place in range(count):
                found[place] |= np.uint32(part[place]) << np.uint32(8 * plane)
            at += count
    return Streams(numbers, begin, codes), True


@array_jit
def stream_of(streams, which):
    """Return (n,) u4 the numbers of a stream."""
    return streams.numbers[streams.begin[which] : streams.begin[which + 1]]


@array_jit
def whole_stream(streams, low, far, beyond):
    """Return (n,) u4 numbers of which some need more than the bytes in `low`; none where the three do not fit together."""
    found, steps, above = stream_of(streams, low), stream_of(streams, far), stream_of(streams, beyond)
    if len(steps) != len(above) or len(steps) > len(found):
        return found[:0]
    at = np.int64(0)
    for step in range(len(steps)):
        at += np.int64(steps[step])
        if at >= len(found):
            return found[:0]
        found[at] |= above[step] << np.uint32(8)
    return found


@array_jit
def begin_chunk(streams, words):
    """Turn the file's first state into that at the chunk's first cycle, in place; return whether it fits."""
    steps, bits = stream_of(streams, KEY_STEP), stream_of(streams, KEY_BITS)
    if len(steps) != len(bits) or len(steps) > len(words):
        return False
    word = np.int64(0)
    for step in range(len(steps)):
        word += np.int64(steps[step])
        if word >= len(words) or (step and not steps[step]):
            return False
        words[word] ^= bits[step]
    return True


@array_jit
def read_blocks(streams, num_words, num_cycles):
    """Return the blocks, and whether their parts are as long as they say of each other, and all words are there."""
    kinds, patterns, masks = stream_of(streams, KINDS), stream_of(streams, PATTERNS), stream_of(streams, MASKS)
    first, times = stream_of(streams, BLOCKS), stream_of(streams, TIMES)
    fits = len(kinds) == len(patterns) and len(kinds) <= len(first) == len(times) <= num_words and num_cycles <= REST
    num_blocks = num_masks = events = np.int64(0)
    for kind in range(len(kinds) if fits else 0):
        num_blocks += np.int64(kinds[kind])
        num_masks += np.int64(patterns[kind])
    word = np.uint32(0)
    for block in range(len(times) if fits else 0):
        word = np.uint32(word + unzigzag(first[block]))
        if times[block] == 0 or times[block] > num_cycles or word >= num_words:
            fits = False
            break
        first[block] = word
        events += np.int64(times[block])
    fits = fits and num_blocks == len(first) and num_masks == len(masks) and num_masks <= events
    gaps = whole_stream(streams, GAPS, LONG_GAPS, GAPS_BEYOND)
    ranks = whole_stream(streams, RANKS, HIGH_RANKS, RANKS_BEYOND)
    fits = fits and len(gaps) == events and len(ranks) == events
    return Blocks(kinds, patterns, first, times, masks, gaps, ranks), fits


@array_jit
def tally_of(blocks, offset):
    """Return the tally, and whether all events fit; each mask of a block's is counted before its words are."""
    num_blocks = len(blocks.first)
    tally = Tally(np.zeros((num_blocks, WIDTH), np.uint32), np.zeros((num_blocks, WIDTH), np.uint32),
                  np.zeros((len(blocks.blocks_of), WIDTH), np.int64))  # fmt: skip
    most = np.int64(0)
    for kind in range(len(blocks.patterns_of)):
        most = max(most, np.int64(blocks.patterns_of[kind]))
    counts, last = np.empty(most, np.uint32), np.empty(most, np.uint32)     # of each mask of the kind
    block = event = pattern = np.int64(0)
    for kind in range(len(blocks.blocks_of)):
        masks = blocks.masks[pattern : pattern + np.int64(blocks.patterns_of[kind])]
        pattern += len(masks)
        for _ in range(np.int64(blocks.blocks_of[kind])):
            counts[: len(masks)] = 0
            last[: len(masks)] = 0
            end = event + np.int64(blocks.times[block])
            when = np.int64(blocks.gaps[event])
            while when < offset:
                rank = np.int64(blocks.ranks[event])
                if rank >= len(masks):
                    return tally, False
                counts[rank] += ONE << HALF
                last[rank] = np.uint32(when)
                event += 1
                if event == end:
                    break
                when += np.int64(blocks.gaps[event])
            for place in range(event, end):
                rank = np.int64(blocks.ranks[place])
                if rank >= len(masks):
                    return tally, False
                counts[rank] += ONE
            event = end
            for rank in range(len(masks)):
                if counts[rank]:
                    add_lanes(masks[rank], counts[rank], last[rank], tally.counts[block], tally.last[block])
            for lane in range(WIDTH):
                tally.size[kind, lane] += np.int64(tally.counts[block, lane] >> HALF)
                tally.size[kind, lane] += np.int64(tally.counts[block, lane] & REST)
            block += 1
    return tally, True


@jit
def add_lanes(mask, count, last, counts, lasts):
    """Count the events of one mask for each of the 32 words; without a branch, so that many can be done at once."""
    for lane in range(WIDTH):
        bits = np.uint32(np.uint32(0) - np.uint32((mask >> np.uint32(lane)) & ONE))
        counts[lane] += count & bits
        lasts[lane] = max(lasts[lane], last & bits)
    return 0


@jit
def highest_of(numbers, begin, count):
    """Return the highest of some u1 numbers."""
    found = np.uint8(0)
    for place in range(begin, begin + count):
        found = max(found, numbers[place])
    return found


@array_jit
def read_columns(streams, size):
    """Return how the columns are coded, given the number of codes of each, the codes, and whether all fits."""
    modes, widths, distinct = stream_of(streams, MODES), stream_of(streams, WIDTHS), stream_of(streams, DISTINCT)
    steps = stream_of(streams, FAR)      # between wide codes
    codes = Codes(streams.codes, stream_of(streams, KNOWN), np.empty(len(steps), np.int64),
                  stream_of(streams, BEYOND))  # fmt: skip
    count = len(size)
    columns = Columns(np.zeros(count, np.uint8), np.zeros(count, np.uint8), np.zeros(count, np.int64),
                      np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.int64),
                      np.zeros(count, np.int64), np.zeros(count, np.int64))  # fmt: skip
    highest = np.zeros(count, np.uint8)     # of the numbers that a column's codes are given by
    # of each class
    sizes, first, begin = np.zeros(CLASSES, np.int64), np.zeros(CLASSES, np.int64), np.zeros(CLASSES, np.int64)
    listed = numbered = known = np.int64(0)
    for column in range(count):
        if size[column]:
            if listed >= len(modes) or listed >= len(widths) or modes[listed] > STAMP or widths[listed] > NUMBERED:
                return columns, codes, False
            columns.mode[column], columns.width[column] = modes[listed], widths[listed]
            sizes[class_of(columns, column)] += size[column]
            if widths[listed] == NUMBERED:
                if numbered >= len(distinct) or distinct[numbered] == 0:
                    return columns, codes, False
                columns.known[column] = known
                highest[column] = min(distinct[numbered] - 1, MOST_NUMBER)
                known += np.int64(distinct[numbered])
                numbered += 1
            listed += 1
    code = np.int64(0)
    byte = np.int64(0)
    for number in range(CLASSES):
        first[number], begin[number] = code, byte
        code += sizes[number]
        byte += sizes[number] * PLANES_OF[number % len(PLANES_OF)]
    if not (listed == len(modes) == len(widths) and numbered == len(distinct) and known == len(codes.known)
            and byte == len(codes.planes) and len(codes.far) == len(codes.beyond) <= code):  # fmt: skip
        return columns, codes, False
    place = np.int64(0)
    for step in range(len(steps)):
        place += np.int64(steps[step])
        codes.far[step] = place
    if place > max(code - 1, 0):
        return columns, codes, False
    behind = np.zeros(CLASSES, np.int64)
    for column in range(count):
        number = class_of(columns, column)
        columns.first[column] = first[number] + behind[number]
        columns.begin[column] = begin[number] + behind[number]
        columns.stride[column] = sizes[number]
        if columns.width[column] == NUMBERED:
            if highest_of(codes.planes, columns.begin[column], size[column]) > highest[column]:
                return columns, codes, False
        behind[number] += size[column]
        columns.far[column] = np.searchsorted(codes.far, columns.first[column])
        columns.far_end[column] = np.searchsorted(codes.far, columns.first[column] + size[column])
    return columns, codes, True


@jit
def near_code(columns, column, codes, number):
    """Return a column's code but for what is wider than the column."""
    width = columns.width[column]
    at = columns.begin[column] + number
    if width == NUMBERED:
        return codes.known[columns.known[column] + np.int64(codes.planes[at])]
    code = np.uint32(0)
    for plane in range(np.int64(width)):
        code |= np.uint32(codes.planes[at]) << np.uint32(8 * plane)
        at += columns.stride[column]
    return np.uint32(code)


@jit
def far_from(columns, column, codes, number):
    """Return which of a column's wide codes is the first from a number on."""
    low, high = columns.far[column], columns.far_end[column]
    while low < high:
        middle = (low + high) >> 1
        if codes.far[middle] - columns.first[column] < number:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def code_of(columns, column, codes, number):
    """Return a column's code."""
    code = near_code(columns, column, codes, number)
    far = far_from(columns, column, codes, number)
    if far < columns.far_end[column] and codes.far[far] == columns.first[column] + number:
        code |= codes.beyond[far] << np.uint32(8 * PLANES_OF[columns.width[column]])
    return np.uint32(code)


@jit
def total(columns, column, codes, low, high):
    """Return what codes low..high-1 of a column come to: the sum of differences, or the bits of all, xor-ed."""
    found = np.uint32(0)
    is_difference = columns.mode[column] == DIFFERENCE
    width, begin = columns.width[column], columns.begin[column]
    if is_difference and width == 1:
        for place in range(begin + low, begin + high):
            found += unzigzag(np.uint32(codes.planes[place]))
    elif is_difference or width == NUMBERED:
        for number in range(low, high):
            code = near_code(columns, column, codes, number)
            if is_difference:
                found += unzigzag(code)
            else:
                found ^= code
    else:
        for plane in range(np.int64(width)):
            bits = np.uint8(0)
            for place in range(begin + low, begin + high):
                bits ^= codes.planes[place]
            found |= np.uint32(bits) << np.uint32(8 * plane)
            begin += columns.stride[column]
    for far in range(far_from(columns, column, codes, low), far_from(columns, column, codes, high)):
        near = near_code(columns, column, codes, codes.far[far] - columns.first[column])
        code = np.uint32(near | np.uint32(codes.beyond[far] << np.uint32(8 * PLANES_OF[columns.width[column]])))
        if is_difference:
            found += unzigzag(code) - unzigzag(near)
        else:
            found ^= near ^ code
    return np.uint32(found)


@jit
def value_after(old, code, mode, cycle):
    """Return what a word becomes by a code."""
    if mode == DIFFERENCE:
        return np.uint32(old + unzigzag(code))
    if mode == XOR:
        return np.uint32(old ^ code)
    if mode == STAMP:
        return np.uint32(unzigzag(code) + cycle)
    return np.uint32(code)


@array_jit
def add_bytes(blocks, block, event, masks, columns, kind, codes, number, first_cycle, offset, words, counted, counts):
    """Add to `counts` what the bytes of words in a block grow by in each cycle after one in which they change.

    event: the block's first. number: (columns,) i8 of each column's next code. The rest as in `state_at`.
    """
    first = np.int64(blocks.first[block])
    low, high = max(counted - first, 0), min(counted + len(counts) // PLANES - first, WIDTH, len(words) - first)
    values, next_ = words[first + low : first + high].copy(), number[kind * WIDTH + low : kind * WIDTH + high].copy()
    when = np.int64(0)
    for place in range(event, event + np.int64(blocks.times[block])):
        when += np.int64(blocks.gaps[place])
        if when >= offset:
            break
        mask = masks[np.int64(blocks.ranks[place])]
        for lane in range(low, high):
            if (mask >> np.uint32(lane)) & ONE:
                column, old = kind * WIDTH + lane, values[lane - low]
                code = code_of(columns, column, codes, next_[lane - low])
                now = value_after(old, code, columns.mode[column], np.uint32(first_cycle + when))
                for byte in range(PLANES):
                    shift = np.uint32(8 * byte)
                    grown = np.int64((now >> shift) & np.uint32(255)) - np.int64((old >> shift) & np.uint32(255))
                    counts[PLANES * (first + lane - counted) + byte] += grown * (offset - when)
                values[lane - low] = now
                next_[lane - low] += 1
    return 0


@array_jit
def apply(blocks, tally, columns, codes, first_cycle, offset, words, counted, counts):
    """Bring the words to the cycle asked for; say if all are there, each in one block. Parameters as of `state_at`."""
    event = pattern = block = np.int64(0)
    number = np.zeros(len(columns.mode), np.int64)      # of each column's next code
    is_done = np.zeros(len(words), np.bool_)
    for kind in range(len(blocks.blocks_of)):
        masks = blocks.masks[pattern : pattern + np.int64(blocks.patterns_of[kind])]
        pattern += len(masks)
        for _ in range(np.int64(blocks.blocks_of[kind])):
            first = np.int64(blocks.first[block])
            if first < counted + len(counts) // PLANES and first + WIDTH > counted:
                add_bytes(blocks, block, event, masks, columns, kind, codes, number, first_cycle, offset, words, counted,
                          counts)  # fmt: skip
            for lane in range(WIDTH):
                column, word = kind * WIDTH + lane, first + lane
                begin = number[column]
                end = begin + np.int64(tally.counts[block, lane] >> HALF)
                number[column] = end + np.int64(tally.counts[block, lane] & REST)
                if begin == end:
                    continue
                if word >= len(words) or is_done[word]:
                    return False
                is_done[word] = True
                mode = columns.mode[column]
                if mode == DIFFERENCE:
                    words[word] += total(columns, column, codes, begin, end)
                elif mode == XOR:
                    words[word] ^= total(columns, column, codes, begin, end)
                else:
                    last = np.uint32(first_cycle + np.int64(tally.last[block, lane]))
                    words[word] = value_after(words[word], code_of(columns, column, codes, end - 1), mode, last)
            event += np.int64(blocks.times[block])
            block += 1
    return True


@array_entry
def state_at(blob, first_cycle, num_cycles, offset, words, counted, counts):
    """Turn the file's first state into that `offset` cycles after a chunk's first one, in place; return whether all fits.

    blob: u1 the streams of its `state`. words: (words,) u4. counts: (4 * n,) i8 gets what each byte of n words from
    `counted` on comes to when it is added up over the cycles from the one after the chunk's first to that asked for.
    """
    if len(blob) < 8 * NUM_STREAMS:
        return False
    streams, fits = unpack(blob)
    if not fits or not begin_chunk(streams, words):
        return False
    for byte in range(len(counts)):
        old = (words[counted + byte // 4] >> np.uint32(8 * (byte % 4))) & np.uint32(255)
        counts[byte] = np.int64(old) * offset
    blocks, fits = read_blocks(streams, len(words), num_cycles)
    if not fits:
        return False
    tally, fits = tally_of(blocks, offset)
    if not fits:
        return False
    columns, codes, fits = read_columns(streams, tally.size.ravel())
    return fits and apply(blocks, tally, columns, codes, first_cycle, offset, words, counted, counts)


def load() -> None:
    """Load the machine code, or compile it, by reading a state that has no words."""
    empty = np.zeros(8 * NUM_STREAMS, np.uint8).tobytes()
    state_at(np.frombuffer(empty, np.uint8), 0, 0, 0, np.zeros(0, np.uint32), 0, np.zeros(0, np.int64))
