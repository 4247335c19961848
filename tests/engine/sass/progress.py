"""Programs of test_forward_progress.py as machine code: `python -m tests.engine.sass.progress` writes their listings, with ptxas."""

from __future__ import annotations

from pathlib import Path

from rfview.engine.sass.load import listing_of_ptx
from tests.engine.test_forward_progress import CASES, LONG, PTX

FOLDER = Path(__file__).parent
ISAS = ("sm_80", "sm_90")
# not these: redux and elect are not on all architectures, and ptxas moves a load before an elect, which orders no memory
NAMES = [name for name, (body, _) in CASES.items() if "elect" not in body and name not in LONG]


def listing_path(isa: str) -> Path:
    """Return the file of the listing for an architecture; its kernels are k0, k1, .. in the order of NAMES."""
    return FOLDER / f"progress.{isa}.sass"


def ptx_of(isa: str) -> str:
    """Return all programs as one module."""
    head, _, entry = PTX.partition(".visible")
    parts = [(".visible" + entry).format(body=CASES[name][0]).replace(" k(", f" k{number}(") for number, name in enumerate(NAMES)]
    return head.replace("sm_90", isa) + "".join(parts)


def main() -> None:
    """Write the listings."""
    for isa in ISAS:
        listing_path(isa).write_text(listing_of_ptx(ptx_of(isa), int(isa[3:]), "progress.ptx"))


if __name__ == "__main__":
    main()
