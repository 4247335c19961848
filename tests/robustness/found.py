"""Cases that once failed, kept as files: they stay the same even if the tables that the targets draw from change.

`python -m tests.robustness --keep` writes a bad case to found/, named after its target, kernel, seed and number;
test_found.py tries all of them. Older failures became hand-written tests, next to what they test.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "found"
GOOD = frozenset({"done", "refused", "ended", "warned", "nothing", "part", "whole", "loaded", "fault", "equal"})


class Keeping:
    """Whether bad cases are written; set by the program, not by tests."""

    on = False


def keep(outcome: str, name: str, data: bytes | str) -> None:
    """Write a case whose outcome is bad, if that was requested."""
    if Keeping.on and outcome not in GOOD:
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / name).write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogateescape"))
