"""Every case that once failed and was kept as a file now has a good outcome."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from rfview.engine import kernels
from rfview.engine.launch import load_launch_file
from tests.robustness import launch, ptx, recordings
from tests.robustness.found import FOLDER, GOOD

FOUND = sorted(FOLDER.iterdir())


@pytest.mark.parametrize("file", FOUND, ids=[file.name for file in FOUND])
def test_what_went_wrong_once_goes_well(file: Path, tmp_path: Path) -> None:
    target, kernel = file.name.split(".")[:2]
    if target == "recordings":
        path = Path(shutil.copy(file, tmp_path / "case.rfs"))
        outcome, detail = recordings.tried(path, "contents", {}, random.Random(file.name))
    elif target == "ptx":
        outcome, detail = ptx.tried(load_launch_file(kernels.path(kernel)), file.read_text(encoding="utf-8"))
    else:
        assert target == "launch", file.name
        shutil.copytree(kernels.path(kernel).parent, tmp_path / kernel)
        outcome, detail = launch.tried(Path(shutil.copy(file, tmp_path / kernel / "case.toml")))
    assert outcome in GOOD, detail
