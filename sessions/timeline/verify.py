"""Read a recording completely, and compare the state at the end of each chunk with that at the start of the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from rfview.engine.errors import InputError
from rfview.sessions.guard import consistent
from rfview.sessions.timeline.replay import RecordedTimeline

PARTS = ("state", "register file", "registers", "memory")


def verify(timeline: RecordedTimeline, progress: Callable[[float], object] | None = None) -> Iterator[str]:
    """Yield a sentence for every error: chunks that cannot be decoded, states that do not match.

    The state at a border is computed twice: from the keyframe and changes of the previous chunk, and from the keyframe of
    the next chunk; registers and memory from the logs, and from their sums. progress: takes the fraction done.
    """
    first, starts = timeline.first_stored, timeline.chunk_starts()
    behind = first + timeline.stored_chunks
    before = None
    for number in range(first, behind):
        start = starts[number]
        if progress is not None:
            progress((number - first) / timeline.stored_chunks)
        stop = starts[number + 1] if number + 1 < behind else timeline.stored_until
        try:
            with consistent(timeline):
                part = timeline.decoded(number)
                begin, end = (part.snapshot(cycle, timeline.info) for cycle in (start, stop))
                if before is not None:
                    yield from (f"{timeline.path}: {text}" for text in _differences(before, begin, number, start))
                totals, counted = timeline.totals(number + 1), part.stall_total()[-1]
                if not np.array_equal(totals, counted):
                    yield f"{timeline.path}: chunk {number} (cycles {start:,}..): its cycles do not add up to its totals"
                len(end.rows), len(end.memory), part.chunk.writes       # read now, so that errors refer to this chunk
                before = end
        except InputError as error:
            yield str(error)
            before = None


def _differences(end, begin, number: int, start: int) -> Iterator[str]:  # type: ignore[no-untyped-def]
    """Yield what differs in the state at a border between both sides."""
    same = (end.sm.tobytes() == begin.sm.tobytes(), end.rf.tobytes() == begin.rf.tobytes(),
            np.array_equal(end.rows, begin.rows), np.array_equal(end.memory, begin.memory))
    wrong = [part for part, is_same in zip(PARTS, same, strict=True) if not is_same]
    if wrong:
        yield (f"chunk {number} (cycle {start:,}): {' and '.join(wrong)} at its start differ from those at the end of chunk "
               f"{number - 1}")
