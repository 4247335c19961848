"""Command files: how they are read, and what separates commands."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from rfview.engine.errors import InputError

MOST_COMMANDS = 4 << 20     # characters of a command file; files without an end, such as /dev/zero, have more


def commands(text: str | Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield (line number, command) of a script: `;` and newlines separate commands, `#` begins a comment."""
    lines = text.splitlines() if isinstance(text, str) else text
    for number, line in enumerate(lines, 1):
        for part in line.partition("#")[0].split(";"):
            if part.strip():
                yield number, part.strip()


def read_commands(name: str) -> str:
    """Return the text of a command file, which may be a pipe, or of standard input, called "-". Raises InputError."""
    try:
        if name == "-":
            text = sys.stdin.read(MOST_COMMANDS + 1)
        else:
            with open(name, "rb") as file:
                text = file.read(MOST_COMMANDS + 1).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{name}: expected commands as UTF-8 text") from None
    except (OSError, ValueError) as error:      # ValueError: a null character in the name
        raise InputError(f"{name}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(text) > MOST_COMMANDS:
        raise InputError(f"{name}: more than {MOST_COMMANDS:,} characters; is this a file of commands?")
    return text.removeprefix("\ufeff")
