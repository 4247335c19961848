"""What the compare screen shows: two runs, one warp's instructions and states in both, and the runs' totals."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from rfview.render.scene import Look, looks

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo

CYCLE, INSTRUCTION = "cycle", "instruction"     # what the cursors of the runs are locked by


@dataclass(frozen=True)
class RunFacts:
    """One run. cycle: of its cursor. slot: the focused warp's slot there, or None. count: instructions issued before it."""

    letter: str
    name: str
    target: str
    info: RunInfo
    last: int
    cycle: int
    slot: int | None = None
    count: int = 0
    states: tuple[int, ...] = ()

    @cached_property
    def looks(self) -> dict[int, Look]:
        """How each of this run's states is shown."""
        return looks(self.info)

    def look(self, code: int) -> Look:
        """Return how a state is shown."""
        return self.looks.get(code) or Look(code, f"state {code}", f"{code}", "?", "empty", "empty", "", "")


@dataclass(frozen=True)
class Instruction:
    """One instruction of the focused warp: its number n = 1, 2 .., text, and the cycle in which it issues in each run."""

    n: int
    text: str
    cycle_a: int | None
    cycle_b: int | None

    @property
    def lag(self) -> int | None:
        """Return by how many cycles B issues it later; None if a run does not have it."""
        return None if self.cycle_a is None or self.cycle_b is None else self.cycle_b - self.cycle_a


@dataclass(frozen=True)
class Strip:
    """The focused warp in both runs, each on its own clock, starting at the instruction before the cursor's.

    scale: cycles per column. codes: the most common state of each column, per run (-1: none). starts: first cycle of
    each run. issue: column in which the cursor's instruction issues, None if it is not visible.
    """

    scale: int = 1
    codes: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    starts: tuple[int, int] = (0, 0)
    issue: tuple[int | None, int | None] = (None, None)


class TwoRuns(Protocol):
    """What the status and message rows of any two runs need."""

    @property
    def runs(self) -> tuple[RunFacts, RunFacts]:
        """A and B."""

    @property
    def memory(self) -> str:
        """Whether both end with the same memory, in words."""

    @property
    def message(self) -> str:
        """The last message."""

    @property
    def message_kind(self) -> str:
        """Its kind: info, good or error."""

    @property
    def busy(self) -> str:
        """What is being computed."""

    @property
    def cut(self) -> str:
        """The letters of runs that are not recorded to their ends."""


@dataclass(frozen=True)
class ComparePicture:
    """All that one frame of the compare screen shows.

    lock: CYCLE or INSTRUCTION. warp: the focused warp in words. n: its instruction at the cursor. curve: (instructions,
    lag) per point, ascending. first_count: how many instructions had issued at the first divergence. lag: B's at A's
    cursor, counted over the whole machine. reasons: (stall code or -1, text) links. totals: (state name, A, B)
    warp-cycles. facts: (label, A, B, ratio) texts. cut: the letters of the runs that are not recorded to their ends.
    """

    runs: tuple[RunFacts, RunFacts]
    common: int
    lock: str = INSTRUCTION
    warp: str = ""
    n: int = 0
    instructions: tuple[Instruction, ...] = ()
    curve: tuple[tuple[int, int], ...] = ()
    first_count: int | None = None
    lag: int | None = None
    reasons: tuple[tuple[int, str], ...] = ()
    late: int = 1
    strip: Strip = field(default_factory=Strip)
    totals: tuple[tuple[str, int, int], ...] = ()
    facts: tuple[tuple[str, str, str, str], ...] = ()
    memory: str = ""
    message: str = ""
    message_kind: str = "info"
    busy: str = ""
    page: int = 0
    cut: str = ""

    def at(self, **changes: Any) -> ComparePicture:
        """Return the picture with some facts replaced."""
        return replace(self, **changes)
