"""The manual page rfview(1), from the tables of command line and help: `python -m rfview.manual > rfview/rfview.1`.

The wheel installs it in share/man/man1 of its environment, where `man` looks if the environment's bin is in PATH.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rfview import cli
from rfview.glossary.topics import ENVIRONMENT, EXIT_CODES

DESCRIPTION = (
    "rfview runs CUDA kernels, with their real values, on a cycle-level model of one GPU core whose register file is one of "
    "several published designs or your own. It records every cycle and steps through them forwards and backwards in the "
    "terminal. Without a command it opens a start screen with recordings, lessons and kernels."
)
MORE = (
    "rfview COMMAND --help lists a command's options. rfview help explains topics, such as launch, design, commands, keys, "
    "expressions and programs, and every term of the screens with its source."
)


def page() -> str:
    """Return the page as roff text."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield f'.TH RFVIEW 1 "" "rfview {cli.__version__}" "User Commands"'
    yield from (".SH NAME", r"rfview \- a time-travelling visual debugger for GPU register files")
    yield from (".SH SYNOPSIS", r"\fBrfview\fR [\fICOMMAND\fR [\fIOPTIONS\fR]]")
    yield from (".SH DESCRIPTION", _plain(DESCRIPTION), ".SH COMMANDS")
    for heading, commands in cli.GROUPS.items():
        yield f".SS {_plain(heading.capitalize())}"
        yield from _entries(commands)
    yield from (".PP", _plain(MORE), ".SH ENVIRONMENT", *_entries(_table(ENVIRONMENT)))
    yield from (".SH EXIT STATUS", *_entries(_table(EXIT_CODES)))


def _table(text: str) -> dict[str, str]:
    """Return the rows of a help topic, whose first column ends with two spaces."""
    return {name: what.strip() for name, _, what in (line.partition("  ") for line in text.splitlines())}


def _entries(rows: Mapping[str, str]) -> Iterator[str]:
    for name, what in rows.items():
        yield from (".TP", rf"\fB{_plain(name)}\fR", _plain(what))


def _plain(text: str) -> str:
    """Return text escaped for roff."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped[:1] in (".", "'") else escaped


if __name__ == "__main__":
    print(page(), end="")
