"""The list of a program's launches, over all its processes, and choosing one of them: KERNEL, KERNEL:NTH or a number."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import Any

from rfview.capture.modules import Loaded
from rfview.capture.reach import Before
from rfview.engine.errors import InputError
from rfview.engine.launch.kernel_names import is_called
from rfview.engine.wording import plural

Extent = tuple[int, int, int]


@dataclass(frozen=True)
class Request:
    """One launch as requested by a program; params: the parameter block."""

    module: int
    kernel: str
    grid: Extent
    block: Extent
    shared_bytes: int
    params: bytes
    is_cooperative: bool = False
    has_clusters: bool = False


@dataclass(frozen=True)
class Entry:
    """One launch. number: from 0; nth: among those of its kernel; cycles: 0 if it did not run; result: "" if it succeeded.

    instructions: warp instructions; is_estimate: it ran by its values only, and its cycles are estimated. label: a name for
    --launch; it distinguishes template instances. process: which of the program's, in the order in which they first used the
    device, from 0.
    """

    number: int
    kernel: str
    nth: int
    grid: Extent
    block: Extent
    cycles: int
    result: str
    overhead_s: float
    wall_s: float
    chosen: bool = False
    label: str = ""
    process: int = 0
    instructions: int = 0
    is_estimate: bool = False

    def row(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**asdict(self), "overhead_s": round(self.overhead_s, 6), "wall_s": round(self.wall_s, 6)}


@dataclass(frozen=True)
class Choice:
    """The launch to take: by number, or the nth launch of a kernel (0 is the first), given by its C++ or mangled name.

    A plain name means all instances of a template; a name with arguments, f<float>, or a mangled one means one of them.
    """

    text: str
    number: int | None = None
    kernel: str = ""
    nth: int = 0

    def matches(self, number: int, short: str, nth: int, mangled: str, nth_of_instance: int) -> bool:
        """Return whether this is the launch; nth: of those with its short name; nth_of_instance: with its mangled name."""
        if self.number is not None:
            return number == self.number
        if self.kernel == short:
            return nth == self.nth
        return nth_of_instance == self.nth and is_called(mangled, self.kernel)


@dataclass(frozen=True)
class Taken:
    """The chosen launch, with the memory it reaches, before and after; after: None if it failed or was not run.

    limit: registers per thread that the kernel was limited to, 0 for the preset's limit. l2_lines: what lay in L2.
    """

    entry: Entry
    request: Request
    module: Loaded
    limit: int
    before: Before
    after: Before | None
    l2_lines: tuple[int, ...] = ()


@dataclass
class Launches:
    """What a program has launched, over all its processes.

    choice: the launch to take. only: the launches to list, None for all. total, cycles, instructions: of all launches;
    estimates: how many have estimated cycles; without_cycles: how many of them had to, as machine code on Fermi's core;
    faults: how many a fault ended. processes: how many have used a device.
    """

    choice: Choice | None = None
    only: Choice | None = None
    entries: list[Entry] = field(default_factory=list)
    total: int = 0
    cycles: int = 0
    instructions: int = 0
    estimates: int = 0
    without_cycles: int = 0
    faults: int = 0
    processes: int = 0
    taken: Taken | None = None
    _seen: dict[tuple[str, str], int] = field(default_factory=dict)

    def next(self, short: str, mangled: str) -> tuple[int, str, int, str, int]:
        """Count a launch; return what `Choice.matches` compares: number, names, and how many of each there were before."""
        number, nth, nth_of_instance = self.total, self._count((short, "")), self._count((short, mangled))
        self.total += 1
        return number, short, nth, mangled, nth_of_instance

    @property
    def cycles_text(self) -> str:
        """Return the cycles of all launches, as text; ~ marks an estimate."""
        return f"{'~' if self.estimates else ''}{plural(self.cycles, 'cycle')}"

    def is_chosen(self, known_as: tuple[int, str, int, str, int]) -> bool:
        """Return whether this launch is to be taken."""
        return self.taken is None and self.choice is not None and self.choice.matches(*known_as)

    def add(self, entry: Entry, known_as: tuple[int, str, int, str, int]) -> None:
        """Add a launch to the list."""
        self.cycles += entry.cycles
        self.instructions += entry.instructions
        self.estimates += entry.is_estimate
        if self.only is None or self.only.matches(*known_as):
            self.entries.append(entry)

    def _count(self, of: tuple[str, str]) -> int:
        """Count a launch of this (short name, mangled name or ""); return how many there were before."""
        self._seen[of] = self._seen.get(of, -1) + 1
        return self._seen[of]


def choice_of(text: str) -> Choice:
    """Parse the argument of --launch; raises InputError if it is malformed."""
    if re.fullmatch(r"\d{1,9}", text):
        return Choice(text, number=int(text))
    found = re.fullmatch(r"(.+?)(?:(?<!:):(\d{1,9}))?", text)
    if found is None or not re.match(r"[A-Za-z_$%]", text):
        raise InputError(f"--launch {text}: expected a number, as in 3 (the first launch is 0), or a kernel and which "
                         "of its launches, as in matmul:1")
    return Choice(text, kernel=found[1], nth=int(found[2] or 0))


def missing(choice: Choice, entries: list[Entry], total: int) -> InputError:
    """Return the error for a program that never made the chosen launch."""
    kernels = list(dict.fromkeys(entry.label.rpartition(":")[0] for entry in entries))
    made = sum(choice.kernel in (entry.kernel, entry.label.rpartition(":")[0]) for entry in entries)
    if made:
        return InputError(f"--launch {choice.text}: the program launched {choice.kernel} {plural(made, 'time')}; "
                          f"the first is {choice.kernel}:0")
    named = f" of {', '.join(kernels[:8])}{', ...' if len(kernels) > 8 else ''}" if kernels else ""
    return InputError(f"--launch {choice.text}: no such launch; the program made {plural(total, 'launch')}"
                      f"{named} (`rfview launches` lists them)")
