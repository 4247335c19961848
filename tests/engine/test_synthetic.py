"""Generated kernels: their promised registers and memory accesses, bit-exact results on the machine, and errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rfview.engine import ptx
from rfview.engine.tools.synthetic import Pattern, body, expected, fma, options_of, same_bank_share
from rfview.engine.tools.synthetic import ptx as text_of_kernel
from rfview import cli

SMALL = Pattern(instructions=24, rounds=3, warps=6)
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {}, "int": {"kind": "int"}, "one bank": {"reuse": 16, "stride": 16, "held": 0},
    "divided": {"divergence": 0.5, "loads": 0.2, "shared": 0.2},
    "all divided": {"divergence": 1.0, "kind": "int", "instructions": 7},
    "a little divided": {"divergence": 0.1, "instructions": 10}, "only loads": {"loads": 1.0, "instructions": 5},
    "young": {"reuse": 1, "stride": 1, "held": 0, "loads": 0.0, "seed": 9},
    "shared": {"loads": 0.0, "shared": 0.5, "warps": 7}, "long": {"rounds": 400, "warps": 1},
}


def made(folder: Path, pattern: Pattern, name: str = "made") -> Path:
    """Write a pattern's files with `rfview generate`; return the launch file."""
    assert cli.main(["generate", name, *options_of(pattern).split(), "-o", str(folder)]) == 0
    return folder / f"{name}.toml"


@pytest.mark.parametrize("variant", list(VARIANTS))
def test_the_machine_computes_the_expected_result(variant: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = made(tmp_path, replace(SMALL, **VARIANTS[variant]))
    capsys.readouterr()
    assert cli.main(["run", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verified"] is True
    data = np.load(tmp_path / "made_expected.npy")
    assert len(np.unique(data)) > 20     # not constant: a constant would verify anything


@pytest.mark.parametrize("pattern", [replace(SMALL, loads=0.0), replace(SMALL, reuse=6, stride=3),
                                     replace(SMALL, reuse=2, stride=5, kind="int", shared=0.2)])
def test_sources_are_as_old_and_as_far_apart_as_asked_when_decoded(pattern: Pattern) -> None:
    assert pattern.instructions % pattern.ring == 0
    kernel = ptx.decode_module(text_of_kernel(pattern, "made"), "made.ptx").kernels["made"]
    wanted = [pattern.reuse, pattern.reuse + pattern.stride, pattern.ring]
    steps = list(body(pattern))
    at = next(place for place, text in enumerate(kernel.texts)
              if text.startswith(("fma", "mad.lo.u32")) and len({*kernel.insts[place]["src"]} - {255}) == 3
              and place > kernel.texts.index(next(one for one in kernel.texts if one.startswith("neg"))))
    code = kernel.insts[at : at + pattern.instructions]
    written: dict[int, int] = {}
    checked = 0
    for place, (inst, step) in enumerate(zip([*code] * 3, steps * 3)):
        if step.what == "arith":
            sources = [int(reg) for reg in inst["src"] if reg != 255]
            if all(reg in written for reg in sources):
                assert [place - written[reg] for reg in sources] == wanted
                checked += 1
        written[int(inst["dst"][0])] = place
    assert checked > pattern.instructions


def test_shares_of_memory_and_divergence_are_kept() -> None:
    for loads, shared, divergence in ((0.25, 0.125, 0.5), (0.0, 1.0, 0.0), (0.5, 0.5, 1.0), (0.1, 0.0, 0.25)):
        steps = list(body(Pattern(instructions=80, loads=loads, shared=shared, divergence=divergence)))
        assert sum(step.what == "global" for step in steps) == round(80 * loads)
        assert sum(step.what == "shared" for step in steps) == round(80 * shared)
        assert sum(step.half > 0 for step in steps) == round(80 * divergence)
        assert [step.half for step in steps] == sorted(step.half for step in steps)


def test_the_bank_pattern_shows_in_conflicts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    conflicts = []
    for name, stride in (("apart", 15), ("together", 16)):
        file = made(tmp_path, replace(SMALL, reuse=16, stride=stride, held=0, loads=0.0, instructions=96, warps=1), name)
        share = same_bank_share(tmp_path / f"{name}.ptx", name, 16)
        capsys.readouterr()
        assert cli.main(["run", str(file), "--json"]) == 0
        counts = json.loads(capsys.readouterr().out)["counts"]
        conflicts.append((share, counts["read_conflicts"] / counts["rf_reads"]))
    assert conflicts[0][0] == 0 and conflicts[1][0] == 1 and conflicts[1][1] > 1.5 * conflicts[0][1]


def test_fma_rounds_once() -> None:
    draw = np.random.default_rng(5)
    parts = [(draw.integers(-(1 << 24), 1 << 24, 4000) * 2.0 ** draw.integers(-40, 8, 4000)).astype(np.float32)
             for _ in range(3)]
    parts[2][::2] = (parts[0] * parts[1])[::2] * np.float32(-1.0)       # sums that nearly cancel
    for x, y, z, result in zip(*parts, fma(*parts), strict=True):
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        near = [np.nextafter(result, np.float32(way)) for way in (-np.inf, np.inf)]
        error = abs(Fraction(float(result)) - exact)
        assert all(error <= abs(Fraction(float(other)) - exact) for other in near)


def test_a_pattern_gives_the_same_files_each_time(tmp_path: Path) -> None:
    pattern = replace(SMALL, loads=0.3, seed=4)
    made(tmp_path / "a", pattern)
    made(tmp_path / "b", pattern)
    for name in ("made.ptx", "made.toml", "made_expected.npy"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    other = expected(replace(pattern, seed=5), np.zeros(pattern.warps * 32 * 8, np.float32))
    assert not (other == np.load(tmp_path / "a" / "made_expected.npy")).any()


@pytest.mark.parametrize(("words", "said"), [
    (["9x"], "a name of letters"), (["a", "--reuse", "0"], "--reuse 0: expected 1 to"), (["a", "--loads", "1.5"], "a share"),
    (["a", "--loads", "0.7", "--shared", "0.7"], "exceed the number of instructions"), (["a", "--kind", "half"], "float or int"),
    (["a", "--reuse", "20", "--stride", "15"], "at most"), (["a", "--reuse", "x"], "--reuse"),
])
def test_mistakes_are_named(words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
                            monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["generate", *words]) == 2
    assert said in capsys.readouterr().err and not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("design", ["stt", "hcrf", "hrf", "rfc", "single_buffer", "racetrack"])
def test_every_design_computes_it(design: str, tmp_path: Path, rfview_process: Callable[..., Any]) -> None:
    file = made(tmp_path, replace(SMALL, divergence=0.4, shared=0.1, loads=0.2))
    done = rfview_process("run", str(file), "--design", design, "--scheduler", "paper")
    assert done.returncode == 0 and "verified" in done.stdout
