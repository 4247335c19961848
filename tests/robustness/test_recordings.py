"""Hostile recordings: a few hundred changed ones, and those that need more memory than reading may use."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
import zstandard

from rfview import cli
from rfview.sessions.codec import limits, streams
from rfview.sessions.codec.changes import STATE
from rfview.sessions.file import framing
from tests.robustness.__main__ import GOOD, tally
from tests.robustness.recordings import SHORT, frames_of
from tests.conftest import PATIENCE_S

MAX_MB = 300


def test_changed_recordings_are_refused_or_shown_as_they_are() -> None:
    outcomes, _ = tally("recordings", seed=24, first=0, count=250, minutes=None)
    assert set(outcomes) <= GOOD and {"refused", "warned", "done"} <= set(outcomes), outcomes


@pytest.mark.parametrize(("seed", "number"), [(1, 68), (1, 125), (1, 2686), (1, 11265), (1, 84979)])
def test_what_was_found_stays_mended(seed: int, number: int) -> None:
    outcomes, _ = tally("recordings", seed, number, 1, None)
    assert set(outcomes) <= GOOD, outcomes


def test_cases_with_right_check_sums_reach_beyond_the_header() -> None:
    outcomes, _ = tally("recordings", seed=25, first=0, count=120, minutes=None)
    assert outcomes["warned"] + outcomes["done"] > 40, outcomes


def zeros(size: int) -> bytes:
    return zstandard.ZstdCompressor(1).compress(bytes(size))


def in_header(change: Callable[[dict[str, Any]], None]) -> bytes:
    """Return a recording that consists only of a changed header."""
    tag, payload = frames_of(SHORT.read_bytes())[0]
    outer = msgpack.unpackb(payload)
    change(outer)
    return with_frame(tag, msgpack.packb(outer))


def with_frame(tag: bytes, payload: bytes) -> bytes:
    out = io.BytesIO()
    out.write(framing.MAGIC)
    framing.write_frame(out, tag, payload)
    return out.getvalue()


def in_chunks(change: Callable[[dict[str, Any]], None]) -> bytes:
    """Return a recording without an index whose chunks were changed but are still consecutive."""
    frames = frames_of(SHORT.read_bytes())
    out = io.BytesIO()
    out.write(framing.MAGIC)
    before = 0, framing.write_frame(out, *frames[0])[1]
    for tag, payload in frames:
        if tag == framing.CHUNK:
            head, packed = framing.ChunkHead.split(payload)
            content = msgpack.unpackb(packed)
            change(content)
            made = framing.ChunkHead.following(head.number, head.num, head.first, before)
            before = made.chain, framing.write_frame(out, tag, made.pack(), msgpack.packb(content))[1]
    return out.getvalue()


def info_of(**fields: Any) -> Callable[[dict[str, Any]], None]:
    """Return a function that adds fields to the header's info."""

    def change(outer: dict[str, Any]) -> None:
        body = msgpack.unpackb(zstandard.ZstdDecompressor().decompress(outer["body"]))
        body["info"] |= fields
        outer["body"] = zstandard.ZstdCompressor(1).compress(msgpack.packb(body))

    return change


def zero_streams(number: int, count: int) -> bytes:
    """Return a blob of `number` streams of `count` zeros each, which take no bytes."""
    return zstandard.ZstdCompressor(1).compress(np.array([[count, 0]] * number, "<u4").tobytes())


BOMBS: dict[str, Callable[[], bytes]] = {
    "a blob of 16 GB": lambda: in_header(lambda outer: outer.update(memory=zeros(1 << 20)[:4] + b"\xe0" + (1 << 34).to_bytes(8, "little"))),
    "arrays of a gigabyte": lambda: in_header(lambda outer: outer.update(memory=zeros(1 << 30))),
    "arrays just within the limit": lambda: in_header(lambda outer: outer.update(memory=zeros(100 << 20))),
    "a map of short strings": lambda: in_header(info_of(more=["ab"] * 2_600_000)),
    "a map of empty lists": lambda: in_header(info_of(more=[[]] * 7_000_000)),
    "a map of nested lists": lambda: in_header(info_of(more=[[[[[]]]]] * 1_600_000)),
    "a map of 100 MB": lambda: in_header(lambda outer: outer.update(body=zeros(100 << 20))),
    "chunks of large blobs": lambda: in_chunks(lambda content: content.update(state=zeros(1 << 24), rows=zeros(1 << 24))),
    "chunks of too large blobs": lambda: in_chunks(lambda content: content.update(state=zeros(1 << 28))),
    "chunks of many zeros": lambda: in_chunks(lambda content: content.update(
        state=zero_streams(12, 1 << 22), rows=zero_streams(6, 1 << 22), memory=zero_streams(3, 1 << 22))),
    "printed lines without end": lambda: in_chunks(lambda content: content.update(printed=[[0, "ab"]] * 200_000)),
}


@cache
def bomb(name: str) -> bytes:
    """Return a recording of BOMBS; making one takes as long as reading it."""
    return BOMBS[name]()


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("command", [["info", "--verify"], ["replay", "--plain"]], ids=["info", "replay"])
def test_a_reader_stays_within_its_limit(tmp_path: Path, name: str, command: list[str]) -> None:
    path = tmp_path / "bomb.rfs"
    path.write_bytes(bomb(name))
    code = ("import sys\n"
            "from rfview import cli\n"
            "code = cli.main(sys.argv[1:])\n"
            "most = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
            "print('KB', most.split()[1], file=sys.stderr)\n"
            "sys.exit(code)")
    done = subprocess.run([sys.executable, "-c", code, command[0], str(path), *command[1:]], capture_output=True, text=True,
                          timeout=PATIENCE_S, check=False, stdin=subprocess.DEVNULL, cwd=Path(__file__).parents[2])
    *said, last = done.stderr.strip().splitlines()
    assert "Traceback" not in done.stderr and "internal error" not in done.stderr
    assert done.returncode in (0, 1, 2) and (said or "bomb.rfs" in done.stdout or done.returncode == 0), done.stderr
    taken = int(last.split()[1]) / 1024
    assert taken < MAX_MB, f"{taken:.0f} MB: {said}"


def test_the_limit_can_be_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits.Limit, "bytes", limits.USUAL)
    with pytest.raises(ValueError, match=r"--limit 1024MB allows it"):
        limits.allow(512 << 20, limits.ARRAYS, "x")
    limits.Limit.set(1 << 30)
    assert limits.allow(512 << 20, limits.ARRAYS, "x") == 512 << 20
    with pytest.raises(ValueError, match="at least"):
        limits.Limit.set(5)


def test_every_request_for_memory_may_be_refused_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rfview.engine.errors import InputError
    from rfview.sessions.timeline.opening import open_recording
    from rfview.sessions.timeline.verify import verify

    whole, refused, real = 0, 0, limits.allow
    while True:
        count = 0

        def allow(size: int, share: int, what: str) -> int:
            nonlocal count
            count += 1
            if count - 1 == refused:
                raise ValueError(f"{what}: no memory")
            return real(size, share, what)

        monkeypatch.setattr(limits, "allow", allow)
        try:
            timeline = open_recording(SHORT)
            said = [*timeline.warnings, *verify(timeline), *timeline.warnings]
            timeline.close()
        except InputError as error:
            said = [str(error)]
        if count <= refused:
            break
        assert all("format1.rfs" in text for text in said)
        whole += not said
        refused += 1
    assert refused > 30 and not whole, "each request is for something that is then missing and said"


def test_verify_compares_where_chunks_meet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.rfs"
    path.write_bytes(SHORT.read_bytes())
    assert cli.main(["info", "--verify", str(path)]) == 0
    assert "verify whole: every chunk was read" in " ".join(capsys.readouterr().out.split())
    numbers = iter(range(100))

    def change(content: dict[str, Any]) -> None:
        number = next(numbers)
        if number == 3:     # its end no longer matches the beginning of chunk 4
            inside = bytearray(zstandard.ZstdDecompressor().decompress(content["state"]))
            inside[streams.HEAD_BYTES * len(STATE) + int.from_bytes(inside[:4], "little") - 1] ^= 1     # a code, the last
            content["state"] = zstandard.ZstdCompressor(1).compress(bytes(inside))
        elif number == 6:
            content["totals"][0] += 1

    path.write_bytes(in_chunks(change))
    assert cli.main(["info", "--verify", "--json", str(path)]) == 1
    wrong = json.loads(capsys.readouterr().out)["verify"]
    assert any("chunk 4 (cycle 160): state at its start differ from those at the end of chunk 3" in text for text in wrong), wrong
    assert any("do not add up to its totals" in text for text in wrong), wrong
