"""A recorded and a live timeline over the simulator double, with the double's snapshot at every cycle as the oracle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rfview.engine.snapshot import Snapshot
from rfview.sessions.timeline.live import LiveTimeline
from rfview.sessions.file.writer import record
from rfview.sessions.timeline.opening import open_recording
from rfview.sessions.timeline.replay import RecordedTimeline
from tests.sessions.double import Double, snapshots

CYCLES, CHUNK = 700, 40


@pytest.fixture(scope="session")
def truth() -> list[Snapshot]:
    """Return the double's snapshots at cycles 0..CYCLES."""
    return snapshots(CYCLES)


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of a recording of the double, 18 chunks."""
    path = tmp_path_factory.mktemp("sessions") / "double.rfs"
    record(Double(CYCLES), path, chunk_cycles=CHUNK)
    return path


@pytest.fixture
def recorded(file: Path) -> Iterator[RecordedTimeline]:
    """Yield the recording, opened."""
    timeline = open_recording(file)
    yield timeline
    timeline.close()


@pytest.fixture
def live() -> LiveTimeline:
    """Return a live timeline that has run to its end."""
    timeline = LiveTimeline(Double(CYCLES), chunk_cycles=CHUNK)
    timeline.extend(CYCLES)
    return timeline


@pytest.fixture(params=["recorded", "live"])
def timeline(request: pytest.FixtureRequest) -> LiveTimeline | RecordedTimeline:
    """Return each kind of timeline in turn."""
    return request.getfixturevalue(request.param)
