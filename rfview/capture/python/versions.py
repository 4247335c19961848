"""Which releases of numba-cuda and Triton are known: what is hooked into changes with them."""

from __future__ import annotations

import re
import sys
from importlib import metadata

# package: (releases that were tested, by the first numbers that must agree)
TESTED = {"numba-cuda": ("0.30", "0.30.4"), "triton": ("3.9", "3.9.0")}


class UnknownVersion(RuntimeError):
    """A package that cannot be captured, in a sentence."""


def check(package: str) -> None:
    """Raise UnknownVersion where a package is of a release that nobody has tried, or is not installed at all."""
    series, tested = TESTED[package]
    try:
        found = metadata.version(package)
    except metadata.PackageNotFoundError:
        raise UnknownVersion(f"the package {package} is not installed in {sys.prefix}, whose Python runs the script "
                             f"(--python takes another); {package} {tested} can be captured") from None  # fmt: skip
    if not re.match(rf"{re.escape(series)}(?!\d)", found):
        raise UnknownVersion(f"{package} {found} cannot be captured: {package} {series} is known (tested with {tested}); "
                             f"pip install '{package}=={tested}'")  # fmt: skip
