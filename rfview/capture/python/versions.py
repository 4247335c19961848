"""Which releases of numba-cuda and Triton are known: what is hooked into changes with them."""

from __future__ import annotations

import re
import sys
from importlib import metadata

# package: releases that were tested, the newest last; those that agree in the first two numbers are taken. Triton 3.8 is
# what torch 2.14 brings with it, so that a plain `pip install torch triton` ends there.
TESTED = {"numba-cuda": ("0.30.4",), "triton": ("3.8.0", "3.9.0")}


class UnknownVersion(RuntimeError):
    """A package that cannot be captured, in a sentence."""


def check(package: str) -> None:
    """Raise UnknownVersion where a package is of a release that nobody has tried, or is not installed at all."""
    tested = TESTED[package][-1]
    series = [release.rpartition(".")[0] for release in TESTED[package]]
    try:
        found = metadata.version(package)
    except metadata.PackageNotFoundError:
        raise UnknownVersion(f"the package {package} is not installed in {sys.prefix}, whose Python runs the script "
                             f"(--python takes another); {package} {tested} can be captured") from None
    if not any(re.match(rf"{re.escape(numbers)}(?!\d)", found) for numbers in series):
        raise UnknownVersion(f"{package} {found} cannot be captured: {package} {' and '.join(series)} is known "
                             f"(tested with {' and '.join(TESTED[package])}); "
                             f"pip install '{package}=={tested}'")
