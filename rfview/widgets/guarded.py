"""Screens and widgets whose defects do not end the session: a handler's exception is reported, and the app continues."""

from __future__ import annotations

from typing import Any

from textual import events
from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen


class Guarded:
    """A mixin, listed before Textual's class among the bases: exceptions of handlers go to the app's `survive`."""

    app: Any

    async def _dispatch_message(self, message: Any) -> None:
        try:
            await super()._dispatch_message(message)  # type: ignore[misc]
        except Exception as error:
            self.app.survive(error)
            self.broken()

    def broken(self) -> None:
        """Do what is necessary after a defect; a window, for example, closes."""


class Layer(Guarded, ModalScreen[None]):
    """A screen over the main one. It closes once: keys that reach it later were meant for the screen below."""

    is_closed = False

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close, unless another window is on top."""
        if self.is_closed or self.app.screen is not self:
            return AwaitComplete.nothing()
        self.is_closed = True
        return super().dismiss(result)

    def broken(self) -> None:
        """Close, since its content cannot be shown."""
        self.dismiss()

    async def _dispatch_message(self, message: Any) -> None:
        if self.is_closed and self.app.screen is not self and isinstance(message, events.Key):
            self.app.main.key(message.key, message.character)
        else:
            await super()._dispatch_message(message)
