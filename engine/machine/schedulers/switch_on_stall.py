"""Switch on stall: one warp runs until it waits for long, then the next one, of the other parity if that is asked for."""

from __future__ import annotations

from rfview.engine.machine.schedulers import two_level
from rfview.engine.machine.schedulers.scheduler import Scheduler

ROW = Scheduler("switch_on_stall", "one warp runs until it needs a pending long-latency result, then the next ready one",
                "HRF section 4.3", "chosen by switch_on_stall", two_level.pick, active=1, alternates=True)
