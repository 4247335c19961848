"""How the values of a block's events come into its columns: 16 events at a time in vector registers, where there are such.

Which words an event changes is not to be guessed: taken word by word, its end costs more than its words.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from rfview.engine.compile.bits import ctz64, popcount
from rfview.engine.compile.intrinsics import all16, block_at, compress16, packs_vectors
from rfview.engine.compile.jit import OFF, jit
from rfview.sessions.codec.workspace import CYCLE_SHIFT, MOST_CYCLES, SIDE, VALUE_SHIFT

# so many events are dealt faster word by word
FEW = 3
I16, I32, I64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
BITS, HALVES, WORDS, LONGS = (ir.VectorType(element, SIDE) for element in (ir.IntType(1), I16, I32, I64))


def deal(value: Any, ordered: Any, first: Any, behind: Any, touched: Any, columns: Any, into: Any, next_of: Any,
         column: Any) -> Any:  # fmt: skip
    """Append the values of a block's events to its columns, into[next_of[column + word]]: of events first..behind - 1.

    value: of chunk.Blocks; ordered: of workspace.Events. touched: the words that any of these events changes, and
    columns: workspace.Touched of these. The SIDE words behind the values of any of these columns are undefined then.
    """
    return deal_words(value, ordered, first, behind, into, next_of, column)


def deal_cycles(ordered: Any, first: Any, behind: Any, word: Any, into: Any, goes: Any) -> Any:
    """Write the cycles of those events, of first..behind - 1, that change a word to into[goes..].

    The SIDE places behind them are undefined then.
    """
    to = np.uint64(goes)
    for event in range(np.uint64(first), np.uint64(behind)):
        # the next one is written over that of an event that does not change it
        into[to] = (ordered[event] >> np.uint64(CYCLE_SHIFT)) & np.uint64(MOST_CYCLES - 1)
        to += (ordered[event] >> np.uint64(word)) & np.uint64(1)
    return 0


@jit
def deal_words(value, ordered, first, behind, into, next_of, column):
    """Do what `deal` does, word by word."""
    one = np.uint64(1)
    for event in range(np.uint64(first), np.uint64(behind)):
        at = ordered[event] >> np.uint64(VALUE_SHIFT)
        left = ordered[event] & np.uint64(0xFFFFFFFF)
        while left != 0:
            place = np.uint64(column) + np.uint64(ctz64(left))
            left &= left - one
            goes = np.uint64(next_of[place])
            next_of[place] = goes + one
            into[goes] = value[at]
            at += one
    return 0


def _deal_by_vector(value, ordered, first, behind, touched, columns, into, next_of, column):
    """Do what `deal` does, 16 events and 16 of the columns at a time."""
    event, end, side, many = np.uint64(first), np.uint64(behind), np.uint64(SIDE), np.uint64(popcount(touched))
    while event + np.uint64(FEW) < end:
        low = np.uint64(0)
        while low < many:
            _turn(value, ordered, event, end - event, np.uint64(touched), low, many - low, columns.place, columns.bit, into,
                  next_of)  # fmt: skip
            low += side
        event += side
    return deal_words(value, ordered, min(event, end), end, into, next_of, column)


def _deal_cycles_by_vector(ordered, first, behind, word, into, goes):
    """Do what `deal_cycles` does, 16 events at a time."""
    event, end, to = np.uint64(first), np.uint64(behind), np.uint64(goes)
    while event < end:
        to += _pack_cycles(ordered, event, end - event, np.uint64(word), into, to)
        event += np.uint64(SIDE)
    return 0


def _load_events(context: Any, builder: Any, signature: Any, args: Any, which: int, first: Any, count: Any) -> Any:
    """Return 16 of `ordered`, argument `which`, from `first` on, those from number `count` on as if they changed nothing."""
    loaded = builder.load(block_at(context, builder, signature, args, which, first, LONGS), align=8)
    is_there = builder.icmp_unsigned("<", ir.Constant(LONGS, [I64(k) for k in range(SIDE)]), all16(builder, count))
    return builder.select(is_there, loaded, ir.Constant(LONGS, [I64(0)] * SIDE))


def _changing(builder: Any, masks: Any, bit: Any) -> Any:
    """Return which of 16 masks have a bit."""
    return builder.icmp_unsigned("!=", builder.and_(masks, all16(builder, bit)), ir.Constant(WORDS, [I32(0)] * SIDE))


def _transpose(builder: Any, rows: list[Any]) -> list[Any]:
    """Return the columns of 16 rows of 16 words, in four rounds that a processor can do within its vectors' quarters."""
    quarters = range(0, SIDE, 4)

    def mixed(first: list[Any], second: list[Any], places: list[int]) -> list[Any]:
        order = ir.Constant(WORDS, [I32(place) for place in places])
        return [builder.shuffle_vector(*pair, order) for pair in zip(first, second)]

    # words, then pairs of words, from the lower and from the upper half of each quarter of two rows
    words = [[at + place + row for at in quarters for place in (low, low + 1) for row in (0, SIDE)] for low in (0, 2)]
    pairs = [[row + at + place for at in quarters for row in (0, SIDE) for place in (low, low + 1)] for low in (0, 2)]
    # of two rows every other quarter
    even, odd = ([row + at + place for row in (0, SIDE) for at in (low, low + 8) for place in range(4)] for low in (0, 4))
    by_word = [mixed(rows[0::2], rows[1::2], places) for places in words]
    # quads[k][c]: of rows 4c .. 4c + 3 the words k of all quarters
    quads = [mixed(half[0::2], half[1::2], places) for half in by_word for places in pairs]
    found: list[Any] = [None] * SIDE
    for word, quad in enumerate(quads):
        for low, places in enumerate((even, odd)):
            eights = mixed(quad[0::2], quad[1::2], places)
            for high, again in enumerate((even, odd)):
                found[word + 4 * low + 8 * high] = mixed(eights[0:1], eights[1:2], again)[0]
    return found


@intrinsic
def _turn(typingctx: Any, value: Any, ordered: Any, first: Any, count: Any, touched: Any, low: Any, many: Any, place: Any,
          bit: Any, into: Any, next_of: Any) -> Any:  # fmt: skip
    """Deal what 16 events, or `count` if that is less, bring to the 16 columns from number `low` on, or `many` if less."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values, events_of, _, _, _, _, _, places, bits, targets, nexts = range(len(args))
        at = partial(block_at, context, builder, signature, args)
        expand = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(WORDS, (I32.as_pointer(), BITS, WORDS)), "llvm.masked.expandload.v16i32")
        gather = cgutils.get_or_insert_function(builder.module, ir.FunctionType(I32, (I32, I32)), "llvm.x86.bmi.pext.32")
        events = _load_events(context, builder, signature, args, events_of, args[2], args[3])
        whole, shift, left = builder.trunc(args[4], I32), builder.trunc(args[5], I32), args[6]
        below = builder.sub(builder.shl(I32(1), shift), I32(1))
        rows = []
        for number in range(SIDE):
            event = builder.extract_element(events, I32(number))
            # an event's values are packed already: bits for the columns that any event changes say where they belong
            mask = builder.call(gather, (builder.trunc(event, I32), whole))
            passed = builder.zext(builder.ctpop(builder.and_(mask, below)), I64)
            begin = builder.add(builder.lshr(event, I64(VALUE_SHIFT)), passed)
            chosen = builder.bitcast(builder.trunc(builder.lshr(mask, shift), I16), BITS)
            rows.append(builder.call(expand, (at(values, begin, I32), chosen, ir.Constant(WORDS, [I32(0)] * SIDE))))
        masks, dealt = builder.trunc(events, WORDS), _transpose(builder, rows)
        for group in range(0, SIDE, 4):
            with builder.if_then(builder.icmp_unsigned("<", I64(group), left)):
                for number in range(group, group + 4):
                    which = builder.add(args[5], I64(number))
                    chosen = _changing(builder, masks, builder.load(at(bits, which, I32)))
                    next_at = at(nexts, builder.zext(builder.load(at(places, which, I32)), I64), I32)
                    goes = builder.load(next_at)
                    packed = builder.call(compress16(builder), (dealt[number], chosen, dealt[number]))
                    builder.store(packed, at(targets, builder.zext(goes, I64), WORDS), align=4)
                    more = builder.zext(builder.ctpop(builder.bitcast(chosen, I16)), I32)
                    builder.store(builder.add(goes, more), next_at)
        return I64(0)

    return types.int64(value, ordered, *[types.uint64] * 5, place, bit, into, next_of), codegen


@intrinsic
def _pack_cycles(typingctx: Any, ordered: Any, first: Any, count: Any, word: Any, into: Any, goes: Any) -> Any:
    """Write the cycles of those of 16 events, or of `count` if that is less, that change a word; return their number."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        events = _load_events(context, builder, signature, args, 0, args[1], args[2])
        shifted = builder.trunc(builder.lshr(events, ir.Constant(LONGS, [I64(CYCLE_SHIFT)] * SIDE)), WORDS)
        cycles = builder.and_(shifted, ir.Constant(WORDS, [I32(MOST_CYCLES - 1)] * SIDE))
        chosen = _changing(builder, builder.trunc(events, WORDS), builder.shl(I32(1), builder.trunc(args[3], I32)))
        packed = builder.call(compress16(builder), (cycles, chosen, cycles))
        target = block_at(context, builder, signature, args, 4, args[5], HALVES)
        builder.store(builder.trunc(packed, HALVES), target, align=2)
        return builder.zext(builder.ctpop(builder.bitcast(chosen, I16)), I64)

    return types.uint64(ordered, types.uint64, types.uint64, types.uint64, into, types.uint64), codegen


if not OFF:
    PART = {"error_model": "numpy", "_nrt": False}
    overload(deal, strict=False, jit_options=PART)(
        lambda *types: _deal_by_vector if packs_vectors() else deal)  # fmt: skip
    overload(deal_cycles, strict=False, jit_options=PART)(
        lambda *types: _deal_cycles_by_vector if packs_vectors() else deal_cycles)  # fmt: skip
