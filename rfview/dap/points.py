"""The breakpoints that an editor has set: by request, with the editor's numbers, carried over to branches of the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rfview.engine.errors import InputError
from rfview.sessions.session import Session

EXCEPTIONS = "exceptions"
NONE = -1       # the number of a breakpoint that cannot be made in the current session
Make = Callable[[Session, Any], Any]


@dataclass
class Kind:
    """The breakpoints of one request. make: adds one to a session. numbers: the editor's -> the session's."""

    wanted: list[Any]
    make: Make
    numbers: dict[int, int]


class Points:
    """All breakpoints of one editor. session: the one in which they stop."""

    def __init__(self, session: Session):
        self.session = session
        self._kinds: dict[str, Kind] = {}
        self._next = 1

    def replace(self, kind: str, wanted: list[Any], make: Make) -> list[dict[str, Any]]:
        """Replace the breakpoints of a kind; return for each the one made, as `point`, or why it could not be made."""
        before = self._kinds.pop(kind, None)
        if before is not None:
            self._remove(before)
        now: list[Any] = []
        numbers: dict[int, int] = {}
        results: list[dict[str, Any]] = []
        for one in wanted:
            try:
                made = make(self.session, one)
            except InputError as error:
                results.append({"verified": False, "message": str(error)})
                continue
            now.append(one)
            numbers[self._next] = made.number
            results.append({"id": self._next, "verified": True, "point": made})
            self._next += 1
        self._kinds[kind] = Kind(now, make, numbers)
        return results

    def move_to(self, session: Session) -> None:
        """Move the breakpoints to another session of the family, except those impossible there (on a missing field)."""
        for kind in self._kinds.values():
            self._remove(kind)
        self.session = session
        for kind in self._kinds.values():
            for known, one in zip(kind.numbers, kind.wanted, strict=True):
                try:
                    kind.numbers[known] = kind.make(session, one).number
                except InputError:
                    kind.numbers[known] = NONE

    def _remove(self, kind: Kind) -> None:
        for number in kind.numbers.values():
            if number in self.session.breakpoints:      # the console may have removed it
                self.session.remove_breakpoint(number)

    def known(self, numbers: Sequence[int]) -> list[int]:
        """Return the editor's numbers of a session's breakpoints, without those set in the console."""
        return sorted(known for kind in self._kinds.values() for known, here in kind.numbers.items() if here in numbers)

    def kind(self, numbers: Sequence[int]) -> str:
        """Return the request that set the first of a session's breakpoints that the editor has set, "" if none is."""
        kinds = (name for number in numbers for name, kind in self._kinds.items() if number in kind.numbers.values())
        return next(kinds, "")
