"""Work behind a screen of its own: its progress is seen while it goes on, then comes its result, its error, or the leaving."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rfview import cli
from rfview.commands import compare_recordings
from rfview.engine.errors import InputError
from rfview.engine.progress import Progress
from rfview.screens import preparing
from rfview.screens.preparing import PreparingApp
from tests.conftest import PATIENCE_S

LEARN = Path(__file__).resolve().parents[2] / "rfview" / "learn" / "recorded"


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds, at most PATIENCE_S."""
    for _ in range(int(PATIENCE_S / 0.02)):
        if holds():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it never came")


@pytest.mark.parametrize("size", [(80, 24), (40, 10)])
def test_the_progress_is_seen_while_the_work_goes_on(size: tuple[int, int]) -> None:
    seen = threading.Event()

    def work(report: Progress) -> str:
        report(0.42, "compiling hrf")
        seen.wait(PATIENCE_S)
        return "done"

    async def go() -> None:
        app = PreparingApp(work, "COMPARE a b", False)
        async with app.run_test(size=size):
            def shown() -> str:
                return "\n".join(line.plain for line in app.main.query_one("#panel-preparing").lines)

            await until(lambda: "42%" in shown())
            assert "COMPARE a b" in shown() and "compiling hrf" in shown() and "━" in shown() and "leave" in shown()
            seen.set()
            await until(lambda: app.result == "done")

    asyncio.run(go())


def test_what_the_work_raises_is_raised_and_leaving_ends_it() -> None:
    def fails(report: Progress) -> None:
        raise InputError("no such kernel")

    async def go() -> None:
        app = PreparingApp(fails, "COMPARE", False)
        async with app.run_test():
            await until(lambda: app.failure is not None)
        assert isinstance(app.failure, InputError)
        stays = threading.Event()
        app = PreparingApp(lambda report: stays.wait(PATIENCE_S), "COMPARE", False)
        async with app.run_test() as pilot:
            await pilot.press("q")
            await until(lambda: app.return_value == preparing.LEFT)
        stays.set()

    asyncio.run(go())


def test_a_page_prepares_its_comparison_on_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    headings: list[str] = []
    shown: list[Any] = []

    def prepared(work: Callable[[Progress], Any], heading: str, *, ascii_only: bool) -> Any:
        headings.append(heading)
        return work(lambda share, text: None)

    monkeypatch.setenv("TEXTUAL_DRIVER", "textual.drivers.web_driver:WebDriver")
    monkeypatch.setattr(preparing, "prepared", prepared)
    monkeypatch.setattr("rfview.screens.compare.app.run_compare", lambda timelines, targets, **_: shown.append(targets) or 0)
    monkeypatch.setattr(compare_recordings.progress, "bar", None)
    files = [str(LEARN / "shift.rfs"), str(LEARN / "place.rfs")]
    assert cli.main(["compare", *files]) == 0
    assert shown == [files] and headings == [f"COMPARE {' '.join(files)}"]
