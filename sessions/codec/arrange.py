"""The compiled loops that bring a chunk's changes from the order of time into that of storing; they hold no lock.

`arrange` sorts the events; then store_state takes kind after kind of block through `spread` and what follows it: what one
loop has written is still in the cache for the next. What they work on is in workspace.py.

Numbers that index are unsigned where a loop is long: for signed ones the compiler must allow for negative ones, which count
from the end, and then does one element at a time.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64, ctz64, popcount, prefetch
from rfview.engine.compile.jit import jit
from rfview.sessions.codec.codec import WIDTH
from rfview.sessions.codec.compiled import entry
from rfview.sessions.codec.deal import deal, deal_cycles
from rfview.sessions.codec.workspace import CYCLE_SHIFT, MOST_CYCLES, SIDE, VALUE_SHIFT

# what `spread` says instead of how many runs there are: a larger table is needed
TABLE_FULL = -1
# so many events before a block's values are needed they are asked for
AHEAD = 16
# words in a line of the processor's cache
LINE_WORDS = 16


@jit
def index_events(first, mask, slots):
    """Number the blocks as they come up; count the events of each and collect the words that change in it.

    first, mask: of chunk.Blocks. Returns how many slots there are.
    """
    of, first_word, times, touched = slots.of, slots.first, slots.times, slots.touched
    count = np.int32(0)
    for event in range(np.uint64(len(first))):
        word = np.uint64(first[event])
        found = of[word]
        if found < 0:
            found = count
            count += np.int32(1)
            of[word] = found
            first_word[np.uint64(found)] = word
            times[np.uint64(found)] = 0
            touched[np.uint64(found)] = 0
        slot = np.uint64(found)
        times[slot] += 1
        touched[slot] |= mask[event]
    return count


@jit
def order_slots(count, slots, places):
    """List the slots in the order of storing: that of the places of their first words."""
    present, order = slots.present, slots.order
    for slot in range(np.uint64(count)):
        place = np.uint64(places.place_of[np.uint64(slots.first[slot])])
        present[place >> np.uint64(6)] |= bit64(place & np.uint64(63))
    listed = np.uint64(0)
    for group in range(np.uint64(len(present))):
        left = np.uint64(present[group])
        present[group] = 0
        while left != 0:
            word = np.uint64(places.word_at[group * np.uint64(64) + np.uint64(ctz64(left))])
            left &= left - np.uint64(1)
            order[listed] = slots.of[word]
            listed += np.uint64(1)
    return 0


@jit
def place_slots(count, slots, kinds, kind_of):
    """Say where the events and the values of each block go, in the order of storing.

    Columns that have any values have room for all events of their kind, and what dealing may write over; the others share
    such a place. Returns the most room that a kind takes.
    """
    order, times, touched_of, kind_slots = slots.order, slots.times, slots.touched, kinds.slots
    event = np.int64(0)
    for kind in range(len(kind_slots)):
        kind_slots[kind] = 0
    for place in range(np.uint64(count)):
        slot = np.uint64(order[place])
        slots.next[slot] = event
        event += times[slot]
        kind_slots[np.uint64(kind_of[np.uint64(slots.first[slot])])] += 1
    which = np.uint64(0)
    most = np.int64(0)
    for kind in range(np.uint64(len(kind_slots))):
        events, room, touched = np.int64(0), np.int64(SIDE), np.uint64(0)
        for _ in range(kind_slots[kind]):
            slot = np.uint64(order[which])
            events += times[slot]
            touched |= np.uint64(touched_of[slot])
            which += np.uint64(1)
        for place in range(np.uint64(WIDTH)):
            changes = np.int64((touched >> place) & np.uint64(1))
            kinds.begin[kind * np.uint64(WIDTH) + place] = room * changes
            room += (events + SIDE) * changes
        most = max(most, room)
    return most


@jit
def sort_events(end, first, mask, count, slots, ordered):
    """Bring the events into the order of their blocks, in order of time in each; end, first, mask: of chunk.Blocks."""
    of, next_place = slots.of, slots.next
    one = np.uint64(1)
    event = np.uint64(0)
    at = np.uint64(0)
    for cycle in range(np.uint64(len(end))):
        stop = np.uint64(end[cycle])
        while event < stop:
            slot = np.uint64(of[np.uint64(first[event])])
            place = np.uint64(next_place[slot])
            next_place[slot] = place + one
            bits = np.uint64(mask[event])
            ordered[place] = bits | (cycle << np.uint64(CYCLE_SHIFT)) | (at << np.uint64(VALUE_SHIFT))
            at += np.uint64(popcount(bits))
            event += one
    for slot in range(np.uint64(count)):
        of[np.uint64(slots.first[slot])] = -1
    return 0


@jit
def number_masks(events, first, count, value, num_events, table, patterns, kind_first):
    """Write gaps and ranks of a block's events, which are `count` from the one numbered `first` on; list the new masks.

    value, table, patterns: as in `spread`; kind_first: number of the kind's first mask. Returns how many masks there are by
    now, or TABLE_FULL where the table should take no more.
    """
    ordered, gaps, ranks, masks = events.ordered, events.gaps, events.ranks, events.masks
    one, values_at = np.uint64(1), np.uint64(VALUE_SHIFT)
    most, last = np.uint64(len(table) - 1), np.uint64(max(num_events - 1, 0))
    before = np.uint64(0)
    for event in range(np.uint64(first), np.uint64(first) + np.uint64(count)):
        mask = ordered[event] & np.uint64(0xFFFFFFFF)
        cycle = (ordered[event] >> np.uint64(CYCLE_SHIFT)) & np.uint64(MOST_CYCLES - 1)
        # a block's values lie cycles apart, and another core may have written them; many lie across two lines
        ahead = ordered[min(event + np.uint64(AHEAD), last)] >> values_at
        prefetch(value, ahead)
        prefetch(value, ahead + np.uint64(LINE_WORDS - 1))
        # entries of kinds before count as empty: they are never passed over, only written over
        place = ((mask * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)) & most
        pattern = np.int64(table[place]) - 1
        while pattern >= kind_first and masks[np.uint64(pattern)] != mask:
            place = (place + one) & most
            pattern = np.int64(table[place]) - 1
        if pattern < kind_first:
            if 2 * (patterns - kind_first) >= len(table):
                return np.int64(TABLE_FULL)
            pattern = patterns
            masks[np.uint64(pattern)] = mask
            patterns += 1
            table[place] = patterns
        gaps[event] = cycle - before
        ranks[event] = pattern - kind_first
        before = cycle
    return np.int64(patterns)


@jit
def spread(order, kind, slots, kinds, events, first_event, num_events, value, values, stamps, columns, table, patterns,
           runs, num_runs):  # fmt: skip
    """Write the value of every word that changes in blocks of one kind into its column, and list the runs.

    order: these blocks' slots in the order of storing; the kind's first event is first_event, of num_events in all kinds.
    value: of chunk.Blocks. stamps: mask of the columns whose cycles are wanted, too. columns: of workspace.Touched.
    table: a power of 2 long, with zeros or what kinds before left: which number a mask has. Masks of this kind are numbered
    from `patterns` on, and runs from num_runs on. Returns how many runs there are by now, or TABLE_FULL where the table
    should take no more masks; masks; events.
    """
    next_of, one = kinds.next, np.uint64(1)
    event, run, kind_first = np.uint64(first_event), np.uint64(num_runs), patterns
    column_first = np.uint64(kind) * np.uint64(WIDTH)
    for which in range(np.uint64(len(order))):
        slot = np.uint64(order[which])
        count = np.uint64(slots.times[slot])
        patterns = number_masks(events, event, count, value, num_events, table, patterns, kind_first)
        if patterns == TABLE_FULL:
            return np.int64(TABLE_FULL), patterns, np.int64(event)
        first_run = run
        touched = left = np.uint64(slots.touched[slot])
        listed = np.uint64(0)
        while left != 0:
            place = np.uint64(ctz64(left))
            left &= left - one
            columns.place[listed] = column_first + place
            columns.bit[listed] = one << place
            listed += one
            begin = np.uint64(next_of[column_first + place])
            runs.word[run] = np.uint64(slots.first[slot]) + place
            runs.begin[run] = begin
            runs.column[run] = column_first + place
            run += one
            if (np.uint64(stamps) >> place) & one != 0:
                deal_cycles(events.ordered, event, event + count, place, values.cycle, begin)
        while listed % np.uint64(SIDE) != 0:
            columns.place[listed] = column_first
            columns.bit[listed] = 0
            listed += one
        deal(value, events.ordered, event, event + count, touched, columns, values.value, next_of, column_first)
        event += count
        for ended in range(first_run, run):
            runs.end[ended] = next_of[np.uint64(runs.column[ended])]
    return np.int64(run), patterns, np.int64(event)


@entry
def arrange(end, first, mask, places, slots, kinds, ordered):
    """Bring a chunk's events into the order of storing; returns the number of blocks, and the room that their values need.

    end, first, mask: of chunk.Blocks. ordered: of Events. What else is written is said in the steps above.
    """
    count = index_events(first, mask, slots)
    order_slots(count, slots, places)
    room = place_slots(count, slots, kinds, places.kind_of)
    sort_events(end, first, mask, count, slots, ordered)
    return np.int64(count), room
