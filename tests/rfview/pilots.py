"""Drives the app without a terminal: opens a fake session, presses keys, waits until it is idle, and reads panels."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from textual._xterm_parser import XTermParser

from rfview.app import make_app
from rfview.screens import requests
from rfview.sessions.session import Session
from tests.conftest import PATIENCE_S
from tests.rfview.fakes import make_session
from tests.rfview.keyboard import bytes_of, typed


async def until(holds: Callable[[], bool], told: Callable[[], object] = str) -> None:
    """Wait until a condition is true, at most PATIENCE_S; `told` says what there is instead."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, f"it never came: {told()}"
        await asyncio.sleep(0.005)


class Driven:
    """A running app with shortcuts for tests."""

    def __init__(self, app: Any, pilot: Any):
        self.app, self.pilot = app, pilot

    @property
    def session(self) -> Session:
        """The session that the app shows."""
        return self.app.worker.session

    @property
    def scene(self) -> Any:
        """The scene of the main screen."""
        return self.app.main.scene

    @property
    def cycle(self) -> int:
        """The session's cursor, with which the screen must agree."""
        assert self.scene.cycle == self.session.cycle
        return self.session.cycle

    async def drain(self) -> None:
        """Wait until every message now queued has been handled; Pilot.pause would take at least 20 ms."""
        for name in ("app", "screen", "focused", "screen", "app"):
            pump = self.app if name == "app" else getattr(self.app, name)    # looked up now: a key may change the screen
            if pump is not None and pump.is_running:
                handled = asyncio.Event()
                end = time.monotonic() + PATIENCE_S
                # a closing screen takes no more messages, or takes them and never answers
                is_taken = pump.call_later(handled.set)
                while is_taken and not handled.is_set() and self._is_in_use(pump):
                    assert time.monotonic() < end, f"{pump} does not answer; message {self.scene.message!r}"
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(handled.wait(), 0.05)

    def _is_in_use(self, pump: Any) -> bool:
        """Say whether messages still reach a pump: it runs, and is the app, its screen or the focused widget."""
        return pump.is_running and pump in (self.app, self.app.screen, self.app.focused)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until a condition is true, at most PATIENCE_S."""
        await until(holds, lambda: f"message {self.scene.message!r}")

    async def settle(self) -> None:
        """Wait until the app is idle, at most PATIENCE_S."""
        end = time.monotonic() + PATIENCE_S
        while self.app.is_running and time.monotonic() < end:
            await self.drain()
            if self.app.main.scene.now is not None and self.app.worker.is_idle:
                await self.drain()
                if self.app.worker.is_idle:
                    return
            await asyncio.sleep(0.001)
        raise AssertionError(f"the app did not come to rest: running {self.app.is_running}, idle {self.app.worker.is_idle}, "
                             f"message {self.scene.message!r}")

    async def press(self, *keys: str) -> None:
        """Press keys, characters or key names: what a terminal sends for them; each when the worker has answered the last."""
        for key in keys:
            for event in typed(bytes_of(key)):
                self.app.post_message(event)
            await self.drain()
            if not self.app.worker.is_idle:
                await self.settle()
        await self.settle()

    async def go(self, cycle: int) -> None:
        """Move the session to a cycle, without keys."""
        self.app.worker.ask(requests.goto, cycle)
        await self.settle()

    async def type(self, text: str) -> None:
        """Type a text and Enter."""
        await self.press(*text, "enter")

    def screen_text(self) -> str:
        """Return the text of the main screen's panels."""
        rows = [[" "] * self.app.size.width for _ in range(self.app.size.height)]
        for place in self.app.main.places:
            view = self.app.main.views[place.panel]
            for y, line in enumerate(view.lines[: place.height]):
                rows[place.y + y][place.x : place.x + place.width] = list(line.plain.ljust(place.width))[: place.width]
        return "\n".join("".join(row) for row in rows)

    def window_text(self) -> str:
        """Return the text of the topmost window."""
        from rfview.widgets.window import WindowView

        return "\n".join(line.plain for line in self.app.screen.query_one(WindowView).lines)


def drive(test: Callable[[Driven], Awaitable[None]], *, size: tuple[int, int] = (120, 40), goto: int | str = 150,
          theme: str | None = "dark", opener: Callable[..., Session] | None = None, ascii_only: bool = False,
          keymap: dict[str, str] | None = None, marks: Sequence[str] = (), **options: Any) -> Any:
    """Run a test coroutine in an app over a fake session; return the app."""

    def open_it(report: Callable[..., None]) -> Session:
        session = make_session(**options)
        if goto:
            session.goto(goto)
        for name in marks:
            session.mark(name)
        return session

    async def go() -> Any:
        app = make_app(opener or open_it, title="gemm_tile", theme=theme, ascii_only=ascii_only, target="first.rfs",
                       keymap=keymap)
        async with app.run_test(size=size) as pilot:
            driven = Driven(app, pilot)
            if opener is None:
                await driven.settle()
            await test(driven)
        return app

    app = asyncio.run(go())
    XTermParser._parse_extended_key.cache_clear()   # keeps parsers alive, their last key event, and so each app
    assert not app.survived, app.main.scene.message
    return app
