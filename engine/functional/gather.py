"""Loads and stores of whole words, all lanes at once, between registers and one region of memory, shared or local memory.

Of narrower accesses it finds the places of loads. What is not like that (mixed spaces, narrow stores, a lane out of bounds
or misaligned) is left to values/access.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from rfview.engine.compile.device import device
from rfview.engine.compile.jit import OFF
from rfview.engine.program import (MEM_LOAD, MEM_STORE, NO_REG, SPACE_CONST, SPACE_GENERIC, SPACE_GLOBAL, SPACE_LOCAL,
                                   SPACE_SHARED)
from rfview.engine.values.access import (ADDR, find_region, generic_space, load, region_base, region_end, region_word,
                                         region_writable)
from rfview.engine.values.arithmetic import I64, M32, S32, U32, U64, Z64, ctz
from rfview.engine.values.vectors import I32
from rfview.engine.values.words import load as lane_load

L64 = ir.IntType(64)
V32, V64 = ir.VectorType(I32, 32), ir.VectorType(L64, 32)
POINTERS = ir.VectorType(ir.IntType(8).as_pointer(), 32)


def _splat(builder: Any, value: Any) -> Any:
    empty, first = ir.Constant(V64, ir.Undefined), ir.Constant(I32, 0)
    return builder.shuffle_vector(builder.insert_element(empty, value, first), empty, ir.Constant(V32, [first] * 32))


def _load_row(builder: Any, rows: Any, row: Any) -> Any:
    loaded = builder.load(_row(builder, rows, row))
    loaded.align = 4
    return loaded


def _row(builder: Any, rows: Any, row: Any) -> Any:
    place = builder.gep(builder.bitcast(rows, I32.as_pointer()), [builder.shl(row, ir.Constant(L64, 5))])
    return builder.bitcast(place, V32.as_pointer())


def _offsets(builder: Any, longs: Any) -> Any:
    return builder.bitcast(builder.gep(builder.bitcast(longs, L64.as_pointer()), [ir.Constant(L64, ADDR)]), V64.as_pointer())


@intrinsic
def _locate(tc: Any, rows: Any, low: Any, high: Any, keep: Any, mask: Any, offset: Any, base: Any, span: Any, size: Any,
            start: Any, is_local: Any, longs: Any) -> Any:
    """Typing and code of `locate` under JIT."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows, low, high, keep, mask, offset, base, span, size, start, is_local, longs = args
        upper = builder.shl(builder.zext(_load_row(builder, rows, high), V64), ir.Constant(V64, [32] * 32))
        address = builder.or_(builder.zext(_load_row(builder, rows, low), V64), upper)
        address = builder.and_(builder.add(address, _splat(builder, offset)), _splat(builder, keep))
        within = builder.sub(address, _splat(builder, base))
        outside = builder.icmp_unsigned(">", within, _splat(builder, builder.sub(span, size)))
        rest = builder.and_(address, _splat(builder, builder.sub(size, ir.Constant(L64, 1))))
        misaligned = builder.icmp_unsigned("!=", rest, ir.Constant(V64, [0] * 32))
        lanes = ir.Constant(V64, [4 * lane for lane in range(32)])
        lanes = builder.and_(lanes, _splat(builder, builder.neg(is_local)))
        words = builder.shl(within, _splat(builder, builder.mul(is_local, ir.Constant(L64, 5))))
        place = builder.add(builder.add(words, lanes), _splat(builder, start))
        builder.store(place, _offsets(builder, longs)).align = 8
        return builder.and_(builder.bitcast(builder.or_(outside, misaligned), I32), mask)

    long, pointer = types.int64, types.voidptr
    return types.uint32(pointer, long, long, types.uint64, types.uint32, long, types.uint64, long, long, long, long,
                        pointer), code


def _places(builder: Any, memory: Any, longs: Any, add: Any) -> Any:
    """Return the addresses of the lanes' words."""
    offsets = builder.load(_offsets(builder, longs))
    offsets.align = 8
    return builder.inttoptr(builder.add(offsets, _splat(builder, builder.add(builder.ptrtoint(memory, L64), add))), POINTERS)


def _mask(builder: Any, mask: Any) -> Any:
    return builder.bitcast(mask, ir.VectorType(ir.IntType(1), 32))


@intrinsic
def _gather(tc: Any, rows: Any, row: Any, mask: Any, memory: Any, longs: Any, add: Any) -> Any:
    """Typing and code of `gather` under JIT."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows, row, mask, memory, longs, add = args
        kind = ir.FunctionType(V32, (POINTERS, I32, _mask(builder, mask).type, V32))
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.masked.gather.v32i32.v32p0")
        values = builder.call(function, (_places(builder, memory, longs, add), ir.Constant(I32, 4), _mask(builder, mask),
                                         _load_row(builder, rows, row)))
        builder.store(values, _row(builder, rows, row)).align = 4
        return context.get_dummy_value()

    return types.void(types.voidptr, types.int64, types.uint32, types.voidptr, types.voidptr, types.int64), code


@intrinsic
def _scatter(tc: Any, rows: Any, row: Any, mask: Any, memory: Any, longs: Any, add: Any) -> Any:
    """Typing and code of `scatter` under JIT."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows, row, mask, memory, longs, add = args
        kind = ir.FunctionType(ir.VoidType(), (V32, POINTERS, I32, _mask(builder, mask).type))
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.masked.scatter.v32i32.v32p0")
        builder.call(function, (_load_row(builder, rows, row), _places(builder, memory, longs, add), ir.Constant(I32, 4),
                                _mask(builder, mask)))
        return context.get_dummy_value()

    return types.void(types.voidptr, types.int64, types.uint32, types.voidptr, types.voidptr, types.int64), code


def _locate_python(rows: Any, low: int, high: int, keep: Any, mask: Any, offset: int, base: Any, span: int, size: int,
                   start: int, is_local: int, longs: Any) -> np.uint32:
    whole = np.asarray(rows[low].u, np.uint64) | np.asarray(rows[high].u, np.uint64) << np.uint64(32)
    address = whole + np.int64(offset).view(np.uint64) & np.uint64(keep)
    within = address - np.uint64(base)
    bad = (within > np.uint64(span - size)) | (address & np.uint64(size - 1) != 0)
    longs[ADDR : ADDR + 32] = start + (32 * within.view(np.int64) + 4 * np.arange(32) if is_local else within.view(np.int64))
    return np.packbits(bad, bitorder="little").view(np.uint32)[0] & mask


def _lanes(mask: Any) -> np.ndarray:
    return np.flatnonzero(np.unpackbits(np.array([mask], np.uint32).view(np.uint8), bitorder="little"))


def _gather_python(rows: Any, row: int, mask: Any, memory: Any, longs: Any, add: int) -> None:
    lanes = _lanes(mask)
    rows[row].u[lanes] = memory[(longs[ADDR + lanes] + add) >> 2]


def _scatter_python(rows: Any, row: int, mask: Any, memory: Any, longs: Any, add: int) -> None:
    lanes = _lanes(mask)
    memory[(longs[ADDR + lanes] + add) >> 2] = rows[row].u[lanes]


# rows, memory and longs (sm.scratch) are handles (values/words.py)
# locate(rows, low, high, keep, mask, offset, base, span, size, start, is_local, longs) -> u4: write to longs[ADDR ...] where
#   every lane's bytes are: start + (address - base), or, if is_local is 1, 32 times as far and 4 bytes further from lane to
#   lane; an address is in the rows `low` and `high`, plus `offset`, of which `keep` keeps bits; return the lanes of `mask`
#   whose `size` bytes are misaligned or not within base .. base + span
# gather(rows, row, mask, memory, longs, add): load the words at byte longs[ADDR + lane] + add into lanes of a row
# scatter(...): store a row's lanes there in ascending order
locate: Any = _locate_python if OFF else _locate
gather: Any = _gather_python if OFF else _gather
scatter: Any = _scatter_python if OFF else _scatter


@device
def operand_row(inst, slot, base, first_row):
    """Row of an operand: a register's, or the one that holds what is no register."""
    return base + I64(inst.src[slot]) if inst.src[slot] != NO_REG else first_row + I64(slot)


@device
def move_words(inst, rows, base, first_row, low, high, mask, memory, regions, num_regions, own, scratch):
    """Perform a load or store between a warp's registers and memory; return False if it is left to values/access.py.

    base: the row of R0; first_row: of the operands, of which those that are no registers are there; low, high: the
    rows of the address; the rest as in `access`.
    """
    width = I64(inst.width)
    size = width * I64(inst.count)
    is_narrow = size < 4        # one byte or half of a word, extended to its register
    if is_narrow:
        if inst.memory_kind != MEM_LOAD or size != width or inst.reg_bits > 32 or inst.dst[0] == NO_REG:
            return False
    elif width < 4 or width * 8 != inst.reg_bits or (inst.memory_kind != MEM_LOAD and inst.memory_kind != MEM_STORE):
        return False
    space, first, keep = I64(inst.space), Z64, ~Z64
    if inst.src[1] == NO_REG and inst.imm[1] == 0 and (space == SPACE_SHARED or space == SPACE_LOCAL):
        keep = M32      # a 32-bit address wraps
    lane = I64(ctz(U64(mask)))
    address = (U64(lane_load(rows, low, lane)) | U64(lane_load(rows, high, lane)) << S32) + U64(I64(inst.offset))
    if space == SPACE_GENERIC:
        space, within = generic_space(address)
        first = address - within
    step = I64(4)
    if space == SPACE_SHARED:
        span, start = I64(own.shared_bytes), I64(own.shared_word) * 4
    elif space == SPACE_LOCAL and not is_narrow:        # whose lanes' words alternate
        span, step = I64(own.local_words) * 4, I64(128)
        start = (I64(own.local_word) + I64(own.warp_slot) * I64(own.local_words) * 32) * 4
    elif space == SPACE_GLOBAL or space == SPACE_CONST:
        region = find_region(regions, num_regions, address)
        if region < 0 or (inst.memory_kind == MEM_STORE and not region_writable(regions, region)):
            return False
        first = region_base(regions, region)
        span, start = I64(region_end(regions, region) - first), region_word(regions, region) * 4
    else:
        return False
    if span < size or locate(rows, low, high, keep, mask, I64(inst.offset), first, span, size, start,
                             I64(space == SPACE_LOCAL), scratch) != U32(0):
        return False
    if is_narrow:
        load(inst, rows, base + I64(inst.dst[0]), mask, memory, scratch)
        return True
    for k in range(size >> 2):
        if inst.memory_kind == MEM_STORE:
            scatter(rows, operand_row(inst, 2 + k, base, first_row), mask, memory, scratch, step * k)
        elif inst.dst[k] != NO_REG:
            gather(rows, base + I64(inst.dst[k]), mask, memory, scratch, step * k)
    return True
