"""Compiling in a child process: an exception from the progress report ends the child, so that users can interrupt it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rfview.engine.compile import warm
from rfview.engine.errors import InputError


def test_a_report_that_raises_ends_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen] = []
    real = subprocess.Popen

    def sleeping(command: list[str], **more: object) -> subprocess.Popen:
        started.append(real([sys.executable, "-c", "import time; time.sleep(60)"], **more))
        return started[-1]

    def report(share: float, text: str) -> None:
        if share > 0:
            raise InputError("stopped")

    monkeypatch.setattr(warm.subprocess, "Popen", sleeping)
    with pytest.raises(InputError, match="stopped"):
        warm.compile_in_child("sram", report)
    assert started[0].returncode is not None and started[0].returncode != 0
