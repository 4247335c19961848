"""Which designs this process knows besides those that an import finds: the table that files and tests add to."""

from __future__ import annotations

import sys
from types import ModuleType

from rfview.engine import hooks

BUILT_IN = ("sram", "stt", "hcrf", "hrf", "rfc", "single_buffer", "edram", "racetrack")

_added: dict[str, ModuleType] = {}


def check(found: ModuleType) -> None:
    """Refuse a foreign design that does not keep to the hook interface; raises InputError with every slip, a line each."""
    from rfview.engine.plugin import conformance      # reads sources: not for those who only list

    conformance.check(found)


def add(name: str, found: ModuleType) -> None:
    """Make a design known to this process without installing it (tests, notebooks); InputError names its slips."""
    check(found)
    sys.modules.setdefault(found.__name__, found)  # cached machine code asks for its module by name
    use(name, found)


def use(name: str, found: ModuleType) -> None:
    """Let a name stand for this design, which has been checked, from now on."""
    hooks.register(name, found)
    _added[name] = found


def get(name: str) -> ModuleType | None:
    """Return the design that was added under a name, None without one."""
    return _added.get(name)


def added() -> dict[str, ModuleType]:
    """Return a copy of name -> module of the designs that were added."""
    return dict(_added)


def forget() -> None:
    """Forget the designs that were added; whatever is imported anew finds its own again."""
    _added.clear()
