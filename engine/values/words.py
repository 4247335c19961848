"""Single words and runs of 32 in rows and memory, by address under JIT: without bounds checks or reference counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from rfview.engine.compile.jit import OFF
from rfview.engine.values.vectors import I32, I64


@intrinsic
def _address(typing_context: Any, rows: Any) -> Any:
    """Typing and code of `handle` under JIT."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        return builder.bitcast(array.data, ir.IntType(8).as_pointer())

    return types.voidptr(rows), code


def _place(builder: Any, base: Any, index: Any, element: Any = I32) -> Any:
    return builder.gep(builder.bitcast(base, element.as_pointer()), [index])


def _element(builder: Any, args: Any) -> Any:
    base, row, lane = args[:3]
    return _place(builder, base, builder.add(builder.shl(row, ir.Constant(I64, 5)), lane))


@intrinsic
def _load(typing_context: Any, rows: Any, row: Any, lane: Any) -> Any:
    """Typing and code of `load` under JIT."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_element(builder, args))

    return types.uint32(types.voidptr, types.int64, types.int64), code


@intrinsic
def _store(typing_context: Any, rows: Any, row: Any, lane: Any, value: Any) -> Any:
    """Typing and code of `store` under JIT."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[3], _element(builder, args))
        return context.get_dummy_value()

    return types.void(types.voidptr, types.int64, types.int64, types.uint32), code


@intrinsic
def _load_word(typing_context: Any, memory: Any, index: Any) -> Any:
    """Typing and code of `load_word` under JIT."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_place(builder, args[0], args[1]))

    return types.uint32(types.voidptr, types.int64), code


@intrinsic
def _store_word(typing_context: Any, memory: Any, index: Any, value: Any) -> Any:
    """Typing and code of `store_word` under JIT."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _place(builder, args[0], args[1]))
        return context.get_dummy_value()

    return types.void(types.voidptr, types.int64, types.uint32), code


@intrinsic
def _load_long(typing_context: Any, longs: Any, index: Any) -> Any:
    """Typing and code of `load_long` under JIT."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_place(builder, args[0], args[1], I64))

    return types.int64(types.voidptr, types.int64), code


@intrinsic
def _store_long(typing_context: Any, longs: Any, index: Any, value: Any) -> Any:
    """Typing and code of `store_long` under JIT."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _place(builder, args[0], args[1], I64))
        return context.get_dummy_value()

    return types.void(types.voidptr, types.int64, types.int64), code


@intrinsic
def _fill_series(typing_context: Any, longs: Any, index: Any, start: Any, step: Any) -> Any:
    """Typing and code of `fill_series` under JIT."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.VectorType(I64, 32)
        empty, first = ir.Constant(kind, ir.Undefined), ir.Constant(I32, 0)
        zeros = ir.Constant(ir.VectorType(I32, 32), [first] * 32)
        begin, by = (builder.shuffle_vector(builder.insert_element(empty, x, first), empty, zeros) for x in args[2:])
        ramp = ir.Constant(kind, [ir.Constant(I64, k) for k in range(32)])
        place = builder.bitcast(_place(builder, args[0], args[1], I64), kind.as_pointer())
        stored = builder.store(builder.add(begin, builder.mul(by, ramp)), place)
        stored.align = 8
        return context.get_dummy_value()

    return types.void(types.voidptr, types.int64, types.int64, types.int64), code


@intrinsic
def _copy_words(typing_context: Any, to: Any, to_index: Any, source: Any, source_index: Any) -> Any:
    """Typing and code of `copy_words` under JIT."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.VectorType(I32, 32).as_pointer()
        places = [builder.bitcast(_place(builder, base, index), kind) for base, index in (args[:2], args[2:])]
        loaded = builder.load(places[1])
        loaded.align = 4
        stored = builder.store(loaded, places[0])
        stored.align = 4
        return context.get_dummy_value()

    return types.void(types.voidptr, types.int64, types.voidptr, types.int64), code


def _words(memory: Any) -> Any:
    return memory.view(np.ndarray).view("u4") if memory.dtype.fields else memory


def _load_word_python(memory: Any, index: int) -> np.uint32:
    return _words(memory)[index]


def _store_word_python(memory: Any, index: int, value: Any) -> None:
    _words(memory)[index] = value


def _load_long_python(longs: Any, index: int) -> Any:
    return longs.view(np.ndarray).view("i8")[index] if longs.dtype.fields else longs[index]


def _store_long_python(longs: Any, index: int, value: Any) -> None:
    longs[index] = value


def _fill_series_python(longs: Any, index: int, start: Any, step: Any) -> None:
    longs[index : index + 32] = int(start) + int(step) * np.arange(32)


def _copy_words_python(to: Any, to_index: int, source: Any, source_index: int) -> None:
    _words(to)[to_index : to_index + 32] = _words(source)[source_index : source_index + 32]


def _load_python(rows: Any, row: int, lane: int) -> np.uint32:
    return rows[row].u[lane]


def _store_python(rows: Any, row: int, lane: int, value: Any) -> None:
    rows[row].u[lane] = value


def _same(rows: Any) -> Any:
    return rows


# handle(rows): what the functions below take as rows or memory: under JIT a pointer to the array's first element, so that
#   no reference count is touched; the caller keeps the array alive (an integer would do as well, but keeps LLVM from
#   vectorising loops over it)
# load(rows, row, lane) -> u4 and store(rows, row, lane, value): one lane of one row
# load_word(memory, index) -> u4 and store_word(memory, index, value): one word of a handle's array, rows or plain u4
# copy_words(to, to_index, source, source_index): 32 words from one handle's array to another's
# load_long(longs, index), store_long(longs, index, value), fill_series(longs, index, start, step): the same for i8
#   arrays, the last for 32 elements at once
handle: Any
load: Any
store: Any
load_word: Any
store_word: Any
copy_words: Any
load_long: Any
store_long: Any
fill_series: Any
if OFF:
    handle, load, store = _same, _load_python, _store_python
    load_word, store_word, copy_words = _load_word_python, _store_word_python, _copy_words_python
    load_long, store_long, fill_series = _load_long_python, _store_long_python, _fill_series_python
else:
    handle, load, store = _address, _load, _store
    load_word, store_word, copy_words = _load_word, _store_word, _copy_words
    load_long, store_long, fill_series = _load_long, _store_long, _fill_series
