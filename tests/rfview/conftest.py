"""A fixture that the tests of the command line share: a launch file that runs in a few hundred cycles."""

from __future__ import annotations

from pathlib import Path

import pytest

BAD = Path(__file__).resolve().parent.parent / "corpus" / "bad"
SMALL = """
module = "copy.ptx"
[[launch]]
kernel = "copy"
grid = [2]
block = [64]
args = [{buffer = "data"}, {value = 1}]
[buffers.data]
shape = [128]
dtype = "int32"
value = 6
"""


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a launch file that runs in a few hundred cycles and has no expected results."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "copy.ptx").write_text((BAD / "copy.ptx").read_text())
    (folder / "small.toml").write_text(SMALL)
    return folder / "small.toml"
