"""Compares compiled code, for this processor and for one without wide vectors, with the plain Python it is made from."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import PATIENCE_S

needs_jit = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="there is no compiled version")
each_processor = pytest.mark.parametrize("features", [None, ""], ids=["this processor", "any processor"])


def compares(module: str, features: str | None) -> str:
    """Return "True" if a test module's results(compiled) are the same compiled and not, in a separate process; else "False",
    or the error.

    features: the processor features that numba is to compile for; None: this processor's.
    """
    environ = {name: value for name, value in os.environ.items() if name != "NUMBA_CPU_FEATURES"}
    if features is not None:
        environ["NUMBA_CPU_FEATURES"] = features
    program = f"from {module} import results; print(results(True) == results(False))"
    done = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, timeout=PATIENCE_S)
    return done.stdout.strip() or done.stderr[-2000:]
