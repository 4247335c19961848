"""`rfview designs`: list the register-file designs, or one's parameters with meaning, unit, default and source."""

from __future__ import annotations

import argparse
import json
from typing import Any


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="a design, for its parameters (default: list all)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def run(args: argparse.Namespace) -> int:
    """Print the list of designs, or the parameters of one."""
    from engine import designs

    if args.name is None:
        rows = [facts_of(designs.design(name)) for name in designs.names()]
        print(json.dumps(rows) if args.json else list_text(rows))
    else:
        facts = facts_of(designs.design(args.name))
        print(json.dumps(facts) if args.json else design_text(facts))
    return 0


def facts_of(design: Any) -> dict[str, Any]:
    """Return what there is to say about a design as plain data."""
    return {
        "name": design.name, "title": design.title, "source": design.source,
        "paper_scheduler": design.paper_scheduler, "paper_preset": design.paper_preset,
        "parameters": [
            {"name": p.name, "default": p.default, "unit": p.unit, "meaning": p.meaning, "source": p.source,
             "choices": list(p.choices)}
            for p in design.parameters
        ],
    }


def list_text(rows: list[dict[str, Any]]) -> str:
    """Return one line per design."""
    width = max(len(row["name"]) for row in rows)
    lines = [f"{row['name']:<{width}}  {row['title']}  ({row['source']})" for row in rows]
    return "\n".join([*lines, "", f"`rfview designs {rows[-1]['name']}` lists its parameters"])


def design_text(facts: dict[str, Any]) -> str:
    """Return a design's parameters as a table, and how to set one."""
    lines = [f"{facts['name']}: {facts['title']}", f"  {facts['source']}", ""]
    rows = [("parameter", "default or choices", "unit", "meaning", "source")]
    rows += [(p["name"], " | ".join(p["choices"]) or str(p["default"]), p["unit"], p["meaning"], p["source"])
             for p in facts["parameters"]]
    if len(rows) == 1:
        return "\n".join([*lines, "  no parameters of its own"])
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines += ["  " + "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[4]]) for row in rows]
    first = facts["parameters"][0]
    lines += ["", f"  set one with --design '{facts['name']}[{first['name']}={first['default']}]' or "
                  f"--set {facts['name']}.{first['name']}={first['default']}"]
    return "\n".join(lines)
