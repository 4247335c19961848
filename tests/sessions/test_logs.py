"""Logs of rows, memory and register writes are read back unchanged; single rows equal those of the whole decoded log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rfview.engine.chunk import ALL_REGISTERS, CLEARED, LOST, NO_ROW, REGISTERS_OF_WARP, Rows, Writes
from rfview.sessions.codec import streams
from rfview.sessions.codec.encode import memory_blob, rows_blob, rows_of_values, writes_blob
from rfview.sessions.codec.logs import MEMORY, ROWS, WRITES, RowLog, prefix_counts, read_memory, read_slot, read_writes
from tests.sessions.conftest import CHUNK, CYCLES


def logs(recorded: Any) -> list[tuple[dict[str, Any], Any]]:
    """Return the row logs and row sums of a recording, each with all its writes decoded."""
    found = []
    for number in range(len(recorded.chunk_starts())):
        content = recorded._content(number)[1]
        for name in ("rows", "row_sum"):
            if name in content:
                stored = streams.split(streams.decompress(content[name]), ROWS)
                found.append((stored, unpacked(stored)))
    return found


def unpacked(stored: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows written and their values, decoded write by write as README.md describes."""
    numbers = {name: iter(streams.numbers(stored[name]).tolist()) for name in ROWS[3:]}
    rows = []
    for kind in streams.numbers(stored["kind"]).tolist():
        if kind == 2:
            rows.append([next(numbers["raw"]) for _ in range(32)])
            continue
        base, code = next(numbers["base"]), next(numbers["step"]) if kind else 0
        step = code // 2 if code % 2 == 0 else -(code // 2) - 1
        rows.append([(base + lane * step) % (1 << 32) for lane in range(32)])
    assert all(next(left, None) is None for left in numbers.values())
    return streams.undeltas(streams.numbers(stored["index"])), np.array(rows, np.uint64).reshape(-1, 32).astype(np.uint32)


def written(random: np.random.RandomState, count: int) -> np.ndarray:
    """Return rows of every kind, and rows that are nearly of another kind."""
    rows = random.randint(0, 1 << 32, (count, 32), np.uint32)
    even = rows[:, :1] + np.arange(32, dtype=np.uint32) * rows[:, 1:2]
    same = np.repeat(rows[:, :1], 32, axis=1)
    choices = np.stack((rows, even, same, even.copy(), same.copy()))
    choices[3:, :, 31] ^= 1
    return choices[random.randint(0, len(choices), count), np.arange(count)]


@pytest.mark.nojit
def test_rows_of_every_kind_come_back() -> None:
    random = np.random.RandomState(3)
    index, value = random.randint(0, 90, 400).astype(np.uint32), written(random, 400)
    stored = streams.split(bytes(rows_blob(rows_of_values(index, value))), ROWS)
    assert set(streams.numbers(stored["kind"]).tolist()) == {0, 1, 2}
    again = unpacked(stored)
    assert (again[0] == index).all() and (again[1] == value).all()
    log, writes = RowLog(stored, 1 << 16), np.arange(400)
    assert (log.values(writes) == value).all()
    for lanes in (slice(0, 1), slice(17, 18), slice(31, 32), slice(4, 20)):
        assert (log.values(writes[::3], lanes) == value[::3, lanes]).all()
    end = np.sort(random.randint(0, 401, 50)).astype(np.uint32)
    end[-1] = 400
    log = RowLog(streams.split(bytes(rows_blob(replace(rows_of_values(index, value), end=end))), ROWS), 1 << 16)
    assert (log.end == end).all() and (log.values(writes) == value).all()


@pytest.mark.nojit
def test_memory_writes_come_back() -> None:
    random = np.random.RandomState(4)
    index, value = random.randint(0, 1 << 20, 300).astype(np.uint32), random.randint(0, 1 << 32, 300, np.uint32)
    end = np.array([0, 100, 100, 300], np.uint32)
    stored = streams.split(bytes(memory_blob(index, value, end)), MEMORY)
    again = read_memory(stored, 1 << 20)
    assert (again[0] == index).all() and (again[1] == value).all() and (prefix_counts(stored["counts"], 300) == end).all()


def some_writes(random: np.random.RandomState, cycles: int) -> tuple[Writes, Rows]:
    """Return writes and rows; writes refer to row writes of their cycle, have values of their own, or have none."""
    row_end = np.cumsum(random.randint(0, 3, cycles)).astype(np.uint32)
    index, value = random.randint(0, 90, row_end[-1]).astype(np.uint32), written(random, int(row_end[-1]))
    rows = replace(rows_of_values(index, value), end=row_end)
    count = random.randint(0, 4, cycles)
    end, cycle = np.cumsum(count).astype(np.uint32), np.repeat(np.arange(cycles), count)
    first = np.append(0, row_end[:-1])[cycle]
    number = row_end[cycle] - first
    row = np.where((random.rand(len(cycle)) < 0.2) | (number == 0), NO_ROW, first + random.randint(0, 9, len(cycle)) % np.maximum(number, 1))
    pc = random.choice([3, 4, 70_000, LOST, CLEARED], len(cycle)).astype(np.uint32)
    row = np.where(pc == CLEARED, NO_ROW, row).astype(np.uint32)
    own = int(((row == NO_ROW) & (pc != CLEARED)).sum())
    register = random.randint(0, 4096, len(cycle)).astype(np.uint32)
    register[pc == CLEARED] |= np.uint32(ALL_REGISTERS)
    return Writes(end, register, random.randint(0, 1 << 32, len(cycle), np.uint32),
                  pc, row, random.randint(0, 1 << 32, 32 * own, np.uint32)), rows


@pytest.mark.nojit
@pytest.mark.parametrize("cycles", (1, 2, 60))
def test_register_writes_come_back(cycles: int) -> None:
    random = np.random.RandomState(cycles)
    writes, rows = some_writes(random, cycles)
    again = read_writes(streams.split(bytes(writes_blob(writes, rows.end)), WRITES), rows.end)
    for name in ("end", "register", "lanes", "pc", "row", "word"):
        assert (getattr(again, name) == getattr(writes, name)).all(), name
    chosen = np.flatnonzero(random.rand(len(writes.pc)) < 0.5)
    assert (again.values(chosen, rows.some) == writes.values(chosen, rows.some)).all()
    stored = streams.split(bytes(writes_blob(writes, rows.end)), WRITES)
    if (writes.row != NO_ROW).any():
        with pytest.raises(ValueError, match="does not exist"):
            read_writes(stored, np.zeros_like(rows.end))


@pytest.mark.nojit
def test_the_writes_of_one_slot_are_those_of_the_whole_log() -> None:
    writes, rows = some_writes(np.random.RandomState(8), 200)
    everything = read_slot(streams.split(bytes(writes_blob(writes, rows.end)), WRITES), rows.end, 3)
    assert (everything.register == writes.register).all()      # values without rows: their places depend on all slots
    cycle, with_row = np.repeat(np.arange(200), np.diff(writes.end, prepend=0)), (writes.row != NO_ROW) | (writes.pc == CLEARED)
    kept = {name: getattr(writes, name)[with_row] for name in ("register", "lanes", "pc", "row")}
    end = np.cumsum(np.bincount(cycle[with_row], minlength=200)).astype(np.uint32)
    stored = streams.split(bytes(writes_blob(replace(writes, end=end, word=writes.word[:0], **kept), rows.end)), WRITES)
    for slot in (0, 3, 15, 40):
        own = kept["register"] // REGISTERS_OF_WARP == slot
        again = read_slot(stored, rows.end, slot)
        for name, values in kept.items():
            assert (getattr(again, name) == values[own]).all(), (slot, name)
        assert (np.repeat(np.arange(200), np.diff(again.end, prepend=0)) == cycle[with_row][own]).all()
        assert own.any() == (slot < 16)
    with pytest.raises(ValueError, match="does not exist"):
        read_slot(stored, np.zeros_like(rows.end), 3)


def test_some_writes_equal_all_writes(recorded: Any) -> None:
    order = np.random.RandomState(1)
    every = logs(recorded)
    assert len(every) > CYCLES // CHUNK
    for stored, (index, value) in every:
        log = RowLog(stored, 1 << 16)
        assert (log.index == index).all()
        for size in (0, 1, len(index) // 2, len(index)):
            writes = np.sort(order.permutation(len(index))[:size])
            assert (log.values(writes) == value[writes]).all()
            assert (log.values(writes, slice(9, 10)) == value[writes, 9:10]).all()
        rows = len(recorded.header.rows)
        places = order.randint(0, 2, rows).astype(bool)
        newest = np.zeros((rows, 32), np.uint32)
        newest[index] = value
        found, values = log.newest(places)
        assert set(found.tolist()) == set(index[places[index]].tolist()) and (values == newest[found]).all()


def test_streams_that_do_not_fit_are_refused(recorded: Any) -> None:
    stored, _ = logs(recorded)[0]
    with pytest.raises(ValueError, match="inconsistent"):
        RowLog({**stored, "kind": (3, 0, memoryview(b""))}, 1 << 16)
    with pytest.raises(ValueError, match="inconsistent"):
        RowLog({**stored, "kind": (stored["kind"][0], 1, memoryview(bytes([5]) * stored["kind"][0]))}, 1 << 16)
    with pytest.raises(ValueError, match="writes row"):
        _ = RowLog(stored, 1).index


def test_a_row_is_what_the_machine_had(file: Path, recorded: Any, truth: list) -> None:
    for row in (0, 7, 31):
        column = recorded.row_column(row, 0, CYCLES + 1)
        assert all((column[cycle] == truth[cycle].rows[row]).all() for cycle in range(CYCLES + 1))
        assert (recorded.row_column(row, 0, CYCLES + 1, slice(31, 32)) == column[:, 31:]).all()
        assert (recorded.row_column(row, 100, 700) == column[100:700]).all()
