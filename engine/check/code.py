"""The hazards of a kernel of machine code, found once however often it is launched."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from rfview.engine.check.layout import INACTIVE_LANE
from rfview.engine.program import Kernel

if TYPE_CHECKING:
    from rfview.engine.hazards.flow import Hazard

HAZARD = INACTIVE_LANE + 2      # the kind's number, after that of faults


def hazards_in(kernel: Kernel) -> tuple[Hazard, ...]:
    """Return a kernel's hazards; a program may launch it many times."""
    return _known(_ById(kernel))


class _ById:
    """A kernel as a key: the same object, not an equal one, whose comparison would take long."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def __hash__(self) -> int:
        return id(self.kernel)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and self.kernel is other.kernel


@lru_cache(maxsize=64)
def _known(key: _ById) -> tuple[Hazard, ...]:
    from rfview.engine.hazards.flow import hazards_of       # start-up: it knows the sub-core, which loads numba

    return tuple(hazards_of(key.kernel))
