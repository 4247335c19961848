"""The breakpoints that an editor has set: by request, with the editor's numbers, and taken along to branches of the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rfview.engine.errors import InputError
from rfview.sessions.session import Session

EXCEPTIONS = "exceptions"
NONE = -1       # the number of a breakpoint that the session of now cannot have
Make = Callable[[Session, Any], Any]


@dataclass
class Kind:
    """Those of one request. make: adds one to a session, from what the editor wants. numbers: editor's -> session's."""

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
        """Remove the breakpoints of a kind and make others; return what each became, or why not. made: as `point`."""
        before = self._kinds.pop(kind, None)
        if before is not None:
            self._remove(before)
        kept: list[Any] = []
        numbers: dict[int, int] = {}
        results: list[dict[str, Any]] = []
        for one in wanted:
            try:
                made = make(self.session, one)
            except InputError as error:
                results.append({"verified": False, "message": str(error)})
                continue
            kept.append(one)
            numbers[self._next] = made.number
            results.append({"id": self._next, "verified": True, "point": made})
            self._next += 1
        self._kinds[kind] = Kind(kept, make, numbers)
        return results

    def move_to(self, session: Session) -> None:
        """Go on in another session of the family; what cannot be made there, as another design's field, is left out."""
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

    def known(self, number: int | None) -> list[int]:
        """Return the editor's number of a breakpoint of the session, as a list; empty for those of the console."""
        return [known for kind in self._kinds.values() for known, here in kind.numbers.items() if here == number]

    def is_exception(self, number: int | None) -> bool:
        """Say whether a breakpoint of the session is one of the exceptions."""
        kind = self._kinds.get(EXCEPTIONS)
        return kind is not None and number in kind.numbers.values()
