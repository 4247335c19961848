"""The built-in designs, and the table of designs added to this process by files and tests."""

from __future__ import annotations

import sys
from types import ModuleType

from rfview.engine import hooks

BUILT_IN = ("sram", "stt", "hcrf", "hrf", "rfc", "single_buffer", "edram", "racetrack")

_added: dict[str, ModuleType] = {}


def check(module: ModuleType) -> None:
    """Check that a design follows the hook interface; raises InputError with every mistake, a line each."""
    from rfview.engine.plugin import conformance      # reads sources, which listing does not need

    conformance.check(module)


def add(name: str, module: ModuleType) -> None:
    """Add a design to this process without installing it (tests, notebooks); InputError lists its mistakes."""
    check(module)
    sys.modules.setdefault(module.__name__, module)  # cached machine code looks up its module by name
    use(name, module)


def use(name: str, module: ModuleType) -> None:
    """Let a name refer to this design, which has been checked, from now on."""
    hooks.register(name, module)
    _added[name] = module


def get(name: str) -> ModuleType | None:
    """Return the design added under a name, None if there is none."""
    return _added.get(name)


def added() -> dict[str, ModuleType]:
    """Return a copy of name -> module for added designs."""
    return dict(_added)


def forget() -> None:
    """Forget added designs; modules imported again will find theirs."""
    _added.clear()
