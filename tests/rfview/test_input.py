"""What a terminal sends is hostile until read: bytes and sequences without a meaning are dropped, and the next key works."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from textual import events

from rfview.screens.drivers import InputReader
from tests.rfview.terminal import REPOSITORY, Terminal

RECORDED = REPOSITORY / "rfview" / "learn" / "recorded" / "first.rfs"
# what old terminals, other encodings and cut connections send
STRANGE = {
    "X10 report at column 160": b"\x1b[M\x20\xc0\x30",
    "X10 report whose bytes are a letter in UTF-8": b"\x1b[M\x20\xc3\xa9",
    "X10 release at the last column": b"\x1b[M\x23\xff\xff",
    "Latin-1 key": b"\xe9",
    "Latin-1 paste": b"\x1b[200~goto 5\xe9\x1b[201~",
    "half a character": b"\xf0\x9f",
    "bytes that UTF-8 never has": b"\xff\xfe\xc0\x80\xed\xa0\x80",
    "key beyond Unicode": b"\x1b[1114112;2u",
    "key that is half a pair": b"\x1b[55296;1u",
    "key with two numbers": b"\x1b[1:2;3u",
    "text beyond Unicode": b"\x1b[97;1;9999999u",
    "terminal of size 0": b"\x1b[48;0;0;0;0t\x1b[<0;5;5M",
    "terminal of 99999 columns": b"\x1b[48;24;99999;1;1t",
    "mouse at no place": b"\x1b[<0;-1;-999999999999999999999M",
}
PIECES = st.one_of(st.binary(max_size=8), st.sampled_from([*STRANGE.values(), b"\x1b[", b"\x1b[M", b"\x1b[<", b"\x1b[200~"]),
                   st.from_regex(rb"\x1b\[[0-9:;<?]{0,9}[A-Za-z~]", fullmatch=True))


def keys(reader: InputReader, data: bytes) -> list[str]:
    """Return the keys in what was sent."""
    return [message.key for message in reader.feed(data) if isinstance(message, events.Key)]


@given(st.lists(PIECES, max_size=6))
@example([b"\x1b[M", b"\x20\xc0", b"\x30"])
def test_the_key_after_any_bytes_arrives_and_every_character_can_be_written(pieces: list[bytes]) -> None:
    reader = InputReader()
    for piece in pieces:
        for message in reader.feed(piece):
            str(getattr(message, "text", getattr(message, "character", ""))).encode()
    assert keys(reader, b"\x1b[201~s")[-1] == "s"      # ends a paste and a sequence that were begun


@pytest.mark.parametrize("pasted", ["\x1bq", "\x1b[31mred\x1b[0m", "\x1b", "\x1b\x1b[201", "\x1b[200~s", "\x1b[1;2A\x1b[<0;3;4M", "\x1bOP\x1b[Z"])
@pytest.mark.parametrize("cut", [1, 3, 100])
def test_nothing_in_a_paste_is_a_key_or_a_click(pasted: str, cut: int) -> None:
    reader, sent = InputReader(), f"\x1b[200~{pasted}\x1b[201~j".encode()
    messages = [message for at in range(0, len(sent), cut) for message in reader.feed(sent[at : at + cut])]
    assert [type(message) for message in messages] == [events.Paste, events.Key]
    assert messages[0].text == pasted.replace("\x1b", "") and messages[1].key == "j"


@pytest.mark.parametrize("cut", range(1, 7))
@pytest.mark.parametrize("report", [b"\x1b[M\x20\xc0\x30", b"\x1b[M\x20\xc3\xa9", b"\x1b[M\xff\xff\xff"])
def test_a_mouse_report_of_old_terminals_takes_six_bytes_wherever_it_is_cut(report: bytes, cut: int) -> None:
    reader = InputReader()
    assert keys(reader, report[:cut]) + keys(reader, report[cut:] + b"js") == ["j", "s"]


def test_letters_and_pastes_keep_what_can_be_decoded() -> None:
    reader = InputReader()
    assert keys(reader, "é".encode()[:1]) == [] and keys(reader, "é".encode()[1:] + b"\xe9s") == ["é", "s"]
    pasted = [message for message in reader.feed(STRANGE["Latin-1 paste"]) if isinstance(message, events.Paste)]
    assert [message.text for message in pasted] == ["goto 5"]


@pytest.mark.parametrize(("words", "shows", "key", "answer"), [
    (["replay", "{0}"], "STALLS", "s", "cycle 1 "), (["learn", "first"], "cycle 2 ", "s", "cycle 3 "),
    (["compare", "{0}", "{1}"], "instruction 2,", "s", "instruction 4,"), ([], "KERNELS", "s", "s does nothing here")])
def test_every_screen_lives_on_after_bytes_that_are_no_text(words: list[str], shows: str, key: str, answer: str,
                                                            tmp_path: Path) -> None:
    files = [str(shutil.copy(RECORDED, tmp_path / name)) for name in ("a.rfs", "b.rfs")]
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_STATE_HOME": str(tmp_path / "state")}
    with Terminal([word.format(*files) for word in words], environ=home) as terminal:
        terminal.wait(shows)
        for data in STRANGE.values():
            terminal.send(data)
        terminal.send(key)
        terminal.wait(answer)
        os.kill(terminal.process.pid, signal.SIGTERM)
        assert terminal.end() == 143
        assert "Traceback" not in terminal.raw
    assert not list(tmp_path.rglob("rfview-crash*"))
