"""One stretch of recorded cycles: the engine's journal, in memory; what a session file stores and a timeline decodes.

Let c0 = `first_cycle`. The keyframe is the state at c0. `delta_*` of cycle i (0-based) turn the state at c0 + i into the
state at c0 + i + 1: words `delta_index[delta_end[i-1] : delta_end[i]]` of the u4 words [sm recorded bytes | rf bytes]
grow by `delta_value` (new - old, modulo 2**32). Row and memory logs hold new values, the last write of a cycle counts.
Two things are derived, never in a delta: `sm.cycle`, and `sm.stall_total`, which grows in each cycle by the
`sm.state_count` that this cycle left behind. Cycles that were skipped because nothing could happen have empty deltas.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Chunk:
    """A keyframe and the changes of `num_cycles` cycles after it.

    key_sm: (RECORDED_BYTES // 4,) u4. key_rf: (rf bytes // 4,) u4. key_rows: (recorded rows, 32) u4 or None.
    key_memory: (words,) u4 or None; both are None where the consumer carries them on from the chunk before.
    *_end: (num_cycles,) u4 prefix counts. delta_index, delta_value: u4. row_index: (k,) u4, row_value: (k, 32) u4.
    mem_index, mem_value: u4 arena words. printed: (cycle, text) lines that the kernel printed.
    """

    first_cycle: int
    num_cycles: int
    key_sm: np.ndarray
    key_rf: np.ndarray
    key_rows: np.ndarray | None
    key_memory: np.ndarray | None
    delta_end: np.ndarray
    delta_index: np.ndarray
    delta_value: np.ndarray
    row_end: np.ndarray
    row_index: np.ndarray
    row_value: np.ndarray
    mem_end: np.ndarray
    mem_index: np.ndarray
    mem_value: np.ndarray
    printed: list[tuple[int, str]] = field(default_factory=list)
