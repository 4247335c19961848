"""Named places in a session, kept in `<file>.marks.json` next to a recording so that they outlive the program.

The file is one JSON object: {"format": 1, "marks": [{"name", "cycle", "note"}]}. Unknown keys are ignored.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

from rfview.engine import files
from rfview.engine.errors import InputError
from rfview.engine.wording import suggest

FORMAT = 1
NAME = re.compile(r"[^\s@;#]+\Z")


@dataclass(frozen=True)
class Mark:
    """A named cycle with an optional note."""

    name: str
    cycle: int
    note: str = ""


class Marks:
    """The marks of one session; path is the side file, or None to keep them in memory only.

    warnings: problems with the side file; a damaged one is kept as `<file>.bad`, `.bad1` .. and never overwritten.
    """

    def __init__(self, path: Path | None = None):
        self.path = path
        self.warnings: list[str] = []
        self._marks: dict[str, Mark] = {}
        if path is not None and path.exists():
            self._load(path)

    def _load(self, path: Path) -> None:
        try:
            for mark in _marks_of(files.read_json(path)):
                self._marks[mark.name] = mark
        except (OSError, ValueError) as error:
            self._marks.clear()
            names = (path.with_name(f"{path.name}.bad{number or ''}") for number in count())
            bad = next(name for name in names if not os.path.lexists(name))
            self.warnings.append(f"{path}: cannot read the marks ({error}); kept as {bad.name}")
            try:
                os.replace(path, bad)
            except OSError:
                self.path = None

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(sorted(self._marks.values(), key=lambda mark: (mark.cycle, mark.name)))

    def __len__(self) -> int:
        return len(self._marks)

    def get(self, name: str) -> Mark:
        """Return a mark; raises InputError naming close ones."""
        if name not in self._marks:
            raise InputError(f"no mark @{name}{suggest(name, self._marks)}")
        return self._marks[name]

    def set(self, name: str, cycle: int, note: str = "") -> Mark:
        """Set or move a mark and save the side file; raises InputError for a name that `goto @name` could not read."""
        if NAME.match(name) is None:
            raise InputError(f"mark name {name!r}: use one word without '@', ';' or '#'")
        mark = self._marks[name] = Mark(name, cycle, note)
        self._save()
        return mark

    def remove(self, name: str) -> None:
        """Remove a mark; raises InputError when there is none of that name."""
        del self._marks[self.get(name).name]
        self._save()

    def _save(self) -> None:
        """Write the side file, then move it into place; if the folder cannot be written, that is a warning."""
        if self.path is None:
            return
        content = {"format": FORMAT, "marks": [asdict(mark) for mark in self]}
        try:
            files.write(self.path, json.dumps(content, indent=1) + "\n")
        except InputError as error:
            self.warnings.append(f"{self.path}: marks are not saved ({error})")
            self.path = None


def _marks_of(content: Any) -> list[Mark]:
    """Return the marks of a file's content. Raises ValueError, which says what is wrong."""
    if not isinstance(content, dict) or not isinstance(content.get("marks"), list):
        raise ValueError('expected an object with a list "marks"')
    if content.get("format") != FORMAT:
        raise ValueError(f"format {content.get('format')!r:.60}, this rfview reads {FORMAT}")
    marks = []
    for number, entry in enumerate(content["marks"], 1):
        known = {"note": "", **entry} if isinstance(entry, dict) else {}
        name, cycle, note = (known.get(key) for key in ("name", "cycle", "note"))
        if not isinstance(name, str) or NAME.match(name) is None or type(cycle) is not int or not isinstance(note, str):
            raise ValueError(f"mark {number}: expected an object with a name of one word, a whole cycle and perhaps a note")
        marks.append(Mark(name, cycle, note))
    return marks
