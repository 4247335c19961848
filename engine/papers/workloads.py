"""Which bundled kernels are whose: what each kernel's workload.toml says of its suite and of the papers that used it.

    suite = "Rodinia"
    registers = 30                       # per thread, by the paper or suite; absent if unknown
    [papers.racetrack]
    name = "b+tree"                      # the paper's own name of it
    category = "cache-insensitive"       # absent where the paper has none

A paper's list is what names it here and nothing else, so that no kernel is dropped after a run; its claims are measured on
these kernels alone.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from rfview.engine import kernels
from rfview.engine.errors import InputError

FILE = "workload.toml"
DOUBLE = "_double"                 # ends the name of a kernel that is another one in double precision


@dataclass(frozen=True)
class Use:
    """A paper's use of a kernel: the paper's name of it, and the category that it puts it in ("": none)."""

    name: str
    category: str = ""


@dataclass(frozen=True)
class Workload:
    """What is known of a kernel's origin; registers per thread, 0 = unknown; papers: use by the design of the paper."""

    suite: str = ""
    registers: int = 0
    papers: dict[str, Use] = field(default_factory=dict)


@lru_cache
def of_kernel(kernel: str) -> Workload:
    """Return a kernel's workload, an empty one where it is nobody's. Raises InputError for what is none."""
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
    """Return the bundled kernels that a paper used, by the design of the paper, in alphabetical order."""
    return tuple(name for name in kernels.names() if paper in of_kernel(name).papers)


def called(paper: str, name: str, among: Sequence[str]) -> tuple[str, ...]:
    """Return those of some kernels that a paper calls so, whatever the case and the signs between letters and digits."""
    uses = {one: of_kernel(one).papers.get(paper) for one in among}
    return tuple(one for one, use in uses.items() if use is not None and letters(use.name) == letters(name))


def category(paper: str, kernel: str) -> str:
    """Return the category that a paper puts a kernel in, "" for none."""
    use = of_kernel(kernel).papers.get(paper)
    return use.category if use else ""


def is_double(kernel: str) -> bool:
    """Say whether a kernel is the double precision of another."""
    return kernel.endswith(DOUBLE)


def letters(name: str) -> str:
    """Return a name's letters and digits in small letters."""
    return "".join(letter for letter in name.lower() if letter.isalnum())
