"""Work for the tests of batches, in a module that worker processes can import."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from rfview.engine.errors import InputError


@dataclass(frozen=True)
class Item:
    """One piece of work. folder: where `do` writes a line to the file `name` each time the item is begun; "" for nowhere."""

    name: str
    what: str = "square"
    number: int = 0
    folder: str = ""
    seconds: float = 0.0


def do(item: Item) -> int:
    """Note that the item was begun; then return the number's square, fail or kill the worker, as the item says."""
    if item.folder:
        with open(Path(item.folder) / item.name, "a") as file:
            file.write(f"{os.getpid()}\n")
    time.sleep(item.seconds)
    if item.what == "kill" or (item.what == "kill once" and begun(item) == 1):
        os.kill(os.getpid(), signal.SIGKILL)
    if item.what == "refuse":
        raise InputError(f"{item.name}: not like this")
    if item.what == "slip":
        raise KeyError(item.name)
    return item.number**2


def many_bytes(number: int) -> bytes:
    """Return more bytes than a pipe holds."""
    return bytes(range(256)) * (number // 256)


def begun(item: Item) -> int:
    """Return how often an item was begun."""
    path = Path(item.folder) / item.name
    return len(path.read_text().split()) if path.exists() else 0
