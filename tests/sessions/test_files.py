"""Session files: cut, flipped and newer files, what they say, and that replay needs no compiler."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import msgpack
import numpy as np
import pytest

from rfview.engine import state
from rfview.engine.chunk import Blocks, Rows
from rfview.engine.errors import InputError
from rfview.sessions.codec import codec, direct
from rfview.sessions.file import format
from rfview.sessions.codec.changes import Changes, StoredChanges
from rfview.sessions.codec.encode import Encoder, rows_of, sum_of, words_of
from rfview.sessions.codec.extent import BYTES
from rfview.sessions.layout import Layout
from rfview.sessions.file.writer import Writer, partial_path, record
from rfview.sessions.file.opening import describe, open_recording
from rfview.sessions.codec.rowlog import RowLog
from rfview.sessions.file.zone_maps import STATES
from tests.sessions.conftest import CHUNK, CYCLES
from tests.sessions.double import RF_DTYPE, Double


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a recording with a small header, so that random places hit every part."""
    path = tmp_path_factory.mktemp("files") / "small.rfs"
    record(Double(CYCLES), path, chunk_cycles=100)
    return path


def frames(data: bytes) -> list[tuple[bytes, int, int]]:
    """Return (tag, begin, end) of each frame."""
    found, at = [], len(format.MAGIC)
    while at < len(data) - format.TRAILER.size:
        tag, length, _ = format.FRAME.unpack_from(data, at)
        found.append((tag, at, at + format.FRAME.size + length))
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


def flips(data: bytes) -> list[int]:
    """Return 200 places: spread over the file, and some in every frame's head, the index and the trailer."""
    order = random.Random(2)
    places = {order.randrange(len(data)) for _ in range(120)}
    for _, begin, end in frames(data):
        places |= {begin + order.randrange(16), begin + 16, end - 1}
    places |= set(range(len(format.MAGIC))) | set(range(len(data) - format.TRAILER.size, len(data)))
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
        if timeline.summaries is not None:
            timeline.summaries.words_change(np.arange(8), 0, len(starts))
        reported |= bool(timeline.warnings)
        assert reported, place
        timeline.close()


def test_a_newer_format_is_refused_with_both_numbers(small: Path, tmp_path: Path) -> None:
    data = small.read_bytes()
    _, begin, end = frames(data)[0]
    outer = msgpack.unpackb(data[begin + 16 : end])
    outer["format"] = format.FORMAT + 6
    path = tmp_path / "new.rfs"
    with open(path, "wb") as file:
        file.write(format.MAGIC)
        format.write_frame(file, b"HEAD", msgpack.packb(outer))
        file.write(data[end:])
    with pytest.raises(InputError, match=rf"{format.FORMAT + 6}.*{format.FORMAT}"):
        open_recording(path)


def test_unknown_fields_are_ignored(small: Path, tmp_path: Path, truth: list) -> None:
    data = small.read_bytes()
    path = tmp_path / "more.rfs"
    with open(path, "wb") as file:
        file.write(format.MAGIC)
        for tag, begin, end in frames(data)[:-1]:
            content = msgpack.unpackb(data[begin + 16 : end], strict_map_key=False)
            content["of_the_future"] = [1, {"a": 2}]
            format.write_frame(file, tag, msgpack.packb(content))
            format.write_frame(file, b"NEWS", b"something else")
    timeline = open_recording(path)
    assert timeline.at(CYCLES).same_as(truth[CYCLES])


@pytest.mark.parametrize("content", [b"", b"\x89RFV", b"hello, this is text", format.MAGIC, format.MAGIC + b"x" * 99])
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
    with pytest.raises(Killed):
        record(Double(CYCLES), target, chunk_cycles=CHUNK, progress=kill)
    assert not target.exists()
    timeline = open_recording(partial_path(target))
    assert timeline.warnings and timeline.last == 200
    assert timeline.at(200).same_as(truth[200])


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
    with pytest.raises(InputError, match="cannot write"):
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
            "sys.exit(any(name.startswith(('numba', 'llvmlite')) for name in sys.modules))")  # fmt: skip
    result = subprocess.run([sys.executable, "-c", code, str(small)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_dtypes_survive_as_json(recorded) -> None:
    for dtype in (recorded.layout.sm_dtype, recorded.layout.rf_dtype):
        stored = msgpack.unpackb(msgpack.packb(format.dtype_to_json(dtype)))
        again = format.dtype_from_json(stored)
        assert again == dtype and again.itemsize == dtype.itemsize


def encoder_of(layout: Layout, base: np.ndarray, extra: np.ndarray, watch: np.ndarray | None = None) -> Encoder:
    """Return an encoder whose keyframes are given by `base`; it watches nothing unless told to."""
    watched = np.zeros(layout.num_words, np.uint8) if watch is None else watch
    encoder = Encoder(layout.kinds, watched, layout.field(STATES).offsets, extra)
    encoder.begin(base)
    return encoder


def together(end: np.ndarray, index: np.ndarray, value: np.ndarray) -> Blocks:
    """Return changes, ascending in each cycle, as blocks of the words between two multiples of 32."""
    cycle = np.repeat(np.arange(len(end)), np.diff(end, prepend=np.uint32(0)).astype(np.int64))
    begins = np.flatnonzero((np.diff(cycle, prepend=-1) != 0) | (np.diff(index // 32, prepend=np.uint32(1 << 31)) != 0))
    masks = np.bitwise_or.reduceat(np.uint32(1) << index % 32, begins) if len(begins) else np.empty(0, np.uint32)
    ends = np.searchsorted(cycle[begins], np.arange(len(end)), side="right").astype(np.uint32)
    return Blocks(ends, index[begins] // 32 * 32, masks.astype(np.uint32), value)


def unsparse(base: np.ndarray, stored: dict) -> np.ndarray:
    """Return the keyframe that is stored by what differs from another state."""
    words = base.copy()
    words[np.cumsum(codec.unpack(stored["key_step"]))] ^= codec.unpack(stored["key_bits"])
    return words


def read_directly(blob: np.ndarray, base: np.ndarray, first: int, cycles: int, offset: int) -> np.ndarray:
    """Return the state at a cycle as compiled code reads it."""
    words = base.copy()
    assert direct.state_at(blob, first, cycles, offset, words, 0, np.zeros(0, np.int64))
    return words


@pytest.mark.parametrize("seed", range(20))
def test_streams_come_back_as_they_were(seed: int) -> None:
    random_state = np.random.RandomState(seed)
    count, cycles = random_state.randint(0, 300), 1 + random_state.randint(50)
    when = np.sort(random_state.randint(0, cycles, count))
    end = np.searchsorted(when, np.arange(cycles), side="right").astype(np.uint32)
    layout = Layout(state.recorded_dtype(), RF_DTYPE)
    words = layout.num_words
    index = random_state.randint(0, words, count).astype(np.uint32)
    order = np.lexsort((index, when))
    keep = np.concatenate([[True], (np.diff(when[order]) != 0) | (np.diff(index[order].astype(np.int64)) != 0)])[:count]
    index = index[order][keep]
    end = np.searchsorted(when[order][keep], np.arange(cycles), side="right").astype(np.uint32)
    value = random_state.randint(0, 1 << 32, len(index), dtype=np.uint64).astype(np.uint32)
    key = random_state.randint(0, 1 << 32, words, dtype=np.uint64).astype(np.uint32)
    watch = random_state.randint(0, 3, words).astype(np.uint8)
    base = np.where(random_state.randint(0, 2, words), key, 0).astype(np.uint32)
    encoder = encoder_of(layout, base, np.arange(words), watch)
    encoder.state[:] = key
    encoder.modes[:] = random_state.randint(0, codec.NUM_MODES, len(encoder.modes))
    blocks = (Blocks.of_words if seed % 2 else together)(end, index, value)
    blob, space, extent = encoder.encode(blocks, 12345, choose=seed % 3 == 0)
    whole = np.frombuffer(bytes(blob), np.uint8)
    stored = codec.streams(bytes(blob), codec.STATE)
    encoder.give_back(space)
    assert (unsparse(base, stored) == key).all()
    again = StoredChanges(stored, key, 12345, cycles)
    before = Changes.of_blocks(blocks)
    assert (np.sort(extent.words) == np.unique(index)).all()
    for word, least, most in zip(extent.words, extent.least, extent.most):
        had = np.append(value[index == word], key[word])
        if watch[word] == BYTES:
            bytewise = had.view(np.uint8).reshape(-1, 4)
            assert np.array([least, most]).view(np.uint8).tolist() == [*bytewise.min(axis=0), *bytewise.max(axis=0)]
        elif watch[word]:
            assert (least, most) == (had.min(), had.max())
    for asked in (np.arange(words), np.unique(index)[:7], random_state.choice(words, 50, replace=False)):
        for changes in (before, again):
            which, when, found = changes.of_words(asked, words)
            order = np.lexsort((asked[which], when))
            kept = np.isin(index, asked)
            assert (asked[which][order] == index[kept]).all() and (found[order] == value[kept]).all()
            assert (when[order] == np.repeat(np.arange(cycles), np.diff(end, prepend=np.uint32(0)))[kept]).all()
    for offset in (0, 1, cycles // 2, cycles):
        states = [key.copy() for _ in range(3)]
        before.apply(states[0], offset)
        again.apply(states[1], offset)
        sums = np.zeros(4 * words, np.int64)
        for begin, behind in zip(np.append(0, end)[:offset].tolist(), end.tolist()):
            states[2][index[begin:behind]] = value[begin:behind]
            sums += states[2].view(np.uint8)
        assert (states[0] == states[2]).all() and (states[1] == states[2]).all()
        direct_state, direct_sums = base.copy(), np.zeros_like(sums)
        assert direct.state_at(whole, 12345, cycles, offset, direct_state, 0, direct_sums)
        assert (direct_state == states[2]).all() and (direct_sums == sums).all()
    rows = random_state.randint(0, 1 << 32, (len(index), 32), dtype=np.uint64).astype(np.uint32)
    rows[::2] = rows[::2, :1] + np.arange(32, dtype=np.uint32) * rows[::2, 1:2]
    rows[::3] = rows[::3, :1]
    for blob in (sum_of(index, rows), rows_of(Rows.of_values(end, index, rows))):
        log = RowLog(codec.streams(bytes(blob), codec.ROWS))
        assert (log.index == index).all() and (log.values(np.arange(len(index))) == rows).all()
    stored = codec.streams(bytes(words_of(index, value, end)), codec.MEMORY)
    again = codec.unpack_words(stored)
    assert (again[0] == index).all() and (again[1] == value).all() and (codec.unpack_log(stored["counts"]) == end).all()


@pytest.mark.nojit
@pytest.mark.parametrize("different, numbered", ((1, True), (5, True), (256, True), (257, False), (1000, False)))
def test_codes_of_a_few_kinds_are_stored_by_number(different: int, numbered: bool) -> None:
    layout = Layout(state.recorded_dtype(), RF_DTYPE)
    words, cycles = layout.num_words, 2000
    first = int(layout.field("sm.warp[3].state").words[0])
    random_state = np.random.RandomState(different)
    few = random_state.randint(1 << 24, 1 << 32, different, dtype=np.uint64).astype(np.uint32)
    value = np.stack((few[np.arange(cycles) % different], few[::-1][np.arange(cycles) % different]), axis=1).ravel()
    blocks = Blocks(np.arange(1, cycles + 1, dtype=np.uint32), np.full(cycles, first, np.uint32),
                    np.full(cycles, 0b101, np.uint32), value)  # fmt: skip
    key = random_state.randint(0, 1 << 32, words, dtype=np.uint64).astype(np.uint32)
    encoder = encoder_of(layout, key, np.arange(1))
    encoder.modes[:] = codec.NEW
    for _ in range(2):      # a column that was not worth it rests for some chunks
        blob, space, _ = encoder.encode(blocks, 7, choose=False)
        whole = np.frombuffer(bytes(blob), np.uint8)
        stored = codec.streams(whole.data, codec.STATE)
        encoder.give_back(space)
        assert codec.unpack(stored["distinct"]).tolist() == [different] * 2 * numbered
        for asked in ([first], [first, first + 2], [first + 2]):
            changes = StoredChanges(stored, key, 7, cycles)
            which, when, found = changes.of_words(np.array(asked), words)
            for number, word in enumerate(asked):
                assert (found[which == number] == value[(word - first) // 2 :: 2]).all()
                assert (when[which == number] == np.arange(cycles)).all()
        state_then = key.copy()
        changes.apply(state_then, 777)
        assert state_then[[first, first + 2]].tolist() == value[2 * 776 : 2 * 777].tolist()
        assert (read_directly(whole, key, 7, cycles, 777) == state_then).all()


@pytest.mark.nojit
@pytest.mark.parametrize("steps, long", (([1, 2], 0), ([1] * 30 + [300], 1), ([300], 0)))
def test_long_gaps_are_listed_or_all_are_whole(steps: list[int], long: int) -> None:
    layout = Layout(state.recorded_dtype(), RF_DTYPE)
    word = int(layout.field("sm.warp[3].pc").words[0])
    when = np.cumsum(np.resize(steps, 2000))
    when = when[when < 2000]
    blocks = Blocks.of_words(np.searchsorted(when, np.arange(2000), side="right").astype(np.uint32),
                             np.full(len(when), word, np.uint32), np.arange(len(when), dtype=np.uint32))  # fmt: skip
    key = np.zeros(layout.num_words, np.uint32)
    encoder = encoder_of(layout, key, np.arange(1))
    blob, _, _ = encoder.encode(blocks, 0, choose=True)
    stored = codec.streams(bytes(blob), codec.STATE)
    assert stored["gaps"][1] == (2 if len(steps) == 1 else 1)
    assert stored["long_gaps"][0] == long * int((np.diff(when) > 255).sum())
    _, found, value = StoredChanges(stored, key, 0, 2000).of_words(np.array([word]), layout.num_words)
    assert found.tolist() == when.tolist() and value.tolist() == list(range(len(when)))
    for offset in (299, 301, 1500, 2000):
        states = key.copy()
        states[word] = max(0, np.searchsorted(when, offset) - 1)
        assert (read_directly(np.frombuffer(bytes(blob), np.uint8), key, 0, 2000, offset) == states).all()


def test_a_kind_may_have_more_masks_than_the_table_takes_at_first() -> None:
    layout = Layout(state.recorded_dtype(), RF_DTYPE)
    cycles, places = 2000, np.arange(12)
    firsts = layout.field("sm.warp[*].sb_write").words[[0, 2]].astype(np.uint32)
    masks = np.random.RandomState(5).permutation(4095)[: 2 * cycles].astype(np.uint32) + np.uint32(1)
    has = masks[:, None] >> places & 1 != 0
    value = np.arange(has.sum(), dtype=np.uint32) * np.uint32(0x01030507)
    blocks = Blocks(np.arange(2, 2 * cycles + 2, 2, dtype=np.uint32), np.tile(firsts, cycles), masks, value)
    key = np.zeros(layout.num_words, np.uint32)
    encoder = encoder_of(layout, key, np.arange(1))
    for _ in range(2):      # the table stays as large as it has become
        encoder.state[:] = key
        blob, space, _ = encoder.encode(blocks, 0, choose=True)
        whole = np.frombuffer(bytes(blob), np.uint8)
        stored = codec.streams(whole.data, codec.STATE)
        encoder.give_back(space)
        for offset in (1, 1000, cycles):
            states = key.copy()
            StoredChanges(stored, key, 0, cycles).apply(states, offset)
            assert (read_directly(whole, key, 0, cycles, offset) == states).all()
        event, place = np.nonzero(has)
        for block, first in enumerate(firsts):
            which, when, found = StoredChanges(stored, key, 0, cycles).of_words(first + places, layout.num_words)
            for word in places:
                mine = (event % 2 == block) & (place == word)
                assert (found[which == word] == value[mine]).all() and (when[which == word] == event[mine] // 2).all()
        assert encoder._table_length == 1 << 14


@pytest.mark.nojit
def test_a_chunk_may_change_nothing() -> None:
    layout = Layout(state.recorded_dtype(), RF_DTYPE)
    key, nothing = np.arange(layout.num_words, dtype=np.uint32), np.empty(0, np.uint32)
    encoder = encoder_of(layout, np.zeros_like(key), np.arange(len(key)))
    encoder.state[:] = key
    blob, _, extent = encoder.encode(Blocks(np.zeros(3, np.uint32), nothing, nothing, nothing), 7, choose=True)
    stored = codec.streams(bytes(blob), codec.STATE)
    assert (unsparse(np.zeros_like(key), stored) == key).all() and not len(extent.words)
    assert not codec.unpack(stored["kinds"]).any()
    assert (read_directly(np.frombuffer(bytes(blob), np.uint8), np.zeros_like(key), 7, 3, 2) == key).all()


def test_the_first_chunk_must_bring_values(tmp_path: Path) -> None:
    double = Double(10)
    writer = Writer(tmp_path / "x.rfs", Layout(double.sm_dtype, double.rf_dtype), double.info, 1024)
    chunk = double.record_chunk(5)
    chunk.key_rows = None
    with pytest.raises(ValueError, match="first chunk"):
        writer.add(chunk)
    writer.close()
