"""Unrolls the launches of a host's loop: `repeat = N` in a launch file's [[launch]], and [[launch.each]] for several.

    [[launch]]
    repeat = 8
    [[launch.each]]
    kernel = "step"
    grid = [4]
    block = [64]
    args = [{buffer = ["a", "b"]}, {buffer = ["b", "a"]}, {value = 0, step = 1}]

Round r of the loop, from 0 on, takes item r of each list (cyclically) and adds r times `step` to a value, or to the offset
of a buffer or symbol. Plain data in and out: an unrolled launch is checked like any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rfview.engine.launch.table import Table, shown

MAX_LAUNCHES = 100_000  # assumed: more than any simulated host loop, less than a typing mistake would request
_TURNS = ("value", "buffer", "symbol", "texture")


def written_out(table: Table) -> Iterator[Table]:
    """Yield the tables that one [[launch]] table stands for, in the order of the launches.

    Raises LaunchError through the table if `repeat` is not a count, does not fit other keys, or makes too many launches.
    """
    if "repeat" not in table:
        if "each" in table:
            table.fail("each", "expected only in a launch with repeat")
        yield table
        return
    rounds = table.integer("repeat", 1, MAX_LAUNCHES)
    body = [_without_repeat(table)]
    if "each" in table:
        table.allow("repeat", "each")
        items = table.take("each", (list,), "one or more [[launch.each]] tables")
        body = [table.inner(f"each[{number}]", item) for number, item in enumerate(items, 1)]
    if not body or rounds * len(body) > MAX_LAUNCHES:
        table.fail("repeat", f"expected 1 to {MAX_LAUNCHES} launches in all, got {rounds} times {len(body)}")
    for now in range(rounds):
        for each in body:
            yield _of_round(each, now)


def _without_repeat(table: Table) -> Table:
    return Table(table.file, table.key, {key: value for key, value in table.values.items() if key != "repeat"})


def _of_round(table: Table, now: int) -> Table:
    """Return one launch's table in one round."""
    values = dict(table.values)
    if isinstance(values.get("args"), list):
        values["args"] = [_argument(table, place, arg, now) for place, arg in enumerate(values["args"])]
    return Table(table.file, table.key, values)


def _argument(table: Table, place: int, arg: Any, now: int) -> Any:
    """Return one argument in one round."""
    if not isinstance(arg, dict):
        return arg
    own = table.inner(f"args[{place}]", arg)
    values = dict(arg)
    for kind in _TURNS:
        if isinstance(values.get(kind), list):
            if not values[kind]:
                own.fail(kind, "expected a list of one or more values, one for each round in turn")
            values[kind] = values[kind][now % len(values[kind])]
    if "step" not in values:
        return values
    key = "value" if "value" in values else "offset"
    start = values.get(key, 0)
    step = own.take("step", (int, float) if key == "value" else (int,), "a number that every round adds")
    if type(start) not in (int, float) or key == "offset" and not ("buffer" in values or "symbol" in values):
        own.fail("step", "expected only together with a value that is a number, or with a buffer or symbol")
    del values["step"]
    try:
        values[key] = start + now * step
    except OverflowError:       # one of them is a float, the other an integer beyond its range
        own.fail("step", f"expected a number that can be added to {shown(start)}, got {shown(step)}")
    return values
