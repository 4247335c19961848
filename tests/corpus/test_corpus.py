"""The corpus itself: every launch file loads, and the references give the committed results."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from rfview.engine.launch import LaunchError, load_launch_file
from tests.corpus.make import CASES, FOLDER, expected

VARIANTS = [(case, variant) for case, variants in CASES.items() for variant in variants]


@pytest.mark.parametrize("case, variant", VARIANTS, ids=[f"{case}.{variant}" for case, variant in VARIANTS])
def test_the_reference_gives_the_committed_results(case, variant):
    spec = load_launch_file(FOLDER / case / f"{case}.{variant}.toml")
    assert spec.module_path.name == f"{case}.{variant}.ptx" and spec.expect and not spec.order_dependent
    results = expected(case, spec)
    assert set(results) == set(spec.expect)
    for name, array in results.items():
        want = spec.expect[name]
        assert array.dtype == want.array.dtype
        # Library functions may differ in the last bit between versions of NumPy.
        assert np.allclose(array, want.array, rtol=want.rtol, atol=want.atol, equal_nan=True)
        assert (want.rtol <= 1e-6 and want.atol <= 1e-6) or want.reason


def test_every_case_has_its_source_and_every_module_its_launch_file():
    for case in CASES:
        assert (FOLDER / case / f"{case}.cu").is_file() or (FOLDER / case / f"{case}.py").is_file()
    found = {file.with_suffix("").name for file in FOLDER.glob("*/*.ptx") if file.parent.name != "bad"}
    assert found == {f"{case}.{variant}" for case, variant in VARIANTS}


def test_the_register_table_covers_every_module():
    table = json.loads((FOLDER / "ptxas_registers.json").read_text())
    root = Path(__file__).parents[2]
    modules = [*FOLDER.glob("*/*.ptx"), *(root / "engine" / "kernels").glob("*/*.ptx")]
    assert set(table) == {str(file.relative_to(root)) for file in modules if file.parent.name != "bad"}
    assert all(0 < registers <= 255 for kernels in table.values() for registers in kernels.values())


BAD = FOLDER / "bad"
EXPECTED = tomllib.loads((BAD / "EXPECTED.toml").read_text())
# The loader must refuse these; all others load, and the front end or the run finds what is wrong.
REFUSED_BY_THE_LOADER = {"broken_toml", "missing_buffer_file", "missing_module"}


def test_every_bad_launch_file_says_what_it_leads_to():
    assert {file.stem for file in BAD.glob("*.toml")} - {"EXPECTED"} == set(EXPECTED)
    assert {entry["exit"] for entry in EXPECTED.values()} == {1, 2, 3}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_loader_refuses_what_it_can_see(name):
    if name not in REFUSED_BY_THE_LOADER:
        load_launch_file(BAD / f"{name}.toml")
        return
    with pytest.raises(LaunchError) as error:
        load_launch_file(BAD / f"{name}.toml")
    assert EXPECTED[name]["exit"] == 2 and all(word in str(error.value) for word in EXPECTED[name]["words"])
