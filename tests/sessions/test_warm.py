"""The recorder is compiled beside the machine: what that compiles is all that a recording needs."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from rfview.engine.compile import jit
from rfview.sessions.codec import arrange, direct, reading, streams, sums, warm
from rfview.sessions.codec.compiled import SOURCES
from rfview.sessions.file.opening import open_recording
from rfview.sessions.file.writer import record
from tests.sessions.double import Double


def compiled(module: ModuleType) -> dict[str, list[Any]]:
    """Return what each function of a module has been compiled for."""
    return {name: list(part.signatures) for name, part in vars(module).items() if hasattr(part, "signatures")}


@pytest.mark.skipif(jit.OFF, reason="nothing is compiled")
def test_a_recording_compiles_nothing_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modules = (arrange, streams, sums, direct)
    warm.code_some(tmp_path)
    direct.load()
    before = [compiled(module) for module in modules]
    record(Double(9 * 1024 + 5), tmp_path / "x.rfs")
    monkeypatch.setattr(reading.READER, "state_at", direct.state_at)
    with closing(open_recording(tmp_path / "x.rfs")) as timeline:
        assert timeline.at(5000).cycle == 5000
    assert [compiled(module) for module in modules] == before
    entries = (before[0]["arrange"], before[1]["store_state"], before[2]["pack_parts"], before[3]["state_at"])
    assert [len(signatures) for signatures in entries] == [1, 1, 1, 1]


def test_all_that_is_compiled_in_counts() -> None:
    """An edit of any file with a compiled function, or of one whose numbers they use, must give a new cache entry."""
    folder = Path(warm.__file__).parent
    text = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}
    used = {part for name in SOURCES for part in re.findall(r"^from sessions\.(\w+) import", text[name], re.M)}
    assert used <= set(SOURCES)
    jitted = {name for name in text if re.search(r"^@(array_)?(jit|entry)\b", text[name], re.M)}
    assert jitted <= set(SOURCES)


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[subprocess.Popen]:
    """Put a child in the compile's place: one that sleeps as long as a file says, and ends badly."""
    started: list[subprocess.Popen] = []
    seconds = tmp_path / "seconds"
    seconds.write_text("0.3")
    real = subprocess.Popen

    def start(command: list[str], **options: Any) -> subprocess.Popen:
        assert command == [sys.executable, "-m", "rfview.sessions.codec.warm"]
        code = f"import time; time.sleep({seconds.read_text()}); raise SystemExit(3)"
        started.append(real([sys.executable, "-c", code], **options))
        return started[-1]

    monkeypatch.setattr(warm.subprocess, "Popen", start)
    monkeypatch.setattr(warm, "is_ready", lambda: False)
    return started


def test_it_is_waited_for_and_told_of(child: list[subprocess.Popen], tmp_path: Path) -> None:
    told: list[tuple[float, str]] = []
    result = record(Double(50), tmp_path / "x.rfs", compiling=lambda part, text: told.append((part, text)))
    assert result.cycles == 50 and child[0].returncode == 3
    *before, last = [part for part, text in told if "recorder" in text]
    assert len(before) + 1 == len(told) > 1 and all(0 <= part < 1 for part in before) and last == 1


def test_it_ends_with_a_run_that_ends_badly(child: list[subprocess.Popen], tmp_path: Path) -> None:
    (tmp_path / "seconds").write_text("600")
    with pytest.raises(KeyError), warm.beside(None):
        raise KeyError
    assert child[0].returncode is not None
