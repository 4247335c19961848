"""The list of a program's launches, and choosing one of them: KERNEL, KERNEL:NTH or a number."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from rfview.engine.errors import InputError
from rfview.engine.launch.kernel_names import is_called
from rfview.engine.wording import plural

Extent = tuple[int, int, int]


@dataclass(frozen=True)
class Entry:
    """One launch. number: from 0; nth: among those of its kernel; cycles: 0 if it did not run; result: "" if it succeeded.

    label: a name for --launch; it distinguishes template instances.
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
