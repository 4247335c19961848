"""Which releases of numba-cuda and Triton are supported: the internals that rfview hooks into change between them."""

from __future__ import annotations

import re
import sys
from importlib import metadata

# package: tested releases, the newest last; releases with the same first two numbers are accepted. Triton 3.8 is the one
# that torch 2.14 depends on, so a plain `pip install torch triton` installs it.
TESTED = {"numba-cuda": ("0.30.4",), "triton": ("3.8.0", "3.9.0")}


class UnknownVersion(RuntimeError):
    """A package is missing or not supported; the message says which and what to install."""


def check(package: str) -> None:
    """Raise UnknownVersion if a package's release is untested, or the package is not installed."""
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
