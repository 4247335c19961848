"""One recording per format number is kept here; it must always open, with the states it was made with."""

from __future__ import annotations

from pathlib import Path

import msgpack
import pytest

from rfview.engine.errors import InputError
from rfview.sessions.file.header import FORMAT, Header, LAYOUT
from rfview.sessions.timeline.opening import describe, is_recording, open_recording

GOLDEN = Path(__file__).parent / "golden"


def test_every_format_opens_with_its_states() -> None:
    timeline = open_recording(GOLDEN / "format1.rfs", check=True)
    assert timeline.header.number == describe(timeline.path)["format"] == FORMAT == 1 and not timeline.warnings
    shot = timeline.at(333)
    assert (timeline.first, timeline.last, shot.cycle) == (0, 400, 333)
    assert (timeline.info.kernel, timeline.info.design) == ("nw", "sram") and len(timeline.chunk_starts()) == 10
    assert [int(warp.pc) for warp in shot.sm.warp[:8]] == [31] * 8
    assert shot.register(0, 2)[:16].tolist() == list(range(1224, 1240))
    assert int(shot.sm.events[0]) == 248
    assert int(shot.sm.state_count.sum()) == 48
    row = int(shot.sm.warp[1].reg_base) + 3
    assert timeline.row_column(row, 333, 334)[0].tolist() == shot.rows[row].tolist() == [28672] * 16 + [0] * 16
    assert shot.memory.any()


def test_a_file_from_before_format_1_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "old.rfs"
    path.write_bytes(b"\x89RFV\r\n\x1a\n" + b"HEAD and so on")
    assert is_recording(path)
    with pytest.raises(InputError) as caught:
        open_recording(path)
    assert str(caught.value).endswith("old.rfs: a recording of an earlier rfview, from before session format 1; "
                                      "record the run again")


def test_a_file_of_another_layout_is_one_sentence() -> None:
    header = {"format": FORMAT, "body": b"laid out otherwise"}
    with pytest.raises(InputError) as caught:
        Header.unpack(msgpack.packb(header), "old.rfs")
    assert str(caught.value) == ("old.rfs: a recording in layout 1 of session format 1, this rfview reads layout "
                                 f"{LAYOUT}; record the run again")
