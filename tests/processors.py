"""Compiled code on this processor, and on one without wide vectors, beside the plain Python that it is made from."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import PATIENCE_S

needs_jit = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="there is no compiled version")
each_processor = pytest.mark.parametrize("features", [None, ""], ids=["this processor", "any processor"])


def compares(module: str, features: str | None) -> str:
    """Return "True" where a test module's results(compiled) are the same compiled and not, in a process of their own; else
    "False", or what went wrong.

    features: those of a processor that numba is told of, for it compiles for what it believes to have; None: this one's.
    """
    environ = {name: value for name, value in os.environ.items() if name != "NUMBA_CPU_FEATURES"}
    if features is not None:
        environ["NUMBA_CPU_FEATURES"] = features
    program = f"from {module} import results; print(results(True) == results(False))"
    done = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, timeout=PATIENCE_S)
    return done.stdout.strip() or done.stderr[-2000:]
