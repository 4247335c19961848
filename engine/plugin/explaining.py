"""The arguments of a design's `why`: the chain that it extends, the machine at a moment, and what was refused.

`why(trail, moment, rf, refusal)` runs on the host, never compiled, when a run is inspected; rf is the design's own record.
`rfview.sessions.why` has the classes behind these protocols; a design only needs what is listed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo

NOWHERE = -1


class Flight(Protocol):
    """An instruction in flight. Each field of its record (state.INFLIGHT) is an attribute, a whole number."""

    @property
    def text(self) -> str:
        """Return the instruction's text and line."""

    @property
    def result(self) -> int:
        """Return the first destination register not yet written, -1 if there is none."""

    def __getattr__(self, name: str) -> int: ...


@dataclass(frozen=True)
class Refusal:
    """What the register file has refused. kind: "read", "late", "write", "freeze", "issue", "leave" or "hold".

    late: an operand was read and has not arrived. freeze: the pipeline is frozen. issue: a ready warp may not issue.
    leave: a warp may not leave the active set. hold: a result is accepted, but its register is not free yet. reg, bank,
    flight: -1 or None if it concerns none.
    """

    kind: str
    code: int
    warp: int
    reg: int = NOWHERE
    bank: int = NOWHERE
    flight: Any = None      # a Flight


class Moment(Protocol):
    """The machine at the start of one cycle. ran: the previous cycle, whose effects the state shows."""

    ran: int
    info: RunInfo

    @property
    def config(self) -> Mapping[str, Any]:
        """Return the machine's numbers in use, by name."""

    @property
    def num_warps(self) -> int:
        """Return the number of warp slots."""

    @property
    def num_banks(self) -> int:
        """Return the number of register banks."""

    def name(self, code: int) -> str:
        """Return the name of a stall code."""

    def owner(self, bank: int) -> str:
        """Return the register a bank works for, such as "w2 R5", "" if none."""

    def bank(self, bank: int, field: str) -> int:
        """Return a field of a bank's record."""

    def warp(self, warp: int, field: str) -> int:
        """Return a field of a warp's record."""

    def in_flight(self, warp: int | None = None) -> Sequence[Flight]:
        """Return the instructions in flight, of one warp or of all, oldest first."""


class Past(Protocol):
    """Earlier moments of the run."""

    def at(self, cycle: int) -> Moment | None:
        """Return the machine at a cycle, None if it is out of reach."""


class Trail(Protocol):
    """The chain so far: links are added in order, until `end` names a resource."""

    @property
    def past(self) -> Past:
        """Return the earlier moments of the run."""

    @property
    def ended(self) -> bool:
        """Return whether the chain has reached a resource."""

    def add(self, sentence: str, evidence: str = "", *, code: int = NOWHERE, warp: int = NOWHERE, since: int = NOWHERE,
            until: int = NOWHERE, pc: int = NOWHERE, bank: int = NOWHERE, buffer: int = NOWHERE,
            slot: int = NOWHERE, at: int = NOWHERE) -> None:
        """Append a link. at: the cycle to show, by default the one after `since`, which shows it first."""

    def bank_link(self, moment: Any, bank: int, code: int, what: str = "") -> None:
        """Add which access has a bank, and until when. what: the name of a slow access, such as "STT write"."""

    def end(self, kind: str, name: str, relief: Mapping[str, Any] | None = None) -> None:
        """Name the resource of the last link. relief: parameters that would avoid the delay, {"sm.num_banks": 32}."""

    def refused(self, moment: Any, refusal: Refusal) -> None:
        """Explain another refusal, such as one of the main file."""

    def value(self, name: str, default: int | None = None) -> int:
        """Return an integer parameter of the run; raises InputError for one that it does not have, without a default."""
