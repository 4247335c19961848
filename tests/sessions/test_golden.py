"""One recording per format number stays here and must open for ever, with the states it was made with."""

from __future__ import annotations

from pathlib import Path

import pytest

from rfview.sessions.file.opening import describe, open_recording

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("number", (2, 3, 4, 5))
def test_every_format_opens_with_its_states(number: int) -> None:
    timeline = open_recording(GOLDEN / f"format{number}.rfs", check=True)
    assert timeline.header.number == describe(timeline.path)["format"] == number and not timeline.warnings
    shot = timeline.at(333)
    assert (timeline.first, timeline.last, shot.cycle) == (0, 400, 333)
    assert timeline.info["kernel"] == "vectoradd" and timeline.info["design"].startswith("stt")
    assert int(shot.sm.warp[5].pc) == 12
    assert shot.register(3, 2)[:4].tolist() == [384, 388, 392, 396]
    assert int(shot.sm.events[0]) == 544
    assert int(shot.sm.state_count.sum()) == 48
    row = int(shot.sm.warp[3].reg_base) + 2
    assert timeline.row_column(row, 333, 334)[0].tolist() == shot.rows[row].tolist() == list(range(384, 512, 4))
    assert shot.memory.any()
