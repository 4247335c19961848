"""The trees that an editor shows at a stop: registers and lanes, a warp's fields, register file, machine, why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rfview.sessions.why import why
from rfview.sessions.timeline.invariants import problems
from rfview.engine.errors import InputError
from rfview.engine.snapshot import Snapshot
from rfview.sessions.expressions.types import readings
from rfview.sessions.machine import Machine
from rfview.sessions.session import Session

GROUP = 64      # elements of a long array that are opened at once


@dataclass(frozen=True)
class Node:
    """One line of a tree. expression: the one whose value it is, '' if there is none. children: None for a leaf."""

    name: str
    value: str
    expression: str = ""
    children: Callable[[], Iterator[Node]] | None = None


class Trees:
    """The trees of one stop, numbered in the order in which the editor opens them, from 1 again at each stop.

    session: may be replaced by a branch of it at the same cycle; the numbers stay.
    """

    def __init__(self, session: Session):
        self.session = session
        self._known: list[Callable[[], Iterator[Node]]] = []
        self._expressions: dict[tuple[int, str], str] = {}

    def scopes(self, warp: int | None) -> list[dict[str, Any]]:
        """Return the scopes of a warp, or of the whole machine."""
        trees: list[tuple[str, Callable[[], Iterator[Node]], dict[str, Any]]] = []
        if warp is not None:
            trees += [("Registers", lambda: self._registers(warp), {"presentationHint": "registers"}),
                      ("Warp", lambda: self._record(self._sm["warp"][warp], f"w{warp}"), {})]
        trees += [("Register file", lambda: self._record(self.session.snapshot().rf, "rf"), {}),
                  ("Machine", self._machine, {})]
        if warp is not None:
            trees.append(("Why", lambda: self._why(warp), {"expensive": True}))
        return [{"name": name, "variablesReference": self._number(tree), "expensive": False, **more}
                for name, tree, more in trees]

    def children(self, reference: int) -> list[dict[str, Any]]:
        """Return the lines below a numbered one; raises InputError for a number from an earlier stop."""
        if not 1 <= reference <= len(self._known):
            raise InputError(f"variablesReference {reference} is from before the last stop")
        children = []
        for node in self._known[reference - 1]():
            below = self._number(node.children) if node.children else 0
            line = {"name": node.name, "value": node.value, "variablesReference": below}
            if node.expression:
                line["evaluateName"] = node.expression
                self._expressions[reference, node.name] = node.expression
            children.append(line)
        return children

    def expression(self, reference: int, name: str) -> str:
        """Return the expression of a line that has been shown, '' if it has none."""
        return self._expressions.get((reference, name), "")

    def _number(self, tree: Callable[[], Iterator[Node]]) -> int:
        self._known.append(tree)
        return len(self._known)

    @property
    def _sm(self) -> Any:
        return self.session.snapshot().sm

    def _registers(self, warp: int) -> Iterator[Node]:
        snapshot = self.session.snapshot()
        for reg in range(int(snapshot.sm["launch"]["registers"]) if is_resident(snapshot, warp) else 0):
            path = f"w{warp}.R{reg}"
            yield Node(f"R{reg}", lanes_text(snapshot.register(warp, reg)), path, partial(self._lanes, path))
        values = Machine.of(snapshot).uniform(warp)
        for reg in self.session.info.uniform_registers if is_resident(snapshot, warp) else ():
            yield Node(f"UR{reg}", readings(int(values[reg])))

    def lanes(self, path: str) -> int:
        """Return the number that opens the lanes of a register, as w3.R5."""
        return self._number(partial(self._lanes, path))

    def _lanes(self, path: str) -> Iterator[Node]:
        for lane, value in enumerate(self.session.value(path).astype(np.uint32)):
            yield Node(f"[{lane}]", readings(int(value)), f"{path}[{lane}]")

    def _record(self, record: Any, path: str) -> Iterator[Node]:
        for name in record.dtype.names:
            if name.startswith("pad") or name == "unused":      # of a design without state
                continue
            yield self._value(name, record[name], f"{path}.{name}")

    def _value(self, name: str, value: Any, path: str) -> Node:
        if getattr(value, "dtype", None) is not None and value.dtype.names and np.ndim(value) == 0:
            return Node(name, "", "", lambda: self._record(value, path))
        if np.ndim(value) == 0:
            return Node(name, f"{int(value):,}", path)
        return Node(name, f"{len(value)} values", "", lambda: self._array(value, path, 0, len(value)))

    def _array(self, values: Any, path: str, first: int, last: int) -> Iterator[Node]:
        if last - first <= GROUP:
            for index in range(first, last):
                yield self._value(f"[{index}]", values[index], f"{path}[{index}]")
            return
        for at in range(first, last, GROUP):
            end = min(at + GROUP, last)
            yield Node(f"[{at}..{end - 1}]", "", "", partial(self._array, values, path, at, end))

    def _machine(self) -> Iterator[Node]:
        session = self.session
        yield Node("cycle", f"{session.cycle:,}", "cycle")
        yield Node("design", session.info.design)
        yield Node("scheduler", session.info.scheduler)
        counts = session.snapshot().sm["state_count"]
        for stall in session.info.stalls:
            if count := int(counts[stall.code]):
                yield Node(stall.name, f"{count} warps", f"stall.{stall.name}")
        for text in problems(session.snapshot()):
            yield Node("does not add up", text)

    def _why(self, warp: int) -> Iterator[Node]:
        try:
            text = why(self.session, warp).text()
        except InputError as error:
            text = str(error)
        for number, line in enumerate(text.splitlines()):
            yield Node(str(number), line)


def is_resident(snapshot: Snapshot, warp: int) -> bool:
    """Return whether a warp slot holds a warp."""
    return bool(int(snapshot.sm["resident"]) >> warp & 1)


def lanes_text(values: np.ndarray) -> str:
    """Return a register in one line: one word if all lanes are equal, else the first lanes."""
    if (values == values[0]).all():
        return f"{readings(int(values[0]))} in all lanes"
    return " ".join(f"{int(value):x}" for value in values[:4]) + " ..."
