"""Calls a design file's functions for the host: energy, area_mm2, node_nm, why, render; errors name the line."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from rfview.engine.errors import InputError, RfviewError

FUNCTIONS = ("why", "energy", "area_mm2", "node_nm", "render")
HINTS = {"energy": "; run.values has the designs' own (NAME.key), run.machine the machine's (sm.num_banks)",
         "area_mm2": "; values has the design's own, as NAME.key"}


def call(found: ModuleType, name: str, *arguments: Any, passing: tuple[type[Exception], ...] = ()) -> Any:
    """Call a function of a design's module and return its result; InputError says what went wrong in it, and where.

    passing: exceptions that the caller handles.
    """
    try:
        return getattr(found, name)(*arguments)
    except RfviewError:
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, passing):
            raise
        path = Path(str(found.__file__))
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        where = f" ({path.name}, line {lines[-1]})" if lines else ""
        hint = HINTS.get(name, "") if isinstance(error, KeyError) else ""
        raise InputError(f"design {found.DESIGN.name}, {name}: {type(error).__name__}: {error}{hint}{where}") from None
