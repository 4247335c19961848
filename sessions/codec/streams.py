"""The compiled loops that bring codes, rows and memory words into streams; they hold no lock.

Numbers that index are unsigned where a loop is long: for signed ones the compiler must allow for negative ones, which count
from the end, and then does one element at a time. `out` is bytes; `sizes`, (streams, 2) u4, gets count and width of each
stream put there (see format.py, streams). What the loops share is in workspace.py.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import ctz64
from rfview.engine.chunk import AFFINE, RAW, UNIFORM
from rfview.engine.compile.jit import jit
from rfview.sessions.codec.arrange import TABLE_FULL, spread
from rfview.sessions.codec.codec import MOST_NUMBER, NUMBERED, PLANES, PLANES_OF, SHORT, STAMP, STEPS, WIDTH
from rfview.sessions.codec.codes import begin_states, class_of, code_columns, code_first, learn, walk_runs, zigzag
from rfview.sessions.codec.compiled import array_entry, entry

# what a code costs that its column's width has no room for, in bytes: its place and the rest of it
FAR_BYTES = 5
# so many different codes can be numbered in a byte, and each is kept in so many bytes
MOST_DISTINCT, DISTINCT_BYTES = MOST_NUMBER + 1, 4
TABLE_BITS = 10
# how much more of its table `spread` is given where it was full
TABLE_GROWTH = 4
# in so many numbers one looks at once for those that need more than a byte: most have none
STRETCH = 64
# chunks that pass until a column whose codes were not worth numbering is tried again
REST = 7
WIDTHS = len(PLANES_OF)


# single streams


@jit
def put(values, out, at, sizes, stream):
    """Put u4 numbers as a stream at out[at..]: byte planes, low bytes first, as few as hold them all: 0, 1, 2 or 4.

    Returns the place behind.
    """
    size = np.uint64(len(values))
    found = np.uint32(0)
    for k in range(size):
        found |= values[k]
    width = np.uint64(0 if found == 0 else 1 if found < 1 << 8 else 2 if found < 1 << 16 else 4)
    to = np.uint64(at)
    for plane in range(width):
        shift = np.uint32(8) * np.uint32(plane)
        for k in range(size):
            out[to + k] = np.uint8((values[k] >> shift) & np.uint32(255))
        to += size
    sizes[stream, 0] = size
    sizes[stream, 1] = width
    return np.int64(to)


@jit
def put_all(streams, out, at, sizes, first):
    """Put streams of u4 numbers, the stream `first` and those that follow; returns the place behind.

    One loop puts all: for each place that calls `put` it is compiled anew.
    """
    for which in range(len(streams)):
        at = put(streams[which], out, at, sizes, first + which)
    return at


@jit
def put_bytes(values, count, out, at, sizes, stream):
    """Put `count` u1 numbers as a stream; returns the place behind."""
    found = np.uint8(0)
    size, to = np.uint64(count), np.uint64(at)
    for k in range(size):
        out[to + k] = values[k]
        found |= values[k]
    sizes[stream, 0] = size
    sizes[stream, 1] = found != 0
    return np.int64(to + size) if found != 0 else np.int64(at)


@jit
def put_low(values, far, beyond, out, at, sizes, stream):
    """Put u4 numbers as a stream of bytes, and as two more the places of those that need more, and the rest of these.

    Where many need more the first stream has them whole. far, beyond: longer than the numbers. Returns the place behind.
    """
    size, byte = np.uint64(len(values)), np.uint32(8)
    listed = before = first = np.uint64(0)
    while first < size:
        behind = min(first + np.uint64(STRETCH), size)
        found = np.uint32(0)
        for k in range(first, behind):
            found |= values[k] >> byte
        if found != 0:
            for k in range(first, behind):
                # the next one is written over one that needs no more: which do is not to be guessed
                rest = values[k] >> byte
                far[listed] = k - before
                beyond[listed] = rest
                before = k if rest != 0 else before
                listed += np.uint64(rest != 0)
        first = behind
    if FAR_BYTES * listed > size:
        listed = np.uint64(0)
        at = put(values, out, at, sizes, stream)
    else:
        to = np.uint64(at)
        for k in range(size):
            out[to + k] = np.uint8(values[k] & np.uint32(255))
        sizes[stream, 0] = size
        sizes[stream, 1] = 1
        at = np.int64(to + size)
    return put_all((far[:listed], beyond[:listed]), out, at, sizes, stream + 1)


# what streams are made of


@jit
def zigzag_steps(values, steps):
    """Write u4 numbers as zigzag differences, the first from 0."""
    last = np.uint32(0)
    for k in range(np.uint64(len(values))):
        steps[k] = zigzag(np.uint32(values[k] - last))
        last = values[k]
    return 0


@jit
def per_cycle(end, counts):
    """Write how many entries each cycle of a log has, from prefix counts."""
    last = np.uint32(0)
    for k in range(np.uint64(len(end))):
        counts[k] = end[k] - last
        last = end[k]
    return 0


@jit
def difference(words, base, marked, step, bits):
    """Write which words differ from those of `base`, as steps from word to word, and how, xor-ed; returns how many do.

    marked: a bit for each word that may. step, bits: longer than these.
    """
    found = before = np.uint64(0)
    for group in range(np.uint64(len(marked))):
        left = np.uint64(marked[group])
        while left != 0:
            word = group * np.uint64(64) + np.uint64(ctz64(left))
            left &= left - np.uint64(1)
            # the next one is written over a word that does not differ
            different = words[word] ^ base[word]
            step[found] = word - before
            bits[found] = different
            before = word if different != 0 else before
            found += np.uint64(different != 0)
    return np.int64(found)


@jit
def in_order(order, slots, steps, times):
    """Write first words, as zigzag differences, and events of the blocks in the order of storing."""
    last = np.uint32(0)
    for place in range(np.uint64(len(order))):
        slot = np.uint64(order[place])
        first = np.uint32(slots.first[slot])
        steps[place] = zigzag(np.uint32(first - last))
        times[place] = slots.times[slot]
        last = first
    return 0


@jit
def present(kinds, blocks, patterns):
    """Write how many blocks, and how many masks, the kinds have of which there are blocks; returns how many kinds."""
    count = np.uint64(0)
    for kind in range(np.uint64(len(kinds.slots))):
        blocks[count] = kinds.slots[kind]
        patterns[count] = kinds.masks[kind]
        count += np.uint64(kinds.slots[kind] != 0)
    return np.int64(count)


# the columns of a chunk


@jit
def count_wide(codes, columns, begin, counts, wide):
    """Count the codes of each of these columns that take more than 0, 1, 2, 3 bytes: wide, (columns, 4) i4."""
    for place in range(np.uint64(len(columns))):
        one = two = three = four = np.int32(0)
        column = np.uint64(columns[place])
        low = np.uint64(begin[column])
        for at in range(low, low + np.uint64(counts[column])):
            coded = codes[at]
            one += np.int32(coded > np.uint32(0))
            two += np.int32(coded > np.uint32(0xFF))
            three += np.int32(coded > np.uint32(0xFFFF))
            four += np.int32(coded > np.uint32(0xFFFFFF))
        wide[place, 0] = one
        wide[place, 1] = two
        wide[place, 2] = three
        wide[place, 3] = four
    return 0


@jit
def choose_widths(columns, counts, wide, widths, num_far, costs):
    """Write in how many bytes (0..4) each column's codes are stored shortest, how many are wider, and what all that takes.

    columns: those that have codes; counts: of all columns; wide: of count_wide.
    """
    for at in range(np.uint64(len(columns))):
        count = np.int64(counts[np.uint64(columns[at])])
        best, width = np.int64(FAR_BYTES) * wide[at, 0], 0
        for more in range(1, PLANES + 1):
            far = np.int64(wide[at, more]) if more < PLANES else np.int64(0)
            cost = more * count + FAR_BYTES * far
            if cost < best:
                best, width = cost, more
        widths[at] = width
        num_far[at] = wide[at, width] if width < PLANES else 0
        costs[at] = best
    return 0


@jit
def number_codes(codes, low, count, stamp, seen, known):
    """Put in the place of each code its number among the different ones, which are listed; returns how many there are.

    Where a byte cannot number them the codes stay as they are. seen: (power of 2,) u8 table of code << 32 | stamp << 8 |
    number; stamp: of this call, not 0. known: gets at most MOST_DISTINCT.
    """
    most, low_byte, ours = np.uint64(len(seen) - 1), np.uint64(8), np.uint64(0xFFFFFF)
    found = np.uint64(0)
    for at in range(low, low + count):
        wanted = (np.uint64(codes[at]) << np.uint64(32)) | (np.uint64(stamp) << low_byte)
        place = (wanted * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - TABLE_BITS)
        entry = seen[place]
        while (entry ^ wanted) >> low_byte != 0 and (entry >> low_byte) & ours == np.uint64(stamp):
            place = (place + np.uint64(1)) & most
            entry = seen[place]
        if (entry ^ wanted) >> low_byte != 0:
            if found == MOST_DISTINCT:
                restore_codes(codes, low, at - low, known)
                return np.int64(MOST_DISTINCT + 1)
            entry = wanted | found
            seen[place] = entry
            known[found] = codes[at]
            found += np.uint64(1)
        codes[at] = entry & np.uint64(0xFF)
    return np.int64(found)


@jit
def restore_codes(codes, low, count, known):
    """Undo `number_codes`."""
    for at in range(low, low + count):
        codes[at] = known[np.uint64(codes[at])]
    return 0


@jit
def number_columns(columns, counts, widths, num_far, costs, kinds, codes, seen, distinct, known):
    """Number the codes of the columns where that is shorter than their planes (of choose_widths, which this corrects).

    distinct: gets how many different codes each numbered column has, known: these. Returns how many columns and codes these
    are. seen: of number_codes, without any of these columns.
    """
    begin, resting = kinds.begin, kinds.resting
    listed = total = np.uint64(0)
    for at in range(np.uint64(len(columns))):
        column = np.uint64(columns[at])
        low, count = np.uint64(begin[column]), np.uint64(counts[column])
        if 2 * costs[at] <= 3 * np.int64(count):
            continue
        if resting[column] != 0:
            resting[column] -= 1
            continue
        found = number_codes(codes, low, count, column + np.uint64(1), seen, known[total:])
        if found <= MOST_DISTINCT and np.int64(count) + DISTINCT_BYTES * found < costs[at]:
            widths[at] = NUMBERED
            num_far[at] = 0
            distinct[listed] = found
            listed += np.uint64(1)
            total += np.uint64(found)
            continue
        if found <= MOST_DISTINCT:
            restore_codes(codes, low, count, known[total:])
        resting[column] = REST
    return listed, total


@jit
def place_planes(count, columns, modes, classes):
    """Choose where the codes of the first `count` columns go: see format.py, planes; returns the bytes of all planes."""
    sizes, first, behind = classes.sizes, classes.first, classes.behind
    sizes[:] = 0
    behind[:] = 0
    for at in range(np.uint64(count)):
        column = np.uint64(columns.number[at])
        columns.mode[at] = modes[column]
        place = class_of(columns, at)
        columns.plane[at] = sizes[place]
        sizes[place] += np.int64(columns.size[column])
        behind[place + 1] += 1
    total = np.int64(0)
    for place in range(len(sizes)):
        first[place] = total
        total += sizes[place] * PLANES_OF[place % WIDTHS]
        behind[place + 1] += behind[place]
    for at in range(np.uint64(count)):
        place = class_of(columns, at)
        columns.plane[at] += first[place]
        columns.order[behind[place]] = at
        behind[place] += 1
    return total


@jit
def narrow(columns, begin, counts, widths, num_far, codes, at, listed, stored):
    """Write the columns' codes as byte planes, column by column; list the codes that have more bytes, and the rest of each.

    num_far: how many of a column's codes are too wide for it. at, listed: where in stored.planes, and in stored.far and
    stored.beyond; returns the places behind.
    """
    planes, far, beyond = stored.planes, stored.far, stored.beyond
    to, listed = np.uint64(at), np.uint64(listed)
    for which in range(np.uint64(len(columns))):
        column = np.uint64(columns[which])
        low, count, width = np.uint64(begin[column]), np.uint64(counts[column]), np.uint64(widths[which])
        for plane in range(np.uint64(PLANES_OF[width])):
            shift = np.uint32(8 * plane)
            for k in range(count):
                planes[to + k] = np.uint8((codes[low + k] >> shift) & np.uint32(255))
            to += count
        if num_far[which] != 0:
            # the next one is written over a code that is not too wide: which are is not to be guessed
            shift = np.uint64(8) * width
            for k in range(count):
                rest = np.uint64(codes[low + k]) >> shift
                far[listed] = k
                beyond[listed] = rest
                listed += np.uint64(rest != 0)
    return np.int64(to), np.int64(listed)


@jit
def lay_planes(count, columns, classes, stored, planes):
    """Bring the planes of `narrow` into the order of storing, and its lists: places as differences, among all codes.

    The first `count` columns are placed by place_planes. Returns how many codes are listed.
    """
    narrowed, far, beyond, far_steps, rests = stored.planes, stored.far, stored.beyond, stored.far_steps, stored.rests
    at = far_before = np.int64(0)
    for which in range(np.uint64(count)):
        columns.narrowed[which] = at
        columns.far[which] = far_before
        at += np.int64(columns.size[np.uint64(columns.number[which])]) * PLANES_OF[columns.width[which]]
        far_before += columns.num_far[which]
    done = before = listed = np.uint64(0)
    for place in range(np.uint64(count)):
        which = np.uint64(columns.order[place])
        size = np.uint64(columns.size[np.uint64(columns.number[which])])
        source, to = np.uint64(columns.narrowed[which]), np.uint64(columns.plane[which])
        stride = np.uint64(classes.sizes[class_of(columns, which)])
        for _ in range(PLANES_OF[columns.width[which]]):
            for k in range(size):
                planes[to + k] = narrowed[source + k]
            source += size
            to += stride
        first = np.uint64(columns.far[which])
        for code in range(first, first + np.uint64(columns.num_far[which])):
            far_place = done + np.uint64(far[code])
            far_steps[listed] = far_place - before
            rests[listed] = beyond[code]
            before = far_place
            listed += np.uint64(1)
        done += size
    return listed


@jit
def put_planes(count, columns, modes, classes, stored, distinct, known, out, at, sizes, stream):
    """Put the first `count` columns, from their modes to what is known (see format.py); returns the place behind.

    modes: of all columns. stored: by `narrow`. distinct, known: of number_columns.
    """
    total = place_planes(count, columns, modes, classes)
    at = put_bytes(columns.mode, count, out, at, sizes, stream)
    at = put_bytes(columns.width, count, out, at, sizes, stream + 1)
    listed = lay_planes(count, columns, classes, stored, out[at:])
    sizes[stream + 2, 0] = total
    sizes[stream + 2, 1] = 1
    return put_all((stored.far_steps[:listed], stored.rests[:listed], distinct, known), out, at + total, sizes, stream + 3)


@entry
def store_state(key, base, marked, first_cycle, num_slots, slots, kinds, num_events, events, value, values, tables,
                table_length, touched, runs, columns, classes, lists, stored, watch, states, choose, growth, sizes,
                out):  # fmt: skip
    """Put a chunk's keyframe and, from what `arrange` made, its changes (see format.py, state).

    key, base: (words,) u4 state before, which becomes that behind the chunk, and the one that it is given by; marked: a bit
    for each word in which they may differ. value: of chunk.Blocks. table_length: how much of tables.masks `spread`
    is given at first. states: (warp slots,) u8 gets the sets of states. choose: learn the modes first. The rest is said in
    the steps above and in workspace.py. Returns the bytes used, the number of runs, and how much `spread` was given at last.
    """
    differing = difference(key, base, marked, lists.step, lists.bits)
    begin, column_next, modes, codes, counts = kinds.begin, kinds.next, kinds.modes, values.value, columns.size
    changing = block = numbered = different = np.uint64(0)
    num_runs = patterns = event = at = listed_far = np.int64(0)
    begin_states(key, watch, states)
    tables.codes[:] = 0
    tables.masks[:table_length] = 0
    for kind in range(np.uint64(len(kinds.slots))):
        low, high = kind * np.uint64(WIDTH), (kind + np.uint64(1)) * np.uint64(WIDTH)
        before, mine = patterns, slots.order[block : block + np.uint64(kinds.slots[kind])]
        kinds.masks[kind] = 0
        if kinds.slots[kind] == 0:
            continue
        block += np.uint64(kinds.slots[kind])
        stamps = np.uint64(0)
        for column in range(low, high):
            stamps |= np.uint64(choose or modes[column] == STAMP) << (column - low)
        while True:
            for column in range(low, high):
                column_next[column] = begin[column]
            behind, patterns, past = spread(mine, kind, slots, kinds, events, event, num_events, value, values, stamps,
                                            touched, tables.masks[:table_length], before, runs, num_runs)  # fmt: skip
            if behind != TABLE_FULL:
                break
            table_length *= TABLE_GROWTH
            tables.masks[:table_length] = 0
        event = past
        kinds.masks[kind] = patterns - before
        walk_runs(num_runs, behind, runs, key, marked, codes, watch, states)
        if choose:
            learn(begin[low:high], column_next[low:high], num_runs, behind, runs, low, values, first_cycle, growth,
                  modes[low:high])  # fmt: skip
        code_columns(begin[low:high], column_next[low:high], modes[low:high], values.cycle, np.uint32(first_cycle), codes)
        code_first(num_runs, behind, runs, modes, codes)
        num_runs = behind
        listed = changing
        for column in range(low, high):
            counts[column] = column_next[column] - begin[column]
            columns.number[listed] = column
            listed += np.uint64(counts[column] != 0)
        some, widths, num_far = (columns.number[changing:listed], columns.width[changing:listed],
                                 columns.num_far[changing:listed])  # fmt: skip
        count_wide(codes, some, begin, counts, columns.wide)
        choose_widths(some, counts, columns.wide, widths, num_far, columns.cost)
        columns_more, codes_more = number_columns(some, counts, widths, num_far, columns.cost, kinds, codes, tables.codes,
                                                  columns.distinct[numbered:], stored.known[different:])  # fmt: skip
        numbered += columns_more
        different += codes_more
        at, listed_far = narrow(some, begin, counts, widths, num_far, codes, at, listed_far, stored)
        changing = listed
    count = present(kinds, lists.blocks, lists.masks)
    in_order(slots.order[:num_slots], slots, lists.place, lists.times)
    at = put_all((lists.step[:differing], lists.bits[:differing], lists.blocks[:count], lists.masks[:count],
                  lists.place[:num_slots], lists.times[:num_slots], events.masks[:patterns]), out, 0, sizes, 0)  # fmt: skip
    at = put_low(events.gaps[:num_events], stored.far_steps, stored.rests, out, at, sizes, 7)
    at = put_low(events.ranks[:num_events], stored.far_steps, stored.rests, out, at, sizes, 10)
    used = put_planes(changing, columns, modes, classes, stored, columns.distinct[:numbered], stored.known[:different],
                      out, at, sizes, 13)  # fmt: skip
    return used, num_runs, table_length


# rows and memory


@entry
def split_rows(value, kind, word):
    """Say rows of 32 lanes as rfview.engine.chunk.Rows does; returns how many words that takes."""
    at = np.uint64(0)
    for row in range(np.uint64(len(value))):
        first = value[row, 0]
        step = np.uint32(value[row, 1] - first)
        other = np.uint32(0)
        for lane in range(np.uint64(32)):
            word[at + lane] = value[row, lane]
            other |= value[row, lane] ^ np.uint32(first + np.uint32(lane) * step)
        kind[row] = RAW if other != 0 else AFFINE if step != 0 else UNIFORM
        if kind[row] == AFFINE:
            word[at + np.uint64(1)] = step
        at += np.uint64(32 if kind[row] == RAW else 2 if kind[row] == AFFINE else 1)
    return at


@jit
def narrowed(word, at, steps, num_steps):
    """Say as which kind a row of any lanes, word[at..], is stored; steps[num_steps..] gets its zigzag differences."""
    first = np.uint64(at)
    lanes, wide = word[first], np.uint32(0)
    for lane in range(np.uint64(31)):
        lanes |= word[first + lane + np.uint64(1)]
        coded = zigzag(np.uint32(word[first + lane + np.uint64(1)] - word[first + lane]))
        steps[np.uint64(num_steps) + lane] = coded
        wide |= coded
    return SHORT if lanes >> np.uint32(16) == 0 else STEPS if wide >> np.uint32(16) == 0 else RAW


@array_entry
def store_rows(end, index, kind, word, sizes, out):
    """Put row writes, as rfview.engine.chunk.Rows says them (see format.py, rows); returns the bytes used."""
    count, one = np.uint64(len(index)), np.uint64(1)
    counts, places, stored = np.empty(len(end), np.uint32), np.empty(count, np.uint32), np.empty(count, np.uint32)
    base, step = np.empty(count, np.uint32), np.empty(count, np.uint32)
    raw, short, steps = np.empty(len(word), np.uint32), np.empty(len(word), np.uint32), np.empty(len(word), np.uint32)
    at = num_base = num_step = num_raw = num_short = num_steps = np.uint64(0)
    for row in range(count):
        how = np.int64(kind[row])
        if how != RAW:
            base[num_base] = word[at]
            num_base += one
            at += one
            if how == AFFINE:
                step[num_step] = zigzag(word[at])
                num_step += one
                at += one
        else:
            how = np.int64(narrowed(word, at, steps, num_steps))
            if how == STEPS:
                base[num_base] = word[at]
                num_base += one
                num_steps += np.uint64(31)
            elif how == SHORT:
                for lane in range(np.uint64(32)):
                    short[num_short + lane] = word[at + lane]
                num_short += np.uint64(32)
            else:
                for lane in range(np.uint64(32)):
                    raw[num_raw + lane] = word[at + lane]
                num_raw += np.uint64(32)
            at += np.uint64(32)
        stored[row] = how
    per_cycle(end, counts)
    zigzag_steps(index, places)
    return put_all((counts, places, stored, base[:num_base], step[:num_step], raw[:num_raw], short[:num_short],
                    steps[:num_steps]), out, 0, sizes, 0)  # fmt: skip


@array_entry
def store_words(end, index, value, sizes, out):
    """Put memory writes: counts per cycle, words, values (see format.py, memory); returns the bytes used."""
    counts, places = np.empty(len(end), np.uint32), np.empty(len(index), np.uint32)
    per_cycle(end, counts)
    zigzag_steps(index, places)
    return put_all((counts, places, value), out, 0, sizes, 0)
