"""Microbenchmarks: presets against numbers measured elsewhere, and against numbers derived from them by hand."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

from rfview import cli
from rfview.engine.config import load_preset
from rfview.engine.errors import InputError
from rfview.engine.tools import calibration

# cycles per operation of GPGPU-Sim 4.2.0, SM2_GTX480 with one SM, measured with kernels of the same chains
PEER = {"int_add": 10.1, "fp_mad": 11.2, "sfu": 14.1, "shared": 49, "l1": 60, "l2": 202, "dram": 324, "loop": 13.0,
        "barrier": 5.2, "store": 4.1, "independent": 0.62, "independent_1": 1.8}
BY_NAME = {point.name: point for point in calibration.POINTS}
LOOP_CYCLES = 20 / calibration.CHAIN        # the most that the loop around a chain adds to each operation


@pytest.mark.parametrize("name", PEER)
def test_gtx480_takes_what_the_peer_takes(name: str) -> None:
    assert calibration.measure(BY_NAME[name], "gtx480") == pytest.approx(PEER[name], rel=0.1)


def test_a_stream_of_loads_and_stores_is_bound_by_its_replies() -> None:
    """Four sectors and four acknowledgements a pair. The peer takes 9.2: its DRAM changes rows between reads and writes."""
    assert calibration.measure(BY_NAME["stream"], "gtx480") == pytest.approx(8, rel=0.01)


@pytest.mark.parametrize("preset", ["fermi", "gebhart"])
@pytest.mark.parametrize("name", ["int_add", "int_mul", "fp_add", "sfu", "int_div"])
def test_a_chain_takes_its_latency_and_two_cycles_of_collecting(name: str, preset: str) -> None:
    """From issue to issue of dependent instructions: two cycles in the collector, then the latency of the class."""
    expected = load_preset(preset)[f"latency.{name}"] + 2
    assert expected <= calibration.measure(BY_NAME[name], preset) <= expected + LOOP_CYCLES


@pytest.mark.parametrize("name, key", [("shared", "shared_cycles"), ("l1", "l1_hit_cycles"), ("l2", "l2_hit_cycles")])
def test_a_load_takes_its_latency_three_cycles_and_two_integer_operations(name: str, key: str) -> None:
    fermi = load_preset("fermi")
    index = "other" if name == "shared" else "int_mul"       # a shift for shared memory, else a wide multiplication
    expected = fermi[f"memory.{key}"] + 3 + fermi[f"latency.{index}"] + 2 + fermi["latency.int_add"] + 2
    assert expected <= calibration.measure(BY_NAME[name], "fermi") <= expected + LOOP_CYCLES + 1


def test_conflicts_take_a_pass_each() -> None:
    plain, conflicting = (calibration.measure(BY_NAME[name], "fermi") for name in ("shared", "shared_conflict"))
    assert conflicting - plain == 31


def test_the_command_prints_a_preset_beside_a_reference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "peer.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("point", "cycles"), ("int_add", 10.1)])
    assert cli.main(["calibrate", "--preset", "gtx480", "--points", "int_add,loop", "--reference", str(path)]) == 0
    text = capsys.readouterr().out
    assert "latency.int_add = 8: GTX480" in text and "10.10" in text and "%" in text and "loop" in text


@pytest.mark.parametrize("content, said", [
    ("name,cycles\n", "peer.csv:1: expected the columns point and cycles"),
    ("point,cycles\nadd,4\n", "peer.csv:2: no point 'add'"),
    ("point,cycles\nint_add,four\n", "peer.csv:2: int_add: 'four' is not a number"),
    ("point,cycles\nint_add,-1\n", "peer.csv:2: int_add: expected cycles above 0"),
    ("point,cycles\nint_add\n", "peer.csv:2: int_add: None is not a number"),
])
def test_a_bad_reference_is_one_sentence(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "peer.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as error:
        calibration.read_reference(path)
    assert said in str(error.value)


def test_a_reference_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "peer.csv")
    with pytest.raises(InputError, match=r"peer\.csv: cannot be read \(is a pipe; expected a file\)"):
        calibration.read_reference(tmp_path / "peer.csv")


def test_an_unknown_point_lists_those_there_are() -> None:
    with pytest.raises(InputError, match="no point 'add'; there are int_add"):
        calibration.chosen("add")
