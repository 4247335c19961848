"""`rfview info`: say what a session file or a recipe holds and whether it is whole."""

from __future__ import annotations

import argparse
import json
from typing import Any


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("file", metavar="FILE", help="a session file (.rfs) or a recipe (.rfr)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def run(args: argparse.Namespace) -> int:
    """Print the file's header, size and state of health."""
    from sessions import opening, recipe

    facts = (recipe if recipe.is_recipe(args.file) else opening).describe(args.file)
    print(json.dumps(facts) if args.json else text_of(facts))
    return 0


def text_of(facts: dict[str, Any]) -> str:
    """Return the facts as aligned lines, numbers with thousands separators."""
    width = max(map(len, facts))
    lines = []
    for name, value in facts.items():
        if isinstance(value, float):
            shown = f"{value:,.2f}"
        elif isinstance(value, int) and not isinstance(value, bool):
            shown = f"{value:,}"
        elif isinstance(value, list):
            shown = ", ".join(map(str, value)) or "none"
        elif isinstance(value, dict):
            shown = ", ".join(f"{key}={part}" for key, part in value.items()) or "none"
        else:
            shown = "none" if value is None else str(value)
        lines.append(f"{name.replace('_', ' '):<{width}}  {shown}")
    return "\n".join(lines)
