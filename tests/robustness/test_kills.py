"""Recordings that are killed, and two that are written to the same path at the same time."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from rfview.sessions.file.writer import partials
from rfview.sessions.timeline.opening import open_recording
from tests.robustness.__main__ import GOOD, tally
from tests.conftest import PATIENCE_S

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_killed_recordings_leave_what_opens() -> None:
    outcomes, _ = tally("kills", seed=2, first=0, count=6, minutes=None)
    assert set(outcomes) <= GOOD and outcomes["part"], outcomes


def test_two_recorders_of_one_path_lose_nothing(tmp_path: Path) -> None:
    target = tmp_path / "run.rfs"
    runs = [subprocess.Popen([sys.executable, "-m", "rfview", "record", kernel, "-o", str(target)], cwd=REPOSITORY,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            for kernel in ("vectoradd", "reduction")]
    said = [process.communicate(timeout=PATIENCE_S)[1] for process in runs]
    left = partials(target)
    files = [target, *left]
    kernels = set()
    for path in files:
        with closing(open_recording(path, check=True)) as timeline:
            assert not timeline.warnings and timeline.end.finished
            kernels.add(timeline.info.name)
    if left:        # they ran at the same time: the later one reports where its recording is
        assert kernels == {"vectoradd", "reduction"} and sorted(process.returncode for process in runs) == [0, 2]
        assert any(left[0].name in text and "another program has written it in the meantime" in text for text in said)
    else:
        assert all(process.returncode == 0 for process in runs)
