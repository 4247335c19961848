"""Single rows decoded from a log equal the whole log decoded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rfview.sessions.codec import codec
from rfview.sessions.codec.encode import sum_of
from rfview.sessions.codec.rowlog import RowLog
from tests.sessions.conftest import CHUNK, CYCLES


def logs(recorded: Any) -> list[tuple[dict[str, Any], Any]]:
    """Return the row logs and sums of a recording, each with all its writes decoded."""
    found = []
    for number in range(len(recorded.chunk_starts())):
        content = recorded._content(number)
        for name in ("rows", "row_sum"):
            if name in content:
                stored = codec.expand_streams(content[name], codec.ROWS, name)
                found.append((stored, unpacked(stored)))
    return found


def unpacked(stored: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows written, and what was written, write after write as format.py says."""
    numbers = {name: iter(codec.unpack(stored[name]).tolist()) for name in codec.ROWS[3:]}

    def difference(name: str) -> int:
        return int(codec.unzigzag(np.array([next(numbers[name])], np.uint32))[0])

    rows = []
    for kind in codec.unpack(stored["kind"]).tolist():
        if kind in (2, 3):
            lanes = [next(numbers["raw" if kind == 2 else "short"]) for _ in range(32)]
        else:
            step = difference("step") if kind == 1 else 0
            lanes = [next(numbers["base"])]
            lanes += [step if kind < 4 else difference("steps") for _ in range(31)]
            lanes = np.cumsum(np.array(lanes, np.uint64)).tolist()
        rows.append(lanes)
    assert all(next(left, None) is None for left in numbers.values())
    index = np.cumsum(codec.unzigzag(codec.unpack(stored["index"])), dtype=np.uint32)
    return index, np.array(rows, np.uint64).reshape(-1, 32).astype(np.uint32)


def written(random: np.random.RandomState, count: int) -> np.ndarray:
    """Return rows of every kind, and those that are nearly of another one."""
    rows = random.randint(0, 1 << 32, (count, 32), np.uint32)
    smooth = np.cumsum(random.randint(-(1 << 15), 1 << 15, (count, 32)), axis=1).astype(np.uint32) + rows[:, :1]
    small = random.randint(0, 1 << 16, (count, 32)).astype(np.uint32)
    even = rows[:, :1] + np.arange(32, dtype=np.uint32) * rows[:, 1:2]
    choices = np.stack((rows, smooth, small, even, np.repeat(rows[:, :1], 32, axis=1), smooth.copy(), small.copy()))
    # steps and lanes just beyond two bytes
    choices[5, :, 17:] += np.uint32(1 << 16)
    choices[6, :, 31] = 1 << 16
    return choices[random.randint(0, len(choices), count), np.arange(count)]


@pytest.mark.nojit
def test_rows_of_every_kind_come_back() -> None:
    random = np.random.RandomState(3)
    index, value = random.randint(0, 90, 400).astype(np.uint32), written(random, 400)
    stored = codec.streams(bytes(sum_of(index, value)), codec.ROWS)
    assert set(codec.unpack(stored["kind"]).tolist()) == {0, 1, 2, 3, 4}
    again = unpacked(stored)
    assert (again[0] == index).all() and (again[1] == value).all()
    log, writes = RowLog(stored), np.arange(400)
    assert (log.values(writes) == value).all()
    for lanes in (slice(0, 1), slice(17, 18), slice(31, 32), slice(4, 20)):
        assert (log.values(writes[::3], lanes) == value[::3, lanes]).all()


def test_some_writes_equal_all_writes(recorded: Any) -> None:
    order = np.random.RandomState(1)
    every = logs(recorded)
    assert len(every) > CYCLES // CHUNK
    for stored, (index, value) in every:
        log = RowLog(stored)
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
    with pytest.raises(ValueError, match="fit"):
        RowLog({**stored, "kind": codec.pack(np.zeros(3, np.uint8))})
    with pytest.raises(ValueError, match="fit"):
        RowLog({**stored, "kind": codec.pack(np.full(stored["kind"][0], 5, np.uint8))})


def test_a_row_is_what_the_machine_had(file: Path, recorded: Any, truth: list) -> None:
    for row in (0, 7, 31):
        column = recorded.row_column(row, 0, CYCLES + 1)
        assert all((column[cycle] == truth[cycle].rows[row]).all() for cycle in range(CYCLES + 1))
        assert (recorded.row_column(row, 0, CYCLES + 1, slice(31, 32)) == column[:, 31:]).all()
        assert (recorded.row_column(row, 100, 700) == column[100:700]).all()
