"""The smallest launch: one warp that ends immediately, for compiling the machine and for trying a design."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rfview.engine import isa
from rfview.engine.launch.spec import Buffer, Launch, LaunchSpec
from rfview.engine.program import INST, NO_PC, NO_PRED, NO_REG, UNIT_CTRL, Kernel, Module


def smallest_run(form: np.dtype = INST) -> tuple[LaunchSpec, Module]:
    """Return a launch of one warp that ends immediately: enough to compile everything. form: INST or MACHINE_INST."""
    inst = np.zeros(1, form)
    inst["op"], inst["unit"] = isa.OP_EXIT, UNIT_CTRL
    inst["src"], inst["dst"] = NO_REG, NO_REG
    inst["guard"], inst["psrc"], inst["pdst"] = NO_PRED, NO_PRED, NO_PRED
    if form == INST:
        inst["reconv"] = NO_PC
    kernel = Kernel("warm", inst, ("exit",), (), 1, 0, 0, 0, ())
    launch = Launch("warm", (1, 1, 1), (32, 1, 1), 0, ())
    buffers = {"data": Buffer("data", np.zeros(1, np.uint32))}
    spec = LaunchSpec(Path("warm.toml"), "warm", Path("warm.ptx"), (launch,), buffers, {}, {}, False, "exact", "", None)
    return spec, Module("warm.ptx", "", {"warm": kernel})
