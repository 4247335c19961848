"""The recorder is compiled in parallel with the machine, and that compiles all that a recording needs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rfview.engine.compile import jit
from rfview.sessions.codec import compiling, loops
from rfview.sessions.file import warm
from rfview.sessions.file.writer import record
from tests.sessions.double import Double


def compiled() -> dict[str, list[Any]]:
    """Return the signatures for which each loop of the recorder has been compiled."""
    return {name: list(part.signatures) for name, part in vars(loops).items() if hasattr(part, "signatures")}


@pytest.mark.skipif(jit.OFF, reason="nothing is compiled")
def test_a_recording_compiles_nothing_more(tmp_path: Path) -> None:
    warm.code_some()
    before = compiled()
    record(Double(9 * 1024 + 5), tmp_path / "x.rfs")
    assert compiled() == before
    assert {len(signatures) for signatures in before.values()} == {1}


def test_all_that_is_compiled_in_counts() -> None:
    """An edit of a file with a compiled function, or with constants that it uses, must lead to a new cache entry."""
    folder = Path(loops.__file__).parent
    text = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}
    assert [name for name in text if re.search(r"^@(device|entry)\b", text[name], re.M)] == ["loops"]
    imported = re.findall(r"^from (rfview\.\S+) import (.+)$", text["loops"], re.M)
    assert imported == [("rfview.engine", "chunk"), ("rfview.engine.chunk", "AFFINE, RAW"), ("rfview.engine.compile", "bits, jit"),
                        ("rfview.engine.compile.bits", "bit64, ctz64, popcount"), ("rfview.engine.compile.device", "device")]
    assert {"loops.py", "bits.py", "chunk.py"} <= {path.name for path in loops.SOURCES}


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[subprocess.Popen]:
    """Replace the compiling child by one that sleeps for the seconds in a file and exits with 3."""
    started: list[subprocess.Popen] = []
    seconds = tmp_path / "seconds"
    seconds.write_text("0.3")
    real = subprocess.Popen

    def start(command: list[str], **options: Any) -> subprocess.Popen:
        assert command == [sys.executable, "-m", "rfview.sessions.file.warm"]
        code = f"import time; time.sleep({seconds.read_text()}); raise SystemExit(3)"
        started.append(real([sys.executable, "-c", code], **options))
        return started[-1]

    monkeypatch.setattr(compiling.subprocess, "Popen", start)
    monkeypatch.setattr(compiling, "is_ready", lambda: False)
    return started


def test_it_is_waited_for_and_told_of(child: list[subprocess.Popen], tmp_path: Path) -> None:
    told: list[tuple[float, str]] = []
    result = record(Double(50), tmp_path / "x.rfs", compiling=lambda part, text: told.append((part, text)))
    assert result.cycles == 50 and child[0].returncode == 3
    *before, last = [part for part, text in told if "recorder" in text]
    assert len(before) + 1 == len(told) > 1 and all(0 <= part < 1 for part in before) and last == 1


def test_it_ends_with_a_run_that_ends_badly(child: list[subprocess.Popen], tmp_path: Path) -> None:
    (tmp_path / "seconds").write_text("600")
    with pytest.raises(KeyError), compiling.beside(None):
        raise KeyError
    assert child[0].returncode is not None
