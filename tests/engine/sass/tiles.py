"""A product by tensor cores, of tiles that are copied asynchronously: `python -m tests.engine.sass.tiles` writes its code."""

from __future__ import annotations

import subprocess
from pathlib import Path

from rfview.engine.sass.load import listing_of_ptx

FOLDER = Path(__file__).parent
ISAS = ("sm_80", "sm_90")
ROWS, COLUMNS, DEPTH = 16, 16, 64       # of tiles.cu


def main() -> None:
    """Compile the CUDA C with nvcc, and its PTX with ptxas to listings."""
    ptx = FOLDER / "tiles.ptx"
    subprocess.run(["nvcc", "-arch=sm_80", "-ptx", "tiles.cu", "-o", ptx.name], check=True, cwd=FOLDER)
    for isa in ISAS:
        (FOLDER / f"tiles.{isa}.sass").write_text(listing_of_ptx(ptx.read_text(), int(isa[3:]), ptx.name))


if __name__ == "__main__":
    main()
