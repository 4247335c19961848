"""`rfview compare`: one kernel under many register files and schedulers, in one table.

    sgemm  27 registers per thread, fermi, 1 scheduler
    design  scheduler  cycles  IPC/sram  energy µJ  dynamic  leakage  refresh   node  of own  area mm²  EDA
    sram    gto        59,839     1.000      12.41    10.02     2.39        0  32 nm    1.00     0.194  1.00

IPC/sram is relative to `sram` under the same scheduler on the same machine. Energy and area follow the tables of the
design's own paper, at its node, so "of own" is relative to that paper's baseline for the same run. EDA = (baseline
power / power) x (IPC / IPC of sram) x (baseline area / area), HC-RF's figure of merit: larger is better. Its areas are
those of whole register files where the paper gives them (HC-RF section V-B: 88 %, crossbar and periphery included).
"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rfview.engine import defaults
from rfview.engine.errors import InputError
from rfview.engine.plugin import BUILT_IN
from rfview.engine.plugin.selection import scheduler_of
from rfview.commands import compare_output, compare_recordings, fair, options, progress
from rfview.engine.wording import aligned, plural
from rfview.launching import words

if TYPE_CHECKING:
    from rfview.engine.batch import Job

DEFAULT_DESIGNS = ",".join(BUILT_IN)
EPILOG = """example: rfview compare gemm --designs 'sram,stt[stall=bank],hrf[power_gating=true]' --schedulers gto,lrr
exit codes: 0 fine, 1 a result differs from the expected one, 2 bad input, 3 a run misbehaved

""" + words.EPILOG
MIN_SHARE = 0.005     # the text omits stall reasons below this share of warp-cycles


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("targets", nargs="+", metavar="KERNEL|RUN",
                        help="a launch file (.toml), a bundled kernel or one of your own; or two or more runs of a kernel "
                             "to set side by side: session files (.rfs), or KERNEL@DESIGN[:SCHEDULER[:PRESET]] to run "
                             "it now, as gemm@sram::ampere")
    parser.add_argument("--designs", default=DEFAULT_DESIGNS, metavar="LIST",
                        help="designs with their parameters, as 'sram,stt[stall=bank]' (default: all bundled ones)")
    options.add_scheduler(parser, "--schedulers", "LIST", "each design's own")
    parser.add_argument("--preset", default=defaults.PRESET, metavar="P",
                        help=f"one of {', '.join(defaults.preset_names())} (default %(default)s)")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE", dest="settings",
                        help="change a number of the machine, or of a design in the list")
    options.add_compile(parser)
    parser.add_argument("--max-cycles", type=options.positive, default=defaults.MAX_CYCLES, metavar="N",
                        help=f"stop a run after this many cycles (default {defaults.MAX_CYCLES:,})")
    parser.add_argument("--workers", type=options.positive, default=2, metavar="N", help="worker processes (default 2)")
    options.add_nudge(parser)
    options.add_json(parser)
    compare_output.add_arguments(parser)
    words.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Set runs side by side, or print the table of one kernel."""
    side_by_side = compare_recordings.is_meant(args.targets)
    kernels = [compare_recordings.kernel_of(target) for target in args.targets if not options.is_session(target)]
    with words.launch_files(args, kernels) as args.launch_files:
        if not side_by_side:
            return table_run(args)
        compare_output.refuse(args)
        if args.nudge:
            raise InputError("--nudge: belongs to the table of designs; `rfview relief RUN.rfs` nudges a recorded run")
        return compare_recordings.run(args)


def table_run(args: argparse.Namespace) -> int:
    """Run every design under every scheduler and print the table."""
    kernel = args.targets[0]
    variants = split_list(args.designs)
    schedulers = split_list(args.schedulers)
    given = options.given_settings(args)
    path = os.path.realpath(options.launch_path(args.launch_files.get(kernel, kernel)))
    compare_output.check(args, variants, schedulers)
    if args.preset == defaults.PAPER:
        presets = ", ".join(defaults.preset_names())
        raise InputError(f"--preset paper: a comparison needs one machine for all designs: {presets}")
    from rfview.engine.batch import Runs, simulator_of

    shared, notes = fair.shared_settings(variants, args.preset, given)
    jobs = jobs_of(path, variants, schedulers, args.preset, {**shared, **given}, args.max_cycles, args.nudge)
    for job in {*jobs.values()}:
        simulator_of(job)     # bad input is reported before anything compiles
    with progress.bar() as report, Runs(report, args.workers) as runs:
        results = dict(zip(jobs, runs.all(list(jobs.values()))))
    table = table_of(variants, schedulers, results)
    table["notes"] = notes + table["notes"]
    if args.csv != "-":
        print(json.dumps(table) if args.json else text_of(table))
    compare_output.write(args, table)
    if args.open:
        design, word = compare_output.row_of(args.open, variants, schedulers)
        scheduler = scheduler_of(design, word)
        return compare_output.open_row(args, design, scheduler, dict(jobs[design, scheduler].settings))
    return exit_code(table)


def split_list(text: str) -> list[str]:
    """Split at commas outside brackets; raises InputError for unmatched brackets and empty lists."""
    parts, depth = [""], 0
    for char in text:
        depth += {"[": 1, "]": -1}.get(char, 0)
        if depth not in (0, 1):
            raise InputError(f"{text}: brackets do not match; expected for example 'sram,stt[stall=bank]'")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    names = list(dict.fromkeys(part.strip() for part in parts if part.strip()))
    if depth:
        raise InputError(f"{text}: brackets do not match; expected for example 'sram,stt[stall=bank]'")
    if not names:
        raise InputError(f"{text!r}: expected a list such as 'sram,stt[stall=bank]'")
    return names


def jobs_of(path: str, variants: Sequence[str], schedulers: Sequence[str], preset: str, settings: Mapping[str, Any],
            max_cycles: int, nudge: int = 0) -> dict[tuple[str, str], Job]:
    """Return the run of every variant and scheduler, with `sram` for each scheduler as the reference."""
    from rfview.engine import plugin as designs
    from rfview.engine.batch import Job
    from rfview.engine.config import load_preset

    sections = load_preset(preset).sections
    chains = {variant: designs.build(variant, {}, "").chain for variant in ("sram", *variants)}
    known = {name for chain in chains.values() for name in chain}
    for key in settings:
        if (section := key.split(".")[0]) not in sections | known:
            raise InputError(f"--set {key}: no section {section}; there are {', '.join(sorted(sections | known))}")
    jobs: dict[tuple[str, str], Job] = {}
    for scheduler in schedulers:
        for variant, chain in chains.items():
            names = {scheduler_of(variant, scheduler)}
            if variant == "sram":    # the reference, under the others' scheduler
                names = {scheduler_of(other, scheduler) for other in chains}
            for name in names:
                own = {key: value for key, value in settings.items() if key.split(".")[0] in sections | set(chain)}
                jobs[variant, name] = Job(path, variant, name, preset, tuple(sorted(own.items())), max_cycles,
                                           outputs=True, nudge=nudge)
    return jobs


def table_of(variants: Sequence[str], schedulers: Sequence[str], results: Mapping[tuple[str, str], Any]) -> dict[str, Any]:
    """Return the comparison as plain data: one row per variant and scheduler, in the given order."""
    from rfview.engine.plugin import assumed, nodes
    from rfview.sessions.compare import machines

    rows, infos = [], []
    for scheduler in schedulers:
        for variant in variants:
            name = scheduler_of(variant, scheduler)
            result = results[variant, name]
            rows.append(row_of(variant, result, results["sram", name]))
            infos.append(machines.Ran(variant, name, result["shape"]["machine"]))
    first = next(iter(results.values()))
    notes = []
    if "sram" not in variants:
        notes.append("sram ran as the reference of IPC and output, and is not shown")
    for row in rows:
        if row["own_settings"]:
            own = ", ".join(f"{key} = {value}" for key, value in row["own_settings"].items())
            note = f"{row['design']} has its own {own}"
            if note not in notes:
                notes.append(note)
    said: dict[str, list[str]] = {}
    for (variant, _), result in results.items():
        for note in (*result["setting_notes"], *result["compile_notes"]) if variant in variants else ():
            said.setdefault(note, []).append(variant)
    for note, of in said.items():
        is_plain = set(of) == set(variants) or note.startswith(tuple(f"{variant}: " for variant in of))
        notes += [note] if is_plain else [f"{variant}: {note}" for variant in dict.fromkeys(of)]
    notes += dict.fromkeys(f"energy of {row['design']} is {assumed.mark(row['energy_assumed'])}" for row in rows
                           if row["energy_assumed"])
    if nodes.differ(row["node_nm"] for row in rows):
        notes.append("energies and areas are of the nodes of the designs' own papers: compare them by `of own` and EDA")
    if without := list(dict.fromkeys(row["design"] for row in rows if row["baseline"] is None)):
        notes.append("`of own` and EDA are empty for designs that name no baseline of their own (technology sram_read_pj, "
                     f"sram_write_pj, sram_leakage_mw; rfview help design): {', '.join(without)}")
    notes += chance_notes(rows, first["nudged"])
    return {
        "kernel": first["kernel"], "preset": first["preset"], "registers_per_thread": first["registers_per_thread"],
        "num_schedulers": first["shape"]["machine"]["sm.num_schedulers"], "launches": first["launches"], "rows": rows,
        "machines_differ_in": machines.differences(infos), "notes": notes, "version": first["version"],
    }


def chance_notes(rows: Sequence[Mapping[str, Any]], asked: Sequence[int]) -> list[str]:
    """Return what nudged runs say about the rows: whose difference from sram is no more than chance; [] without any."""
    if not asked:
        return []
    from rfview.engine.batch import nudge

    notes = [f"nudged runs: {nudge.WHAT}"]
    for row in rows:
        if row["chance"] is not None:
            notes.append(f"{row['design']} under {row['scheduler']}: {row['chance']['text']} by chance"
                         + ("; its difference from sram is less than twice that of either, and says nothing"
                            if row["chance"]["beyond"] is False else ""))
    return notes


def chance_of(result: Mapping[str, Any], sram: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the range of a run's nudged runs, and whether its cycles differ from sram's by more than twice that and sram's.

    None without nudged runs; "beyond" is None for sram itself.
    """
    from rfview.engine.batch.nudge import Chance

    if not result["nudged"] or not sram["nudged"]:
        return None
    mine, theirs = (Chance(one["cycles"], tuple(one["nudged"]), len(one["nudged"])) for one in (result, sram))
    beyond = None if result is sram else mine.is_beyond(sram["cycles"]) and theirs.is_beyond(result["cycles"])
    return {"nudged": result["nudged"], "lowest": mine.ends[0], "highest": mine.ends[1], "text": mine.text, "beyond": beyond}


def row_of(variant: str, result: Mapping[str, Any], sram: Mapping[str, Any]) -> dict[str, Any]:
    """Return one row: a run compared with sram's under the same scheduler."""
    from rfview.engine import plugin as designs
    from rfview.engine.papers import baselines, places
    from rfview.engine.plugin import assumed, nodes

    machine, values, chain = (result["shape"][key] for key in ("machine", "values", "chain"))
    is_ours = chain[0] in designs.BUILT_IN
    base = (baselines.baseline_of(chain[0], values, result["preset"]) if is_ours else baselines.foreign_baseline(chain[0]))
    base_energy = base.energy_pj(sram)["total"] if base else None
    area = places.area_mm2(chain, values, result["preset"])
    fine = result["misbehaved"] is None and sram["misbehaved"] is None
    relative_ipc = result["ipc"] / sram["ipc"] if fine and sram["ipc"] else None
    energy = result["energy_pj"]
    power_gain = area_gain = None
    if base_energy and fine and energy["total"] and sram["cycles"]:
        power_gain = (base_energy / sram["cycles"]) / (energy["total"] / result["cycles"])
    if area and base and base.area_mm2:
        whole = (designs.design(chain[0]).technology or {}).get("area_of_sram")
        area_gain = 1 / float(whole[0]) if whole else base.area_mm2 / area
    eda = power_gain * relative_ipc * area_gain if power_gain and relative_ipc and area_gain else None
    over = energy["total"] / base_energy if base_energy else None
    own = {key: value for key, value in machine.items() if value != sram["shape"]["machine"].get(key)}
    return {
        "design": variant, "scheduler": result["scheduler"], "cycles": result["cycles"], "ipc": result["ipc"],
        "ipc_over_sram": relative_ipc, "num_schedulers": machine["sm.num_schedulers"],
        "registers_per_thread": result["registers_per_thread"],
        "accesses": places.accesses(chain, result["counts"]), "other_events": places.others(result["counts"]),
        "warp_cycles": result["warp_cycles"], "issued": result["issued"], "stalls": result["stalls"],
        "energy_pj": energy, "energy_not_given": baselines.not_given(chain[0], energy),
        "energy_assumed": list(assumed.assumed_entries(chain, machine.get("sm.core", "collector"))),
        "node_nm": nodes.node_nm(chain, values, result["preset"]),
        "baseline": base.name if base else None, "energy_over_baseline": over,
        "area_mm2": area, "baseline_area_mm2": base.area_mm2 if base else None, "eda": eda,
        "output": output_of(result, sram), "verified": result["verified"], "misbehaved": result["misbehaved"],
        "own_settings": own, "chance": chance_of(result, sram),
    }


def output_of(result: Mapping[str, Any], sram: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return how far the results are from those of sram: the worst array's error; None if a run misbehaved."""
    from rfview.engine.batch import fingerprint
    from rfview.engine.launch import quality

    if result["misbehaved"] or sram["misbehaved"]:
        return None
    mine, exact = result["outputs"], sram["outputs"]
    measured = [quality("rmse", exact[name], mine[name]) for name in exact]
    worst = {key: max((float(one[key]) for one in measured), default=0.0) for key in ("rmse", "max_rel")}
    return {"same_bits": fingerprint(mine) == fingerprint(exact),
            **{key: value if math.isfinite(value) else None for key, value in worst.items()}}


def exit_code(table: Mapping[str, Any]) -> int:
    """Return 3 if a run misbehaved, 1 if a result is wrong, else 0; designs that lose bits may do both."""
    from rfview.engine import plugin as designs

    rows = [row for row in table["rows"] if not designs.design(designs.parse_variant(row["design"])[0]).is_lossy]
    if any(row["misbehaved"] for row in rows):
        return 3
    return 1 if any(row["verified"] is False for row in rows) else 0


def text_of(table: Mapping[str, Any]) -> str:
    """Return the table as text, with the accesses and the stall reasons below it."""
    from rfview.sessions.expressions.ptx_names import kernel_name

    rows = table["rows"]
    number = table["num_schedulers"]
    lines = [f"{kernel_name(table['kernel'])}  {table['registers_per_thread']} registers per thread · {table['preset']} · "
             f"{plural(number, 'scheduler')} · {plural(table['launches'], 'launch')}", ""]
    heads = ("design", "scheduler", "cycles", "IPC", "IPC/sram", "energy µJ", "dynamic", "leakage", "refresh", "node",
             "of own", "area mm²", "EDA", "output")
    lines += aligned([heads, *map(cells, rows)], left=(0, 1, 13))
    own: dict[str, list[str]] = {}
    for row in rows:
        names = own.setdefault(row["baseline"] or "", [])
        names += [row["design"]] * (row["design"] not in names)
    lines += ["", "  of own: energy over that of a baseline doing sram's run; EDA likewise, larger is better",
              *(f"    {baseline}: {', '.join(names)}" for baseline, names in own.items() if baseline), ""]
    lines += aligned([("reads and writes", "scheduler", "place", "reads", "writes"), *access_rows(rows)], left=(0, 1, 2))
    lines += ["", *stall_lines(rows)]
    lines += [f"  {note}" for note in table["notes"]]
    for row in rows:
        if row["misbehaved"]:
            lines.append(f"  {row['design']} under {row['scheduler']} misbehaved: {row['misbehaved']}")
    return "\n".join(lines)


def cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a row of the main table as text."""
    energy = row["energy_pj"]
    parts = ["-" if part in row["energy_not_given"] else f"{energy[part] / 1e6:,.4g}"
             for part in ("total", "dynamic", "leakage", "refresh")]
    node = "-" if row["node_nm"] is None else f"{row['node_nm']} nm"
    return (row["design"], row["scheduler"], f"{row['cycles']:,}", f"{row['ipc']:.3f}",
            optional(row["ipc_over_sram"], ".3f"), *parts, node, optional(row["energy_over_baseline"], ".3f"),
            optional(row["area_mm2"], ".3f"), optional(row["eda"], ".2f"), verdict(row))


def verdict(row: Mapping[str, Any]) -> str:
    """Return in a few words how the results compare."""
    if row["misbehaved"]:
        return "misbehaved"
    output = row["output"]
    text = "?" if output is None else "same bits" if output["same_bits"] else f"RMSE {optional(output['rmse'], '.3g')}"
    return text + (", not verified" if row["verified"] is False else "")


def optional(value: float | None, form: str) -> str:
    """Format a number that may be missing."""
    return "-" if value is None else format(value, form)


def access_rows(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Return a line per storage of each run, then its other events."""
    out: list[tuple[str, ...]] = []
    for row in rows:
        name, scheduler = row["design"], row["scheduler"]
        for place, count in row["accesses"].items():
            out.append((name, scheduler, place, f"{count['reads']:,}", f"{count['writes']:,}"))
            name = scheduler = ""
        out += [("", "", event.replace("_", " "), f"{count:,}", "") for event, count in row["other_events"].items()]
    return out


def stall_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the shares of resident warps' cycles by reason; rare reasons are omitted."""
    from rfview.engine import plugin as designs

    shares = [compare_output.shares_of(row) for row in rows]
    names = [name for name in dict.fromkeys(name for share in shares for name in share)
             if any(share.get(name, 0) >= MIN_SHARE for share in shares)]
    short = {stall.name: stall.short for stall in designs.stalls().values()}
    heads = ("% of resident warp-cycles", "scheduler", *(short.get(name, name) for name in names))
    body = [(row["design"], row["scheduler"], *(f"{100 * share.get(name, 0):.1f}" for name in names))
            for row, share in zip(rows, shares)]
    return [*aligned([heads, *body], left=(0, 1)), ""]
