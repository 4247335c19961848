"""`rfview tlp`: print P(N), the racetrack paper's estimate of the IPC with N CTAs per SM, and the best N."""

from __future__ import annotations

import argparse
import json
from typing import Any

from rfview.commands import options, progress
from rfview.commands.map import racetrack_machine
from rfview.engine.defaults import PAPER
from rfview.launching import words

EPILOG = """P(N) = P_cache(N) - (P_ideal(N) - P_RM(N)), all in warp instructions per cycle:
  P_cache  real caches, no shift time
  P_ideal  an L1 that always hits, no shift time
  P_RM     an L1 that always hits, real shifts, no mapping, no preshift
use the answer with --set sm.max_ctas=N"""
BAR = 24


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_target(parser)
    options.add_machine(parser)
    words.add_arguments(parser)
    parser.set_defaults(design="racetrack", scheduler=PAPER)
    options.add_json(parser)


@words.takes_kernels
def run(args: argparse.Namespace) -> int:
    """Profile every number of CTAs that fits the SM and print the curve."""
    machine = racetrack_machine(args, "tlp")
    spec = options.load_target(args.target)
    with progress.bar() as report:
        from rfview.engine.plugin.selection import select
        from rfview.engine.tools import tlp

        selected = select(machine["design"], machine["scheduler"], machine["preset"], machine["settings"])
        machine["scheduler"] = selected.scheduler
        points = tlp.curve(spec, progress=report, **machine)
    chosen = tlp.best(points)
    facts = {
        "kernel": spec.name, "design": machine["design"], "scheduler": machine["scheduler"], "preset": machine["preset"],
        "best": chosen.ctas,
        "points": [
            {"ctas": point.ctas, "p_cache": point.cache_ipc, "p_ideal": point.ideal_ipc, "p_rm": point.racetrack_ipc,
             "p": point.ipc}
            for point in points
        ],
    }
    print(json.dumps(facts) if args.json else text_of(facts))
    return 0


def text_of(facts: dict[str, Any]) -> str:
    """Return a row per number of CTAs with a bar for P(N); the best is marked."""
    from rfview.sessions.expressions.ptx_names import kernel_name

    lines = [f"{kernel_name(facts['kernel'])}  {facts['design']} {facts['scheduler']} · {facts['preset']}",
             "   CTAs  P_cache  P_ideal     P_RM     P(N)"]
    top = max(max(point["p"] for point in facts["points"]), 1e-9)
    for point in facts["points"]:
        bar = "█" * max(0, round(BAR * point["p"] / top))
        mark = "▸" if point["ctas"] == facts["best"] else " "
        lines.append(f" {mark} {point['ctas']:>4}  {point['p_cache']:7.4f}  {point['p_ideal']:7.4f}  {point['p_rm']:7.4f}  "
                     f"{point['p']:7.4f}  {bar}".rstrip())
    lines.append(f"  best: {facts['best']} CTAs per SM: --set sm.max_ctas={facts['best']}")
    return "\n".join(lines)
