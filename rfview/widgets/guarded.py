"""A screen or widget whose defects do not end the session: a handler that raises is told of, and what follows goes on."""

from __future__ import annotations

from typing import Any


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
