"""The help topic `rules`: what the models decide where the papers are silent, from engine/RULES.md."""

from __future__ import annotations

import re
from pathlib import Path

from rfview import engine

RULE = re.compile(r"- \*\*(B\d\.\d+)\*\*")


def text() -> str:
    """Return the whole list."""
    return (Path(engine.__file__).parent / "RULES.md").read_text(encoding="utf-8").strip()


def rule(number: str) -> str:
    """Return one rule by its number, "B2.3"; "" if there is none."""
    for part in re.split(r"\n(?=- \*\*|\n)", text()):
        found = RULE.match(part)
        if found and found[1].lower() == number.lower():
            return part.strip()
    return ""
