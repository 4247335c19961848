"""`rfview kernels`: list the kernels that come with rfview; begin a launch file for one of your own."""

from __future__ import annotations

import argparse
import json
import tomllib
from typing import Any

from rfview.listing import columns


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--new", metavar="FILE.ptx", help="write FILE.toml, a launch file to begin from, for your kernel")
    parser.add_argument("--json", action="store_true", help="print a JSON list instead of text")


def run(args: argparse.Namespace) -> int:
    """Print name, launches and description of every bundled kernel; or write a launch file."""
    if args.new:
        from rfview.commands import new_launch

        file, kernel, others = new_launch.write(args.new)
        more = f"; the module also has {', '.join(others)}" if others else ""
        print(f"{file}: runs {kernel}{more}\nchange its sizes and buffers, then: rfview debug {file}")
        return 0
    rows = listing()
    if args.json:
        print(json.dumps(rows))
        return 0
    print(columns([(row["name"], f"{row['launches']} launch{'es' if row['launches'] > 1 else ''}", row["description"])
                   for row in rows]))  # fmt: skip
    print(f"\ntry: rfview run {rows[-1]['name']}   or   rfview debug {rows[-1]['name']}")
    return 0


def listing() -> list[dict[str, Any]]:
    """Return one dict per bundled kernel; reads the launch files only, not the arrays they name."""
    from rfview.engine import kernels

    rows: list[dict[str, Any]] = []
    for name in kernels.names():
        path = kernels.path(name)
        launch = tomllib.loads(path.read_text(encoding="utf-8"))
        rows.append({"name": name, "launches": len(launch.get("launch", ())),
                     "description": launch.get("description", ""), "path": str(path)})
    return rows
