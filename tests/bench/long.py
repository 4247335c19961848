"""A real run of ten million cycles: the four workloads measured on the peer, launched one after the other, repeatedly."""

from __future__ import annotations

import re
from pathlib import Path

WORKLOADS = Path(__file__).parent / "workloads"
ORDER = ("vecadd_262144", "sgemm_96", "reduce_524288", "fma_15360_20")
ROUNDS = 17             # about 600,000 cycles each


def write_launch_file(folder: Path, rounds: int = ROUNDS) -> Path:
    """Write the launch file into a folder; return its path."""
    launches, buffers = [], []
    for name in ORDER:
        text = (WORKLOADS / f"{name}.toml").read_text(encoding="utf-8")
        # each workload has its own buffers
        text = re.sub(r'buffer = "(\w+)"', rf'buffer = "{name}_\1"', text)
        text = re.sub(r"\[buffers\.(\w+)\]", rf"[buffers.{name}_\1]", text)
        text = re.sub(r'file = "(.+)"', lambda match: f'file = "{(WORKLOADS / match[1]).as_posix()}"', text)
        launch, *rest = text[text.index("[[launch]]") :].split("[buffers.", 1)
        launches.append(launch)
        buffers.append("[buffers." + rest[0])
    path = folder / "long.toml"
    module = (WORKLOADS / "bench.ptx").as_posix()
    path.write_text("\n".join([f'module = "{module}"', "", *launches * rounds, *buffers]), encoding="utf-8")
    return path
