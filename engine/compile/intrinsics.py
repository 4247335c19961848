"""The compiled versions of the helpers in bits.py, as LLVM code: bit counts, raw memory, 32 words at once.

`register` gives them to numba. Packing vectors needs AVX-512 and LLVM 20; there is also a version word by word.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features, llvm_version_info
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np.arrayobj import populate_array

from rfview.engine.compile import bits


def packs_vectors() -> bool:
    """Return whether the processor that numba compiles for can pack vectors and bits, and this LLVM supports it."""
    given = numba.config.CPU_FEATURES
    features = get_host_cpu_features().flatten() if given is None else given
    return {"+avx512f", "+bmi2"} <= set(features.split(",")) and llvm_version_info >= (20,)


@intrinsic
def _cttz(typingctx: Any, x: Any) -> Any:
    """Count trailing zeros of 64 bits; the mask is never zero."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.int64(types.uint64), codegen


@intrinsic
def _ctlz(typingctx: Any, x: Any) -> Any:
    """Count leading zeros of 64 bits; the mask is never zero."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctlz(args[0], context.get_constant(types.boolean, True))

    return types.int64(types.uint64), codegen


@intrinsic
def _ctpop(typingctx: Any, x: Any) -> Any:
    """Count the set bits of 64 bits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def _array_at(typingctx: Any, address: Any, count: Any, dtype: Any) -> Any:
    """Make an array of numbers or records anywhere in memory, without an owner and so without reference counts."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        made = context.make_array(signature.return_type)(context, builder)
        data = builder.inttoptr(args[0], made.data.type)
        size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(dtype.dtype)))
        populate_array(made, data, [args[1]], [size], size, meminfo=None)
        return made._getvalue()

    return types.Array(dtype.dtype, 1, "C")(types.int64, types.int64, dtype), codegen


@intrinsic
def _prefetch(typingctx: Any, array: Any, index: Any) -> Any:
    """Fetch the cache line of an element for reading."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        i32, i8p = ir.IntType(32), ir.IntType(8).as_pointer()
        fetch = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.VoidType(), (i8p, i32, i32, i32)),
                                               "llvm.prefetch.p0")
        whole = context.make_array(signature.args[0])(context, builder, args[0])
        place = builder.bitcast(builder.gep(whole.data, [args[1]]), i8p)
        builder.call(fetch, (place, i32(0), i32(3), i32(1)))
        return context.get_constant(types.int64, 0)

    return types.int64(array, types.uint64), codegen


def block_at(context: Any, builder: Any, signature: Any, args: Any, which: int, first: Any, kind: Any) -> Any:
    """Return a pointer of another type to element `first` of the array in argument `which`."""
    whole = context.make_array(signature.args[which])(context, builder, args[which])
    return builder.bitcast(builder.gep(whole.data, [first]), kind.as_pointer())


def compress16(builder: Any) -> Any:
    """Return LLVM's function that packs selected words of 16; only if `packs_vectors`."""
    row, lanes = ir.VectorType(ir.IntType(32), 16), ir.VectorType(ir.IntType(1), 16)
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(row, (row, lanes, row)),
                                          "llvm.experimental.vector.compress.v16i32")


def all16(builder: Any, value: Any) -> Any:
    """Return a vector with the same value in all 16 places."""
    first = builder.insert_element(ir.Constant(ir.VectorType(value.type, 16), ir.Undefined), value, ir.IntType(32)(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), 16), [ir.IntType(32)(0)] * 16))


@intrinsic
def _copy32(typingctx: Any, source: Any, target: Any) -> Any:
    """Copy 32 words as one vector: all are loaded before any is stored, which LLVM could not assume word by word."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row = ir.VectorType(ir.IntType(32), 32)
        first = context.get_constant(types.int64, 0)
        source_at, target_at = (block_at(context, builder, signature, args, which, first, row) for which in (0, 1))
        builder.store(builder.load(source_at, align=4), target_at, align=4)
        return context.get_constant(types.int64, 0)

    return types.int64(source, target), codegen


@intrinsic
def _blend32(typingctx: Any, source: Any, target: Any, mask: Any) -> Any:
    """Copy the words of a mask by writing all 32, the others unchanged."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row, lanes = ir.VectorType(ir.IntType(32), 32), ir.VectorType(ir.IntType(1), 32)
        first = context.get_constant(types.int64, 0)
        source_at, target_at = (block_at(context, builder, signature, args, which, first, row) for which in (0, 1))
        chosen = builder.bitcast(builder.trunc(args[2], ir.IntType(32)), lanes)
        new, old = builder.load(source_at, align=4), builder.load(target_at, align=4)
        builder.store(builder.select(chosen, new, old), target_at, align=4)
        return context.get_constant(types.int64, 0)

    return types.int64(source, target, types.uint64), codegen


@intrinsic
def _changed32(typingctx: Any, words: Any, shadow: Any, first: Any) -> Any:
    """Compare 32 words with 32 others, with one vector instruction if the processor has it."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = ir.VectorType(ir.IntType(32), 32)
        sides = [builder.load(block_at(context, builder, signature, args, which, args[2], block), align=4)
                 for which in (0, 1)]
        mask = builder.bitcast(builder.icmp_unsigned("!=", *sides), ir.IntType(32))
        return builder.zext(mask, ir.IntType(64))

    return types.uint64(words, shadow, types.uint64), codegen


@intrinsic
def _take32(typingctx: Any, words: Any, shadow: Any, first: Any, mask: Any, target: Any, at: Any) -> Any:
    """Pack the words of a mask in vector registers, 16 at a time, and blend them into the shadow."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        half, lanes = ir.VectorType(ir.IntType(32), 16), ir.VectorType(ir.IntType(1), 16)
        compress, i64 = compress16(builder), ir.IntType(64)
        place = args[5]
        for low in (0, 16):
            begin = builder.add(args[2], i64(low))
            bits = builder.trunc(builder.lshr(args[3], i64(low)), ir.IntType(16))
            chosen = builder.bitcast(bits, lanes)
            new_at, old_at, out_at = (
                block_at(context, builder, signature, args, which, index, half)
                for which, index in ((0, begin), (1, begin), (4, place)))
            new, old = builder.load(new_at, align=4), builder.load(old_at, align=4)
            builder.store(builder.select(chosen, new, old), old_at, align=4)
            builder.store(builder.call(compress, (new, chosen, new)), out_at, align=4)
            place = builder.add(place, builder.zext(builder.ctpop(bits), i64))
        return context.get_constant(types.int64, 0)

    return types.int64(words, shadow, types.uint64, types.uint64, target, types.uint64), codegen


def _take32_by_vector(words: Any, shadow: Any, first: Any, mask: Any, target: Any, at: Any) -> Any:
    """Do the same for numbers of any type."""
    return _take32(words, shadow, np.uint64(first), np.uint64(mask), target, np.uint64(at))


def _take32_by_word(words: Any, shadow: Any, first: Any, mask: Any, target: Any, at: Any) -> Any:
    """Do the same word by word, for processors that cannot pack a vector."""
    left = np.uint64(mask)
    place = np.uint64(at)
    while left != 0:
        word = np.uint64(first) + np.uint64(_cttz(left))
        left &= left - np.uint64(1)
        shadow[word] = target[place] = words[word]
        place += np.uint64(1)
    return 0


@intrinsic
def _keep_changed16(typingctx: Any, firsts: Any, masks: Any, entry: Any, count: Any, first: Any, stride: Any,
                    at: Any) -> Any:
    """Do what bits.keep_changed does for 16 masks, or `count` if that is less, to place `at`; return how many these are."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        i32, row = ir.IntType(32), ir.VectorType(ir.IntType(32), 16)
        numbers, zeros = (ir.Constant(row, [i32(each * k) for k in range(16)]) for each in (1, 0))
        many, begin, step = (all16(builder, builder.trunc(args[which], i32)) for which in (3, 4, 5))
        masks_now = builder.load(block_at(context, builder, signature, args, 1, args[2], row), align=4)
        words = builder.add(begin, builder.mul(numbers, step))
        chosen = builder.and_(builder.icmp_unsigned("!=", masks_now, zeros), builder.icmp_unsigned("<", numbers, many))
        for which, values in ((0, words), (1, masks_now)):
            target = block_at(context, builder, signature, args, which, args[6], row)
            builder.store(builder.call(compress16(builder), (values, chosen, values)), target, align=4)
        return builder.zext(builder.ctpop(builder.bitcast(chosen, ir.IntType(16))), ir.IntType(64))

    return types.uint64(firsts, masks, *[types.uint64] * 5), codegen


def _keep_changed_by_vector(firsts: Any, masks: Any, entry: Any, count: Any, first: Any, stride: Any) -> Any:
    """Do the same for any number of masks."""
    to = np.uint64(entry)
    for at in range(np.uint64(0), np.uint64(count), np.uint64(16)):
        to += _keep_changed16(firsts, masks, np.uint64(entry) + at, np.uint64(count) - at,
                              np.uint64(first) + at * np.uint64(stride), np.uint64(stride), to)
    return to


def _keep_changed_by_word(firsts: Any, masks: Any, entry: Any, count: Any, first: Any, stride: Any) -> Any:
    """Do the same block by block."""
    to, word = np.uint64(entry), np.uint64(first)
    for block in range(np.uint64(entry), np.uint64(entry) + np.uint64(count)):
        mask = masks[block]
        firsts[to] = word
        masks[to] = mask
        to += np.uint64(mask != 0)
        word += np.uint64(stride)
    return to


def _set_bits(mask: Any) -> Any:
    """Do what bits.set_bits does; LLVM makes a plain loop of a `for` over it."""
    left = np.uint64(mask)
    while left != 0:
        yield _cttz(left)
        left &= left - np.uint64(1)


def register(options: Mapping[str, Any]) -> None:
    """Let compiled code call these instead of the functions in bits.py. options: how parts are compiled."""
    plain: Any = {"jit_options": dict(options), "strict": False}

    def give(function: Any, chosen: Any) -> None:
        overload(function, **plain)(lambda *types: chosen)

    give(bits.ctz64, lambda x: _cttz(np.uint64(x)))
    give(bits.set_bits, _set_bits)
    give(bits.highest64, lambda x: 63 - _ctlz(np.uint64(x)))
    give(bits.popcount, lambda x: _ctpop(np.uint64(x)))
    give(bits.bit64, lambda index: np.uint64(1) << np.uint64(index))
    give(bits.copy32, lambda source, target: _copy32(source, target))
    give(bits.blend32, lambda source, target, mask: _blend32(source, target, np.uint64(mask)))
    give(bits.prefetch, lambda array, index: _prefetch(array, np.uint64(index)))
    give(bits.changed32, lambda words, shadow, first: _changed32(words, shadow, np.uint64(first)))
    # these return arrays, although ones without owners
    arrays: Any = {"jit_options": {**plain["jit_options"], "_nrt": True}, "strict": False}
    overload(bits.array_at, **arrays)(
        lambda *types: lambda address, count, dtype: _array_at(np.int64(address), np.int64(count), dtype))
    u4 = bits.U4
    overload(bits.words_at, **arrays)(
        lambda *types: lambda address, count: _array_at(np.int64(address), np.int64(count), u4))
    # numba determines the target processor at each compilation
    overload(bits.take32, **plain)(lambda *types: _take32_by_vector if packs_vectors() else _take32_by_word)
    overload(bits.keep_changed, **plain)(
        lambda *types: _keep_changed_by_vector if packs_vectors() else _keep_changed_by_word)
