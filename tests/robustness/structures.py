"""Changes JSON and TOML by meaning: values of other types, out of range, missing, doubled or nested too deeply."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

STRANGE = (0, -1, 31, 32, 1 << 31, 1 << 53, 1 << 64, -(1 << 63), 10**30, 1e308, float("inf"), float("nan"), -0.5, True, False, None,
           "", "a", "\x00", "\x1b[31m", "\udcff", "é", "a" * 5000, "1e999", "../../x", "/dev/zero", [], {}, [[]], {"a": 1},
           ["a"], [None], "(" * 3000, "w0.pc", "cycle > 3", "1/0", "x\ny")
DEEP = ("[" * 9000, '{"a":' * 9000, "[" * 9000 + "]" * 9000)


def changed(chance: random.Random, data: Any) -> Any:
    """Return a copy with one to three values changed, removed, doubled, multiplied or added."""
    data = copy.deepcopy(data)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        held = [(one, key) for one in _containers(data) for key in (one if isinstance(one, dict) else range(len(one)))]
        if not held:
            break
        parent, key = chance.choice(held)
        value, draw = parent[key], chance.random()
        if draw < 0.55:
            parent[key] = copy.deepcopy(chance.choice(STRANGE))
        elif draw < 0.7:
            del parent[key]
        elif draw < 0.8:
            other, place = chance.choice(held)
            if place in other if isinstance(other, dict) else place < len(other):
                parent[key] = copy.deepcopy(other[place])
        elif draw < 0.9 and isinstance(value, list):
            parent[key] = value * chance.choice((0, 2, 100))
        elif isinstance(parent, dict):
            parent[chance.choice(("x", "", "format", "a" * 300))] = copy.deepcopy(chance.choice(STRANGE))
    return data


def _containers(data: Any) -> list[Any]:
    """Return all lists and dictionaries in the data."""
    if not isinstance(data, list | dict):
        return []
    inner = data.values() if isinstance(data, dict) else data
    return [data, *(one for value in inner for one in _containers(value))]


def as_json(chance: random.Random, data: Any) -> bytes:
    """Return a changed file of JSON."""
    text = chance.choice(DEEP) if chance.random() < 0.08 else json.dumps(changed(chance, data))
    return text.encode("utf-16" if chance.random() < 0.05 else "utf-8")


def as_toml(chance: random.Random, data: dict[str, Any]) -> bytes:
    """Return a changed file of TOML, whose tables are written inline."""
    return "\n".join(f"{json.dumps(key)} = {_toml(value)}" for key, value in changed(chance, data).items()).encode()


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, float):
        return repr(value)      # inf and nan as TOML has them
    return json.dumps("" if value is None else value)
