"""Session files: the errors of truncated, corrupted and newer files; and replay needs no compiler."""

from __future__ import annotations

import io
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rfview.engine import state
from rfview.engine.chunk import Blocks
from rfview.engine.errors import InputError
from rfview.sessions.codec import loops, streams
from rfview.sessions.codec.changes import STATE, Changes, StoredChanges
from rfview.sessions.codec.encode import Encoder, Seen
from rfview.sessions.file import framing
from rfview.sessions.file.header import FORMAT, dtype_from_json, dtype_to_json
from rfview.sessions.file.index import Index
from rfview.sessions.file.stored import StoredChunk
from rfview.sessions.layout import Layout
from rfview.sessions.file.writer import Writer, partials, record
from rfview.sessions.timeline.opening import describe, open_recording
from tests.sessions.conftest import CHUNK, CYCLES
from tests.sessions.double import RF_DTYPE, Double


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of a recording with a small header, so that random offsets hit every part."""
    path = tmp_path_factory.mktemp("files") / "small.rfs"
    record(Double(CYCLES), path, chunk_cycles=100)
    return path


def frames(data: bytes) -> list[tuple[bytes, int, int]]:
    """Return (tag, begin, end) of each frame."""
    found, at = [], len(framing.MAGIC)
    while at < len(data) - framing.TRAILER.size:
        tag, length, _ = framing.FRAME.unpack_from(data, at)
        found.append((tag, at, at + framing.FRAME.size + length))
        at = found[-1][2]
    return found


def test_a_cut_file_opens_to_its_last_whole_chunk(small: Path, tmp_path: Path, truth: list) -> None:
    data = small.read_bytes()
    ends = [end for tag, _, end in frames(data) if tag == b"CHNK"]
    order = random.Random(1)
    cuts = sorted({*(order.randrange(len(data)) for _ in range(200)), *ends, *(end - 1 for end in ends)})
    for cut in cuts:
        path = tmp_path / "cut.rfs"
        path.write_bytes(data[:cut])
        whole = sum(end <= cut for end in ends)
        if whole == 0:
            with pytest.raises(InputError, match=r"cut\.rfs") as caught:
                open_recording(path)
            assert caught.value.exit_code == 2
            continue
        timeline = open_recording(path)
        assert timeline.warnings and timeline.last == whole * 100
        cycle = order.randint(0, timeline.last)
        assert timeline.at(cycle).same_as(truth[cycle])
        assert timeline.at(timeline.last).same_as(truth[timeline.last])
        assert (timeline.stall_totals(timeline.last) == truth[timeline.last].sm["stall_total"]).all()
        timeline.close()


def state_at(cycle: int) -> Any:
    """Return the double's state after so many cycles."""
    double = Double(840)
    double.step(cycle)
    return double.snapshot()


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return a recording of 210 chunks, with three parts of its index but not its end."""
    path = tmp_path_factory.mktemp("grown") / "grown.rfs"
    record(Double(cycles=840), path, chunk_cycles=4)
    data = path.read_bytes()
    return data[: [begin for tag, begin, _ in frames(data) if tag == b"INDX"][0]]


def test_a_killed_run_opens_with_the_parts_of_its_index(grown: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order, path, real = random.Random(7), tmp_path / "cut.rfs", framing.read_frame
    begins = [begin for tag, begin, _ in frames(grown) if tag == b"CHNK"]
    assert sum(tag == b"PART" for tag, _, _ in frames(grown)) == 3
    for _ in range(25):
        cut = order.randrange(begins[1], len(grown))
        path.write_bytes(grown[:cut])
        with closing(open_recording(path, check=True)) as slow:
            expected = slow._index
        read: list[int] = []
        monkeypatch.setattr(framing, "read_frame", lambda file, at, tag=None: (read.append(at), real(file, at, tag))[1])
        with closing(open_recording(path, check=False)) as timeline:
            assert len(read) < 64 + 10 and timeline.warnings
            found = timeline._index
            for name in ("zones", "printed", *found.LISTS):
                assert getattr(found, name) == getattr(expected, name), (cut, name)
            assert np.array_equal(found.totals, expected.totals)
            assert timeline.last >= 4 * sum(begin < cut for begin in begins) - 4, "at most the last chunk is lost"
            assert timeline.at(timeline.last).same_as(state_at(timeline.last))
        monkeypatch.setattr(framing, "read_frame", real)


def test_a_damaged_or_foreign_part_of_the_index_is_not_believed(grown: bytes, tmp_path: Path) -> None:
    path, order = tmp_path / "flip.rfs", random.Random(8)
    parts = [(begin, end) for tag, begin, end in frames(grown) if tag == b"PART"]
    with_part = [begin for begin, _ in parts]

    def opens(data: bytes, least: int) -> None:
        path.write_bytes(data)
        with closing(open_recording(path, check=False)) as timeline:
            assert least <= timeline.last <= 840 and timeline.warnings
            assert timeline.at(timeline.last - 6).same_as(state_at(timeline.last - 6))

    for number, (begin, end) in enumerate(parts, 1):
        for place in (begin, begin + 5, begin + 13, *(order.randrange(begin, end) for _ in range(5))):
            broken = bytearray(grown)
            broken[place] ^= 1 << order.randrange(8)
            opens(bytes(broken), 4 * 64 * number)       # as before any damaged frame, if no other part follows
    last, (begin, end) = Index.unpack(grown[parts[-1][0] + framing.FRAME.size : parts[-1][1]], is_part=True), parts[-1]
    for change in ({"before": begin}, {"before": 8}, {"before": with_part[0]}, {"first": last.first[1:] + [0]}, {"offset": [0] * 64},
                   {"chain": [1] * 64}):
        out = io.BytesIO()
        framing.write_frame(out, b"PART", replace(last, **change).pack())
        opens(grown[:begin] + out.getvalue() + grown[end:], 840)


def flips(data: bytes) -> list[int]:
    """Return 200 offsets: spread over the file, and some in every frame's head, the index and the trailer."""
    order = random.Random(2)
    places = {order.randrange(len(data)) for _ in range(120)}
    for _, begin, end in frames(data):
        places |= {begin + order.randrange(16), begin + 16, end - 1}
    places |= set(range(len(framing.MAGIC))) | set(range(len(data) - framing.TRAILER.size, len(data)))
    while len(places) < 200:
        places.add(order.randrange(len(data)))
    return sorted(places)


@pytest.mark.parametrize("check", [None, False])
def test_each_flipped_byte_is_reported_and_shows_no_wrong_state(
    small: Path, tmp_path: Path, truth: list, check: bool | None
) -> None:
    data = small.read_bytes()
    order = random.Random(4)
    for place in flips(data):
        path = tmp_path / "flip.rfs"
        broken = bytearray(data)
        broken[place] ^= 1 << order.randrange(8)
        path.write_bytes(broken)
        reported = False
        try:
            timeline = open_recording(path, check=check)
        except InputError:
            continue
        reported = bool(timeline.warnings)
        assert reported or check is False, place
        starts = timeline.chunk_starts()
        for cycle in [*starts, timeline.last]:
            try:
                assert timeline.at(cycle).same_as(truth[cycle]), (place, cycle)
            except InputError as error:
                reported = True
                assert "flip.rfs" in str(error)
        if timeline.zone_maps is not None:
            timeline.zone_maps.words_change(np.arange(8), 0, len(starts))
        reported |= bool(timeline.warnings)
        assert reported, place
        timeline.close()


def test_a_file_that_changes_while_it_is_open_says_so(small: Path, tmp_path: Path) -> None:
    path = tmp_path / "small.rfs"
    path.write_bytes(small.read_bytes())
    timeline = open_recording(path)
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(InputError, match=r"small.rfs: chunk .* cut short; the file has been written to since it was opened"):
        timeline.at(timeline.last)
    timeline.close()


def test_a_newer_format_is_refused_with_both_numbers(small: Path, tmp_path: Path) -> None:
    data = small.read_bytes()
    _, begin, end = frames(data)[0]
    outer = msgpack.unpackb(data[begin + 16 : end])
    outer["format"] = FORMAT + 6
    path = tmp_path / "new.rfs"
    with open(path, "wb") as file:
        file.write(framing.MAGIC)
        framing.write_frame(file, b"HEAD", msgpack.packb(outer))
        file.write(data[end:])
    with pytest.raises(InputError, match=rf"{FORMAT + 6}.*{FORMAT}"):
        open_recording(path)


def test_unknown_fields_are_ignored(small: Path, tmp_path: Path, truth: list) -> None:
    data = small.read_bytes()
    path, before = tmp_path / "more.rfs", (0, 0)
    with open(path, "wb") as file:
        file.write(framing.MAGIC)
        for tag, begin, end in frames(data)[:-1]:
            head = data[begin + 16 : begin + 16 + (framing.CHUNK_HEAD.size if tag == b"CHNK" else 0)]
            content = msgpack.unpackb(data[begin + 16 + len(head) : end], strict_map_key=False)
            content["of_the_future"] = [1, {"a": 2}]
            if tag == b"HEAD":
                chain = 0
            if tag == b"CHNK":
                number, num, first, _ = framing.CHUNK_HEAD.unpack(head)
                made = framing.ChunkHead.following(number, num, first, before)
                head, chain = made.pack(), made.chain
            _, crc = framing.write_frame(file, tag, head, msgpack.packb(content))
            if tag in (b"HEAD", b"CHNK"):
                before = chain, crc
            framing.write_frame(file, b"NEWS", b"something else")
    timeline = open_recording(path)
    assert timeline.at(CYCLES).same_as(truth[CYCLES])


@pytest.mark.parametrize("content", [b"", b"\x89RFV", b"hello, this is text", framing.MAGIC, framing.MAGIC + b"x" * 99])
def test_files_that_are_no_sessions_are_one_clear_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "no.rfs"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"no\.rfs"):
        open_recording(path)
    with pytest.raises(InputError, match=r"missing\.rfs"):
        open_recording(tmp_path / "missing.rfs")


def test_a_killed_recording_leaves_a_file_that_opens(tmp_path: Path, truth: list) -> None:
    class Killed(Exception):
        pass

    def kill(cycle: int) -> None:
        if cycle >= 200:
            raise Killed

    target = tmp_path / "run.rfs"
    with pytest.raises(Killed) as killed:
        record(Double(CYCLES), target, chunk_cycles=CHUNK, progress=kill)
    assert not target.exists()
    left, = partials(target)
    assert killed.value.__notes__ == [f"; {left.name} has its first 200 cycles"], "an interruption says what it left"
    timeline = open_recording(left)
    assert timeline.warnings and timeline.last == 200
    assert timeline.at(200).same_as(truth[200])
    found = open_recording(target)      # by the name that it was meant to get
    assert left.name in found.warnings[0] and found.last == 200
    facts = describe(target)
    assert (facts["file"], facts["bytes"], facts["cycles"]) == (str(left), left.stat().st_size, 200)
    record(Double(CYCLES), target, chunk_cycles=CHUNK)
    assert left.exists() and open_recording(target).warnings == [], "what was left is never overwritten"


def test_a_recording_can_be_stopped_and_limited(tmp_path: Path) -> None:
    result = record(Double(CYCLES), tmp_path / "a.rfs", chunk_cycles=CHUNK, max_cycles=130)
    assert (result.cycles, result.finished, result.chunks) == (130, False, 4)
    assert result.file_bytes == (tmp_path / "a.rfs").stat().st_size
    result = record(Double(CYCLES), tmp_path / "b.rfs", chunk_cycles=CHUNK, progress=lambda cycle: cycle >= 80)
    assert (result.cycles, result.finished) == (80, False)
    assert open_recording(tmp_path / "b.rfs").warnings == []


def test_a_fault_is_kept_in_the_recording(tmp_path: Path, truth: list) -> None:
    result = record(Double(CYCLES, fault_at=333), tmp_path / "f.rfs", chunk_cycles=CHUNK)
    timeline = open_recording(tmp_path / "f.rfs")
    assert "line 12" in (result.fault or "") and timeline.fault == result.fault
    assert timeline.last == 333 and timeline.at(333).same_as(truth[333])


def test_a_folder_that_cannot_be_written_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        record(Double(10), tmp_path / "no" / "run.rfs")


def test_describe_says_what_a_file_holds(small: Path) -> None:
    facts = describe(small)
    assert facts["cycles"] == CYCLES and facts["kernel"] == "k" and facts["chunks"] == 7
    assert facts["finished"] is True and facts["verified"] is True and facts["warnings"] == []
    assert facts["bytes_per_cycle"] > 0


def test_replay_and_scripts_begin_without_numba(small: Path) -> None:
    code = ("import sys; from rfview.sessions import open_session; from rfview.sessions.commands.script import run_lines\n"
            "s = open_session(sys.argv[1]); s.goto(20); s.snapshot(); s.value('w3.R1')\n"
            "assert run_lines(s, 'info warps; info registers 3; c; rc; u w3.pc > 2; print w1.R1') == 0\n"
            "sys.exit(any(name.startswith(('numba', 'llvmlite')) for name in sys.modules))")
    result = subprocess.run([sys.executable, "-c", code, str(small)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_dtypes_survive_as_json(recorded) -> None:
    for dtype in (recorded.layout.sm_dtype, recorded.layout.rf_dtype):
        stored = msgpack.unpackb(msgpack.packb(dtype_to_json(dtype)))
        again = dtype_from_json(stored)
        assert again == dtype and again.itemsize == dtype.itemsize


def seen(words: int, bit: int = 1) -> Seen:
    """Return a Seen of a chunk that has changes only."""
    none = np.empty(0, np.uint32)
    return Seen(np.uint64(bit), np.zeros(words, np.uint64), np.full(words, -1, np.int32), 0, none, none, np.uint32(0),
                np.empty(0, np.uint64))


def together(end: np.ndarray, index: np.ndarray, value: np.ndarray) -> Blocks:
    """Return changes, in ascending order in each cycle, as blocks of 32 aligned words."""
    cycle = np.repeat(np.arange(len(end)), np.diff(end, prepend=np.uint32(0)).astype(np.int64))
    begins = np.flatnonzero((np.diff(cycle, prepend=-1) != 0) | (np.diff(index // 32, prepend=np.uint32(1 << 31)) != 0))
    masks = np.bitwise_or.reduceat(np.uint32(1) << index % 32, begins) if len(begins) else np.empty(0, np.uint32)
    ends = np.searchsorted(cycle[begins], np.arange(len(end)), side="right").astype(np.uint32)
    return Blocks(ends, index[begins] // 32 * 32, masks.astype(np.uint32), value)


def key_of(base: np.ndarray, stored: dict) -> np.ndarray:
    """Return the keyframe stored as its differences from another state."""
    words = base.copy()
    words[np.cumsum(streams.numbers(stored["key_step"]))] ^= streams.numbers(stored["key_bits"])
    return words


def random_words(random_state: np.random.RandomState, *shape: int) -> np.ndarray:
    return random_state.randint(0, 1 << 32, shape, dtype=np.uint64).astype(np.uint32)


@pytest.mark.nojit
def test_the_example_of_the_readme_is_what_is_written() -> None:
    text = (Path(loops.__file__).parent / "README.md").read_text(encoding="utf-8")
    example = text[text.index("## An example") : text.index("## What each")]
    sizes = [(int(count), int(width)) for count, width in re.findall(r"[a-z_]+ (\d) (\d)\b", example[example.index("    planes") :])]
    written = bytes.fromhex(re.findall(r"^    ((?:[0-9A-F]{2} *)+)$", example, re.M)[0])
    state_then = np.zeros(8, np.uint32)
    state_then[7] = 4
    encoder = Encoder(np.zeros(8, np.int32), state_then)
    encoder.state[7] = 5
    ends, once = np.array([0, 1, 1, 2], np.uint32), np.ones(2, np.uint32)
    blob = encoder.encode(Blocks(ends, once * 7, once, np.array([6, 9], np.uint32)), seen(8))
    assert len(sizes) == len(STATE) and bytes(blob) == np.array(sizes, "<u4").tobytes() + written


@pytest.mark.parametrize("seed", range(20))
def test_changes_come_back_as_they_were(seed: int) -> None:
    random_state = np.random.RandomState(seed)
    count, cycles = random_state.randint(0, 300), 1 + random_state.randint(50)
    when = np.sort(random_state.randint(0, cycles, count))
    layout = Layout(state.recorded_dtype(), RF_DTYPE)
    words = layout.num_words
    index = random_state.randint(0, words, count).astype(np.uint32)
    order = np.lexsort((index, when))
    keep = np.concatenate([[True], (np.diff(when[order]) != 0) | (np.diff(index[order].astype(np.int64)) != 0)])[:count]
    index = index[order][keep]
    end = np.searchsorted(when[order][keep], np.arange(cycles), side="right").astype(np.uint32)
    value, key = random_words(random_state, len(index)), random_words(random_state, words)
    base = np.where(random_state.randint(0, 2, words), key, 0).astype(np.uint32)
    encoder = Encoder(layout.groups, base)
    encoder.state[:] = key
    blocks = (Blocks.of_words if seed % 2 else together)(end, index, value)
    watched = random_state.permutation(words)[: words // 2]
    packed, kept = len(watched) // 2, seen(words, 4)
    kept.watched[watched] = np.arange(len(watched))
    low, high, sets = key[watched], key[watched], np.zeros(20, np.uint64)
    blob = encoder.encode(blocks, kept._replace(packed=packed, low=low, high=high, shift=np.uint32(16), sets=sets))
    stored = streams.split(bytes(blob), STATE)
    encoder.give_back(blob)
    assert (key_of(base, stored) == key).all()
    assert (np.flatnonzero(kept.changed == 4) == np.unique(index)).all()
    for number, word in enumerate(watched[: packed + 200]):
        new, ends = value[index == word], np.array([low[number], high[number]])
        had = np.append(new, key[word])
        if number < packed:
            had, ends = (words.view(np.uint8).reshape(-1, 4) for words in (had, ends))
        assert (ends == [had.min(axis=0), had.max(axis=0)]).all()
        if number < len(sets):
            assert sets[number] == np.bitwise_or.reduce(np.uint64(1) << (new >> 16 & 63).astype(np.uint64), initial=0)
    before = Changes.of_blocks(blocks)
    for asked in (np.arange(words), np.unique(index)[:7], random_state.choice(words, 50, replace=False)):
        for changes in (before, StoredChanges(stored, words, cycles)):
            which, when, found = changes.of_words(asked, words)
            order = np.lexsort((asked[which], when))
            kept = np.isin(index, asked)
            assert (asked[which][order] == index[kept]).all() and (found[order] == value[kept]).all()
            assert (when[order] == np.repeat(np.arange(cycles), np.diff(end, prepend=np.uint32(0)))[kept]).all()
    again = StoredChanges(stored, words, cycles)
    for offset in (0, 1, cycles // 2, cycles):
        states = [key.copy() for _ in range(3)]
        before.apply(states[0], offset)
        again.apply(states[1], offset)
        for begin, behind in zip(np.append(0, end)[:offset].tolist(), end.tolist()):
            states[2][index[begin:behind]] = value[begin:behind]
        assert (states[0] == states[2]).all() and (states[1] == states[2]).all()


def test_a_group_may_have_thousands_of_masks() -> None:
    layout = Layout(state.recorded_dtype(), RF_DTYPE)
    cycles, places = 2000, np.arange(12)
    firsts = layout.field("sm.warp[*].sb_write").words[[0, 2]].astype(np.uint32)
    masks = np.random.RandomState(5).permutation(4095)[: 2 * cycles].astype(np.uint32) + np.uint32(1)
    has = masks[:, None] >> places & 1 != 0
    value = np.arange(has.sum(), dtype=np.uint32) * np.uint32(0x01030507)
    blocks = Blocks(np.arange(2, 2 * cycles + 2, 2, dtype=np.uint32), np.tile(firsts, cycles), masks, value)
    key = np.zeros(layout.num_words, np.uint32)
    encoder = Encoder(layout.groups, key)
    for _ in range(2):      # its buffers are reused
        encoder.state[:] = key
        blob = encoder.encode(blocks, seen(len(key)))
        stored = streams.split(bytes(blob), STATE)
        encoder.give_back(blob)
        for offset in (1, 1000, cycles):
            states, expected = key.copy(), key.copy()
            StoredChanges(stored, len(key), cycles).apply(states, offset)
            Changes.of_blocks(blocks).apply(expected, offset)
            assert (states == expected).all()
        event, place = np.nonzero(has)
        for block, first in enumerate(firsts):
            which, when, found = StoredChanges(stored, len(key), cycles).of_words(first + places, layout.num_words)
            for word in places:
                mine = (event % 2 == block) & (place == word)
                assert (found[which == word] == value[mine]).all() and (when[which == word] == event[mine] // 2).all()


@pytest.mark.nojit
def test_a_chunk_may_change_nothing() -> None:
    layout = Layout(state.recorded_dtype(), RF_DTYPE)
    key, nothing = np.arange(layout.num_words, dtype=np.uint32), np.empty(0, np.uint32)
    encoder, kept = Encoder(layout.groups, np.zeros_like(key)), seen(len(key))
    encoder.state[:] = key
    blob = encoder.encode(Blocks(np.zeros(3, np.uint32), nothing, nothing, nothing), kept)
    stored = streams.split(bytes(blob), STATE)
    assert (key_of(np.zeros_like(key), stored) == key).all() and not kept.changed.any()
    changes, states = StoredChanges(stored, len(key), 3), key.copy()
    changes.apply(states, 2)
    assert (states == key).all() and not len(changes.of_words(np.arange(9), len(key))[0])


def small_state() -> bytes:
    """Return the decompressed state blob of a short chunk."""
    layout = Layout(state.recorded_dtype(), RF_DTYPE)
    random_state = np.random.RandomState(3)
    first = layout.field("sm.warp[*].sb_write").words[::2][:8].astype(np.uint32)
    masks = random_state.randint(1, 256, 40).astype(np.uint32)
    value = random_words(random_state, int(np.bitwise_count(masks).sum()))
    blocks = Blocks(np.arange(8, 48, 8, dtype=np.uint32), np.tile(first, 5), masks, value)
    encoder = Encoder(layout.groups, np.zeros(layout.num_words, np.uint32))
    return bytes(encoder.encode(blocks, seen(layout.num_words)))


SMALL_STATE, WORDS = small_state(), Layout(state.recorded_dtype(), RF_DTYPE).num_words
EDITS = st.lists(st.tuples(st.booleans(), st.integers(0), st.integers(0, 255)), min_size=1, max_size=3)


@settings(max_examples=150, deadline=None)
@given(edits=EDITS, offset=st.integers(0, 5))
def test_numbers_that_make_no_sense_are_an_input_error(edits: list[tuple[bool, int, int]], offset: int) -> None:
    """The chunk's checksum is right; only its numbers contradict each other."""
    damaged = bytearray(SMALL_STATE)
    head = streams.HEAD_BYTES * len(STATE)
    for in_head, place, byte in edits:
        damaged[place % (head if in_head else len(damaged))] = byte
    content, none = {"state": streams.compress(bytes(damaged))}, np.empty(0, np.uint32)
    header: Any = SimpleNamespace(state=np.zeros(WORDS, np.uint32), rows=none, memory=none)
    chunk = StoredChunk(framing.ChunkHead(0, 5, 100, 0), content, header, "x.rfs: chunk 0")
    try:
        words = chunk.key.copy()
        chunk.changes.apply(words, offset)
        chunk.changes.of_words(np.arange(WORDS), WORDS)
    except InputError as error:
        assert str(error).startswith("x.rfs: chunk 0 is damaged")


def with_chunks(data: bytes, path: Path, change: Callable[[list[bytes]], list[bytes]]) -> Path:
    """Write a recording without an index, its CHNK frames, intact and with right checksums, replaced by `change`."""
    parts = [data[begin:end] for _, begin, end in frames(data)]
    chunks = change([part for part in parts if part[:4] == b"CHNK"])
    out = framing.MAGIC + parts[0] + b"".join(chunks)
    path.write_bytes(out)
    return path


@pytest.mark.parametrize("change, whole", (
    (lambda chunks: chunks[:2] + chunks[3:], 2), (lambda chunks: [chunks[0], chunks[2], chunks[1], *chunks[3:]], 1),
    (lambda chunks: [chunks[0], chunks[0], *chunks[1:]], 1), (lambda chunks: chunks[1:], 0)))
def test_chunks_that_are_missing_or_out_of_order_are_found_without_an_index(
    small: Path, tmp_path: Path, truth: list, change: Callable, whole: int
) -> None:
    path = with_chunks(small.read_bytes(), tmp_path / "order.rfs", change)
    if not whole:
        with pytest.raises(InputError, match="no complete chunk"):
            open_recording(path)
        return
    timeline = open_recording(path)
    assert len(timeline.warnings) == 1 and f"where chunk {whole} from cycle {100 * whole} on should be" in timeline.warnings[0]
    assert timeline.last == 100 * whole and timeline.at(timeline.last).same_as(truth[timeline.last])


def test_chunks_of_another_run_are_found_with_and_without_an_index(small: Path, tmp_path: Path) -> None:
    record(Double(CYCLES, seed=2), tmp_path / "other.rfs", chunk_cycles=100)
    other = (tmp_path / "other.rfs").read_bytes()
    theirs = [other[begin:end] for tag, begin, end in frames(other) if tag == b"CHNK"]
    path = with_chunks(small.read_bytes(), tmp_path / "mixed.rfs", lambda chunks: [*chunks[:3], *theirs[3:]])
    timeline = open_recording(path)
    assert timeline.last == 300 and "chunk 3: it does not follow the chunk before it" in timeline.warnings[0]
    # with an index: a chunk in place of another of the same length
    single = tmp_path / "single.rfs"
    record(Double(CYCLES), single, chunk_cycles=1)
    data = single.read_bytes()
    places = [(begin, end) for tag, begin, end in frames(data) if tag == b"CHNK"]
    low, high = next((low, high) for low in range(9, 200) for high in range(low + 1, 300)
                     if places[low][1] - places[low][0] == places[high][1] - places[high][0])
    swapped = bytearray(data)
    swapped[slice(*places[low])], swapped[slice(*places[high])] = data[slice(*places[high])], data[slice(*places[low])]
    single.write_bytes(swapped)
    assert open_recording(single).last == low
    timeline = open_recording(single, check=False)
    with pytest.raises(InputError, match=r"single\.rfs: chunk .*not the one that the index names"):
        timeline.at(low)


@pytest.mark.parametrize("size, match", ((1 << 60, "would take"), (None, "unknown size")))
def test_a_blob_that_says_it_is_huge_takes_no_memory(size: int | None, match: str) -> None:
    import zstandard

    data = zstandard.ZstdCompressor(write_content_size=size is not None).compress(bytes(100))
    if size is not None:
        data = data[:4] + b"\xe0" + size.to_bytes(8, "little") + data[6:]
    with pytest.raises(ValueError, match=match):
        streams.decompress(data)


def test_the_first_chunk_must_bring_values(tmp_path: Path) -> None:
    double = Double(10)
    writer = Writer(io.BytesIO(), Layout(double.sm_dtype, double.rf_dtype), double.info, 1024)
    chunk = double.record_chunk(5)
    chunk.key_rows = None
    with pytest.raises(ValueError, match="first chunk"):
        writer.add(chunk)
