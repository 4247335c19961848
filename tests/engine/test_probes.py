"""Probes of a sub-core: patches arrive in the control codes, costs are differences, files of measurements are checked."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rfview import cli
from rfview.engine.errors import InputError
from rfview.engine.launch.spec import LaunchSpec
from rfview.engine.sass.cubin import read_cubin
from rfview.engine.sass.listing import Control
from rfview.engine.tools import measure, probes

FFMA_OF_CONSTANT = 0xA23        # opcode of the one FFMA in that file, which multiplies by a parameter
CUBIN = Path(__file__).parent / "sass" / "saxpy.sm_80.cubin"


def words(raw: bytes) -> list[int]:
    """Return the encodings of a cubin's code, in order."""
    (code,) = [section.data for section in read_cubin(raw, "saxpy").sections if section.name.startswith(".text.")]
    return [int.from_bytes(code[at : at + 16], "little") for at in range(0, len(code), 16)]


def test_patched_stall_counts_registers_and_reuse_bits_are_read_back() -> None:
    raw = CUBIN.read_bytes()
    before = words(raw)
    sources = words(probes.patched(raw, probes.with_sources((2, 4, 6), 3), "saxpy", FFMA_OF_CONSTANT))
    cut = words(probes.patched(raw, probes.with_stall(3), "saxpy", FFMA_OF_CONSTANT))
    assert sum(word & probes.OPCODE == FFMA_OF_CONSTANT for word in before) == 1
    for was, now, short in zip(before, sources, cut, strict=True):
        if was & probes.OPCODE != FFMA_OF_CONSTANT:
            assert (now, short) == (was, was)
            continue
        own, new, other = (Control.of_bits(word >> 105) for word in (was, now, short))
        assert [now >> bit & 255 for bit in (16, 24, 32, 64)] == [was >> 16 & 255, 2, 4, 6]
        assert new == replace(own, stall=1, reuse=3) and other == replace(own, stall=3)


def test_a_cost_is_a_difference_of_clocks_over_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []
    monkeypatch.setattr(probes, "cubin_of", lambda probe, times, sm: lengths.append(times) or b"")

    def run(spec: LaunchSpec, cubin: bytes) -> dict[str, np.ndarray]:
        out = np.zeros((32, 4), np.uint32)
        out[:, 0] = 50 + 4 * lengths[-1]
        out[:, 2] = np.float32(lengths[-1]).view(np.uint32)
        return {"out": out}

    stall = next(probe for probe in probes.PROBES if probe.name == "stall_4")
    assert probes.cost(stall, run, 80) == {"cycles": 4.0, "value": 96.0} and lengths == [32, 96]


def test_every_probe_has_a_name_of_its_own_and_its_ptx_has_its_body_so_often() -> None:
    assert len({probe.name for probe in probes.PROBES}) == len(probes.PROBES)
    for probe in probes.PROBES:
        first = probe.body.split("\n")[0].replace("#", "0")
        assert probes.ptx_of(probe, 8).count(first) >= 1 and "#" not in probes.ptx_of(probe, 8), probe.name


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({"format": measure.FORMAT, "probes": {"fma": 4}})])
def test_a_file_that_is_no_measurement_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    path.write_text(text)
    with pytest.raises(InputError, match="expected a file that"):
        measure.read(path)


def test_calibrate_prints_the_model_beside_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                             capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(measure, "probed", lambda device, chosen: {one.name: {"cycles": 4.0} for one in chosen})
    path = tmp_path / "card.json"
    data: dict[str, Any] = {"format": measure.FORMAT, "device": "a card", "date": "2026-11-28", "method": "clocks",
                            "probes": {"fma": {"cycles": 4.03}}}
    path.write_text(json.dumps(data))
    assert cli.main(["calibrate", "--preset", "ampere", "--points", "fma,alu", "--reference", str(path)]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[1].split()[:3] == ["fma", "4.00", "4.03"] and rows[2].split()[:3] == ["alu", "4.00", "-"]
    assert "measured: a card, 2026-11-28: clocks" in rows[3]
    assert cli.main(["calibrate", "--preset", "ampere", "--points", "nothing"]) == 2
    assert "no point 'nothing'" in capsys.readouterr().err


def test_without_a_gpu_measure_says_so(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("rfview.engine.tools.card.LIBRARY", "libnothing.so.1")
    assert measure.main(["--output", str(tmp_path / "x.json")]) == 2
    assert "no GPU here: libnothing.so.1" in capsys.readouterr().err
    assert measure.main(["--model", "fermi", "--output", str(tmp_path / "x.json")]) == 2
    assert "expected a preset whose core runs machine code" in capsys.readouterr().err
