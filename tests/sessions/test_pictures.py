"""Buffers as pictures: sizes, differences from a run without losses, files, and chains that end at lost bits."""

from __future__ import annotations

import io
import json
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from rfview.cli import main
from rfview.engine.chunk import LOST
from rfview.engine.errors import InputError
from rfview.sessions import Session, open_session
from rfview.sessions.commands.table import execute
from rfview.sessions.heat import RegisterHeat
from rfview.sessions.pictures.origin import origin
from rfview.sessions.pictures.picture import picture
from rfview.sessions.pictures.png import encode
from rfview.sessions.pictures.right import right_run

PLAIN = Path(__file__).resolve().parents[2] / "rfview" / "learn" / "recorded" / "drain.rfs"


@pytest.fixture(scope="module")
def lossy() -> Session:
    """Return the end of a run that loses bits; the wrong values reach its output through shared memory."""
    session = open_session("hotspot", design="edram", settings={"edram.error_mode": "certain"})
    session.goto("end")
    return session


def decoded(data: bytes) -> np.ndarray:
    """Return the (height, width, 3) pixels of a PNG that has one IDAT chunk of unfiltered rows."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    file, parts = io.BytesIO(data[8:]), {}
    while head := file.read(8):
        size, kind = struct.unpack(">I4s", head)
        parts[kind] = file.read(size)
        assert struct.unpack(">I", file.read(4))[0] == zlib.crc32(kind + parts[kind])
    width, height, depth, colour = struct.unpack(">IIBB", parts[b"IHDR"][:10])
    assert (depth, colour) == (8, 2)
    rows = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(height, 1 + 3 * width)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, 3)


def test_a_picture_is_the_buffer_beside_what_it_began_with() -> None:
    with open_session(PLAIN) as session:
        timeline, variable = session.timeline, session.info.buffers[-1]
        name, total, word = variable.name, variable.bytes // 4, variable.word
        with pytest.raises(InputError, match=f"image {name} .*x"):
            picture(session, name)
        session.goto("end")
        found = picture(session, name, f"32x{total // 32}")
        held = [timeline.at(cycle).memory[word : word + total].view("f4").reshape(-1, 32) for cycle in (0, timeline.last)]
        np.testing.assert_array_equal(found.now, held[1])
        np.testing.assert_array_equal(found.other, held[0])
        assert not found.is_right and found.settled.all()
        assert (found.wrong == (held[0].view("u4") != held[1].view("u4"))).all() and found.wrong.any()
        session.goto("start")
        assert not picture(session, name, f"32x{total // 32}").wrong.any()
        for size, said in (("0x5", "pixels"), ("9999x9999", "pixels"), ("12", "expected WIDTHxHEIGHT")):
            with pytest.raises(InputError, match=said):
                picture(session, name, size)
        with pytest.raises(InputError, match="no such buffer"):
            picture(session, "nosuch", "2x2")


def test_errors_are_those_against_the_run_without_losses(lossy: Session) -> None:
    right = right_run(lossy)
    assert right is right_run(lossy) and right.info.parameters["edram.error_mode"] == "none"
    assert int(Session(right).value("event.bits_lost")) == 0
    for variable in lossy.info.buffers:
        found = picture(lossy, variable.name)
        word, size = variable.word, variable.bytes // 4
        ours, theirs = (run.at(run.last).memory[word : word + size] for run in (lossy.timeline, right))
        assert found.is_right and int(found.wrong.sum()) == int((ours != theirs).sum())
        data = json.loads(json.dumps(found.data(), allow_nan=False))
        if data["wrong"]:
            x, y = data["worst_at"]
            assert found.error[y, x] == found.error.max() == data["worst"]
            assert data["rmse"] == pytest.approx(float(np.sqrt(np.mean(found.error**2))))
            assert found.error.ravel()[found.by_size()].tolist() == sorted(found.error[found.wrong].tolist(), reverse=True)


def test_before_the_end_only_what_is_final_counts_as_wrong(lossy: Session) -> None:
    end = picture(lossy, "temp_a")
    lossy.goto("60%")
    half = picture(lossy, "temp_a")
    lossy.goto("end")
    assert 0 < half.settled.sum() < half.settled.size
    assert not (half.wrong & ~end.wrong).any() and half.wrong.sum() < end.wrong.sum()


def test_wrong_elements_lead_to_lost_bits(lossy: Session) -> None:
    found = picture(lossy, "temp_a")
    ends = []
    for element in found.by_size()[::25].tolist():
        links = origin(lossy, "temp_a", element)
        assert links[0].kind == "store" and links[0].lane >= 0
        data = lossy.timeline.at(links[0].cycle).memory[_word(lossy, "temp_a", element)]
        assert data == found.now.ravel()[element].view("u4"), "the store left what is there"
        cycles = [link.cycle for link in links if link.cycle >= 0 and link.kind != "loaded"]
        assert cycles == sorted(cycles, reverse=True), "each step lies before the one that it explains"
        ends.append(any(link.kind == "lost" for link in links))
        for link in links:
            if link.kind == "lost":
                entries = RegisterHeat(lossy.timeline, link.warp, link.register).entries(link.cycle, link.cycle)
                at = entries.pc[entries.cycle == link.cycle]
                assert (at == LOST).any() and link.lost_bits and not link.lost_bits >> 16, "only lower halves lose bits"
    assert sum(ends) >= 0.8 * len(ends), ends


def test_a_right_element_ends_at_its_store_and_an_input_at_the_host(lossy: Session) -> None:
    found = picture(lossy, "temp_a")
    right = int(np.flatnonzero(~found.wrong.ravel())[0])
    assert [link.kind for link in origin(lossy, "temp_a", right)] in (["store"], ["host"])
    assert [link.kind for link in origin(lossy, "power", 0)] == ["host"]
    with pytest.raises(InputError, match="has elements 0"):
        origin(lossy, "power", 1 << 30)


def _word(session: Session, name: str, element: int) -> int:
    return next(int(one.word) for one in session.info.buffers if one.name == name) + element


def test_the_file_has_three_panes_on_one_scale(lossy: Session, tmp_path: Path) -> None:
    found = picture(lossy, "temp_a")
    pixels = decoded(encode(found))
    factor = pixels.shape[0] // found.height
    assert factor > 1 and pixels.shape[1] == 3 * factor * found.width + 2 * 4
    panes = [pixels[::factor, place * (factor * found.width + 4) :][:, : factor * found.width : factor] for place in range(3)]
    assert (panes[0][..., 0] == panes[0][..., 1]).all() and panes[0].max() == 255 and panes[0].min() == 0
    assert ((panes[2] != panes[2][~found.wrong][0]).any(axis=2) == found.wrong).all(), "red where it is wrong, nowhere else"
    answer = execute(lossy, f"image temp_a > {tmp_path / 'out.png'}")
    assert (tmp_path / "out.png").read_bytes() == encode(found) and "written" in answer.text
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    assert image.open(tmp_path / "out.png").size == (pixels.shape[1], pixels.shape[0])
    with pytest.raises(InputError, match=r"ends in \.png"):
        execute(lossy, f"image temp_a > {tmp_path / 'out.jpg'}")


def test_the_commands_answer_in_text_and_json(lossy: Session) -> None:
    answer = execute(lossy, "image temp_a 48x48")
    assert "wrong" in answer.text and "PSNR" in answer.text and json.loads(json.dumps(answer.data))["image"]["bits_lost"] > 0
    worst = int(picture(lossy, "temp_a").by_size()[0])
    answer = execute(lossy, f"origin temp_a[{worst}]")
    assert answer.text.startswith(" 1 stored by w") and json.loads(json.dumps(answer.data))["origin"][0]["kind"] == "store"
    for line, said in (("origin", "expected `origin BUFFER"), ("origin temp_a", "as in"), ("image temp_a 1 2 3", "expected"), ("image a >", "expec")):
        with pytest.raises(InputError, match=said):
            execute(lossy, line)


def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["image", str(PLAIN), "c", "32x16", "--png", str(tmp_path / "c.png")]) == 0
    assert "changed" in capsys.readouterr().out and decoded((tmp_path / "c.png").read_bytes()).size
    assert main(["image", str(PLAIN), "c", "32x16", "--json", "--goto", "start"]) == 0
    assert json.loads(capsys.readouterr().out)["wrong"] == 0
    assert main(["image", str(PLAIN), "c", "7x"]) == 2
    assert "expected WIDTHxHEIGHT" in capsys.readouterr().err
