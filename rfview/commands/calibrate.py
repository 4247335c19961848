"""`rfview calibrate`: what each operation costs on a preset, in cycles, next to the preset's numbers and a reference."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfview.commands import options, progress
from rfview.engine.errors import InputError

if TYPE_CHECKING:
    from rfview.engine.tools.calibration import Cost

EPILOG = """each measurement times a loop over a chain of one operation at two lengths; the cost is the difference
a reference is a CSV file with columns point and cycles: what the operations cost in another simulator or on a GPU
of presets that run machine code, such as ampere, small kernels that ptxas compiles time themselves instead; their
reference is what `python -m rfview.engine.tools.measure --output FILE.json` has measured on a GPU"""
# the preset's number that contributes most to a point, if its name differs
SOURCES = {"shared": "memory.shared_cycles", "shared_conflict": "memory.shared_cycles", "l1": "memory.l1_hit_cycles",
           "l2": "memory.l2_hit_cycles", "dram": "memory.dram_cycles", "loop": "sm.branch_cycles",
           "independent": "sm.num_schedulers", "independent_1": "sm.ibuffer_entries"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--preset", metavar="NAME", help="a machine (default: all)")
    parser.add_argument("--points", metavar="NAME,...", help="only these measurements (default: all)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings",
                        help="set a number of the machine, as in `rfview run`; may be repeated")
    parser.add_argument("--reference", metavar="FILE", help="another machine's cycles, to print next to ours")
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Measure every point on the chosen presets and print them."""
    from rfview.engine.config import load_preset, ptx_presets
    from rfview.engine.tools import calibration

    presets = [args.preset] if args.preset else ptx_presets()
    settings = options.settings_of(args.settings)
    for preset in presets:
        for key, value in settings.items():
            load_preset(preset).with_setting(key, value)
    if load_preset(presets[0]).core == "subcore":
        return of_subcore(args, presets[0], settings)
    chosen = calibration.chosen(args.points)
    reference = calibration.read_reference(Path(args.reference)) if args.reference else {}
    costs_by_preset: dict[str, list[Cost]] = {}
    with progress.bar() as report:
        for index, preset in enumerate(presets):
            costs_by_preset[preset] = []
            for number, point in enumerate(chosen):
                report((index + number / len(chosen)) / len(presets), f"{point.name} on {preset}")
                cycles = calibration.measure(point, preset, settings)
                costs_by_preset[preset].append(calibration.Cost(point, cycles, reference.get(point.name)))
    texts = (text_of(preset, costs) for preset, costs in costs_by_preset.items())
    print(json.dumps(data_of(costs_by_preset)) if args.json else "\n\n".join(texts))
    return 0


def of_subcore(args: argparse.Namespace, preset: str, settings: Mapping[str, Any]) -> int:
    """Let the probes time themselves on a preset's sub-core, and print them beside a GPU's."""
    from rfview.engine.tools import measure, probes

    known = {probe.name: probe for probe in probes.PROBES}
    names = args.points.split(",") if args.points else list(known)
    for name in names:
        if name not in known:
            raise InputError(f"--points {args.points}: no point {name!r}; there are {', '.join(known)}")
    reference = measure.read(Path(args.reference)) if args.reference else {}
    model = measure.Model(preset, settings)
    with progress.bar() as report:
        costs = {}
        for number, name in enumerate(names):
            report(number / len(names), f"{name} on {preset}")
            costs.update(measure.probed(model, (known[name],)))
    if args.json:
        print(json.dumps({preset: costs, "reference": reference}))
        return 0
    theirs = reference.get("probes", {})
    print(f"{'cycles per operation':<22}{preset:>9}" + (f"{'measured':>10}" if reference else ""))
    for name, entry in costs.items():
        beside = ""
        if reference:
            beside = f"{theirs[name]['cycles']:>10.2f}" if name in theirs else f"{'-':>10}"
        value = f"; computes {entry['value']:g}" if "value" in entry else ""
        also = f" ({theirs[name]['value']:g} there)" if value and "value" in theirs.get(name, {}) else ""
        print(f"{name:<22}{entry['cycles']:>9.2f}{beside}   {known[name].what}{value}{also}")
    if reference:
        print(f"measured: {reference.get('device', '?')}, {reference.get('date', '?')}: {reference.get('method', '?')}")
    return 0


def source_of(preset: str, name: str) -> tuple[str, Any, str]:
    """Return (name, value, source) of the preset's number that contributes most to a point; empty if none stands out."""
    from rfview.engine.config import load_preset

    numbers = load_preset(preset).numbers
    key = SOURCES.get(name, f"latency.{name}")
    return (key, numbers[key].value, numbers[key].source) if key in numbers else ("", "", "")


def data_of(costs_by_preset: dict[str, list[Cost]]) -> dict[str, Any]:
    """Return everything as JSON-compatible data."""
    return {preset: [{"point": cost.point.name, "what": cost.point.what, "cycles": round(cost.cycles, 3),
                      "reference": cost.reference, "parameter": source_of(preset, cost.point.name)[0]} for cost in costs]
            for preset, costs in costs_by_preset.items()}


def text_of(preset: str, costs: Sequence[Cost]) -> str:
    """Return a row per point."""
    with_reference = any(cost.reference is not None for cost in costs)
    head = f"{'cycles per operation':<18}{preset:>10}" + (f"{'reference':>11}{'':>8}" if with_reference else "")
    lines = [f"{head}   the preset's number and its source"]
    for cost in costs:
        key, value, source = source_of(preset, cost.point.name)
        beside = ""
        if with_reference:
            beside = f"{cost.reference:>11.2f}{100 * cost.difference:>+7.1f}%" if cost.reference is not None else " " * 19
        setting = f"{key} = {value}: {source}" if key else ""
        lines.append(f"{cost.point.name:<20}{cost.cycles:>8.2f}{beside}   {setting}".rstrip())
        lines.append(f"  {cost.point.what}")
    return "\n".join(lines)
