"""Fuzzes the screens in this process, on recordings of both cores: keys, lines, the mouse and resizes, as `keys` sends them.

CASES in a row go to one program, so a case depends on those before it since its number was last divisible by LENGTH. After
each there must be no defect, whether it is said or survived, and at the end the state must be that of a session which has
just been opened and moved to the same cycle. `keys` does the same in a real terminal, where neither can be seen.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from rfview import crash
from rfview.app import make_app
from rfview.screens.drivers import InputReader
from rfview.sessions import open_session
from tests.robustness import keys
from tests.rfview.pilots import Driven

LENGTH = 100
BURST = 10              # cases sent before their answers are waited for
RECORDINGS = ("drain.rfs", "promise.rfs", "shift.rfs")      # Fermi's core, a sub-core, a design that moves


class Talk:
    """One program, its recording, and the defects that it has met."""

    def __init__(self, folder: Path, app: Any, pilot: Any):
        self.folder, self.app, self.pilot = folder, app, pilot
        self.driven, self.reader = Driven(app, pilot), InputReader()
        self.defects: list[str] = []

    async def do(self, what: str | tuple[int, int]) -> None:
        """Send keys, or resize the window."""
        if isinstance(what, tuple):
            await self.pilot.resize_terminal(*what)
            return
        for message in [*self.reader.feed(what.encode("utf-8", "surrogatepass")), *self.reader.tick()]:
            self.app.post_message(message)

    async def settle(self) -> str:
        """Close windows and wait; return "" or what is wrong."""
        for _ in range(4):
            await self.do("\x1b")
            await asyncio.sleep(0.005)
        try:
            await self.driven.settle()
        except AssertionError as error:
            return f"hung: {error}"
        if not self.app.is_running:
            return "left"
        found, self.defects = self.defects, []
        return f"internal error: {found[0]}" if found else ""

    def differs(self, opened: Any) -> str:
        """Return "" if the state is that of a fresh session at the same cycle, or if a branch of `opened` is shown."""
        session = self.driven.session
        if session is not opened:
            return ""
        with open_session(self.folder / "run.rfs") as fresh:
            fresh.goto(session.cycle)
            return "" if fresh.snapshot().same_as(session.snapshot()) else f"another state at cycle {session.cycle}"


async def tried(folder: Path, numbers: range, seed: int) -> list[tuple[int, str]]:
    """Try cases in one program; return what was wrong, and at which."""
    wrong: list[tuple[int, str]] = []
    app = make_app(lambda report: open_session(folder / "run.rfs"), title="run", theme="dark", target="run.rfs")
    async with app.run_test(size=keys.SIZE) as pilot:
        talk = Talk(folder, app, pilot)

        def noted(error: BaseException) -> str:
            frames = error.__traceback__
            while frames is not None and frames.tb_next is not None:
                frames = frames.tb_next
            place = f"{Path(frames.tb_frame.f_code.co_filename).name}:{frames.tb_lineno}" if frames is not None else ""
            talk.defects.append(f"{type(error).__name__}: {error} at {place}")
            return "internal error"

        with mock.patch.object(crash, "sentence", noted):
            await talk.driven.settle()
            opened = talk.driven.session
            for number in numbers:
                await talk.do(keys.case(seed, number))
                if number % BURST == BURST - 1 or number == numbers[-1]:
                    if said := await talk.settle():
                        wrong.append((number, said))
                    if said.startswith(("left", "hung")):
                        return wrong
        if said := talk.differs(opened):
            wrong.append((numbers[-1], said))
        app.survived = 0
    return wrong


def cases(seed: int, first: int, count: int) -> Iterator[tuple[int, str, str]]:
    """Try cases first .. first + count - 1 of a seed; yield (number, "done" or what went wrong, detail)."""
    for begin in range(first - first % LENGTH, first + count, LENGTH):
        numbers = range(max(first, begin), min(first + count, begin + LENGTH))
        with (tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder),
              mock.patch.dict("os.environ", XDG_STATE_HOME=folder, XDG_CONFIG_HOME=folder)):
            name = RECORDINGS[begin // LENGTH % len(RECORDINGS)]
            shutil.copy(keys.RECORDED / name, Path(folder, "run.rfs"))
            wrong = dict(asyncio.run(tried(Path(folder), numbers, seed)))
        for number in numbers:
            said = wrong.get(number, "")
            yield number, said.partition(":")[0] or "done", f"{name}: {said}" if said else ""
