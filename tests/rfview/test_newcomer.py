"""The README's promise: why vectoradd stalls under hrf with lrr, and what gto changes, in fewer than ten keys."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from rfview import cli
from rfview.learn.tours import TOURS
from rfview.sessions import open_session
from tests.rfview.pilots import Driven, drive, until

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
WHY_KEYS = ("]", "w", "e")


def test_the_readme_shows_these_keys_and_commands() -> None:
    section = re.search(r"## Why does it stall\?\n(.*?)\n## ", README, re.S)
    assert section is not None
    assert "`]w`" in section[1] and "`e`" in section[1] and len(WHY_KEYS) + len("yq") < 10
    assert "rfview compare vectoradd@hrf:lrr vectoradd@hrf:gto" in section[1]


def why_text(recording: Path) -> str:
    """Return the screen's text after the keys, from the first cycle of a recording."""
    found: list[str] = []

    async def test(app: Driven) -> None:
        await app.settle()
        await app.press(*WHY_KEYS)
        found.append(app.window_text())

    drive(test, opener=lambda report: open_session(recording))
    return found[0]


def names_the_cause(text: str) -> bool:
    """Say whether a screen names buffer, drain and the slow STT-RAM writes behind a stall."""
    return all(word in text for word in ("finds no empty buffer", "drain of w", "entry left", "4 cycles each", "STT-RAM"))


def test_three_keys_end_at_a_screen_that_names_the_cause() -> None:
    assert names_the_cause(why_text(TOURS["drain"].recording))


@pytest.mark.slow
def test_vectoradd_itself_why_it_stalls_and_what_gto_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from rfview.screens.compare.app import make_compare_app

    files = [tmp_path / f"{name}.rfs" for name in ("lrr", "gto")]
    for file in files:
        assert cli.main(["record", "vectoradd", "--design", "hrf", "--scheduler", file.stem, "-o", str(file)]) == 0
    assert names_the_cause(why_text(files[0]))

    async def compare() -> str:
        app: Any = make_compare_app([open_session(file).timeline for file in files], ["lrr", "gto"], theme="mono")
        async with app.run_test(size=(120, 40)):
            def text() -> str:
                return "\n".join(line.plain for view in app.main.query("#panel-picture") for line in view.lines)

            await until(lambda: "first divergence" in text() and "wb_drain" in text(), text)
            return text()

    text = asyncio.run(compare())
    runs = [open_session(file).timeline for file in files]
    totals = [int(run.stall_totals(run.last)[run.info.stall_codes["wb_drain"]]) for run in runs]
    assert all(f"{total:,}" in text for total in totals) and "memory equal" in text and "WHY  in" in text
