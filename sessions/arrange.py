"""The compiled loops that bring a chunk's changes from the order of time into that of storing; they hold no lock.

Numbers that index are unsigned where a loop is long: for signed ones the compiler must allow for negative ones, which count
from the end, and then does one element at a time.
"""

from __future__ import annotations

import numpy as np

from engine.bits import bit64, ctz64, popcount, prefetch
from engine.jit import jit
from sessions.codec import WIDTH
from sessions.compiled import entry

# what `arrange` says instead of how many runs there are: a larger table, or more room for values, is needed
TABLE_FULL, NO_ROOM = -1, -2
# so many events before a block's values are needed they are asked for
AHEAD = 16
# words in a line of the processor's cache
LINE_WORDS = 16
# where an event's cycle and its values stand beside its mask
CYCLE_SHIFT, VALUE_SHIFT = 32, 43
MOST_CYCLES, MOST_VALUES = 1 << VALUE_SHIFT - CYCLE_SHIFT, 1 << 64 - VALUE_SHIFT


@jit
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
    return slots


@jit
def order_slots(slots, slot_first, slot_of, place_of, word_at, present, order):
    """List the slots in the order of storing: that of the places of their first words.

    present: zeros, a bit for each place, and left so. word_at: the word of each place. Leaves slot_of as it was before
    `index_events`.
    """
    for slot in range(np.uint64(slots)):
        place = np.uint64(place_of[np.uint64(slot_first[slot])])
        present[place >> np.uint64(6)] |= bit64(place & np.uint64(63))
    listed = np.uint64(0)
    for group in range(np.uint64(len(present))):
        left = np.uint64(present[group])
        present[group] = 0
        while left != 0:
            word = np.uint64(word_at[group * np.uint64(64) + np.uint64(ctz64(left))])
            left &= left - np.uint64(1)
            order[listed] = slot_of[word]
            slot_of[word] = -1
            listed += np.uint64(1)
    return 0


@jit
def place_slots(order, slot_first, slot_kind, slot_times, slot_touched, slot_next, first, times, kind_slots, begin):
    """List first words and events of the blocks in the order of storing, where their events begin, and blocks per kind.

    begin: (kinds x 32,) gets where each column's values begin: those that have any have room for all events of their kind.
    Returns the room of all.
    """
    event = np.int64(0)
    for kind in range(len(kind_slots)):
        kind_slots[kind] = 0
    for place in range(np.uint64(len(order))):
        slot = np.uint64(order[place])
        slot_next[slot] = event
        event += slot_times[slot]
        first[place] = slot_first[slot]
        times[place] = slot_times[slot]
        kind_slots[np.uint64(slot_kind[slot])] += 1
    which = np.uint64(0)
    room = np.int64(0)
    for kind in range(np.uint64(len(kind_slots))):
        events = np.int64(0)
        touched = np.uint64(0)
        for _ in range(kind_slots[kind]):
            events += times[which]
            touched |= np.uint64(slot_touched[np.uint64(order[which])])
            which += np.uint64(1)
        for place in range(np.uint64(WIDTH)):
            begin[kind * np.uint64(WIDTH) + place] = room
            room += events * np.int64((touched >> place) & np.uint64(1))
    return room


@jit
def sort_events(end, mask, event_slot, slot_next, ordered):
    """Bring the events into the order of their blocks, in order of time in each; slot_next: first place of each slot.

    ordered: (events,) u8: its mask | its cycle << 32 | where its values begin << 43.
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
            ordered[place] = bits | (cycle << np.uint64(CYCLE_SHIFT)) | (at << np.uint64(VALUE_SHIFT))
            at += np.uint64(popcount(bits))
            event += one
    return 0


@jit
def spread(order, slot_first, slot_kind, slot_times, slot_touched, ordered, events, value, table, masks,
           kind_patterns, column_next, values, cycles, gaps, ranks, run_word, run_begin, run_end,
           run_column):  # fmt: skip
    """Write every changed word's value and cycle into its column; number the masks of each kind of block; list the runs.

    order: slots in the order of storing. ordered: of sort_events, the first `events`. table: a power of 2 long. masks: gets
    those of all kinds, kind_patterns how many each has. column_next: where each column's next value goes (moved on). gaps,
    ranks: per event the cycles since the block's last, and the number of its mask. A run is one word's values. Returns the
    number of runs, or TABLE_FULL when there are more masks than the table should take, and that of masks.
    """
    one, values_at = np.uint64(1), np.uint64(VALUE_SHIFT)
    begins = np.empty(WIDTH, np.uint32)
    event, runs, last = np.uint64(0), np.uint64(0), np.uint64(max(events - 1, 0))
    most = np.uint64(len(table) - 1)
    patterns = kind_first = np.int64(0)
    kind = np.int64(-1)
    table[:] = 0
    kind_patterns[:] = 0
    for which in range(np.uint64(len(order))):
        slot = np.uint64(order[which])
        if slot_kind[slot] != kind:
            kind = np.int64(slot_kind[slot])
            kind_first = patterns
        column_first = np.uint64(kind) * np.uint64(WIDTH)
        for place in range(np.uint64(WIDTH)):
            begins[place] = column_next[column_first + place]
        before = np.uint64(0)
        for _ in range(slot_times[slot]):
            at = ordered[event] >> values_at
            left = ordered[event] & np.uint64(0xFFFFFFFF)
            cycle = (ordered[event] >> np.uint64(CYCLE_SHIFT)) & np.uint64(MOST_CYCLES - 1)
            # a block's values lie cycles apart, and another core may have written them; many lie across two lines
            ahead = ordered[min(event + np.uint64(AHEAD), last)] >> values_at
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
            while left != 0:
                column = column_first + np.uint64(ctz64(left))
                left &= left - one
                goes = np.uint64(column_next[column])
                column_next[column] = goes + one
                values[goes] = value[at]
                cycles[goes] = cycle        # few columns need it, but to choose costs more
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
def arrange(end, first, mask, value, kind_of, place_of, word_at, slot_of, present, slot_first, slot_kind,
            slot_times, slot_touched, event_slot, order, slot_next, stored_first, stored_times, ordered, table, masks,
            kind_slots, kind_patterns, begin, column_next, values, cycles, gaps, ranks, run_word, run_begin, run_end,
            run_column):  # fmt: skip
    """Bring a chunk's changes into the order of storing: returns the number of blocks, runs and masks.

    end, first, mask, value: of engine.chunk.Blocks. What is written is said where it is: in the steps above. Where it does
    not fit in, TABLE_FULL stands in the place of the runs; or NO_ROOM, and in that of the masks the room that values need.
    """
    slots = index_events(first, mask, kind_of, slot_of, slot_first, slot_kind, slot_times, slot_touched, event_slot)
    order_slots(slots, slot_first, slot_of, place_of, word_at, present, order)
    order = order[: np.uint64(slots)]
    room = place_slots(order, slot_first, slot_kind, slot_times, slot_touched, slot_next, stored_first, stored_times,
                       kind_slots, begin)  # fmt: skip
    if room > len(values):
        return np.int64(slots), np.int64(NO_ROOM), np.int64(room)
    sort_events(end, mask, event_slot, slot_next, ordered)
    for column in range(np.uint64(len(begin))):
        column_next[column] = begin[column]
    runs, patterns = spread(order, slot_first, slot_kind, slot_times, slot_touched, ordered, len(first), value,
                            table, masks, kind_patterns, column_next, values, cycles, gaps, ranks, run_word, run_begin,
                            run_end, run_column)  # fmt: skip
    return np.int64(slots), runs, patterns
