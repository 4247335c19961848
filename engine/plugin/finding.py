"""Finding a design by its name: built in, added to this process, in RFVIEW_DESIGNS, or from an installed package."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import lru_cache
from types import ModuleType

from rfview.engine import hooks
from rfview.engine.machine.cores.subcore.stalls import STALLS as SUBCORE_STALLS, STATES as SUBCORE_STATES
from rfview.engine.plugin import files, registry
from rfview.engine.plugin.description import Design
from rfview.engine.plugin.registry import BUILT_IN
from rfview.engine.errors import InputError
from rfview.engine.stalls import STALLS, Stall
from rfview.engine.wording import suggest


@lru_cache
def _installed() -> Mapping[str, str]:
    """Return name -> module for the designs in installed packages."""
    from importlib.metadata import entry_points     # slow to import, and needed only for names that are not built in

    return {point.name: point.module for point in entry_points(group="rfview.designs")}


def names() -> tuple[str, ...]:
    """Return every known design: bundled ones, then others, including files read by this process."""
    foreign = sorted({*_installed(), *files.known(), *registry.added()})
    return BUILT_IN + tuple(name for name in foreign if name not in BUILT_IN)


@lru_cache
def module(name: str) -> ModuleType:
    """Import a design's module and register its hooks; raises InputError for an unknown name."""
    if name in BUILT_IN:
        imported = importlib.import_module(f"rfview.engine.designs.{name}")
    else:
        if name in (paths := files.known()):
            return files.load(paths[name])
        if name not in _installed():
            hint = suggest(name, names()) or "."
            raise InputError(f"no register-file design {name!r}{hint} Known: {', '.join(names())}; a file is given by "
                             "its path, such as ./my_rf.py, or named in RFVIEW_DESIGNS")
        try:
            imported = importlib.import_module(_installed()[name])
        except (Exception, SystemExit) as error:
            raise InputError(f"design {name}: its package cannot be imported: {type(error).__name__}: {error}") from None
        registry.check(imported)
    hooks.register(name, imported)
    return imported


def design(name: str) -> Design:
    """Return the description of a design."""
    design: Design = find(name).DESIGN
    return design


def stalls() -> dict[str, Stall]:
    """Return the warp states of the machine, of the sub-core and of the bundled designs, by name."""
    of_designs = (stall for name in BUILT_IN for stall in design(name).stalls)
    return {stall.name: stall for stall in (*STALLS, *SUBCORE_STALLS, *of_designs)}


def restated() -> list[Stall]:
    """Return the states of every core that come about otherwise on a sub-core, as they do there."""
    return [stall for stall in SUBCORE_STATES if stall not in STALLS and stall not in SUBCORE_STALLS]


def find(name: str) -> ModuleType:
    """Return a design's module, one added to this process first."""
    return registry.get(name) or module(name)
