"""Frozen copies of the machine at one cycle, as every view gets them, whether live, rewound or replayed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine import html

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo


@dataclass(frozen=True)
class Snapshot:
    """The machine at the start of cycle `cycle`; `sm.warp.state` is what each warp did in the cycle before.

    sm: one record of state.recorded_dtype(). rf: one record of the design's STATE dtype. rows: (recorded rows, 32) u4, the
    main register file followed by the design's own rows. memory: (words,) u4, the arena (shared memory first).
    info: the run's constants, as in `Simulator.info`. All arrays are read-only by convention.
    """

    cycle: int
    sm: Any
    rf: Any
    rows: np.ndarray
    memory: np.ndarray
    info: RunInfo = field(repr=False)

    def _repr_html_(self) -> str:
        """Show, for notebooks, what every resident warp did in the cycle before and what it does next."""
        names, resident = self.info.stall_names, int(self.sm["resident"])
        rows = []
        for warp, one in enumerate(self.sm["warp"]):
            if (resident >> warp) & 1:
                pc = int(one["pc"])
                entry = self.info.instruction(pc)
                rows.append((f"w{warp}", names.get(int(one["state"]), "?"), pc, entry.text if entry else ""))
        return html.table(f"cycle {self.cycle:,}", ("warp", "state", "pc", "next"), rows)

    def register(self, warp: int, reg: int) -> np.ndarray:
        """Return the newest value, (32,) u4, of a warp's register, from wherever the design keeps it.

        Raises IndexError when the warp slot is empty or the register is not allocated.
        """
        count = int(self.sm["launch"]["registers"])
        if not 0 <= warp < len(self.sm["warp"]) or not (int(self.sm["resident"]) >> warp) & 1:
            raise IndexError(f"warp slot {warp} holds no warp at cycle {self.cycle}")
        if not 0 <= reg < count:
            raise IndexError(f"register R{reg} is not allocated: the kernel has R0..R{count - 1}")
        from rfview.engine.plugin import locate     # start-up: few views need it

        return locate(self, warp, reg)

    def predicate(self, warp: int, index: int) -> int:
        """Return the 32-bit lane mask of a warp's predicate."""
        return int(self.sm["warp_cold"][warp]["pred"][index])

    def same_as(self, other: Snapshot) -> bool:
        """Return whether both have the same state, registers and memory, bit for bit."""
        return (
            self.cycle == other.cycle
            and self.sm.tobytes() == other.sm.tobytes()
            and self.rf.tobytes() == other.rf.tobytes()
            and np.array_equal(self.rows, other.rows)
            and np.array_equal(self.memory, other.memory)
        )
