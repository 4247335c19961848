"""A warp's position as stack frames: the lines of its source, inlined ones first, and below them the instruction.

A frame's number is its thread's plus DEPTH for each frame above it. A source whose file is as it was recorded is named
by its path, any other by a reference: 1 is the PTX, 2 and up are the files that the PTX names.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rfview.dap.variables import is_resident
from rfview.engine import files
from rfview.engine.errors import InputError
from rfview.sessions.session import Session

DEPTH = 1000        # between the numbers of two frames of a thread
PTX = 1
FIRST_FILE = 2
ADDRESS = 0x10000   # of the first instruction; not 0, so that what editors request before it has an address, too


class Sources:
    """The sources of a session. folder: that of the launched program, where files are searched for."""

    def __init__(self, session: Session, folder: Path):
        self._session = session
        self._lines = session.lines
        self._files: dict[str, Path | None] = {}
        self._folder = folder
        self.ptx = session.info.ptx[0]

    def named(self, path: str) -> dict[str, Any]:
        """Return a source by its path in the PTX."""
        text = self._lines.text_of(path)
        return self._source(path, None if text is None else "\n".join(text), FIRST_FILE + self._lines.paths.index(path)
                            if path in self._lines.paths else 0)

    def of_ptx(self) -> dict[str, Any]:
        """Return the PTX as a source."""
        return self._source(self.ptx.path, self.ptx.text, PTX)

    def _source(self, path: str, text: str | None, reference: int) -> dict[str, Any]:
        if path not in self._files:
            self._files[path] = _on_disk(self._folder / path, text)
        file = self._files[path]
        name = Path(path).name
        if file is not None:
            return {"name": name, "path": str(file)}
        if text is None or not reference:
            return {"name": name, "path": path, "presentationHint": "deemphasize"}
        return {"name": name, "sourceReference": reference}

    def content(self, reference: int) -> dict[str, Any]:
        """Return the text of a source that has no file; raises InputError for an unknown number."""
        if reference == PTX:
            return {"content": self.ptx.text, "mimeType": "text/x-ptx"}
        paths = self._lines.paths
        is_known = FIRST_FILE <= reference < FIRST_FILE + len(paths)
        text = self._lines.text_of(paths[reference - FIRST_FILE]) if is_known else None
        if text is None:
            raise InputError(f"source: no source has the reference {reference}")
        return {"content": "\n".join(text)}

    def stack(self, thread: int, warp: int, line_offset: int) -> list[dict[str, Any]]:
        """Return the frames of a warp; none if its slot is empty."""
        snapshot = self._session.snapshot()
        if not is_resident(snapshot, warp):
            return []
        return self.stack_at(thread, int(snapshot.sm["warp"][warp]["pc"]), line_offset)

    def stack_at(self, thread: int, pc: int, line_offset: int) -> list[dict[str, Any]]:
        """Return the frames of an instruction; none if the program has no such instruction."""
        program = self._session.info.program
        if pc >= len(program):
            return []
        at = {"instructionPointerReference": address(pc)}
        frames: list[dict[str, Any]] = []
        for frame in self._lines.frames(pc):
            frames.append({"name": frame.function or program[pc].kernel, "line": frame.where.line - line_offset,
                           "column": max(1, frame.column), "source": self.named(frame.where.path), **at})
        frames.append({"name": program[pc].text, "line": program[pc].line - line_offset, "column": 1,
                       "source": self.of_ptx(), **at})
        return [{"id": thread + DEPTH * depth, **frame} for depth, frame in enumerate(frames)]

    def which(self, given: str, reference: int) -> str:
        """Return a source's path in the PTX, "" for the PTX itself; raises InputError for a source not of the program."""
        name, paths = Path(given).name, self._lines.paths
        if reference == PTX or name == Path(self.ptx.path).name:
            return ""
        if FIRST_FILE <= reference < FIRST_FILE + len(paths):
            return paths[reference - FIRST_FILE]
        same = [path for path in paths if path == given or self._files.get(path) == Path(given)]
        same = same or [path for path in paths if Path(path).name == name]
        if len(same) != 1:
            known = ", ".join([Path(self.ptx.path).name, *(Path(path).name for path in paths)])
            raise InputError(f"the kernel is in {known}")
        return same[0]

    def place(self, path: str, line: int) -> dict[str, Any]:
        """Return the arguments of add_breakpoint for a line of a source; path: from `which`."""
        return {"kind": "source", "item": f"{path}:{line}"} if path else {"kind": "line", "value": line}

    def line_of(self, point: Any) -> int:
        """Return the line of a breakpoint made at a `place`; one without instructions stands for the next that has some."""
        if point.kind == "source":
            return self._lines.lines[point.value].line
        return int(self._session.info.program[point.pcs[0]].line)

    def disassembly(self, first: int, count: int, line_offset: int) -> list[dict[str, Any]]:
        """Return `count` instructions from number `first` on; those before or after the program are marked invalid."""
        program = self._session.info.program
        listed = []
        for pc in range(first, first + count):
            if not 0 <= pc < len(program):
                listed.append({"address": address(max(pc, -ADDRESS)), "instruction": "", "presentationHint": "invalid"})
                continue
            entry = program[pc]
            one: dict[str, Any] = {"address": address(pc), "instruction": entry.text, "location": self.of_ptx(),
                   "line": entry.line - line_offset}
            if not pc or program[pc - 1].kernel != entry.kernel:
                one["symbol"] = entry.kernel
            listed.append(one)
        return listed


def address(pc: int) -> str:
    """Return the address by which editors name an instruction."""
    return hex(ADDRESS + pc)


def number(reference: str) -> int:
    """Return the number of the instruction at an address; raises InputError for anything else."""
    try:
        return int(reference, 16 if reference.lower().startswith("0x") else 10) - ADDRESS
    except ValueError:
        raise InputError(f"{reference[:80]!r}: expected an address such as {address(0)}") from None


def _on_disk(path: Path, text: str | None) -> Path | None:
    """Return the resolved file if it has the text that runs, or if that text is not known; else None."""
    try:
        is_same = path.is_file() if text is None else files.read_text(path).replace("\r\n", "\n") == text
        return path.resolve() if is_same else None
    except (OSError, UnicodeDecodeError, ValueError):
        return None
