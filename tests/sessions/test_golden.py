"""One recording per format number stays here and must open for ever, with the states it was made with."""

from __future__ import annotations

from pathlib import Path

from sessions.replay import open_recording

GOLDEN = Path(__file__).parent / "golden"


def test_format_2_opens_with_its_states() -> None:
    timeline = open_recording(GOLDEN / "format2.rfs")
    shot = timeline.at(333)
    assert (timeline.first, timeline.last, shot.cycle) == (0, 400, 333)
    assert timeline.info["kernel"] == "vectoradd" and timeline.info["design"].startswith("stt")
    assert int(shot.sm.warp[5].pc) == 12
    assert shot.register(3, 2)[:4].tolist() == [384, 388, 392, 396]
    assert int(shot.sm.events[0]) == 544
    assert int(shot.sm.state_count.sum()) == 48
