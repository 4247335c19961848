"""Further output of `rfview compare`: CSV, a bar chart as text or SVG, and one row opened on the screen."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rfview.engine import files
from rfview.engine.errors import InputError
from rfview import charts
from rfview.engine.stalls import NO_WARP
from rfview.launching.words import typed

METRICS = {"ipc": "IPC", "cycles": "cycles", "energy": "register file energy", "stalls": "share of resident warp-cycles"}
MIN_SHARE = 0.01


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options for further output."""
    group = parser.add_argument_group("further output")
    group.add_argument("--csv", metavar="FILE", help="write the rows as comma-separated values, - for standard output")
    group.add_argument("--plot", metavar="WHAT", choices=list(METRICS), help=f"draw bars: {', '.join(METRICS)}")
    group.add_argument("--svg", metavar="FILE", help="write the chart of --plot (default ipc) as SVG")
    group.add_argument("--open", metavar="DESIGN[:SCHEDULER]", help="afterwards open this row live in the terminal")


def check(args: argparse.Namespace, variants: Sequence[str], schedulers: Sequence[str]) -> None:
    """Raise InputError for unwritable files and for a row that is not in the table, before anything runs."""
    for name in (args.csv, args.svg):
        if name and name != "-":
            files.check_target(name)
    if args.open:
        row_of(args.open, variants, schedulers)


def row_of(text: str, variants: Sequence[str], schedulers: Sequence[str]) -> tuple[str, str]:
    """Return the (variant, scheduler) named by DESIGN[:SCHEDULER]; raises InputError, which lists the rows."""
    design, colon, scheduler = text.rpartition(":") if "]" not in text.rpartition(":")[2] else (text, "", "")
    if not colon:
        design, scheduler = text, schedulers[0]
    if design not in variants or scheduler not in schedulers:
        rows = ", ".join(f"{variant}:{name}" for variant in variants for name in schedulers)
        raise InputError(f"--open {text}: no such row; there are {rows}")
    return design, scheduler


def write(args: argparse.Namespace, table: Mapping[str, Any]) -> None:
    """Write the requested output."""
    if args.csv:
        content = csv_of(table)
        if args.csv == "-":
            sys.stdout.write(content)
        else:
            files.write(args.csv, content)
    if args.plot or args.svg:
        chart = chart_of(table, args.plot or "ipc")
        if args.plot and not args.json:
            print(f"\n{charts.text(chart)}")
        if args.svg:
            files.write(args.svg, charts.svg(chart))


def csv_of(table: Mapping[str, Any]) -> str:
    """Return a line per row: names, the machine's numbers that differ from sram's, times, energy in pJ, area, results, then
    warp-cycles by state; "" where unknown."""
    states = list(dict.fromkeys(name for row in table["rows"] for name in row["stalls"]))
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    energies = ("total", "dynamic", "leakage", "refresh")
    lines.writerow(["kernel", "preset", "design", "scheduler", "own_settings", "cycles", "ipc", "ipc_over_sram",
                    *(f"energy_{part}_pj" for part in energies), "node_nm", "energy_over_baseline", "baseline", "area_mm2",
                    "eda", "same_bits", "rmse", "verified", "misbehaved", "warp_cycles", "issued", *states])
    for row in table["rows"]:
        output = row["output"] or {}
        values = [table["kernel"], table["preset"], row["design"], row["scheduler"],
                  " ".join(f"{key}={value}" for key, value in row["own_settings"].items()), row["cycles"], row["ipc"],
                  row["ipc_over_sram"], *(row["energy_pj"][part] for part in energies), row["node_nm"],
                  row["energy_over_baseline"], row["baseline"], row["area_mm2"], row["eda"], output.get("same_bits"),
                  output.get("rmse"), row["verified"], row["misbehaved"], row["warp_cycles"], row["issued"],
                  *(row["stalls"].get(name, 0) for name in states)]
        lines.writerow(["" if value is None else value for value in values])
    return out.getvalue()


def shares_of(row: Mapping[str, Any]) -> dict[str, float]:
    """Return the shares of resident warps' cycles by state."""
    counted = {"issued": row["issued"], **{name: count for name, count in row["stalls"].items() if name not in NO_WARP}}
    total = max(sum(counted.values()), 1)
    return {name: count / total for name, count in counted.items()}


def chart_of(table: Mapping[str, Any], metric: str) -> charts.Chart:
    """Return the bars of a metric, one per row."""
    from rfview.sessions.expressions.ptx_names import kernel_name

    rows = table["rows"]
    several = len({row["scheduler"] for row in rows}) > 1
    labels = [f"{row['design']} {row['scheduler']}" if several else row["design"] for row in rows]
    title = f"{METRICS[metric]}, {kernel_name(table['kernel'])}"
    if metric == "ipc":
        return charts.of(title, labels, [row["ipc"] for row in rows], form=".3f")
    if metric == "cycles":
        return charts.of(title, labels, [float(row["cycles"]) for row in rows], form=",.0f")
    if metric == "energy":
        from rfview.engine.plugin import nodes

        if nodes.differ(row["node_nm"] for row in rows):        # say so if bars are not comparable
            labels = [f"{label} {row['node_nm'] or '?'} nm" for label, row in zip(labels, rows, strict=True)]
        parts = [tuple((part, row["energy_pj"][part] / 1e6) for part in ("dynamic", "leakage", "refresh")
                       if row["energy_pj"][part]) for row in rows]
        bars = [charts.Bar(label, sum(value for _, value in own), own) for label, own in zip(labels, parts, strict=True)]
        return charts.Chart(title, tuple(bars), "µJ", ",.4g")
    from rfview.engine import plugin as designs

    bars = []
    for label, row in zip(labels, rows, strict=True):
        shares = [(name, 100 * share) for name, share in shares_of(row).items() if share >= MIN_SHARE]
        rest = 100 - sum(share for _, share in shares)
        own = (*shares, ("other", rest)) if rest > 0.05 else tuple(shares)
        bars.append(charts.Bar(label, sum(value for _, value in own), own))
    glyphs = (*((stall.name, stall.glyph) for stall in designs.stalls().values()), ("other", "…"))
    return charts.Chart(title, tuple(bars), "%", ".0f", glyphs=glyphs)


def open_row(args: argparse.Namespace, design: str, scheduler: str, settings: Mapping[str, Any]) -> int:
    """Open a row's run in the terminal; return the exit code."""
    from rfview import cli

    kernel = args.targets[0]
    target = typed(args, kernel) if kernel in args.launch_files else [kernel]
    words = ["debug", *target, "--design", design, "--scheduler", scheduler, "--preset", args.preset]
    for key, value in settings.items():
        words += ["--set", f"{key}={value}"]
    return cli.main(words)


def refuse(args: argparse.Namespace) -> None:
    """Raise InputError if runs are compared side by side: this output exists for the table of designs only."""
    given = next((name for name in ("csv", "plot", "svg", "open") if getattr(args, name)), None)
    if given is not None:
        raise InputError(f"--{given}: only for one kernel under several designs, as in `rfview compare gemm`")
