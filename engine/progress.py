"""The function that long work calls from time to time to say how far it is; it may raise to end the work."""

from __future__ import annotations

from collections.abc import Callable

# takes the fraction done, None if it is unknown and 1.0 at the end, and what is being done
Progress = Callable[[float | None, str], None]
