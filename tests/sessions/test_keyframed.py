"""Recordings whose cycles are in keyframes: every state is exact, and no foreign or damaged one reaches the machine."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest

from rfview import execute
from rfview.app import render_text
from rfview.engine import kernels
from rfview.engine.errors import InputError
from rfview.engine.launch import load_launch_file
from rfview.sessions import open_session
from rfview.sessions.file import framing, keyframe, keyframe_coder
from rfview.sessions.file.keyframe import KEY_FILE
from rfview.sessions.file.writer import Budget, RecordResult, partials, record
from rfview.sessions.timeline import opening
from rfview.sessions.timeline.filling import fill
from rfview.sessions.timeline.opening import open_recording

ROOT = Path(__file__).parent.parent
WAYS = {"full": Budget(), "some": Budget(cycles=6000), "none": Budget(bytes=0)}
COMMANDS = ("goto end", "reverse-find w3.state == barrier", "last w3.R1", "stats start end", "find w1.num_issued > 40",
            "trace w2.pc at w2.state == issued")
SECOND, LATER = 1 << 11, 5


def simulator(name: str = "hotspot", **options: Any) -> Any:
    """Return a fresh simulator of a bundled kernel."""
    from rfview.engine.simulator import Simulator

    return Simulator(load_launch_file(kernels.path(name)), **options)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the same run of 14,325 cycles recorded in each of WAYS, with a keyframe every 2,048 cycles."""
    folder = tmp_path_factory.mktemp("keyframed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keyframe_coder, "STRIDE", SECOND)
        results = [record(simulator(), folder / f"{name}.rfs", budget=budget) for name, budget in WAYS.items()]
    assert [result.stored for result in results] == [14_325, 6144, 0]
    assert [result.keyframes for result in results] == [6, 7, 7]
    return folder


def rewritten(path: Path, to: Path, change: Callable[[int, dict[str, Any]], None], key: bytes | None = None) -> Path:
    """Rewrite each keyframe's map with `change(number, map)`, with right checksums, and sealed if there is a key."""
    data, at = path.read_bytes(), len(framing.MAGIC)
    size = len(data) - framing.TRAILER.size
    run = b""
    with open(to, "wb") as file, open(path, "rb") as source:
        file.write(framing.MAGIC)
        while at < size:
            frame = framing.read_frame(source, at)
            payload, at = frame.payload, frame.end
            if frame.tag == framing.HEAD:
                run = keyframe.hash_of(payload)
            if frame.tag == framing.KEYFRAME:
                seal, number, cycle, packed = keyframe.split(payload)
                content = msgpack.unpackb(packed)
                change(number, content)
                body = msgpack.packb(content)
                if key is not None:
                    seal = keyframe.seal_of(key, run, number, cycle, body)
                payload = keyframe.HEAD.pack(seal, number, cycle) + body
            if frame.tag not in (framing.PART, framing.INDEX):      # rebuilt when the file is opened
                framing.write_frame(file, frame.tag, payload)
    return to


@pytest.mark.parametrize(("name", "design"), [("nw", "hrf"), ("vectoradd", "stt[stall=bank]")])
def test_states_at_random_cycles_are_those_of_the_run(name: str, design: str, tmp_path: Path,
                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyframe_coder, "STRIDE", 1 << 12)
    last = record(simulator(name, design=design), tmp_path / "a.rfs", budget=Budget(cycles=8192)).cycles
    machine, timeline = simulator(name, design=design), open_recording(tmp_path / "a.rfs")
    chance, states = random.Random(1), {}
    for cycle in sorted([0, last, *(chance.randint(1, last) for _ in range(12))]):
        machine.step(cycle - machine.cycle)
        states[cycle] = machine.snapshot()
    for cycle in chance.sample(sorted(states), len(states)):
        assert timeline.at(cycle).same_as(states[cycle]), cycle


def test_searches_and_tables_do_not_depend_on_what_is_stored(made: Path) -> None:
    full, *others = (open_session(made / f"{name}.rfs") for name in WAYS)
    for other in others:
        assert (other.timeline.states(0, 14_326) == full.timeline.states(0, 14_326)).all()
        assert (other.timeline.stall_totals(9_999) == full.timeline.stall_totals(9_999)).all()
        assert np.allclose(other.overview(7).states, full.overview(7).states)
        for command in COMMANDS:
            assert execute(other, command).text == execute(full, command).text, command


def test_a_stored_chunk_needs_no_machine(made: Path) -> None:
    code = (f"import sys; from rfview.sessions.timeline.opening import *; t = open_recording({str(made / 'some.rfs')!r}); "
            "t.at(6000), t.column('sm.warp[*].state', 0, 6144), describe(t.path); assert 'numba' not in sys.modules")
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT.parent)
    facts = opening.describe(made / "some.rfs")
    assert (facts["chunks"], facts["chunks_end"], facts["keyframes"], facts["last_cycle"]) == (3, 6144, 7, 14_325)


def test_without_its_machine_what_is_stored_is_shown_and_the_rest_says_what_it_needs(
        made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*given: Any, **more: Any) -> Any:
        raise InputError("this rfview has no design 'own'")

    monkeypatch.setattr("rfview.sessions.timeline.again.simulator_of", gone)
    session, full = open_session(made / "some.rfs"), open_session(made / "full.rfs")
    shown, whole = (render_text(one, 120, 40).partition(" WARPS")[2] for one in (session, full))
    assert shown == whole != ""
    assert session.goto(5000).cycle == 5000 and session.snapshot().same_as(full.timeline.at(5000))
    totals = session.overview(5).states.sum(axis=0)
    assert np.allclose(totals, full.overview(5).states.sum(axis=0))
    with pytest.raises(InputError, match=r"some.rfs: cycles after 6,144 are not stored; .* needs rfview .*: .*no design 'own'"):
        session.timeline.at(9000)


def test_keyframes_of_another_user_are_only_compared(made: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(keyframe, "own_key", lambda: bytes(31) + b"x")
    timeline, full = open_recording(made / "none.rfs"), open_recording(made / "full.rfs")
    timeline.at(5000)
    machine, restored = timeline.again().simulator, []
    monkeypatch.setattr(machine, "restore", lambda kept, old=machine.restore: (restored.append(kept.cycle), old(kept)))
    assert timeline.at(100).same_as(full.at(100)) and timeline.at(9000).same_as(full.at(9000))
    assert timeline.at(8300).same_as(full.at(8300)) and timeline.at(13_000).same_as(full.at(13_000))
    known = [cycle for cycle in restored if cycle % SECOND == 0]
    assert known and max(known) <= 8192


def test_a_keyframe_that_was_changed_never_reaches_the_machine(made: Path, tmp_path: Path) -> None:
    def change(number: int, content: dict[str, Any]) -> None:
        if number == LATER:
            stored = keyframe.unpack(keyframe.HEAD.pack(bytes(32), 1, 1) + msgpack.packb(content), 1 << 30)
            contents = stored.contents.copy()
            contents[len(contents) // 2] ^= np.uint64(1 << 40)
            made = replace(stored, contents=contents)
            content["pages"] = msgpack.unpackb(made.pack(b"", b"")[1])["pages"]

    path = rewritten(made / "none.rfs", tmp_path / "odd.rfs", change)
    timeline, full = open_recording(path), open_recording(made / "full.rfs")
    assert timeline.at(LATER * SECOND - 1).same_as(full.at(LATER * SECOND - 1))
    with pytest.raises(InputError, match=r"odd.rfs: cycles after 0 are not stored; .*cycle 10,240 is another one"):
        timeline.at(LATER * SECOND + 10)
    with pytest.raises(InputError, match="cycle 10,240 is another one"):
        fill(open_recording(path), tmp_path / "out.rfs")
    assert not (tmp_path / "out.rfs").exists()


@pytest.mark.parametrize("content", [{"launch_index": -2}, {"num_printed": "x"}, {"pages": b"?"}, {"totals": None}])
def test_what_is_no_keyframe_is_left_out(content: dict[str, Any], made: Path, tmp_path: Path) -> None:
    key = keyframe.own_key()
    path = rewritten(made / "some.rfs", tmp_path / "odd.rfs",
                     lambda number, found: found.update(content if number == LATER else {}), key)
    timeline, full = open_recording(path), open_recording(made / "full.rfs")
    assert timeline.warnings
    reach = min(timeline.last, LATER * SECOND - 1)
    assert timeline.at(reach).same_as(full.at(reach))
    if timeline.last > LATER * SECOND:      # its map can be read, its pages cannot
        with pytest.raises(InputError, match="the keyframe of cycle 10,240 cannot be read"):
            open_recording(path).at(LATER * SECOND + 3)


def test_damage_of_a_keyframe_is_a_warning_and_costs_time_only(made: Path, tmp_path: Path) -> None:
    data = bytearray((made / "none.rfs").read_bytes())
    at = open_recording(made / "none.rfs")._index.key_offset[LATER - 1]
    data[at + 100] ^= 4
    (tmp_path / "hurt.rfs").write_bytes(data)
    timeline, full = open_recording(tmp_path / "hurt.rfs"), open_recording(made / "full.rfs")
    assert len(timeline.warnings) == 1 and "the keyframe of cycle 10,240 is damaged" in timeline.warnings[0]
    assert all(timeline.at(cycle).same_as(full.at(cycle)) for cycle in (10_250, 14_000, 10_239))


def test_a_killed_run_and_one_that_grows_open_up_to_their_last_keyframe(made: Path, tmp_path: Path) -> None:
    data = (made / "some.rfs").read_bytes()
    full = open_recording(made / "full.rfs")
    offsets = open_recording(made / "some.rfs")._index.key_offset
    for length, last in ((offsets[4], 8192), (offsets[5] + 50, 10_240), (len(data) - 30, 14_325)):
        (tmp_path / "part.rfs").write_bytes(data[:length])
        timeline = open_recording(tmp_path / "part.rfs")
        assert timeline.last == last and timeline.warnings
        assert timeline.at(last).same_as(full.at(last)) and timeline.at(last - 3).same_as(full.at(last - 3))


def test_filled_it_is_the_recording_to_the_byte(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyframe_coder, "STRIDE", SECOND)
    result = fill(open_recording(made / "none.rfs"), tmp_path / "filled.rfs")
    assert result.finished and (tmp_path / "filled.rfs").read_bytes() == (made / "full.rfs").read_bytes()


def test_without_stored_cycles_a_bundled_kernels_inputs_are_named(made: Path, tmp_path: Path) -> None:
    with closing(open_recording(made / "none.rfs")) as named, closing(open_recording(made / "full.rfs")) as full:
        assert (named.header.inputs.kernel, named.header.inputs.size) == ("hotspot", "small") and full.header.inputs is None
        assert not named.header.memory.any() and named.header.memory.shape == full.header.memory.shape
        assert named.at(named.first).same_as(full.at(full.first)) and named.at(9000).same_as(full.at(9000))
    copy = tmp_path / "hotspot"
    shutil.copytree(kernels.path("hotspot").parent, copy)
    from rfview.engine.simulator import Simulator

    record(Simulator(load_launch_file(copy / "hotspot.toml")), tmp_path / "own.rfs", budget=Budget(cycles=0), max_cycles=100)
    with closing(open_recording(tmp_path / "own.rfs")) as own:
        assert own.header.inputs is None and own.header.memory.any(), "this file can be edited"


def changed_text(spec: Any) -> Any:
    return replace(spec, text=f"{spec.text}# edited\n")


def changed_data(spec: Any) -> Any:
    name, buffer = next(iter(spec.buffers.items()))
    return replace(spec, buffers={**spec.buffers, name: replace(buffer, array=buffer.array + 1)})


@pytest.mark.parametrize("change", [changed_text, changed_data])
def test_named_inputs_that_are_others_here_are_refused(made: Path, change: Callable[[Any], Any],
                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rfview.engine.launch.load_launch_file", lambda path: change(load_launch_file(path)))
    with closing(open_recording(made / "none.rfs")) as named, pytest.raises(InputError) as refused:
        named.at(9000)
    assert "names those of the bundled kernel hotspot" in str(refused.value) and "record the run again" in str(refused.value)


def test_a_fault_and_what_was_printed_are_kept(tmp_path: Path) -> None:
    def recorded(name: str, budget: Budget | None) -> RecordResult:
        machine = simulator("vectoradd", design="stt[stall=bank]", scheduler="lrr", max_cycles=3000)
        return record(machine, tmp_path / name, budget=budget)

    found, full = recorded("none.rfs", Budget(cycles=0)), recorded("full.rfs", None)
    assert (found.cycles, found.finished) == (3000, False) and "--max-cycles" in (found.fault or "") == (full.fault or "")
    timeline = open_recording(tmp_path / "none.rfs")
    assert timeline.fault == full.fault and timeline.at(3000).same_as(open_recording(tmp_path / "full.rfs").at(3000))


def test_the_key_is_private_and_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RFVIEW_CACHE_DIR", str(tmp_path / "cache"))
    key = keyframe.own_key()
    file = tmp_path / "cache" / KEY_FILE
    assert len(key) == 32 and keyframe.own_key() == key and file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in file.parent.iterdir()] == [KEY_FILE]
    file.chmod(0o644)
    assert keyframe.own_key() == b"", "others could have read it"
    shutil.rmtree(file.parent)
    assert keyframe.own_key() not in (key, b"")


@pytest.mark.parametrize("way", WAYS)
def test_a_recording_is_opened_while_a_slow_writer_is_at_it(made: Path, tmp_path: Path, way: str,
                                                           monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyframe_coder, "STRIDE", SECOND)
    path, ends = tmp_path / "run.rfs", []

    def look(_cycle: int) -> None:
        time.sleep(0.02)        # meanwhile, other threads write
        try:
            growing = open_recording(partials(path)[0])
        except InputError as error:
            assert not ends and ("no complete chunk" in str(error) or "header" in str(error) or "first bytes" in str(error))
            return
        with closing(growing), closing(open_recording(made / "full.rfs")) as whole:
            ends.append(growing.last)
            assert "the index is missing" in growing.warnings[0] and len(growing.warnings) == 1
            for cycle in {growing.first, growing.last // 2, growing.last}:
                assert growing.at(cycle).same_as(whole.at(cycle))

    record(simulator(), path, progress=look, budget=WAYS[way])
    assert ends == sorted(ends) and len(set(ends)) >= 3, ends
