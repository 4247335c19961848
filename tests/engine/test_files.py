"""Files are written completely or not at all, and never over an input or anything other than a regular file."""

from __future__ import annotations

import errno
import os
import socket
import stat
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from rfview.engine import files
from rfview.engine.errors import InputError
from rfview.engine.launch.table import read_toml


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_written_and_replaced_with_the_umask_and_nothing_else_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    files.write(target, "one\n")
    files.write(target, b"two")
    assert target.read_bytes() == b"two" and names(tmp_path) == ["a.txt"]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~mask


def test_a_byte_order_mark_is_no_part_of_a_text(tmp_path: Path) -> None:
    (tmp_path / "k.toml").write_bytes(b"\xef\xbb\xbf[keys]\n")
    assert files.read_text(tmp_path / "k.toml") == "[keys]\n" and read_toml(tmp_path / "k.toml", "file") == ({"keys": {}}, "[keys]\n")


def test_a_plain_name_is_a_stem_as_it_is() -> None:
    assert files.stems_of(["x", "a.b$c%d", "_Z3addPf"]) == ["x", "a.b$c%d", "_Z3addPf"]


@given(st.lists(st.text(max_size=200) | st.sampled_from(["a", "A", "a_2", "../a", "-a", ".a", "k" * 300, "K" * 299, "e\u0301", "\0"])))
def test_names_of_anything_make_file_names_that_are_safe_short_and_different(names: list[str]) -> None:
    stems = files.stems_of(names)
    assert len({stem.lower() for stem in stems}) == len(names) == len(stems)
    for stem in stems:
        assert stem.isascii() and "/" not in stem and "\\" not in stem and stem[0] not in "-." and 0 < len(stem) < 100
        assert stem.isprintable() and " " not in stem


@pytest.mark.parametrize("kind", ["folder", "link", "dangling link", "pipe", "socket", "device"])
def test_what_is_no_regular_file_is_refused_and_stays(tmp_path: Path, kind: str) -> None:
    target, other = tmp_path / "x", tmp_path / "other"
    other.write_text("precious")
    listening = socket.socket(socket.AF_UNIX)
    if kind == "folder":
        target.mkdir()
    elif kind == "pipe":
        os.mkfifo(target)
    elif kind == "socket":
        listening.bind(str(target))
    elif kind == "device":
        target = Path("/dev/null")
    else:
        target.symlink_to(other if kind == "link" else tmp_path / "nowhere")
    before = names(tmp_path)
    with pytest.raises(InputError, match=f"is a {kind.removeprefix('dangling ')}; expected the name of a file"):
        files.write(target, "new")
    listening.close()
    assert other.read_text() == "precious" and names(tmp_path) == before and not (tmp_path / "nowhere").exists()


def test_an_input_is_never_written_to_by_whatever_name(tmp_path: Path) -> None:
    source = tmp_path / "in.rfs"
    source.write_text("input")
    (tmp_path / "link.rfs").symlink_to(source)
    os.link(source, tmp_path / "hard.rfs")
    for read_from in (source, tmp_path / "link.rfs", tmp_path / "hard.rfs"):
        with pytest.raises(InputError, match="is being read from"):
            files.write(tmp_path / "." / "in.rfs", "new", inputs=[read_from])
    assert source.read_text() == "input"


@pytest.mark.parametrize("begin", [files.RECORDING, files.OLD_RECORDING])
def test_only_a_recording_replaces_a_recording(tmp_path: Path, begin: bytes) -> None:
    target = tmp_path / "run.rfs"
    target.write_bytes(begin + b"hours of simulation")
    with pytest.raises(InputError, match="run.rfs: is a recording, which only another recording replaces; give another name"):
        files.write(target, "design,cycles")
    assert target.read_bytes() == begin + b"hours of simulation" and names(tmp_path) == ["run.rfs"]
    made = files.NewFile(target, is_recording=True)
    made.file.write(begin)
    made.commit()
    assert target.read_bytes() == begin


def test_what_only_begins_like_a_picture_or_is_shorter_than_a_magic_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "chart.png"
    for content in (b"", files.RECORDING[:4], b"\x89PNG\r\n\x1a\n"):
        target.write_bytes(content)
        files.write(target, "new")
        assert target.read_text() == "new"


def test_a_missing_folder_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no folder"):
        files.write(tmp_path / "none" / "x", "new")


def test_two_writers_of_one_target_lose_nothing(tmp_path: Path) -> None:
    target = tmp_path / "run.rfs"
    first, second = (files.NewFile(target, suffix=".partial.rfs") for _ in range(2))
    assert first.path != second.path and first.path.name.endswith(".partial.rfs") and first.path.name.startswith("run.")
    first.file.write(b"first")
    second.file.write(b"second")
    second.commit()
    with pytest.raises(files.ChangedMeanwhile, match=first.path.name):
        first.commit()
    assert target.read_bytes() == b"second" and first.path.read_bytes() == b"first"


def test_a_target_that_appears_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(files.ChangedMeanwhile), files.writing(tmp_path / "x") as file:
        file.write(b"ours")
        (tmp_path / "x").write_bytes(b"theirs")
    assert (tmp_path / "x").read_bytes() == b"theirs" and len(names(tmp_path)) == 2
    with pytest.raises(files.ChangedMeanwhile):
        files.write(tmp_path / "x", "ours", replaces=False)


def test_an_error_of_the_writer_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("old")
    with pytest.raises(ZeroDivisionError), files.writing_text(tmp_path / "x") as file:
        file.write("half")
        raise ZeroDivisionError
    assert (tmp_path / "x").read_text() == "old" and names(tmp_path) == ["x"]


@pytest.mark.parametrize("call", ["open", "write", "fsync", "replace"])
def test_every_call_may_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    (tmp_path / "x").write_text("old")

    def fails(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        if call == "write":
            # a really full disk: the name is in the folder, but no bytes can be written
            full = os.open("/dev/full", os.O_WRONLY)
            real = os.open
            patched.setattr(os, "open", lambda path, flags, mode=0: os.dup2(full, real(path, flags, mode)))
        else:
            patched.setattr(os, call, fails)
        with pytest.raises(InputError, match=r"x: cannot be written: No space left on device"):
            files.write(tmp_path / "x", "new" * 100_000)
    assert (tmp_path / "x").read_text() == "old" and names(tmp_path) == ["x"]


def test_text_that_utf_8_does_not_know_is_escaped(tmp_path: Path) -> None:
    files.write(tmp_path / "x", "a\udcff")
    with files.writing_text(tmp_path / "y") as file:
        file.write("b\udcfe\r\n")
    assert (tmp_path / "x").read_bytes() == b"a\\udcff" and (tmp_path / "y").read_bytes() == b"b\\udcfe\r\n"


@pytest.mark.parametrize("name", ["new/", "there/", "none/new/"])
def test_a_name_that_ends_as_a_folders_is_no_files(tmp_path: Path, name: str) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(InputError, match="is the name of a folder; expected the name of a file in it"):
        files.check_target(f"{tmp_path}/{name}")
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


@pytest.mark.parametrize("text", ["[" * 9000, '{"a":' * 9000, "", "{", "9" * 5000])
def test_json_that_is_none_is_a_value_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(ValueError):
        files.read_json(tmp_path / "a.json")
