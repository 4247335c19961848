"""The origin of the bundled kernels: each one's workload.toml names its suite and the papers that used it.

    suite = "Rodinia"
    registers = 30                       # per thread, by the paper or suite; absent if unknown
    [papers.racetrack]
    name = "b+tree"                      # the paper's own name for it
    category = "cache-insensitive"       # absent if the paper has none

A paper's kernels are those that name it here and no others, so that none is dropped after a run; its claims are measured
only on these kernels.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from rfview.engine import kernels
from rfview.engine.errors import InputError

FILE = "workload.toml"
DOUBLE = "_double"                 # suffix of kernels that are the double-precision version of another one


@dataclass(frozen=True)
class Use:
    """A paper's use of a kernel: the paper's name for it, and its category ("": none)."""

    name: str
    category: str = ""


@dataclass(frozen=True)
class Workload:
    """A kernel's origin; registers: per thread, 0 = unknown; papers: use by the paper's design."""

    suite: str = ""
    registers: int = 0
    papers: dict[str, Use] = field(default_factory=dict)


@lru_cache
def of_kernel(kernel: str) -> Workload:
    """Return a kernel's workload, an empty one if no paper used it. Raises InputError for an invalid file."""
    path = kernels.path(kernel).parent / FILE
    if not path.exists():
        return Workload()
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        uses = {paper: Use(**table) for paper, table in data.pop("papers", {}).items()}
        return Workload(papers=uses, **data)
    except (tomllib.TOMLDecodeError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: {error}; expected suite, registers and [papers.NAME] with name and category") from error


def own(paper: str) -> tuple[str, ...]:
    """Return the bundled kernels that a paper used, given by its design, in alphabetical order."""
    return tuple(name for name in kernels.names() if paper in of_kernel(name).papers)


def called(paper: str, name: str, among: Sequence[str]) -> tuple[str, ...]:
    """Return those kernels that a paper calls by a name, ignoring case and anything but letters and digits."""
    uses = {one: of_kernel(one).papers.get(paper) for one in among}
    return tuple(one for one, use in uses.items() if use is not None and letters(use.name) == letters(name))


def category(paper: str, kernel: str) -> str:
    """Return a kernel's category in a paper, "" for none."""
    use = of_kernel(kernel).papers.get(paper)
    return use.category if use else ""


def is_double(kernel: str) -> bool:
    """Say whether a kernel is the double-precision version of another one."""
    return kernel.endswith(DOUBLE)


def letters(name: str) -> str:
    """Return a name's letters and digits in lower case."""
    return "".join(letter for letter in name.lower() if letter.isalnum())
