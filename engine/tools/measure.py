"""Measures a GPU, or a preset's model of one, by the probes and by bundled kernels: data for `rfview calibrate`.

    python -m rfview.engine.tools.measure --output FILE.json               the GPU of this machine, in a few minutes
    python -m rfview.engine.tools.measure --model ampere --output FILE.json

Takes ptxas and nvdisasm (pip install 'rfview[sass]'). Of a GPU the file says which, when, and how. Of each kernel it has
the digest of every buffer at the end, so that values can be compared bit for bit.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rfview.engine import files, kernels
from rfview.engine.config import load_preset
from rfview.engine.errors import InputError, RfviewError
from rfview.engine.launch import load_launch_file
from rfview.engine.launch.spec import LaunchSpec
from rfview.engine.program import Module
from rfview.engine.sass.load import listing_of_cubin
from rfview.engine.sass.module import module_of_listing
from rfview.engine.sass.tools import assemble
from rfview.engine.tools import probes
from rfview.engine.tools.card import Card

FORMAT = "rfview measurement 1"
KERNELS = ("vectoradd", "gemm", "reduction", "histogram", "pathfinder", "nw", "spmv", "hotspot", "gesummv", "scalarprod")
TIMES = 5       # a kernel is launched so often on a GPU; the shortest time counts
METHOD = ("clocks of two lengths of straight code; kernels: the shortest of 5 launches, between two events, times the "
          "highest clock")


class Model:
    """A preset's sub-core in a card's place."""

    def __init__(self, preset: str, settings: Mapping[str, Any] | None = None) -> None:
        config = load_preset(preset)
        if config.core != "subcore":
            raise InputError(f"--model {preset}: expected a preset whose core runs machine code, such as ampere")
        self.name, self.preset, self.settings = f"rfview's model, preset {preset}", preset, settings or {}
        self.sm = int(str(config["kernel.isa"]).removeprefix("sm_"))
        self.clock_mhz = 1.0    # so that a cycle is a microsecond

    def run(self, spec: LaunchSpec, cubin: bytes, module: Module) -> tuple[dict[str, np.ndarray], float]:
        """Run a launch file's launches; return the buffers afterwards, and a cycle as a microsecond, in milliseconds."""
        from rfview.engine.simulator import Simulator       # imports numba

        simulator = Simulator(spec, module=module, preset=self.preset, settings=self.settings)
        simulator.run()
        return simulator.buffers(), simulator.cycle / 1000


def module_of(cubin: bytes, path: str) -> Module:
    """Return the module of a cubin."""
    return module_of_listing(listing_of_cubin(cubin, path), path)


def runner(device: Card | Model) -> Callable[[LaunchSpec, bytes], dict[str, np.ndarray]]:
    """Return the function that launches a probe's cubin on a device and returns its buffers."""
    return lambda spec, cubin: device.run(spec, cubin, module_of(cubin, spec.name))[0]


def probed(device: Card | Model, chosen: tuple[probes.Probe, ...] = probes.PROBES,
           report: Callable[[str], None] = lambda text: None) -> dict[str, dict[str, Any]]:
    """Return what each probe costs on a device, by its name."""
    out = {}
    for probe in chosen:
        out[probe.name] = probes.cost(probe, runner(device), device.sm)
        report(f"{probe.name:<20}{out[probe.name]['cycles']:>9}  {probe.what}")
    return out


def kernel_of(device: Card | Model, name: str) -> dict[str, Any]:
    """Return a bundled kernel's cycles on a device and the digest of its buffers at the end."""
    spec = load_launch_file(kernels.path(name))
    text = spec.module_path.read_text(encoding="utf-8")
    cubin = assemble(text, device.sm, str(spec.module_path))
    module = module_of(cubin, str(spec.module_path))
    runs = [device.run(spec, cubin, module) for _ in range(TIMES if isinstance(device, Card) else 1)]
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(runs[0][0][name]).tobytes() for name in sorted(runs[0][0])))
    return {"cycles": round(min(took for _, took in runs) * device.clock_mhz * 1000), "memory": digest.hexdigest()[:32]}


def measured(device: Card | Model, names: tuple[str, ...] = KERNELS,
             report: Callable[[str], None] = lambda text: None) -> dict[str, Any]:
    """Return everything that is measured of a device, as JSON-compatible data."""
    data: dict[str, Any] = {"format": FORMAT, "device": device.name, "sm": device.sm, "method": METHOD,
                            "date": datetime.date.today().isoformat(), "probes": probed(device, report=report)}
    data["order"] = probes.order(runner(device), device.sm)
    data["kernels"] = {}
    for name in names:
        data["kernels"][name] = kernel_of(device, name)
        report(f"{name:<20}{data['kernels'][name]['cycles']:>9,}  cycles of the bundled kernel")
    return data


def read(path: Path) -> dict[str, Any]:
    """Return a file of measurements. Raises InputError if it is none."""
    try:
        data = files.read_json(path)
    except OSError as problem:
        raise InputError(f"{path}: cannot be read: {problem.strerror or problem}") from None
    except ValueError:
        data = None
    if not isinstance(data, dict) or data.get("format") != FORMAT or not _are_probes(data.get("probes")) or not all(
            isinstance(data.get(name, ""), str) for name in ("device", "date", "method")):
        raise InputError(f"{path}: expected a file that `python -m rfview.engine.tools.measure` has written")
    return data


def _are_probes(data: Any) -> bool:
    """Return whether a file's entry has the cycles of each probe, and of some the value that it computed, as numbers."""
    return isinstance(data, dict) and all(
        isinstance(entry, dict) and _is_number(entry.get("cycles")) and _is_number(entry.get("value", 0.0))
        for entry in data.values())


def _is_number(value: Any) -> bool:
    """Return whether a value of a file is a number that can be written as a float; True is none."""
    return isinstance(value, float) or type(value) is int and abs(value) < 1 << 64


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", metavar="PRESET", help="the model's sub-core instead of a GPU")
    parser.add_argument("--output", metavar="FILE.json", type=Path, required=True)
    args = parser.parse_args(words)
    try:
        device = Model(args.model) if args.model else Card()
        data = measured(device, report=lambda text: print(text, file=sys.stderr, flush=True))
        args.output.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    except (RfviewError, OSError) as problem:
        print(f"measure: {problem}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
