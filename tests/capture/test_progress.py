"""What is shown of a program while it runs, and when it is interrupted."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from rfview.capture import program
from rfview.capture.device import Device
from rfview.capture.launches import Request
from rfview.capture.launches import Entry
from rfview.cli import main
from rfview.engine.simulator import Simulator
from tests.capture.driven import NAME, SAXPY


def launched(device: Device) -> None:
    x, y = device.memory.allocate(400), device.memory.allocate(400)
    device.launch(Request(device.load(SAXPY), NAME, (4, 1, 1), (32, 1, 1), 0, struct.pack("<QQI", x, y, 100)))


def test_a_launch_says_its_number_its_ctas_and_the_cycles_before_it_and_clears_the_line() -> None:
    shown: list[tuple[float | None, str]] = []
    device = Device({}, progress=lambda fraction, text: shown.append((fraction, text)))
    for _ in range(2):
        launched(device)
    texts = [text for _, text in shown]
    assert texts[0].startswith("launch 0 saxpy: 0 of 4 CTAs, 0 cycles") and "before it" not in texts[0]
    assert f"; {device.launches.entries[0].cycles:,} cycles before it" in texts[-2] and "launch 1 saxpy" in texts[-2]
    assert texts.count("") == 2 and texts[-1] == "" and {fraction for fraction, _ in shown} == {None}


def test_an_interrupted_launch_is_in_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    def step(self: Simulator, cycles: int) -> None:
        raise KeyboardInterrupt

    device = Device({})
    monkeypatch.setattr(Simulator, "step", step)
    with pytest.raises(KeyboardInterrupt):
        launched(device)
    assert [(entry.label, entry.result) for entry in device.launches.entries] == [("saxpy:0", "interrupted")]


def test_ctrl_c_prints_the_table_of_what_has_run_so_far(monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
                                                        capsys: pytest.CaptureFixture[str]) -> None:
    def run(words: list[str], device: Device, *args: Any, **options: Any) -> int:
        known_as = device.launches.next("step", "step")
        device.launches.add(Entry(0, "step", 0, (4, 1, 1), (32, 1, 1), 1234, "", 0.0, 0.0, label="step:0"), known_as)
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "run", run)
    assert main(["launches", "--json", str(tmp_path / "list.json"), "./app"]) == 130
    text = capsys.readouterr().out
    assert "step:0" in text and "1 launch, 1,234 cycles" in text
    written = json.loads((tmp_path / "list.json").read_text())
    assert written["exit_code"] is None and [row["cycles"] for row in written["list"]] == [1234]
