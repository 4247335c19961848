"""What recordings of format 2 hold otherwise than format.py says: every blob is a msgpack map, every keyframe is whole."""

from __future__ import annotations

from typing import Any

import numpy as np

from rfview.sessions.codec import codec

NUMBER = 2


def header_values(body: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return memory and rows as the header has them, and no first state."""
    values = {name: np.frombuffer(body[name], "<u4") for name in ("memory", "rows")}
    return {"state": np.empty(0, np.uint32), **values}


def keyframe(content: dict[str, Any], what: str) -> np.ndarray:
    """Return (words,) u4 the state at a chunk's first cycle. Raises InputError naming `what` when it is damaged."""
    return np.frombuffer(codec.expand(content["key"], what), "<u4")


def changes(content: dict[str, Any], what: str) -> dict[str, Any]:
    """Return the streams of a chunk's changes. Raises InputError naming `what` when they are damaged."""
    found = codec.expand(content["deltas"], what)
    return {**found, "planes": [len(found["planes"]), 1, found["planes"]]}
