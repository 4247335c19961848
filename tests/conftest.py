"""Shared by all tests: the repository's folder, the command line in a fresh process, and empty folders for settings."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import numpy as np
import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
# The longest time to wait for something that normally happens at once: compiling a machine takes a minute, on a busy
# computer several.
PATIENCE_S = 300.0
WITHOUT_JIT = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
if WITHOUT_JIT:
    from rfview.engine.plugin import plain_records

    plain_records.install()
# a busy computer makes examples slow, which is no failure
hypothesis.settings.register_profile("busy", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("busy")


@pytest.fixture(scope="session")
def repository() -> Path:
    """Return the repository's folder."""
    return REPOSITORY


@pytest.fixture(scope="session", autouse=True)
def own_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the tests away from the user's settings; the cache of compiled code is used, since it makes the tests fast."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.delenv("RFVIEW_TRACEBACK", raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """Let the commands that tests start heed Ctrl-C: a shell's background jobs, CI's groups among them, ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def unbroken() -> Iterator[None]:
    """Fail the run if the program under test ends this process by os._exit: pytest would print no summary and exit with 0."""
    end, own = os._exit, os.getpid()

    def checked(code: int) -> None:
        if os.getpid() == own:
            traceback.print_stack(file=sys.__stderr__)
            code = 70
        end(code)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "_exit", checked)
        yield


@pytest.fixture(autouse=True)
def quiet_wrapping() -> Iterator[None]:
    """Silence NumPy without JIT: the machine's unsigned arithmetic wraps, and NumPy scalars would warn at every step."""
    if not WITHOUT_JIT:
        yield
        return
    with np.errstate(all="ignore"):
        yield


@pytest.fixture(autouse=True)
def tidy(request: pytest.FixtureRequest) -> Iterator[None]:
    """Free the sessions of a long test: they are part of reference cycles, which only the garbage collector frees.

    What is left (modules, compiled code, screens' classes) is permanent: it is frozen, so that later collections skip it.
    """
    yield
    if request.node.get_closest_marker("slow"):
        gc.collect()
        gc.freeze()


@pytest.fixture(scope="session")
def rfview_process() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs `rfview ARGS` in a fresh process without a terminal."""

    def run(*args: str, cwd: Path = REPOSITORY, timeout: float = PATIENCE_S, **env: str) -> subprocess.CompletedProcess[str]:
        full = {**os.environ, "PYTHONPATH": str(REPOSITORY), **env}
        return subprocess.run([sys.executable, "-m", "rfview", *args], cwd=cwd, env=full, timeout=timeout,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)

    return run
