"""Calls a design file's functions for the host, such as energy, why, holder, floors and render; errors name the line."""

from __future__ import annotations

import math
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from rfview.engine.errors import InputError, RfviewError
from rfview.engine.plugin import facts

FUNCTIONS = ("why", "holder", "floors", "lifts", "energy", "area_mm2", "node_nm", "render")
HINTS = {"energy": "; run.counts has the events, run.values the designs' parameters (NAME.key), run.machine the machine's",
         "area_mm2": "; values has the design's parameters, as NAME.key",
         "node_nm": "; values has the design's parameters, as NAME.key"}


def call(module: ModuleType, name: str, *arguments: Any, passing: tuple[type[Exception], ...] = ()) -> Any:
    """Call a function of a design's module and return its result; InputError says what went wrong in it, and where.

    passing: exceptions that the caller handles.
    """
    try:
        return getattr(module, name)(*arguments)
    except RfviewError:
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, passing):
            raise
        path = Path(str(module.__file__))
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        where = f" ({path.name}, line {lines[-1]})" if lines else ""
        hint = _hint(name, str(error.args[0]), arguments) if isinstance(error, KeyError) and error.args else ""
        raise InputError(f"{whose(module)}, {name}: {type(error).__name__}: {error}{hint}{where}") from None


def whose(module: ModuleType) -> str:
    """Return what a message calls a module: a design, or the module of its lens."""
    return f"design {module.DESIGN.name}" if hasattr(module, "DESIGN") else f"lens {module.__name__}"


def number(module: ModuleType, name: str, *arguments: Any) -> float:
    """Call a function of a design's module that returns a number; raises InputError if it does not."""
    answer = call(module, name, *arguments)
    try:
        value = float(answer)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{whose(module)}, {name}: returns {answer!r}, expected a number")
    return value


def _hint(name: str, key: str, arguments: tuple[Any, ...]) -> str:
    """Return which key of its arguments' tables was probably meant, or else what they hold."""
    parts = [part for given in arguments for part in (given, *getattr(given, "__dict__", {}).values())]
    known = [str(word) for part in parts if isinstance(part, Mapping) for word in part]
    return (facts.hint(key, known) if key not in known else "") or HINTS.get(name, "")
