"""In what the machines of compared runs differ beside their register files: else a comparison credits the wrong thing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SECTIONS = ("sm", "memory", "scheduler", "latency", "initiation", "kernel")     # of a preset; others are designs'
MAX_SAID = 4


def differences(infos: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return name -> each run's value, of the scheduler and the presets' numbers that are not the same in all runs.

    Where all have the same register-file design, of its parameters too: the names of runs do not tell those of a fork.
    None stands for a number that a run's machine did not have. Recordings of other versions of the machine's code differ
    in that: "rfview".
    """
    found: dict[str, list[Any]] = {}
    if len({info.get("source_hash") for info in infos}) > 1:
        found["rfview"] = [f"{info.get('engine_version')} ({str(info.get('source_hash'))[:8]})" for info in infos]
    if len({info["scheduler"] for info in infos}) > 1:
        found["scheduler"] = [info["scheduler"] for info in infos]
    designs = {str(info.get("design", number)).partition("[")[0] for number, info in enumerate(infos)}
    same_design = len(designs) == 1
    names = {name for info in infos for name in info["parameters"] if same_design or name.split(".")[0] in SECTIONS}

    def order(name: str) -> tuple[bool, int, str]:
        section = name.split(".")[0]
        return section in SECTIONS, SECTIONS.index(section) if section in SECTIONS else 0, name

    for name in sorted(names, key=order):
        values = [info["parameters"].get(name) for info in infos]
        if any(value != values[0] for value in values):
            found[name] = values
    return found


def brief(found: dict[str, list[Any]]) -> str:
    """Return `sentence` of one difference, else the first two names and how many more there are, for one row."""
    if len(found) <= 1:
        return sentence(found)
    first = [name.rpartition(".")[2] for name in list(found)[:2]]
    more = f", {len(found) - 2} more" if len(found) > 2 else ""
    return f"machines differ: {', '.join(first)}{more}"


def sentence(found: dict[str, list[Any]]) -> str:
    """Return "the machines differ in: sm.num_schedulers 2 | 1, ...", "" where they do not."""
    if not found:
        return ""
    parts = [f"{name} {' | '.join('–' if value is None else str(value) for value in values)}"
             for name, values in list(found.items())[:MAX_SAID]]
    more = f" and {len(found) - MAX_SAID} more" if len(found) > MAX_SAID else ""
    return f"the machines differ in: {', '.join(parts)}{more}"
