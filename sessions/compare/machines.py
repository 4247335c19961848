"""Differences between the machines of compared runs other than their register files, which would mislead a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo

# of a preset, of either core; others are the designs'
SECTIONS = ("sm", "core", "memory", "scheduler", "latency", "initiation", "result", "interval", "access_read", "access_use",
            "kernel")
MAX_SAID = 4


@dataclass(frozen=True)
class Ran:
    """What is compared of a run of which nothing else is kept."""

    design: str
    scheduler: str
    parameters: Mapping[str, Any]
    engine_version: str = ""
    source_hash: str = ""


def differences(infos: Sequence[RunInfo | Ran]) -> dict[str, list[Any]]:
    """Return name -> each run's value, for the scheduler and those preset parameters that are not the same in all runs.

    If all have the same register-file design, its parameters are included, since the name of a fork does not show them.
    None stands for a parameter that a run's machine lacks. Of machines with different cores,
    only the cores are named. Recordings made by different versions of the machine's code
    also differ in "rfview".
    """
    differing: dict[str, list[Any]] = {}
    if len({info.source_hash for info in infos}) > 1:
        differing["rfview"] = [f"{info.engine_version} ({info.source_hash[:8]})" for info in infos]
    if len({info.scheduler for info in infos}) > 1:
        differing["scheduler"] = [info.scheduler for info in infos]
    cores = [info.parameters.get("sm.core", "collector") for info in infos]
    if len(set(cores)) > 1:         # nearly all numbers of such machines differ, and mean other things
        return differing | {"sm.core": cores}
    designs = {info.design.partition("[")[0] for info in infos}
    same_design = len(designs) == 1
    names = {name for info in infos for name in info.parameters if same_design or name.split(".")[0] in SECTIONS}

    def order(name: str) -> tuple[bool, int, str]:
        section = name.split(".")[0]
        return section in SECTIONS, SECTIONS.index(section) if section in SECTIONS else 0, name

    for name in sorted(names, key=order):
        values = [info.parameters.get(name) for info in infos]
        if any(value != values[0] for value in values):
            differing[name] = values
    return differing


def reach_beyond_designs(values: dict[str, list[Any]]) -> bool:
    """Return whether differences concern more than the parameters of the register-file designs."""
    return any("." not in name or name.split(".")[0] in SECTIONS for name in values)


def brief(values: dict[str, list[Any]]) -> str:
    """Return `sentence` for a single difference, otherwise the first two names and the number of others, as one row."""
    if len(values) <= 1:
        return sentence(values)
    first = [name.rpartition(".")[2] for name in list(values)[:2]]
    more = f", {len(values) - 2} more" if len(values) > 2 else ""
    return f"machines differ: {', '.join(first)}{more}"


def sentence(differing: dict[str, list[Any]]) -> str:
    """Return "the machines differ in: sm.num_schedulers 2 | 1, ...", or "" if they do not."""
    if not differing:
        return ""
    parts = [f"{name} {' | '.join('–' if value is None else str(value) for value in values)}"
             for name, values in list(differing.items())[:MAX_SAID]]
    more = f" and {len(differing) - MAX_SAID} more" if len(differing) > MAX_SAID else ""
    return f"the machines differ in: {', '.join(parts)}{more}"
