"""`rfview kernels`: list the bundled kernels; create a launch file for one of your own."""

from __future__ import annotations

import argparse
import json
import math
import shlex
import sys
import tomllib
from typing import Any

from rfview.engine.wording import plural
from rfview.listing import columns


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--new", metavar="FILE.ptx", help="write FILE.toml, a launch file to start from, for your kernel")
    parser.add_argument("--paper", metavar="NAME",
                        help="list the workloads of one paper: hrf, rfc, hcrf, edram or racetrack")
    parser.add_argument("--json", action="store_true", help="print a JSON list instead of text")


def run(args: argparse.Namespace) -> int:
    """Print name, launches and description of every bundled kernel; or write a launch file."""
    if args.new:
        from rfview.commands import new_launch

        file, kernel, others, refused = new_launch.write(args.new)
        more = f"; the module also has {', '.join(others)}" if others else ""
        print(f"{file}: runs {kernel}{more}\nchange its sizes and buffers, then: rfview debug {shlex.quote(str(file))}")
        for text in refused:
            print(f"rfview: {text}", file=sys.stderr)
        return 0
    rows = listing() if args.paper is None else of_paper(args.paper)
    if args.json:
        print(json.dumps(rows))
        return 0
    if args.paper is not None:
        print(columns([("kernel", "in the paper", "category", "suite", "threads", "registers", "sizes"),
                       *((row["name"], row["paper_name"], row["category"] or "–", row["suite"] or "–", f"{row['threads']}",
                          f"{row['registers'] or '–'}", ", ".join(row["sizes"])) for row in rows)]))
        print("\nthreads: of a CTA of the first launch; registers: per thread, as the paper or suite has them")
        return 0
    print(columns([(row["name"], plural(row["launches"], "launch"), row["description"])
                   for row in rows]))
    print(f"\ntry: rfview run {rows[-1]['name']}   or   rfview debug {rows[-1]['name']}")
    return 0


def listing() -> list[dict[str, Any]]:
    """Return one dict per bundled kernel; reads launch files only, not their arrays."""
    from rfview.engine import kernels

    rows: list[dict[str, Any]] = []
    for name in kernels.names():
        path = kernels.path(name)
        launch = tomllib.loads(path.read_text(encoding="utf-8"))
        rows.append({"name": name, "launches": len(launch.get("launch", ())),
                     "description": launch.get("description", ""), "path": str(path)})
    return rows


def of_paper(paper: str) -> list[dict[str, Any]]:
    """Return one dict per bundled kernel used by the paper of a design; raises InputError for an unknown paper."""
    from rfview.engine import kernels
    from rfview.engine.errors import InputError
    from rfview.engine.papers import PAPERS, workloads

    if paper not in PAPERS.values():
        raise InputError(f"--paper {paper}: no paper has this design; expected one of {', '.join(PAPERS.values())}")
    rows: list[dict[str, Any]] = []
    for name in workloads.own(paper):
        work = workloads.of_kernel(name)
        sizes = ["small"] + (["full"] if kernels.path(name, "full") != kernels.path(name) else [])
        launch = tomllib.loads(kernels.path(name, "full").read_text(encoding="utf-8"))["launch"][0]
        block = launch.get("block") or launch["each"][0]["block"]
        rows.append({"name": name, "paper_name": work.papers[paper].name, "category": work.papers[paper].category,
                     "suite": work.suite, "threads": math.prod(block), "registers": work.registers, "sizes": sizes})
    return rows
