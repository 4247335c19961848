"""Cases that once went wrong, as files: each stays what it was, whatever becomes of the tables that the targets draw from.

`python -m tests.robustness --keep` writes a bad case here, named after its target, kernel, seed and number; test_found.py
tries all of them. Found before there was this folder: cases of whose causes tests by hand were made, next to what they test.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "found"
GOOD = frozenset({"done", "refused", "ended", "warned", "nothing", "part", "whole", "loaded", "fault"})


class Keeping:
    """Whether bad cases are written; for the program, not for tests."""

    on = False


def keep(outcome: str, name: str, data: bytes | str) -> None:
    """Write a case whose outcome is bad, where that is asked for."""
    if Keeping.on and outcome not in GOOD:
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / name).write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogateescape"))
