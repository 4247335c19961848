"""Designs on the sub-core: which have a meaning there, the module with it, and its checks.

Most bundled designs have a file of their own for it, whose state differs; otherwise a design's file has the hooks of both.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any

from rfview.engine import hooks
from rfview.engine.errors import InputError
from rfview.engine.plugin.finding import find
from rfview.engine.plugin.registry import BUILT_IN

NOTE = "the papers' claims are for Fermi-like cores; here their register files are new experiments (RULES.md, B12)"
OWN_NOTE = "own hooks for the sub-core (RULES.md, B12)"
MOST_WRITE_CYCLES = 5
# with one of these a user's design runs on the sub-core, too; and the most cycles that it may answer
HOOKS = {"read_cycles": 80, "write_cycles": 8, "bank_cycles": 62}
_SRAM = ModuleType("sram_on_subcore")       # the default hooks


def marker(name: str) -> str:
    """Return the name under which a design's hooks for the sub-core are registered."""
    return f"{name}_on_subcore"


def runs(name: str) -> bool:
    """Return whether a design has a meaning on the sub-core; raises InputError if there is no such design."""
    return _apart(name) is not None or any(hasattr(find(name), hook) for hook in HOOKS)


def module(name: str) -> ModuleType:
    """Return the module of a design's hooks on the sub-core, registered."""
    found = _apart(name) or find(name)
    hooks.register(marker(name), found)
    return found


@lru_cache
def _apart(name: str) -> ModuleType | None:
    """Return the module that a bundled design has for the sub-core alone, None if it has none."""
    path = f"rfview.engine.designs.on_subcore.{name}"
    if name == "sram":
        return _SRAM
    return importlib.import_module(path) if name in BUILT_IN and importlib.util.find_spec(path) is not None else None


def meaning(name: str) -> str:
    """Return in a sentence what a design is on the sub-core, for screens; empty if it cannot run there."""
    if not runs(name):
        return ""
    usual = "two banks of SRAM per sub-core, with a read and a write port each" if name == "sram" else OWN_NOTE
    return str(getattr(module(name), "MEANING", usual))


def state(name: str) -> Sequence[Any]:
    """Return the dtype list of a design's state on the sub-core."""
    apart = _apart(name)
    found: Sequence[Any] = find(name).DESIGN.state if apart is None else getattr(apart, "STATE", ())
    return found


def panels(name: str) -> Sequence[Mapping[str, Any]]:
    """Return the panels of a design's state on the sub-core, as in Design.panels."""
    apart = _apart(name)
    found: Sequence[Mapping[str, Any]] = find(name).DESIGN.panels if apart is None else getattr(apart, "PANELS", ())
    return found


def check(text: str, chain: Sequence[str], values: Mapping[str, Any]) -> None:
    """Raise InputError if a design of a chain, or a parameter, has no meaning on the sub-core. text: the variant."""
    for name in chain:
        if not runs(name):
            raise InputError(f"--design {text}: {name} has hooks for Fermi's core only; for a sub-core it needs "
                             f"{' or '.join(HOOKS)} (rfview help {next(iter(HOOKS))})")
        for parameter in ("write_cycles", "t_write_cycles", "x_transfer_cycles"):
            if values.get(f"{name}.{parameter}", 0) > MOST_WRITE_CYCLES:
                raise InputError(f"--design {text}: {parameter} is at most {MOST_WRITE_CYCLES} on the sub-core, whose "
                                 "result queue holds a few writes")
        if (own := getattr(module(name), "check", None)) is not None:
            own(text, values)
