"""Designs on the sub-core: which have a meaning there, the module with it, and its checks."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any

from rfview.engine import hooks
from rfview.engine.errors import InputError

HERE = ("stt", "hcrf", "hrf", "rfc", "single_buffer", "edram", "racetrack")
NOTE = "the papers' claims are for Fermi-like cores; here their register files are new experiments (RULES.md, B12)"
MOST_WRITE_CYCLES = 5
_SRAM = ModuleType("sram_on_subcore")       # the default hooks


def marker(name: str) -> str:
    """Return the name under which a design's hooks for the sub-core are registered."""
    return f"{name}_on_subcore"


@lru_cache
def module(name: str) -> ModuleType:
    """Return the module of a bundled design's hooks on the sub-core, registered."""
    found = importlib.import_module(f"rfview.engine.designs.on_subcore.{name}") if name != "sram" else _SRAM
    hooks.register(marker(name), found)
    return found


def meaning(name: str) -> str:
    """Return in a sentence what a design is on the sub-core, for screens; empty if it cannot run there."""
    if name != "sram" and name not in HERE:
        return ""
    return str(getattr(module(name), "MEANING", "two banks of SRAM per sub-core, with a read and a write port each"))


def state(name: str) -> Sequence[Any]:
    """Return the dtype list of a design's state on the sub-core."""
    found: Sequence[Any] = getattr(module(name), "STATE", ())
    return found


def check(text: str, chain: Sequence[str], values: Mapping[str, Any]) -> None:
    """Raise InputError if a design of a chain, or a parameter, has no meaning on the sub-core. text: the variant."""
    for name in chain:
        if name != "sram" and name not in HERE:
            raise InputError(f"--design {text}: {name} has hooks for Fermi's core only; the sub-core runs "
                             f"{', '.join(('sram', *HERE))}")
        for parameter in ("write_cycles", "t_write_cycles", "x_transfer_cycles"):
            if values.get(f"{name}.{parameter}", 0) > MOST_WRITE_CYCLES:
                raise InputError(f"--design {text}: {parameter} is at most {MOST_WRITE_CYCLES} on the sub-core, whose "
                                 "result queue holds a few writes")
        if (own := getattr(module(name), "check", None)) is not None:
            own(text, values)
