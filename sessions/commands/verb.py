"""A debugger command, its answer, and the decorator that adds a command to the table."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rfview.sessions.cursor import Stop
from rfview.sessions.session import Session


@dataclass(frozen=True)
class Answer:
    """The answer of a command. text: for reading. data: for JSON. stop: where a move ended, or None.

    session: the session for the following commands, if the command went to another branch.
    """

    text: str
    data: dict[str, Any] = field(default_factory=dict)
    stop: Stop | None = None
    session: Session | None = None


@dataclass(frozen=True)
class Verb:
    """One command; run(session, argument text) executes it."""

    name: str
    aliases: tuple[str, ...]
    signature: str
    help: str
    run: Callable[[Session, str], Answer | Stop]


VERBS: dict[str, Verb] = {}
ALIASES: dict[str, str] = {}


def verb(name: str, *aliases: str, signature: str = "", help: str) -> Callable[..., Any]:
    """Add the decorated function to the table."""

    def add(run: Callable[[Session, str], Answer | Stop]) -> Callable[[Session, str], Answer | Stop]:
        VERBS[name] = Verb(name, aliases, signature, help, run)
        ALIASES.update(dict.fromkeys((name, *aliases), name))
        return run

    return add


def plain(value: Any) -> Any:
    """Return a value, or nested dicts and lists of values, for JSON; infinities and NaN become text."""
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(part) for part in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def command_text(name: str) -> str:
    """Return a command's names, what may follow, and its line of help; "" if there is no such command."""
    if name not in ALIASES:
        return ""
    entry = VERBS[ALIASES[name]]
    head = f"{'|'.join([entry.name, *entry.aliases])} {entry.signature}".strip()
    return f"{head}\n  {entry.help}"


def help_text() -> str:
    """Return the table of commands as aligned lines."""
    heads = [f"{'|'.join([name, *entry.aliases])} {entry.signature}".strip() for name, entry in VERBS.items()]
    width = min(44, max(map(len, heads)))
    lines = []
    for head, entry in zip(heads, VERBS.values()):
        if len(head) > width:
            lines.append(f"  {head}")
            head = ""
        lines.append(f"  {head:<{width}}  {entry.help}")
    return "\n".join(lines)
