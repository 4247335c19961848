"""`rfview map`: profile a kernel on racetrack memory, write the register mapping that saves shifts, and run with it."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from rfview.engine import files
from rfview.engine.defaults import PAPER
from rfview.engine.errors import InputError
from rfview.commands import options, progress
from rfview.launching import words

if TYPE_CHECKING:
    from rfview.engine.simulator import Simulator

EPILOG = """the table is valid for the number of CTAs per SM it was made with (see `rfview tlp`); use it again with
  rfview run KERNEL --design racetrack --scheduler lrr --set racetrack.mapping=FILE
exit codes: 0 fine, 1 not verified, 2 bad input, 3 the kernel misbehaved"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_target(parser)
    options.add_machine(parser)
    words.add_arguments(parser)
    parser.set_defaults(design="racetrack", scheduler=PAPER)
    parser.add_argument("-o", "--output", metavar="FILE", help="the mapping table to write (default KERNEL.map.toml)")
    options.add_json(parser)


@words.takes_kernels
def run(args: argparse.Namespace) -> int:
    """Write and apply the mapping; return 0 if both runs verified or had nothing to verify, else 1."""
    machine = racetrack_machine(args, "map")
    spec = options.load_target(args.target)
    output = files.check_target(args.output or f"{spec.name}.map.toml")
    with progress.bar() as report:
        from rfview.engine.simulator import Simulator
        from rfview.engine.tools import mapping, profiling

        given = dict(machine.pop("settings"))

        def simulator(**changes: Any) -> Simulator:
            settings = {**given, **{f"racetrack.{name}": value for name, value in changes.items()}}
            return Simulator(spec, progress=report, settings=settings, **machine)

        before = simulator(mapping="identity", profile=1)
        ports = int(before.spec_record.ports)
        moves = profiling.moves(before)
        try:
            tables = mapping.optimise_banks(moves, mapping.rows_in_use(before), ports)
        except ValueError as error:
            raise InputError(f"map: {error}") from None
        files.write(output, mapping.table_text(tables, before.info.kernel, ports))
        after = simulator(mapping=str(output), profile=0)
        after.run()
    facts: dict[str, Any] = {
        "kernel": before.info.kernel, "design": before.info.design, "scheduler": before.scheduler,
        "preset": before.config.preset, "output": str(output),
        "resident_ctas": [launch.resident_ctas for launch in before.info.launches],
        "registers_per_thread": before.info.registers_per_thread,
        "registers_per_bank": max(mapping.rows_in_use(before)), "offsets": -(-before.main_rows // len(tables) // ports),
        "banks": [{"identity_shifts": table.identity_shifts, "shifts": table.shifts} for table in tables],
        "identity": run_facts(before), "mapped": run_facts(after),
    }
    print(json.dumps(facts) if args.json else text_of(facts))
    return 1 if False in (facts["identity"]["verified"], facts["mapped"]["verified"]) else 0


def racetrack_machine(args: argparse.Namespace, command: str) -> dict[str, Any]:
    """Return the machine options as Simulator takes them; raises InputError for other register files."""
    machine = options.machine_of(args)
    if machine["design"].partition("[")[0].strip() != "racetrack":
        raise InputError(f"--design {machine['design']}: rfview {command} is about racetrack memory; expected "
                         "racetrack[key=value,...]")
    if "mapping=" in machine["design"] or "racetrack.mapping" in machine["settings"]:
        raise InputError(f"racetrack.mapping: rfview {command} begins with the identity; leave it out")
    if str(machine["settings"].get("sm.mapping", "sequential")) != "sequential":
        raise InputError(f"sm.mapping: rfview {command} relies on the sequential placement of registers")
    return machine


def run_facts(simulator: Simulator) -> dict[str, Any]:
    """Return the figures of one run."""
    counts = simulator.counts()
    return {
        "cycles": simulator.cycle, "shifts": counts["shifts"], "preshifts": counts["preshifts"],
        "energy_pj": simulator.energy()["total"], "verified": simulator.verify()[0],
    }


def text_of(facts: dict[str, Any]) -> str:
    """Return the shifts in each bank's trace, then a comparison of both runs."""
    from rfview.sessions.expressions.ptx_names import kernel_name

    ctas = "/".join(dict.fromkeys(map(str, facts["resident_ctas"])))
    lines = [
        f"{kernel_name(facts['kernel'])}  {facts['design']} {facts['scheduler']} · {facts['preset']}  {ctas} CTAs per SM, "
        f"{facts['registers_per_bank']} registers per bank on {facts['offsets']} offsets",
        "  shifts of the trace  identity       mapped",
    ]
    rows = [(f"bank {number}", bank["identity_shifts"], bank["shifts"]) for number, bank in enumerate(facts["banks"])]
    rows.append(("all banks", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    first, second = facts["identity"], facts["mapped"]
    lines += [line(*row) for row in rows]
    lines.append("  measured")
    lines += [line(name, first[key], second[key])
              for name, key in (("shifts", "shifts"), ("preshift steps", "preshifts"), ("cycles", "cycles"))]
    lines.append(line("energy, nJ", round(first["energy_pj"] / 1e3), round(second["energy_pj"] / 1e3)))
    for name, one in (("identity", first), ("mapped", second)):
        if one["verified"] is False:
            lines.append(f"  NOT VERIFIED with the {name} mapping")
    lines.append(f"  written {facts['output']}: --set racetrack.mapping={facts['output']}")
    return "\n".join(lines)


def line(name: str, before: int, after: int) -> str:
    """Return one row: a quantity without and with the mapping, and the latter in percent of the former."""
    share = f"  {after / before:6.1%}" if before else ""
    return f"    {name:<14} {before:>12,} {after:>12,}{share}"
