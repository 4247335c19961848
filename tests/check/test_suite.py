"""The checker finds each known defect of its suite, at its line, and nothing in the twins."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from tests.check.cases import CASES, Case, marked_lines

ROOT = Path(__file__).resolve().parents[2]


MODES = ("cycles", "values")


@lru_cache
def found(mode: str) -> dict[str, Any]:
    """Return the findings of all kernels, checked in a separate process with compiled code."""
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_DISABLE_JIT"}
    done = subprocess.run([sys.executable, "-m", "tests.check.cases", mode], cwd=ROOT, capture_output=True, text=True,
                          env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def name_of(case: Case) -> str:
    """Name a test by its case."""
    return f"{case.module}.{case.name}"


def test_the_suite_has_at_least_forty_defects_and_as_many_twins():
    assert len(CASES) >= 40
    assert len({name_of(case) for case in CASES}) == len(CASES)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_the_defect_is_found_where_it_is(case, mode):
    findings = found(mode)[f"{name_of(case)}_bad"]["findings"]
    assert {one["kind"] for one in findings} == {case.kind}
    lines = marked_lines(case, "bad")
    assert {one["line"] for one in findings} <= lines, findings
    assert {one["cycle"] < 0 for one in findings} == {one["instruction"] > 0 for one in findings} == {mode == "values"}


@pytest.mark.parametrize("name", ["recursion/recursion.sm75", "calls/calls.sm75", "grid_sync/grid_sync.sm75"])
def test_right_programs_of_other_compilers_raise_no_alarm(name):
    done = subprocess.run([sys.executable, "-m", "rfview", "check", f"tests/corpus/{name}.toml"], cwd=ROOT,
                          capture_output=True, text=True)
    assert (done.returncode, done.stdout[:10]) == (0, "no finding"), done.stdout + done.stderr


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_the_twin_without_it_raises_no_alarm(case, mode):
    assert found(mode)[f"{name_of(case)}_good"]["findings"] == []
    assert found(mode)[f"{name_of(case)}_good"]["fault"] is None


@pytest.mark.parametrize("mode", MODES)
def test_what_an_earlier_launch_of_the_file_wrote_counts_as_written(mode):
    (one,) = found(mode)["two launches"]["findings"]
    assert (one["kind"], one["launch"], one["count"], one["place"]) == ("unwritten-global", 1, 16, "raw[16]")
