"""Screens and widgets whose defects do not end the session: a handler that raises is told of, and what follows goes on."""

from __future__ import annotations

from typing import Any

from textual import events
from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen


class Guarded:
    """Stands before Textual's class among the bases; the app's `survive` takes what a handler of the class raises."""

    app: Any

    async def _dispatch_message(self, message: Any) -> None:
        try:
            await super()._dispatch_message(message)  # type: ignore[misc]
        except Exception as error:
            self.app.survive(error)
            self.broken()

    def broken(self) -> None:
        """Do what has to be done after a defect: a window, for one, closes."""


class Layer(Guarded, ModalScreen[None]):
    """A screen over the main one. It closes once: keys that reach it later were typed for what lies below."""

    is_closed = False

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close; what lies below another window stays."""
        if self.is_closed or self.app.screen is not self:
            return AwaitComplete.nothing()
        self.is_closed = True
        return super().dismiss(result)

    def broken(self) -> None:
        """Close: what it shows cannot be shown."""
        self.dismiss()

    async def _dispatch_message(self, message: Any) -> None:
        if self.is_closed and self.app.screen is not self and isinstance(message, events.Key):
            self.app.main.key(message.key, message.character)
        else:
            await super()._dispatch_message(message)
