"""Recipes: filled anywhere, they equal the recording; a different, truncated or foreign one is one clear error."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgpack
import numpy as np
import pytest

from rfview.engine import files
from rfview.engine import kernels
from rfview.engine.errors import InputError
from rfview.sessions import open_session
from rfview.sessions.codec import streams
from rfview.sessions.file import framing
from rfview.sessions.timeline import recipe, recipe_filling, recipe_writing
from rfview.sessions.file.writer import record
from rfview.sessions.timeline.opening import open_recording

CORPUS = Path(__file__).parent.parent / "corpus"
SETTINGS = {"sm.num_collectors": "4", "stt.write_cycles": "6"}


def simulator(target: str | Path, **options: Any) -> Any:
    """Return a fresh simulator of a bundled kernel or launch file."""
    from rfview.engine.launch import load_launch_file
    from rfview.engine.simulator import Simulator

    return Simulator(load_launch_file(kernels.path(target) if isinstance(target, str) else target), **options)


def small(**options: Any) -> Any:
    """Return a simulator of the histogram kernel that ends with a fault after 20,000 cycles."""
    return simulator("histogram", design="stt[stall=bank]", scheduler="lrr", settings=SETTINGS, max_cycles=20_000, **options)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a recipe of bfs (24 launches) on sram; next to it is direct.rfs, a recording of the same run."""
    folder = tmp_path_factory.mktemp("recipe")
    result = recipe_writing.write_recipe(simulator("bfs"), folder / "run.rfr")
    assert result.finished and result.verified and result.fault is None and result.sums >= 5
    record(simulator("bfs"), folder / "direct.rfs")
    return folder / "run.rfr"


def changed(path: Path, to: Path, change: Any) -> Path:
    """Rewrite a recipe with its body changed by `change(body)`."""
    with open(path, "rb") as file:
        outer = msgpack.unpackb(framing.read_frame(file, len(recipe.MAGIC), recipe.RECIPE).payload)
    body = streams.decompress_map(outer["body"], "it")
    change(body)
    made = files.NewFile(to, is_recording=True)
    recipe_writing._write(made, body)
    made.commit()
    return to


def test_filled_it_is_the_recording_to_the_byte(made: Path, tmp_path: Path) -> None:
    result = recipe_filling.fill(recipe.open_recipe(made), tmp_path / "run.rfs")
    assert result.finished
    assert (tmp_path / "run.rfs").read_bytes() == made.with_name("direct.rfs").read_bytes()
    assert made.stat().st_size < 100_000 < made.with_name("direct.rfs").stat().st_size / 20


def test_settings_scheduler_variant_and_the_fault_that_ends_a_run_are_kept(tmp_path: Path) -> None:
    written = recipe_writing.write_recipe(small(), tmp_path / "run.rfr")
    assert (written.cycles, written.finished) == (20_000, False) and "--max-cycles" in (written.fault or "")
    filled = recipe_filling.fill(recipe.open_recipe(tmp_path / "run.rfr"), tmp_path / "filled.rfs")
    direct = record(small(), tmp_path / "direct.rfs")
    assert filled.fault == direct.fault == written.fault
    assert (tmp_path / "filled.rfs").read_bytes() == (tmp_path / "direct.rfs").read_bytes()
    info = open_recording(tmp_path / "filled.rfs").info
    assert (info.parameters["stt.write_cycles"], info.parameters["sm.num_collectors"]) == (6, 4)
    assert info.parameters["stt.stall"] == "bank" and info.scheduler == "lrr"


@pytest.mark.parametrize("name", ["struct_params", "constant_table", "two_kernels"])
def test_it_runs_where_its_launch_file_and_data_are_gone(name: str, tmp_path: Path) -> None:
    folder = shutil.copytree(CORPUS / name, tmp_path / "there")
    written = recipe_writing.write_recipe(simulator(min(folder.glob("*.toml"))), tmp_path / "run.rfr")
    shutil.rmtree(folder)
    filled = recipe_filling.fill(recipe.open_recipe(tmp_path / "run.rfr"), tmp_path / "run.rfs")
    end = open_recording(tmp_path / "run.rfs").end
    assert filled.cycles == written.cycles and end.verified is True


def test_the_first_keyframe_that_differs_is_named_and_nothing_is_left(made: Path, tmp_path: Path) -> None:
    def spoil(body: dict[str, Any]) -> None:
        body["sums"][3][2] ^= 1
        body["sums"][4][1] ^= 1
        body["info"]["source_hash"] = "0123456789abcdef"

    spoilt = changed(made, tmp_path / "spoilt.rfr", spoil)
    said = (r"spoilt.rfr: .* differs at keyframe cycle 49,152 \(registers\); all keyframes up to cycle 32,768 agree.*"
            r"\(0123456789abcdef\), this is")
    with pytest.raises(InputError, match=said):
        recipe_filling.fill(recipe.open_recipe(spoilt), tmp_path / "out.rfs")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["spoilt.rfr"]
    warnings = open_session(spoilt).warnings
    assert len(warnings) == 1 and "may run differently" in warnings[0]


def test_another_machine_or_start_is_noticed(made: Path, tmp_path: Path) -> None:
    slower = changed(made, tmp_path / "a.rfr", lambda body: body["info"]["parameters"].update({"memory.dram_cycles": 450}))
    with pytest.raises(InputError, match=r"differs at keyframe cycle 0 \(state\); not even its start agrees"):
        recipe_filling.fill(recipe.open_recipe(slower), tmp_path / "out.rfs")

    def other_data(body: dict[str, Any]) -> None:
        name, (dtype, shape, data) = body["buffers"][0]
        body["buffers"][0] = [name, [dtype, shape, bytes(len(data))]]

    with pytest.raises(InputError, match=r"differs at keyframe cycle 0 \(memory\)"):
        recipe_filling.fill(recipe.open_recipe(changed(made, tmp_path / "b.rfr", other_data)), tmp_path / "out.rfs")


def test_a_run_that_ends_early_is_noticed(made: Path, tmp_path: Path) -> None:
    body = recipe.open_recipe(made).body
    end = body.cycles
    longer = changed(made, tmp_path / "a.rfr", lambda body: body.update(
        cycles=end + 5000, sums=[*body["sums"][:-1], [end + 5000, 1, 2, 3]]))
    with pytest.raises(InputError, match=f"ended at cycle {end:,}, before keyframe cycle {end + 5000:,}"):
        recipe_filling.fill(recipe.open_recipe(longer), tmp_path / "out.rfs")


def test_a_live_session_of_a_recipe_is_the_same_run(made: Path) -> None:
    recorded = open_session(made.with_name("direct.rfs"))
    with open_session(made) as session:
        assert session.goto("end").cycle == recorded.goto("end").cycle and not session.warnings
        for cycle in (70_001, 1_500, 70_000, 0):
            session.goto(cycle)
            recorded.goto(cycle)
            assert session.snapshot().same_as(recorded.snapshot()), cycle
        assert session.info.launch_toml == recorded.info.launch_toml != ""


def test_an_interrupted_run_leaves_what_it_has(tmp_path: Path) -> None:
    def interrupt(at: int) -> Any:
        def progress(cycle: int) -> None:
            if cycle >= at:
                raise KeyboardInterrupt

        return progress

    with pytest.raises(KeyboardInterrupt):
        recipe_writing.write_recipe(simulator("bfs"), tmp_path / "run.rfr", interrupt(40_000))
    left, = tmp_path.iterdir()
    assert re.fullmatch(r"run\.[0-9a-f]{6}\.partial\.rfr", left.name)
    part = recipe.open_recipe(left)
    assert (part.cycles, part.body.finished, part.body.summary) == (49_152, False, None)
    with pytest.raises(KeyboardInterrupt):
        recipe_filling.fill(part, tmp_path / "run.rfs", interrupt(20_000))
    kept = open_recording(tmp_path / "run.rfs")
    assert kept.last >= 16_384 and kept.warnings
    assert not (tmp_path / "run.rfs").exists()
    result = recipe_filling.fill(part, tmp_path / "run.rfs")
    assert (result.cycles, result.finished) == (49_152, False)


def test_sums_get_sparser_the_longer_the_run_and_the_larger_the_state() -> None:
    def state(cycle: int) -> Any:
        array = np.zeros(8, np.uint32)
        return SimpleNamespace(cycle=cycle, sm=array, rf=array, rows=array, memory=array)

    sums, cycle = recipe_writing.Sums(1000), 0
    assert sums.stride == recipe_writing.FIRST_STRIDE
    while cycle < 10_000_000:
        sums.add(state(cycle))
        assert len(sums.sums) <= recipe_writing.MAX_SUMS
        cycle += sums.stride - cycle % sums.stride
    assert {entry[0] % sums.stride for entry in sums.sums} == {0} and len(sums.sums) > recipe_writing.MAX_SUMS // 3
    assert recipe_writing.Sums(512 << 20).stride == 512 * recipe_writing.FIRST_STRIDE


def test_files_that_are_cut_damaged_foreign_or_newer_are_one_clear_error(made: Path, tmp_path: Path) -> None:
    whole = made.read_bytes()
    bad = tmp_path / "bad.rfr"

    def refused(data: bytes, match: str) -> None:
        bad.write_bytes(data)
        for verb in (recipe.open_recipe, recipe.describe, open_session):
            with pytest.raises(InputError, match=f"bad.rfr: .*{match}"):
                verb(bad)

    for length in (8, 9, 20, 24, 25, len(whole) // 2, len(whole) - 1):
        refused(whole[:length], "cut")
    for at in (9, 13, 21, 30, len(whole) - 5):
        refused(whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1 :], "damaged")
    refused(whole + b"more", "unexpected data after its end")
    with pytest.raises(InputError, match="not an rfview recipe"):
        bad.write_bytes(b"#!/bin/sh\n" * 10)
        recipe.open_recipe(bad)
    with pytest.raises(InputError, match="not an rfview recipe"):
        recipe.open_recipe(made.with_name("direct.rfs"))
    with pytest.raises(InputError, match="missing.rfr: cannot open"):
        recipe.open_recipe(tmp_path / "missing.rfr")

    def payload(outer: Any) -> bytes:
        with open(bad, "wb") as file:
            file.write(recipe.MAGIC)
            framing.write_frame(file, recipe.RECIPE, msgpack.packb(outer))
        return bad.read_bytes()

    refused(payload({"format": 2, "body": b"?"}), "recipe format 2, this rfview reads format 1")
    refused(payload({"format": 1, "body": b"?"}), "damaged")
    refused(payload({"format": 1, "body": streams.compress_map({"info": {}})}), "its contents: info: object missing required field `kernel`.*; write it again")
    refused(payload([1, 2]), "cannot be used")


def test_a_recipe_whose_parts_do_not_belong_together_is_one_clear_error(made: Path, tmp_path: Path) -> None:
    for change, match in (
        (lambda body: body["buffers"].pop(), "expected the name of a"),
        (lambda body: body["info"].update(launch_toml="[["), "expected TOML"),
        (lambda body: body["info"].update(design_spec={"chain": ["sarm"], "values": {}, "locates": False}), "no register-file design 'sarm'"),
        (lambda body: body["buffers"][0][1].__setitem__(1, [3]), r"buffers\.\w+: has [\d,]+ bytes, but its type and shape need 12"),
        (lambda body: body["buffers"][0][1].__setitem__(1, [1 << 40]), "would take .* bytes, more than"),
        (lambda body: body["expect"][0].__setitem__(0, "x"), r"expect\.x: expected the name of a buffer"),
        (lambda body: body["info"]["parameters"].update({"memory.bytes_per_cycle": [1] * 5000}), "expected a number, for example"),
        (lambda body: body["info"].update(seed="1"), r"info\.seed: expected `int`, got `str`"),
        (lambda body: body["sums"].append(body["sums"][0]), "expected ascending cycles"),
        (lambda body: body["info"]["ptx"][0].update(text=".global .b8 g[2100000000];".join(
            body["info"]["ptx"][0]["text"].partition(".visible")[::2])), "k.ptx|bytes of memory"),
    ):
        path = changed(made, tmp_path / "odd.rfr", change)
        with pytest.raises(InputError, match=match):
            recipe_filling.fill(recipe.open_recipe(path), tmp_path / "out.rfs")


def test_saying_what_a_recipe_holds_needs_no_numba(made: Path) -> None:
    code = (f"import sys; from rfview.sessions.timeline import recipe; print(recipe.describe({str(made)!r})['cycles']); "
            "assert 'numba' not in sys.modules")
    root = CORPUS.parent.parent
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert int(found.stdout) == recipe.open_recipe(made).cycles
