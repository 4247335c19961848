"""The arrays that the recorder's compiled loops share, by name and kept from chunk to chunk: a loop says which it takes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rfview.sessions.codec.codec import NUM_MODES, PLANES, PLANES_OF, WIDTH, XOR

# where an event's cycle and its values stand beside its mask (Events.ordered)
CYCLE_SHIFT, VALUE_SHIFT = 32, 43
MOST_CYCLES, MOST_VALUES = 1 << VALUE_SHIFT - CYCLE_SHIFT, 1 << 64 - VALUE_SHIFT
# so many events are dealt at a time: as many places behind a column's values may be written over, and are read behind events
SIDE = 16


class Places(NamedTuple):
    """Where blocks stand in the order of storing: by kind, and in each by word. The same for a whole recording.

    kind_of: (words,) i4 kind of the block that begins at each word. place_of: (words,) u4 place of each word in that order;
    word_at: (words,) u4 the word at each place.
    """

    kind_of: np.ndarray
    place_of: np.ndarray
    word_at: np.ndarray

    @staticmethod
    def of(kind_of: np.ndarray) -> Places:
        """Return it for the kinds of a layout (Layout.kinds)."""
        word_at = np.argsort(kind_of, kind="stable").astype(np.uint32)
        place_of = np.empty(len(kind_of), np.uint32)
        place_of[word_at] = np.arange(len(kind_of), dtype=np.uint32)
        return Places(kind_of, place_of, word_at)


class Slots(NamedTuple):
    """The blocks that change in a chunk, numbered (slots) as they come up; all arrays as long as if every word began one.

    of: i4 slot of the block that begins at each word; -1, where there is none, in all between two chunks. Of each slot
    first: i4 its first word; times: i4 events; touched: u4 which of its words change; next: i8 place of its next event.
    present: u8 a bit for each place (Places) where one stands; none between two chunks. order: u4 the slots in the order of
    storing.
    """

    of: np.ndarray
    first: np.ndarray
    times: np.ndarray
    touched: np.ndarray
    next: np.ndarray
    present: np.ndarray
    order: np.ndarray

    @staticmethod
    def room(words: int) -> Slots:
        """Return room for blocks among so many words."""
        first, times = np.empty((2, words), np.int32)
        touched, order = np.empty((2, words), np.uint32)
        return Slots(np.full(words, -1, np.int32), first, times, touched, np.empty(words, np.int64),
                     np.zeros(words // 64 + 1, np.uint64), order)  # fmt: skip


class Kinds(NamedTuple):
    """The kinds of blocks, and their columns: 32 of each kind.

    slots, masks: (kinds,) u4 blocks of each kind in the chunk, and different masks of their events. begin, next: (columns,)
    u4 where a column's values begin, in room that is used anew for each kind, and where the next one goes. modes: (columns,)
    u1 how each is coded; resting: (columns,) u1 how many chunks pass until it is tried again whether to number its codes.
    """

    slots: np.ndarray
    masks: np.ndarray
    begin: np.ndarray
    next: np.ndarray
    modes: np.ndarray
    resting: np.ndarray

    @staticmethod
    def room(kinds: int) -> Kinds:
        """Return room for so many kinds, every column coded as nobody has learned better."""
        slots, masks = np.empty((2, kinds), np.uint32)
        begin, next_ = np.empty((2, kinds * WIDTH), np.uint32)
        return Kinds(slots, masks, begin, next_, np.full(kinds * WIDTH, XOR, np.uint8), np.zeros(kinds * WIDTH, np.uint8))


class Events(NamedTuple):
    """The events of a chunk in the order of storing: block after block, in order of time in each.

    ordered: u8 mask | cycle << 32 | where its values begin << 43, and room for SIDE more. gaps: u4 cycles since the block's
    event before. ranks: u4 which of its kind's masks it has. masks: u4 these, kind after kind.
    """

    ordered: np.ndarray
    gaps: np.ndarray
    ranks: np.ndarray
    masks: np.ndarray

    @staticmethod
    def room(events: int) -> Events:
        """Return room for so many events."""
        gaps, ranks, masks = (np.empty(events, np.uint32) for _ in range(3))
        return Events(np.empty(events + SIDE, np.uint64), gaps, ranks, masks)


class Values(NamedTuple):
    """The values of one kind's columns, which become codes.

    value: u4; cycle: u2 offset of the cycle that brings it, only in columns whose codes need that.
    """

    value: np.ndarray
    cycle: np.ndarray

    @staticmethod
    def room(values: int) -> Values:
        """Return room for so many values."""
        return Values(np.empty(values, np.uint32), np.empty(values, np.uint16))


class Touched(NamedTuple):
    """The columns that a block's events change, ascending, and up to a multiple of SIDE some that they do not.

    place: u4 each one's number; bit: u4 of its word in the events' masks, 0 for those that are not changed.
    """

    place: np.ndarray
    bit: np.ndarray

    @staticmethod
    def room() -> Touched:
        """Return room for all columns of a block."""
        return Touched(np.zeros(WIDTH + SIDE, np.uint32), np.zeros(WIDTH + SIDE, np.uint32))


class Runs(NamedTuple):
    """The runs of a chunk, each the values of one word. Of each, all u4:

    word; begin, end: where its values are; column; old: its value before; first: its first one; least, most: of all these.
    """

    word: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    column: np.ndarray
    old: np.ndarray
    first: np.ndarray
    least: np.ndarray
    most: np.ndarray

    @staticmethod
    def room(words: int) -> Runs:
        """Return room for the runs of so many words."""
        return Runs(*np.empty((8, words), np.uint32))


class Tables(NamedTuple):
    """Hash tables. masks: i4 of `spread`, the number of each mask; codes: u8 of `number_codes`, that of each code."""

    masks: np.ndarray
    codes: np.ndarray

    @staticmethod
    def room(masks: int, codes: int) -> Tables:
        """Return tables of these lengths, powers of 2."""
        return Tables(np.empty(masks, np.int32), np.empty(codes, np.uint64))


class Columns(NamedTuple):
    """The columns of a chunk that have codes, ascending, and of each:

    number: u4 of the column; width: u1 in how many bytes its codes are stored, or by number; num_far: i8 how many are wider;
    distinct: u4, only of those stored by number, one behind the other: different codes. mode: u1; plane: i8 where its low
    bytes go; order: i8 the columns in the order of storing; narrowed, far: i8 where its planes are in Stored.planes, and its
    wide codes in Stored.far.
    size: (columns,) u4 codes of any column. Of the columns of one kind: wide: (32, 4) i4 codes of more than 0..3 bytes;
    cost: i8 bytes that the codes take.
    """

    number: np.ndarray
    width: np.ndarray
    num_far: np.ndarray
    distinct: np.ndarray
    mode: np.ndarray
    plane: np.ndarray
    order: np.ndarray
    narrowed: np.ndarray
    far: np.ndarray
    size: np.ndarray
    wide: np.ndarray
    cost: np.ndarray

    @staticmethod
    def room(columns: int) -> Columns:
        """Return room for so many columns."""
        number, distinct, size = np.empty((3, columns), np.uint32)
        width, mode = np.empty((2, columns), np.uint8)
        num_far, plane, order, narrowed, far = np.empty((5, columns), np.int64)
        return Columns(number, width, num_far, distinct, mode, plane, order, narrowed, far, size,
                       np.empty((WIDTH, PLANES), np.int32), np.empty(WIDTH, np.int64))  # fmt: skip


class Classes(NamedTuple):
    """Columns of one mode and width are a class. Of each, i8:

    sizes: codes; first: where its planes begin; behind, one longer: how many columns are in classes before, or placed.
    """

    sizes: np.ndarray
    first: np.ndarray
    behind: np.ndarray

    @staticmethod
    def room() -> Classes:
        """Return room for all classes."""
        count = NUM_MODES * len(PLANES_OF)
        return Classes(np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count + 1, np.int64))


class Lists(NamedTuple):
    """What is put as it is (see format.py), all u4.

    step, bits: the keyframe; one longer than its words, as what comes next is written before it is known to differ. blocks,
    masks: of each kind that has any. place, times: of each block its first word, as a zigzag difference, and its events.
    """

    step: np.ndarray
    bits: np.ndarray
    blocks: np.ndarray
    masks: np.ndarray
    place: np.ndarray
    times: np.ndarray

    @staticmethod
    def room(words: int, kinds: int) -> Lists:
        """Return room for a state of so many words, and blocks of so many kinds."""
        step, bits = np.empty((2, words + 1), np.uint32)
        blocks, masks = np.empty((2, kinds), np.uint32)
        place, times = np.empty((2, words), np.uint32)
        return Lists(step, bits, blocks, masks, place, times)


class Stored(NamedTuple):
    """What the codes of a chunk are stored as, kind after kind.

    planes: u1 byte planes, column by column. far, beyond: u4 of codes wider than their column where among its codes they
    are, and what stands above its width; far_steps, rests: u4 these in the order of storing: all four one longer than
    needed, as what comes next is written before it is known to be listed. known: u4 the codes that numbers stand for.
    """

    planes: np.ndarray
    far: np.ndarray
    beyond: np.ndarray
    far_steps: np.ndarray
    rests: np.ndarray
    known: np.ndarray

    @staticmethod
    def room(words: int, distinct: int) -> Stored:
        """Return room for the codes of so many changed words; distinct: of known codes, beyond these."""
        far, beyond, far_steps, rests = (np.empty(words + 1, np.uint32) for _ in range(4))
        planes, known = np.empty(PLANES * words, np.uint8), np.empty(words + distinct, np.uint32)
        return Stored(planes, far, beyond, far_steps, rests, known)


class Watch(NamedTuple):
    """What of the values is kept for the summaries.

    how: (words,) u1 NOT_WATCHED, WHOLE or BYTES (extent.py): whether the least and greatest values are wanted. states_at:
    (warp slots,) i8 the byte that each one's state is in. state_of: (words,) i4 whose state lies in a word, -1 = none;
    shift: (words,) u4 where in it.
    """

    how: np.ndarray
    states_at: np.ndarray
    state_of: np.ndarray
    shift: np.ndarray

    @staticmethod
    def of(how: np.ndarray, states_at: np.ndarray) -> Watch:
        """Return it for the words to watch and the bytes of the states."""
        state_of, shift = np.full(len(how), -1, np.int32), np.zeros(len(how), np.uint32)
        state_of[states_at // 4] = np.arange(len(states_at))
        shift[states_at // 4] = states_at % 4 * 8
        return Watch(how, states_at, state_of, shift)
