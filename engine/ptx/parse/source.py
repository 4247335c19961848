"""PTX source text: line numbers, and the format of every error that names a line."""

from __future__ import annotations

from bisect import bisect_right

from rfview.engine.errors import PtxError


class Source:
    """A PTX text with its path; turns offsets into line numbers and lines into errors."""

    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.path = path
        self.lines = text.split("\n")
        starts, offset = [], 0
        for line in self.lines:
            starts.append(offset)
            offset += len(line) + 1
        self._starts = starts

    def line_at(self, offset: int) -> int:
        """Return the 1-based line at a text offset."""
        return bisect_right(self._starts, offset)

    def error(self, line: int, message: str) -> PtxError:
        """Make the error for a 1-based line: file, line, message, and the text of the line."""
        shown = self.lines[line - 1].strip() if 0 < line <= len(self.lines) else ""
        if len(shown) > 160:
            shown = shown[:157] + "..."
        if len(message) > 300:      # a name or number may have thousands of characters
            message = f"{message[:200]} ... {message[-80:]}"
        return PtxError(f"{self.path}:{line}: {message}\n    {shown}")
