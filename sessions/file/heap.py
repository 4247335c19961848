"""Have the C library keep what was freed for what is wanted next: coding and decoding take large pieces in turn."""

from __future__ import annotations

import ctypes

# names of glibc for what is set
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
LARGEST, KEPT = 32 << 20, 256 << 20


def keep_freed() -> None:
    """Keep pieces up to LARGEST bytes, and up to KEPT bytes of them; where the library is not glibc, nothing is changed.

    By itself it gives pieces from 128 KiB on back to the system, which has to clear every page of them again.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    mallopt(M_MMAP_THRESHOLD, LARGEST)
    mallopt(M_TRIM_THRESHOLD, KEPT)
