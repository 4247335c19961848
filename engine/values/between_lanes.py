"""Opcodes that exchange values between lanes: shuffles, votes, matches and reductions over the member lanes."""

from __future__ import annotations

from rfview.engine.compile.device import device
from rfview.engine.isa import (FLAG_NO_SYNC, MATCH_ALL32, MATCH_ALL64, MATCH_ANY64, OP_MATCH, OP_VOTE, REDUX_ADD,
                               REDUX_AND, REDUX_MAX_S, REDUX_MIN_S, REDUX_MIN_U, REDUX_OR, REDUX_XOR, SHFL_BFLY,
                               SHFL_DOWN, SHFL_UP, VOTE_ANY, VOTE_BALLOT, VOTE_UNI)
from rfview.engine.values.arithmetic import I64, M32, ONE64, U32, U64, Z64, ctz
from rfview.engine.values.rounding import has
from rfview.engine.values.words import load, store


@device
def shuffle_rows(rows, src, dst, mask, aux):
    """shfl: returns the mask of lanes whose source lane is in range; a lane out of range keeps its own value.

    A source lane that is not active has no value for this instruction. PTX leaves the result undefined; we read 0, so that
    sums over part of a warp are correct.
    """
    mode, in_range = I64(aux), Z64
    for lane in range(32):
        b, c = U64(load(rows, src + 2, lane)) & U64(31), U64(load(rows, src + 4, lane))
        segment = (c >> U64(8)) & U64(31)
        place = U64(lane)
        bound = (place & segment) | (c & U64(31) & ~segment)
        first = place & segment
        if mode == SHFL_UP:
            source = I64(place) - I64(b)
            fits = source >= I64(bound)
        elif mode == SHFL_DOWN:
            source = I64(place + b)
            fits = source <= I64(bound)
        elif mode == SHFL_BFLY:
            source = I64(place ^ b)
            fits = source <= I64(bound)
        else:
            source = I64(first | (b & ~segment))
            fits = source <= I64(bound)
        if fits:
            in_range |= ONE64 << place
        value = load(rows, src, lane)
        if fits:
            value = load(rows, src, source) if (U32(mask) >> U32(source)) & U32(1) else U32(0)
        store(rows, dst, lane, value)
    return in_range


@device
def vote_rows(rows, dst, group, members, mode, predicate):
    """vote over the member lanes; ballot writes the group's elements of a row, the others return the mask of lanes."""
    votes = U32(predicate) & members
    if mode == VOTE_BALLOT:
        for lane in range(32):
            if (group >> U32(lane)) & U32(1):
                store(rows, dst, lane, votes)
        return Z64
    holds = votes == members
    if mode == VOTE_ANY:
        holds = votes != U32(0)
    elif mode == VOTE_UNI:
        holds = votes == members or votes == U32(0)
    return U64(group) if holds else Z64


@device
def match_rows(rows, src, dst, group, members, mode):
    """match.any / match.all over the member lanes; returns the predicate of match.all."""
    wide, every = mode >= MATCH_ANY64, mode == MATCH_ALL32 or mode == MATCH_ALL64
    first = I64(ctz(U64(members))) & I64(31)
    all_same = True
    for lane in range(32):
        if not (group >> U32(lane)) & U32(1):
            continue
        same = U32(0)
        for other in range(32):
            equal = load(rows, src, lane) == load(rows, src, other)
            if wide:
                equal = equal and load(rows, src + 1, lane) == load(rows, src + 1, other)
            if equal:
                same |= U32(1) << U32(other)
        same &= members
        store(rows, dst, lane, same)
        if lane == first:
            all_same = same == members
    if not every:
        return Z64
    for lane in range(32):
        if (group >> U32(lane)) & U32(1):
            store(rows, dst, lane, members if all_same else U32(0))
    return U64(group) if all_same else Z64


@device
def reduce_rows(rows, src, dst, group, members, mode):
    """redux: combine the member lanes' values."""
    total, seen = Z64, False
    for lane in range(32):
        if not (members >> U32(lane)) & U32(1):
            continue
        value = U64(load(rows, src, lane))
        if mode == REDUX_MIN_S or mode == REDUX_MAX_S:
            value = value ^ U64(0x80000000)
        if not seen:
            total, seen = value, True
        elif mode == REDUX_ADD:
            total = total + value
        elif mode == REDUX_AND:
            total = total & value
        elif mode == REDUX_OR:
            total = total | value
        elif mode == REDUX_XOR:
            total = total ^ value
        elif mode == REDUX_MIN_U or mode == REDUX_MIN_S:
            total = min(total, value)
        else:
            total = max(total, value)
    if mode == REDUX_MIN_S or mode == REDUX_MAX_S:
        total = total ^ U64(0x80000000)
    for lane in range(32):
        if (group >> U32(lane)) & U32(1):
            store(rows, dst, lane, U32(total & M32))


@device
def collective_rows(op, rows, src, dst, mask, aux, flags, p0):
    """vote, match or redux, once for each group of active lanes with the same member mask.

    Tiles smaller than a warp execute one instruction together, each with its own mask. Members that are not
    active take no part. Without .sync, the active lanes are the members.
    """
    mode = I64(aux)
    slot = src if op == OP_VOTE else src + 2
    left, found = U32(mask), Z64
    while left != U32(0):
        group = members = left
        if not has(flags, FLAG_NO_SYNC):
            named = load(rows, slot, I64(ctz(U64(left))))
            group = U32(0)
            for lane in range(32):
                if (left >> U32(lane)) & U32(1) and load(rows, slot, lane) == named:
                    group |= U32(1) << U32(lane)
            members = U32(mask) & named        # the same lanes, unless lanes name masks that exclude themselves
        left &= ~group
        if op == OP_VOTE:
            found |= vote_rows(rows, dst, group, members, mode, p0)
        elif op == OP_MATCH:
            found |= match_rows(rows, src, dst, group, members, mode)
        else:
            reduce_rows(rows, src, dst, group, members, mode)
    return found


@device
def active_rows(rows, dst, mask):
    """activemask: every lane gets the mask."""
    for lane in range(32):
        store(rows, dst, lane, U32(mask))
