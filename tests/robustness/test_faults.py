"""Each system call made when a recording is written or read fails once."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rfview.engine.errors import InputError
from rfview.sessions.file.writer import partials, record
from rfview.sessions.timeline.opening import open_recording
from tests.robustness import faults
from tests.sessions.double import Double

CYCLES, CHUNK = 200, 32


def show(title: str, outcomes: Counter[str]) -> None:
    """Print the number of outcomes for each kind of call; pytest -s shows it."""
    print(f"\n{title}: {sum(outcomes.values())} calls failed in turn", *(f"  {count:>3} {name}" for name, count in
                                                                       sorted(outcomes.items())), sep="\n")


def states(path: Path) -> dict[int, Any]:
    """Return states of a recording that can be read, by their cycle: several of each chunk, and the last."""
    with closing(open_recording(path)) as timeline:
        return {cycle: timeline.at(cycle) for cycle in (*range(timeline.first, timeline.last, 9), timeline.last)}


@pytest.mark.parametrize("is_there", [False, True], ids=["new", "replaced"])
def test_a_recording_whose_calls_fail_one_by_one_loses_nothing(tmp_path: Path, is_there: bool) -> None:
    truth_path = tmp_path / "truth.rfs"
    record(Double(CYCLES), truth_path, chunk_cycles=CHUNK)
    truth = states(truth_path)
    outcomes: Counter[str] = Counter()
    fails = 0
    while True:
        folder = tmp_path / str(fails)
        folder.mkdir()
        target = folder / "run.rfs"
        if is_there:
            target.write_bytes(truth_path.read_bytes())
        with faults.writing(fails) as counter:
            try:
                record(Double(CYCLES), target, chunk_cycles=CHUNK)
                failed = False
            except InputError as error:
                failed = True
                assert "run.rfs" in str(error) and "Input/output error" in str(error), error
        if len(counter.calls) <= fails:
            break
        left = partials(target)
        assert not (target.exists() and not is_there and failed and not left) or counter.calls[fails] in ("open", "fsync")
        for path in [*left, *([target] if target.exists() else [])]:
            for cycle, state in states(path).items():
                assert cycle not in truth or state.same_as(truth[cycle])
        if is_there or not failed:
            assert states(target).keys() == truth.keys(), "the file of before, or the new one, is whole"
        assert {path.name for path in folder.iterdir()} <= {"run.rfs", *(path.name for path in left)}
        outcomes[f"{counter.calls[fails]}: {'one error' if failed else 'done'}, {'kept' if left else 'nothing'} left"] += 1
        fails += 1
    show("replaced" if is_there else "new", outcomes)
    assert fails >= 12 and any(name.startswith("replace: one error, kept") for name in outcomes), outcomes


def test_a_recording_that_cannot_be_read_everywhere_says_so(tmp_path: Path) -> None:
    path = tmp_path / "run.rfs"
    record(Double(CYCLES), path, chunk_cycles=CHUNK)
    truth = states(path)
    fails = 0
    outcomes: Counter[str] = Counter()
    while True:
        with faults.reading("rfview.engine.files", fails) as counter:
            try:
                with closing(open_recording(path)) as timeline:
                    for cycle in range(timeline.first, timeline.last, 9):
                        assert timeline.at(cycle).same_as(truth[cycle])
                    whole = timeline.last == CYCLES and not timeline.warnings
                outcome = "whole" if whole else "a warning"
            except InputError as error:
                assert "run.rfs" in str(error)
                outcome = "one error"
        if len(counter.calls) <= fails:
            break
        outcomes[f"{counter.calls[fails]}: {outcome}"] += 1
        fails += 1
    show("read", outcomes)
    assert fails >= 20 and sum(count for name, count in outcomes.items() if name.endswith("whole")) <= fails // 2, outcomes
