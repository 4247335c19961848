"""Launches of two runs that correspond: by kernel and order, not by their numbers; and in what they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from rfview.sessions.expressions.ptx_names import kernel_name


def paired(a: Sequence[Any], b: Sequence[Any]) -> list[tuple[int | None, int | None]]:
    """Return the launches of both runs that correspond: by kernel and order, then, as kernels are renamed, by order alone.

    Pairs are numbers in a and b, None where the other run has no counterpart.
    """
    keys: list[dict[tuple[str, int], int]] = []
    for launches in (a, b):
        times: Counter[str] = Counter()
        here = {}
        for at, launch in enumerate(launches):
            here[launch.kernel, times[launch.kernel]] = at
            times[launch.kernel] += 1
        keys.append(here)
    pairs: list[tuple[int | None, int | None]] = [(at, keys[1][key]) for key, at in keys[0].items() if key in keys[1]]
    ours, theirs = ([at for key, at in here.items() if key not in other] for here, other in (keys, keys[::-1]))
    return sorted((*pairs, *zip_longest(ours, theirs)), key=lambda pair: max(-1 if at is None else at for at in pair))


def notes(a: Sequence[Any], b: Sequence[Any]) -> list[str]:
    """Return how the launches that correspond differ in grid and block, and which have no counterpart."""
    differ: list[str] = []
    only: dict[str, list[str]] = {"A": [], "B": []}
    for ours, theirs in paired(a, b):
        if ours is None or theirs is None:
            for name, launches, at in (("A", a, ours), ("B", b, theirs)):
                only[name] += [kernel_name(launches[at].kernel)] if at is not None else []
            continue
        for part in ("grid", "block"):
            sizes = ["x".join(map(str, getattr(launch, part))) for launch in (a[ours], b[theirs])]
            if sizes[0] != sizes[1]:
                differ.append(f"{kernel_name(b[theirs].kernel)} has {part} {sizes[0]} in A, {sizes[1]} in B")
    said = [*differ[:3], *([f"{len(differ) - 3} more grids or blocks differ"] if len(differ) > 3 else [])]
    return said + [f"only {name} launches {', '.join(kernels[:3])}{' ..' if len(kernels) > 3 else ''}"
                    for name, kernels in only.items() if kernels]
