"""Which findings are shown: filters by kernel, file, function and kind, and baselines, files of known findings.

A baseline is JSON; its findings are identified by kind, kernel, places in the source and opcodes, never by addresses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from rfview.engine import files
from rfview.engine.check.findings import NAMES, Finding
from rfview.engine.errors import InputError
from rfview.engine.launch.kernel_names import is_called
from rfview.engine.launch.mangling import kernel_name
from rfview.engine.wording import plural

Key = tuple[str, str, str, str, str, str]
PARTS = ("kind", "kernel", "place", "opcode", "other_place", "other_opcode")
VERSION = 1
MOST_BYTES = 16 << 20
ASPECTS = ("kernel", "file", "function", "kind")


@dataclass(frozen=True)
class Filters:
    """Patterns by aspect; a finding passes if, for each aspect, it matches one of them and none that begins with "!".

    Patterns are globs in which case matters. kernel, function: as in C++ or mangled. file: name or path of a source file
    that the instruction, or the other access, was compiled from, or was inlined into. Raises InputError for a wrong pattern.
    """

    patterns: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for aspect, given in self.patterns.items():
            for pattern in given:
                bare = pattern.removeprefix("!")
                if not bare:
                    raise InputError(f"--{aspect} {pattern!r}: expected a name or a pattern, as 'thrust::*' or '!*.cuh'")
                if aspect == "kind" and not any(fnmatchcase(name, bare) for name in NAMES):
                    raise InputError(f"--kind {pattern}: expected one of {', '.join(NAMES)}, or a pattern")

    def passes(self, finding: Finding) -> bool:
        """Return whether a finding is to be shown."""
        for aspect, given in self.patterns.items():
            wanted = [one for one in given if not one.startswith("!")]
            if wanted and not any(_matches(aspect, one, finding) for one in wanted):
                return False
            if any(_matches(aspect, one[1:], finding) for one in given if one.startswith("!")):
                return False
        return True

    def __str__(self) -> str:
        return " ".join(f"--{aspect} {pattern}" for aspect, given in self.patterns.items() for pattern in given)


def _matches(aspect: str, pattern: str, finding: Finding) -> bool:
    """Return whether a finding has the pattern in that aspect."""
    if aspect == "kind":
        return fnmatchcase(finding.kind, pattern)
    if aspect == "kernel":
        return _names(finding.kernel, pattern)
    if aspect == "function":
        return any(_names(function, pattern) for _, function in finding.frames if function)
    paths = [place.rpartition(":")[0] for place, _ in finding.frames]
    return any(fnmatchcase(part, pattern) for path in paths for part in (path, path.rpartition("/")[2]))


def _names(mangled: str, pattern: str) -> bool:
    """Return whether a function goes by a name or matches a pattern, with namespaces or without."""
    full = kernel_name(mangled)
    names = (mangled, full, full.rpartition("::")[2])
    return any(fnmatchcase(name, pattern) for name in names) or is_called(mangled, pattern)


def key_of(finding: Finding) -> Key:
    """Return what identifies a finding in a baseline: it stays if only addresses, registers or other kernels change."""
    other = finding.other_pc >= 0
    return (finding.kind, finding.kernel, finding.source or f"PTX line {finding.line}", _opcode(finding.text),
            (finding.other_source or f"PTX line {finding.other_line}") if other else "",
            _opcode(finding.other_text) if other else "")


def _opcode(text: str) -> str:
    """Return the opcode of an instruction's text, without its guard and operands."""
    return re.sub(r"^@!?\S+\s+", "", text).split(" ")[0]


@dataclass(frozen=True)
class Selection:
    """The findings of a check, sorted out. shown: indices of the new ones that pass the filters; known, filtered: how many
    the baseline and the filters keep silent; gone: the baseline's findings that no longer occur.
    """

    shown: tuple[int, ...]
    known: int
    filtered: int
    gone: tuple[Key, ...]

    def as_dict(self) -> dict[str, object]:
        """Return the counts as JSON data."""
        gone = [dict(zip(PARTS, key, strict=True)) for key in self.gone]
        return {"known": self.known, "filtered": self.filtered, "gone": gone}

    def as_text(self, filters: Filters, baseline: str | None) -> list[str]:
        """Return lines about what is not shown, and what is gone."""
        lines = []
        if self.filtered:
            lines.append(f"{plural(self.filtered, 'finding')} filtered out ({filters})")
        if baseline is not None:
            lines.append(f"{plural(self.known, 'known finding')} of {baseline} not shown")
        for kind, kernel, place, opcode, *_ in self.gone:
            lines.append(f"no longer found: {kind} in {kernel_name(kernel)}, {place}: {opcode}")
        return lines


def select(findings: Sequence[Finding], filters: Filters, known: Sequence[Key]) -> Selection:
    """Sort findings out. known: the baseline's."""
    keys = [key_of(one) for one in findings]
    held = set(known)
    new = [at for at, key in enumerate(keys) if key not in held]
    shown = tuple(at for at in new if filters.passes(findings[at]))
    return Selection(shown, len(findings) - len(new), len(new) - len(shown), tuple(sorted(held - set(keys))))


def write_baseline(path: str | Path, findings: Sequence[Finding]) -> None:
    """Write a baseline, one finding a line; raises InputError if that is impossible."""
    rows = [json.dumps(dict(zip(PARTS, key, strict=True))) for key in sorted({key_of(one) for one in findings})]
    files.write(path, f'{{"rfview_baseline": {VERSION}, "findings": [\n' + ",\n".join(rows) + "\n]}\n")


def read_baseline(path: str | Path) -> list[Key]:
    """Return the findings that a baseline lists. Raises InputError if it cannot be read or is none."""
    try:
        content = files.read_json(path, MOST_BYTES)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise InputError(f"{path}: is not a baseline ({error}); rfview check --write-baseline writes one") from None
    rows = content.get("findings") if isinstance(content, dict) else None
    if not isinstance(rows, list) or content.get("rfview_baseline") != VERSION:
        raise InputError(f"{path}: is not a baseline of version {VERSION}; rfview check --write-baseline writes one")
    keys = []
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict) or set(row) != set(PARTS) or not all(isinstance(row[part], str) for part in PARTS):
            raise InputError(f"{path}: finding {number}: expected an object with the texts {', '.join(PARTS)}")
        keys.append(tuple(row[part] for part in PARTS))
    return keys
