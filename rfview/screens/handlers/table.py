"""The handlers of all actions, by the action's name in rfview/actions.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rfview.keys import Pressed
from rfview.screens.handlers import ask, lines, screen, stop, time

if TYPE_CHECKING:
    from rfview.screens.desk import Desk

HANDLERS: dict[str, Callable[[Desk, Pressed], None]] = {
    **time.HANDLERS, **stop.HANDLERS, **ask.HANDLERS, **screen.HANDLERS, **lines.HANDLERS,
}
