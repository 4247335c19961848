"""The launches of a program, as a list; and which of them is meant: KERNEL, KERNEL:NTH or a number."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from rfview.engine.errors import InputError
from rfview.engine.launch.kernel_names import is_called

Extent = tuple[int, int, int]


@dataclass(frozen=True)
class Entry:
    """One launch. number: from 0; nth: among those of its kernel; cycles: 0 if it did not run; result: "" for fine.

    label: what --launch may call it; template instances are told apart.
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

    def row(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**asdict(self), "overhead_s": round(self.overhead_s, 6), "wall_s": round(self.wall_s, 6)}


@dataclass(frozen=True)
class Choice:
    """A launch that is meant: by number, or the nth of a kernel's (0 is the first), whose name is a C++ or mangled one.

    A name alone means all instances of a template; with arguments, f<float>, or mangled it means one of them.
    """

    text: str
    number: int | None = None
    kernel: str = ""
    nth: int = 0

    def matches(self, number: int, short: str, nth: int, mangled: str, nth_of_instance: int) -> bool:
        """Say whether a launch is the one: of all, of those whose kernel has this short name, of its instance alone."""
        if self.number is not None:
            return number == self.number
        if self.kernel == short:
            return nth == self.nth
        return nth_of_instance == self.nth and is_called(mangled, self.kernel)


def choice_of(text: str) -> Choice:
    """Read --launch; raises InputError for what is none."""
    if re.fullmatch(r"\d{1,9}", text):
        return Choice(text, number=int(text))
    found = re.fullmatch(r"(.+?)(?:(?<!:):(\d{1,9}))?", text)
    if found is None or not re.match(r"[A-Za-z_$%]", text):
        raise InputError(f"--launch {text}: expected a number, as in 3 (the first launch is 0), or a kernel and which "
                         "of its launches, as in matmul:1")
    return Choice(text, kernel=found[1], nth=int(found[2] or 0))


def missing(choice: Choice, entries: list[Entry], total: int) -> InputError:
    """Return what to say where a program never made the launch that was chosen."""
    kernels = list(dict.fromkeys(entry.label.rpartition(":")[0] for entry in entries))
    made = sum(choice.kernel in (entry.kernel, entry.label.rpartition(":")[0]) for entry in entries)
    if made:
        return InputError(f"--launch {choice.text}: the program launched {choice.kernel} {made} time{'s' * (made != 1)}; "
                          f"the first is {choice.kernel}:0")
    named = f" of {', '.join(kernels[:8])}{', ...' if len(kernels) > 8 else ''}" if kernels else ""
    return InputError(f"--launch {choice.text}: no such launch; the program made {total:,} launch{'es' * (total != 1)}"
                      f"{named} (`rfview launches` lists them)")
