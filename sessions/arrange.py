"""The compiled loops that bring a chunk's changes from the order of time into that of storing; they hold no lock.

`arrange` sorts the events; then store_state takes kind after kind of block through `spread` and what follows it: what one
loop has written is still in the cache for the next.

Numbers that index are unsigned where a loop is long: for signed ones the compiler must allow for negative ones, which count
from the end, and then does one element at a time.
"""

from __future__ import annotations

import numpy as np

from engine.bits import bit64, ctz64, popcount, prefetch
from engine.jit import jit
from sessions.codec import WIDTH
from sessions.compiled import entry

# what `spread` says instead of how many runs there are: a larger table is needed
TABLE_FULL = -1
# so many events before a block's values are needed they are asked for
AHEAD = 16
# words in a line of the processor's cache
LINE_WORDS = 16
# where an event's cycle and its values stand beside its mask
CYCLE_SHIFT, VALUE_SHIFT = 32, 43
MOST_CYCLES, MOST_VALUES = 1 << VALUE_SHIFT - CYCLE_SHIFT, 1 << 64 - VALUE_SHIFT


@jit
def index_events(first, mask, kind_of, slot_of, slot_first, slot_kind, slot_times, slot_touched):
    """Number the blocks (slots) as they come up; count the events of each and collect the words that change in it.

    kind_of: (words,) kind of the block that begins there. slot_of: (words,) all -1; gets each block's slot, which
    `sort_events` takes out again. Returns how many slots.
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
    return slots


@jit
def order_slots(slots, slot_first, slot_of, place_of, word_at, present, order):
    """List the slots in the order of storing: that of the places of their first words.

    present: zeros, a bit for each place, and left so. word_at: the word of each place.
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
            listed += np.uint64(1)
    return 0


@jit
def place_slots(order, slot_first, slot_kind, slot_times, slot_touched, slot_next, first, times, kind_slots, begin):
    """List first words and events of the blocks in the order of storing, where their events begin, and blocks per kind.

    begin: (kinds x 32,) gets where each column's values begin, in room that is used anew for each kind: those that have any
    have room for all events of their kind. Returns the most room that a kind takes.
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
    most = np.int64(0)
    for kind in range(np.uint64(len(kind_slots))):
        events = room = np.int64(0)
        touched = np.uint64(0)
        for _ in range(kind_slots[kind]):
            events += times[which]
            touched |= np.uint64(slot_touched[np.uint64(order[which])])
            which += np.uint64(1)
        for place in range(np.uint64(WIDTH)):
            begin[kind * np.uint64(WIDTH) + place] = room
            room += events * np.int64((touched >> place) & np.uint64(1))
        most = max(most, room)
    return most


@jit
def sort_events(end, first, mask, slots, slot_of, slot_first, slot_next, ordered):
    """Bring the events into the order of their blocks, in order of time in each; slot_next: first place of each slot.

    ordered: (events,) u8: its mask | its cycle << 32 | where its values begin << 43.
    """
    one = np.uint64(1)
    event = np.uint64(0)
    at = np.uint64(0)
    for cycle in range(np.uint64(len(end))):
        stop = np.uint64(end[cycle])
        while event < stop:
            slot = np.uint64(slot_of[np.uint64(first[event])])
            place = np.uint64(slot_next[slot])
            slot_next[slot] = place + one
            bits = np.uint64(mask[event])
            ordered[place] = bits | (cycle << np.uint64(CYCLE_SHIFT)) | (at << np.uint64(VALUE_SHIFT))
            at += np.uint64(popcount(bits))
            event += one
    for slot in range(np.uint64(slots)):
        slot_of[np.uint64(slot_first[slot])] = -1
    return 0


@jit
def spread(order, kind, slot_first, slot_times, slot_touched, ordered, first_event, events, value, table, masks, patterns,
           column_next, values, cycles, gaps, ranks, runs, run_word, run_begin, run_end, run_column):  # fmt: skip
    """Write the value and cycle of every word that changes in blocks of one kind into its column, and list the runs.

    order: these blocks' slots in the order of storing. ordered: of sort_events, `events` in all kinds; first_event: this
    one's first. table: a power of 2 long, with zeros or what kinds before left. masks: gets those of this kind, from number
    `patterns` on. column_next: where each column's next value goes (moved on). gaps, ranks: per event the cycles since the
    block's last, and the number of its mask in the kind. A run is one word's values; they are numbered from `runs` on.
    Returns how many runs there are by now, or TABLE_FULL where the table should take no more masks; masks; events.
    """
    one, values_at = np.uint64(1), np.uint64(VALUE_SHIFT)
    begins = np.empty(WIDTH, np.uint32)
    event, run, last = np.uint64(first_event), np.uint64(runs), np.uint64(max(events - 1, 0))
    most = np.uint64(len(table) - 1)
    kind_first = patterns
    column_first = np.uint64(kind) * np.uint64(WIDTH)
    for which in range(np.uint64(len(order))):
        slot = np.uint64(order[which])
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
                    return np.int64(TABLE_FULL), patterns, np.int64(event)
                pattern = patterns
                masks[np.uint64(pattern)] = left
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
            run_word[run] = np.uint64(slot_first[slot]) + place
            run_begin[run] = begins[place]
            run_end[run] = column_next[column_first + place]
            run_column[run] = column_first + place
            run += one
    return np.int64(run), patterns, np.int64(event)


@entry
def arrange(end, first, mask, kind_of, place_of, word_at, slot_of, present, slot_first, slot_kind, slot_times, slot_touched,
            order, slot_next, stored_first, stored_times, ordered, kind_slots, begin):  # fmt: skip
    """Bring a chunk's events into the order of storing; returns the number of blocks, and the room that their values need.

    end, first, mask: of engine.chunk.Blocks. What is written is said where it is: in the steps above.
    """
    slots = index_events(first, mask, kind_of, slot_of, slot_first, slot_kind, slot_times, slot_touched)
    order_slots(slots, slot_first, slot_of, place_of, word_at, present, order)
    room = place_slots(order[: np.uint64(slots)], slot_first, slot_kind, slot_times, slot_touched, slot_next, stored_first,
                       stored_times, kind_slots, begin)  # fmt: skip
    sort_events(end, first, mask, slots, slot_of, slot_first, slot_next, ordered)
    return np.int64(slots), room
