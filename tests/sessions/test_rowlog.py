"""Single rows decoded from a log equal the whole log decoded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sessions import codec
from sessions.rowlog import RowLog
from tests.sessions.conftest import CHUNK, CYCLES


def logs(recorded: Any) -> list[tuple[dict[str, Any], Any]]:
    """Return the row logs and sums of a recording, each with all its writes decoded."""
    found = []
    for number in range(len(recorded.chunk_starts())):
        content = recorded._content(number)
        for name in ("rows", "row_sum"):
            if name in content:
                stored = codec.expand_streams(content[name], codec.ROWS, name)
                found.append((stored, codec.unpack_rows(stored)))
    return found


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


def test_a_row_is_what_the_machine_had(file: Path, recorded: Any, truth: list) -> None:
    for row in (0, 7, 31):
        column = recorded.row_column(row, 0, CYCLES + 1)
        assert all((column[cycle] == truth[cycle].rows[row]).all() for cycle in range(CYCLES + 1))
        assert (recorded.row_column(row, 0, CYCLES + 1, slice(31, 32)) == column[:, 31:]).all()
        assert (recorded.row_column(row, 100, 700) == column[100:700]).all()
