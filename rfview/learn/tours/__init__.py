"""The guided tours, in the recommended order."""

from __future__ import annotations

import difflib

from rfview.engine.errors import InputError
from rfview.learn.tour import Tour
from rfview.learn.tours import dead, drain, fade, first, hits, place, promise, refresh, reuse, shift

TOURS: dict[str, Tour] = {module.TOUR.name: module.TOUR for module in (first, drain, dead, hits, refresh, fade,
                                                               shift, place, promise, reuse)}


def tour(name: str) -> Tour:
    """Return a tour by its name or its design's name; raises InputError, which lists the tours."""
    by_design: dict[str, Tour] = {}
    for entry in TOURS.values():
        by_design.setdefault(entry.design, entry)
    if name in TOURS or name in by_design:
        return TOURS.get(name) or by_design[name]
    near = difflib.get_close_matches(name, [*TOURS, *by_design], n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(TOURS)}"
    raise InputError(f"learn {name}: no such tour; {hint}")
