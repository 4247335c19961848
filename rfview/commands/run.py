"""`rfview run`: run a kernel to its end, verify it, and print a summary or one JSON object."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rfview.engine import files
from rfview.engine.errors import InputError
from rfview.engine.stalls import NO_WARP
from rfview.engine.wording import energy_unit, plural
from rfview.commands import options, progress
from rfview.launching import words

if TYPE_CHECKING:
    from pathlib import Path

    from rfview.engine.simulator import Checkpoint, Simulator
    from rfview.sessions.summary.summarise import Summary

EPILOG = ("exit codes: 0 fine, 1 not verified (with --check: or something found), 2 bad input, 3 the kernel misbehaved"
          f"\n\n{words.EPILOG}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_target(parser)
    options.add_machine(parser)
    words.add_arguments(parser)
    parser.add_argument("--save-buffers", metavar="DIR",
                        help="write every buffer as DIR/NAME.npy, symbols as DIR/sym_NAME.npy; long names are shortened")
    options.add_check(parser)
    parser.add_argument("--quick", action="store_true",
                        help="compute the kernel's values only, many times faster: no cycles, no energy")
    options.add_json(parser)


@words.takes_kernels
def run(args: argparse.Namespace) -> int:
    """Run the kernel; return 0 if it verified or has nothing to verify, 1 if a result differs."""
    machine = options.machine_of(args)
    if args.check and args.quick:
        raise InputError("--check looks at a run with cycles; leave out --quick")
    spec = options.load_target(args.target)
    folder = options.writable_folder(args.save_buffers) if args.save_buffers else None
    with progress.bar() as report:
        from rfview.engine.simulator import Simulator

        if args.check:
            from rfview.engine.check.machine import CheckedSimulator

        if args.quick:
            from rfview.engine.functional.machine import FunctionalSimulator

        kind = CheckedSimulator if args.check else FunctionalSimulator if args.quick else Simulator
        simulator = kind(spec, progress=report, **machine)
        targets = {} if folder is None else targets_of(simulator, folder)
        marks: list[Checkpoint] | None = None if args.check or args.quick else []
        began = time.perf_counter()
        try:
            simulator.step(1)   # the first cycle compiles or loads the machine, which is not part of the run's time
            began = time.perf_counter()
            simulator.run(marks)
        finally:
            wall = time.perf_counter() - began
            for _cycle, text in simulator.printed:
                print(text, end="" if text.endswith("\n") else "\n", file=sys.stderr if args.json else sys.stdout)
            options.print_reports(simulator)
            findings = options.print_findings(simulator, args, fault=simulator.fault is not None)
    save_buffers(simulator, targets)
    if args.quick:
        summary = {**simulator.summary(), "wall_s": round(wall, 6)}
        print(json.dumps(summary) if args.json else text_of_values(summary))
        return int(summary["verified"] is False or bool(simulator.reports))
    from rfview.engine.plugin import nodes

    node = nodes.node_nm(simulator.built.chain, simulator.built.values, simulator.config.preset)
    summary = {**simulator.summary(), "node_nm": node, "wall_s": round(wall, 6)}
    summary |= about_energy(simulator, summary["energy_pj"])
    is_bad = summary["verified"] is False or bool(simulator.reports)
    words, slip = sentences_of(simulator, findings is None, marks or ())
    summary["summary"] = words.data() if words is not None else None
    if findings is not None:
        summary["check"] = findings.as_dict()
    print(json.dumps(summary) if args.json else text_of(summary) + (f"\n{words.text(width())}" if words is not None else ""))
    if slip is not None:
        raise slip
    return 1 if is_bad or (findings is not None and findings.found) else 0


def sentences_of(
    simulator: Simulator, with_lines: bool, marks: Sequence[Checkpoint]
) -> tuple[Summary | None, InputError | None]:
    """Return the sentences about a run, None if it has no cycles, and what is wrong with the design's floors or lifts.

    The latter must not lose what the run gave, so it is raised after that is printed.
    """
    from rfview.sessions.summary.summarise import of_simulator

    try:
        return (of_simulator(simulator, with_lines, marks) if simulator.cycle else None), None
    except InputError as error:
        return None, error


def width() -> int:
    """Return the columns of the terminal that is printed to; 0 without one."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def about_energy(simulator: Simulator, energy: Mapping[str, float]) -> dict[str, Any]:
    """Return the baseline to which a design's energies belong, None for sram's, and the parts that are not given."""
    from rfview.engine import plugin as designs
    from rfview.engine.papers import baselines
    from rfview.engine.plugin import assumed

    name, preset = simulator.built.chain[0], simulator.config.preset
    base = (baselines.baseline_of(name, simulator.built.values, preset) if name in designs.BUILT_IN
            else baselines.foreign_baseline(name))
    usual = baselines.baseline_of("sram", {}, preset)
    return {"baseline": base.name if base is not None and base.name != usual.name else None,
            "energy_not_given": baselines.not_given(name, energy),
            "energy_assumed": list(assumed.assumed_entries(simulator.built.chain, simulator.config.core))}


def targets_of(simulator: Simulator, folder: Path) -> dict[str, Path]:
    """Return the .npy file of every buffer and symbol; raises InputError, before the run, if one cannot be written."""
    prefixes = {variable.name: {"buffer": "", "symbol": "sym_"}[variable.kind]
                for variable in simulator.placement.variables if variable.kind in ("buffer", "symbol")}
    stems = files.stems_of(f"{prefix}{name}" for name, prefix in prefixes.items())
    return {name: files.check_target(folder / f"{stem}.npy") for name, stem in zip(prefixes, stems, strict=True)}


def save_buffers(simulator: Simulator, targets: Mapping[str, Path]) -> None:
    """Write buffers and symbols of a run as .npy."""
    import numpy as np

    arrays = {**simulator.symbols(), **simulator.buffers()} if targets else {}
    for name, target in targets.items():
        with files.writing(target) as out:
            np.save(out, arrays[name])


def text_of(summary: dict[str, Any]) -> str:
    """Return the summary as text: what ran, how long, how the warp-cycles were spent, and whether it verified."""
    from rfview.engine import compilation
    from rfview.sessions.expressions.ptx_names import kernel_name

    empty = {name: summary["stalls"].get(name, 0) for name in NO_WARP}
    resident = summary["warp_cycles"] - sum(empty.values())
    speed = summary["cycles"] / summary["wall_s"] if summary["wall_s"] else 0.0
    lines = [
        f"{kernel_name(summary['kernel'])}  {summary['design']} {summary['scheduler']} · {summary['preset']}  "
        f"{plural(summary['launches'], 'launch')}, "
        f"{plural(summary['registers_per_thread'], 'register')} per thread",
        *([f"  compiled with          {words}"] if (words := compilation.words_of_run(summary["parameters"])) else []),
        *(f"    {note}" for note in (*summary["setting_notes"], *summary["compile_notes"])),
        f"  cycles                 {summary['cycles']:>15,}",
        f"  warp instructions      {summary['warp_instructions']:>15,}   IPC {summary['ipc']:.2f}",
        f"  thread instructions    {summary['thread_instructions']:>15,}",
        f"  wall                   {summary['wall_s']:>15.3f} s {speed:,.0f} cycles per second",
        f"  resident warp-cycles   {resident:>15,}  100.0%",
    ]
    rows = {"issued": summary["issued"], **{name: count for name, count in summary["stalls"].items() if name not in empty}}
    lines += [f"    {name:<20} {count:>15,}  {count / max(resident, 1):6.1%}"
              for name, count in rows.items() if count or name == "issued"]
    lines += [f"  of slots without one   {sum(empty.values()):>15,}",
              *(f"    {name:<20} {count:>15,}" for name, count in empty.items() if count)]
    energy = summary.get("energy_pj")
    if energy and energy.get("total") is not None:
        lines.append(energy_line(summary, energy))
    lines.append(verdict(summary))
    return "\n".join(lines)


def text_of_values(summary: dict[str, Any]) -> str:
    """Return the summary of a run by values only as text."""
    from rfview.sessions.expressions.ptx_names import kernel_name

    executed = summary["warp_instructions"]
    return "\n".join([
        f"{kernel_name(summary['kernel'])}  values only  {plural(summary['launches'], 'launch')}, "
        f"{plural(summary['registers_per_thread'], 'register')} per thread",
        f"  warp instructions      {executed:>15,}",
        f"  thread instructions    {summary['thread_instructions']:>15,}",
        f"  wall                   {summary['wall_s']:>15.3f} s {executed / max(summary['wall_s'], 1e-6):,.0f} per second",
        verdict(summary)])


def energy_line(summary: dict[str, Any], energy: Mapping[str, float]) -> str:
    """Return the energy and its parts. Tables of other papers are not comparable with sram's, and may lack parts."""
    from rfview.engine.plugin import assumed

    unit, size = energy_unit(energy["total"])
    parts = ", ".join(f"{part} " + ("not given" if part in summary["energy_not_given"] else f"{energy[part] / size:,.3f}")
                      for part in ("dynamic", "leakage", "refresh"))
    node = f" at {summary['node_nm']} nm" if summary["node_nm"] else ""
    own = (f"\n    to be compared with that of its own baseline, {summary['baseline']}, not with sram's (rfview compare)"
           if summary["baseline"] else "")
    own += f"\n    {assumed.mark(summary['energy_assumed'])}" if summary["energy_assumed"] else ""
    return f"  register file energy   {energy['total'] / size:>15,.3f} {unit}{node}: {parts}{own}"


def verdict(summary: dict[str, Any]) -> str:
    """Return the line that says whether the results are as expected."""
    if summary["verified"] is None:
        return "  nothing to verify: the launch file expects no result"
    if summary["verified"]:
        return "  verified: every expected array matches"
    lines = ["  NOT VERIFIED"]
    for miss in summary["mismatches"]:
        place = ", ".join(map(str, miss.get("index", ())))
        lines.append(f"    {miss.get('count'):,} of {miss.get('total'):,} elements of {miss['name']} differ, first "
                     f"[{place}]: expected {miss.get('expected')!r}, got {miss.get('got')!r}")
    return "\n".join(lines)
