"""From a preset's numbers to the record that the compiled sub-core reads."""

from __future__ import annotations

from typing import Any

from rfview.engine.config import Config
from rfview.engine.machine.cores.subcore.state import (CLASSES, PARAMETERS, PIPE_ALU, PIPE_DOUBLE, PIPE_FMA, PIPE_HALF,
                                                       PIPE_NONE, PIPE_TENSOR, PIPE_UNIFORM, UNIT_CONSTANT,
                                                       UNIT_DOUBLE, UNIT_MEMORY, UNIT_NONE, UNIT_SPECIAL, UNIT_XU)

PIPES = {"alu": PIPE_ALU, "fma": PIPE_FMA, "imad": PIPE_FMA, "wide": PIPE_FMA, "half": PIPE_HALF, "double": PIPE_DOUBLE,
         "tensor": PIPE_TENSOR, "tensor_half": PIPE_TENSOR, "tensor_small": PIPE_TENSOR, "uniform": PIPE_UNIFORM}
UNITS = {"xu": UNIT_XU, "constant": UNIT_CONSTANT, "special": UNIT_SPECIAL, "tensor_double": UNIT_SPECIAL}
ACCESSES = CLASSES[CLASSES.index("load_global") :]
WIDTHS = (4, 8, 16)     # bytes per lane, of the accesses in the tables
PORT_CYCLES = 4         # from the cycle in which a result can be bypassed until it is written
LATER_PORT = {"half": 1}        # M 5.3: HADD2 has its port a cycle after an FFMA; mined: its readers come no later


def fill(record: Any, config: Config, has_reuse_cache: bool = True) -> None:
    """Write the numbers in use into a record of state.PARAMETERS. has_reuse_cache: unless the design has its own."""
    for name in PARAMETERS.names or ():
        if f"core.{name}" in config.numbers:
            setattr(record, name, int(config[f"core.{name}"]))
    record.reuse_cache = record.reuse_cache and has_reuse_cache
    record.late_wide = int(config["core.late_wide"]) << CLASSES.index("wide")
    record.full_fp32 = int(config["core.full_fp32"]) << CLASSES.index("fma")
    for index, name in enumerate(CLASSES):
        record.unit[index] = UNIT_MEMORY if name in ACCESSES else UNITS.get(name, UNIT_NONE)
        record.pipe[index] = PIPES.get(name, PIPE_NONE)
        record.latency[index] = int(config.values().get(f"result.{name}", 0))
        record.port_cycles[index] = PORT_CYCLES + LATER_PORT.get(name, 0)
        record.interval[index] = int(config.values().get(f"interval.{name}", 1))
        if name in ACCESSES:
            for width, size in enumerate(WIDTHS):
                record.read_cycles[index, width] = int(config[f"access_read.{name}_{size}"])
                record.use_cycles[index, width] = int(config[f"access_use.{name}_{size}"])
    if config["core.shared_double"]:
        record.unit[CLASSES.index("double")] = UNIT_DOUBLE
