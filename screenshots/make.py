"""Writes the pictures of this folder: real sessions, fixed keys, fixed sizes; the same input gives the same bytes.

    python screenshots/make.py              all of them
    python screenshots/make.py replay_80    those whose name contains a word
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))
FOLDER = Path(__file__).resolve().parent
RECORDED = REPOSITORY / "sessions" / "recorded"
SMALL, LARGE = (80, 24), (120, 40)


@dataclass(frozen=True)
class Shot:
    """One picture: which session, how large, where in time, which keys before it is taken."""

    name: str
    kind: str                       # replay | live
    size: tuple[int, int]
    goto: int | str = "50%"
    keys: tuple[str, ...] = ()
    theme: str = "dark"
    design: str = "sram"


def _both(name: str, kind: str, **facts: Any) -> list[Shot]:
    """Return a shot at both sizes."""
    return [Shot(f"{name}_{size[0]}x{size[1]}", kind, size, **facts) for size in (SMALL, LARGE)]


def _all(name: str, *keys: str) -> list[Shot]:
    """Return a screen of the recording at both sizes, in colour and without."""
    facts: dict[str, Any] = {"goto": 900, "keys": keys}
    return [*_both(name, "replay", **facts), *_both(f"{name}_mono", "replay", theme="mono", **facts)]


def _typed(line: str) -> tuple[str, ...]:
    """Return the keys of a command line."""
    names = {" ": "space", ".": "full_stop", ">": "greater_than_sign", "=": "equals_sign", ",": "comma", "_": "underscore",
             "[": "left_square_bracket", "]": "right_square_bracket"}
    return ("colon", *(names.get(char, char) for char in line), "enter")


MARKS = (*_typed("mark a"), *_typed("goto 1400"), *_typed("mark b"), *_typed("goto 900"))
STOPS = (*_typed("break stall wb_drain > 15"), *_typed("watch rf.buffer[0].owner"))


SHOTS: tuple[Shot, ...] = (
    *_both("replay", "replay"),
    *_both("replay_mono", "replay", theme="mono"),
    *_both("replay_ansi16", "replay", theme="ansi16"),
    *_both("live", "live", goto=3000, design="stt[stall=bank]"),
    *_both("live_mono", "live", goto=3000, design="stt[stall=bank]", theme="mono"),
    Shot("replay_light_120x40", "replay", LARGE, theme="light"),
    Shot("replay_160x60", "replay", (160, 60)),
    Shot("replay_100x30", "replay", (100, 30)),
    *_all("why", "1", "0", "o", "e"),
    *_all("registers", "1", "2", "o", "r"),
    *_all("help", "question_mark"),
    *_all("timeline", "1", "2", "o", *MARKS, "a"),
    *_all("timeline_far", "1", "2", "o", *MARKS, "a", "minus", "minus", "minus"),
    *_all("breakpoints", *MARKS, *STOPS, "B"),
    *_all("statistics", *MARKS, "number_sign"),
    *_all("trace", *_typed("trace w12.pc, w12.R2[0], rf.buffer[0].used at w12.state == issued")),
    *_all("command", "colon", "c", "o", "n"),
)


async def settle(app: Any, pilot: Any) -> None:
    """Wait until the driver has nothing to do and the screen has shown it."""
    for _ in range(2000):
        await pilot.pause()
        if app.main.scene.now is not None and app.driver.is_idle:
            await pilot.pause()
            if app.driver.is_idle and all(point.is_counted for point in app.main.scene.breakpoints):
                return
        await asyncio.sleep(0.005)
    raise RuntimeError("the session did not come to rest")


async def take(opener: Callable[..., Any], size: tuple[int, int], keys: Sequence[str] = (), *, theme: str = "dark",
               title: str = "", target: str = "") -> str:
    """Return the SVG of the screen after some keys."""
    from rfview.app import make_app

    app = make_app(opener, title=title, theme=theme, target=target)
    async with app.run_test(size=size) as pilot:
        await settle(app, pilot)
        for key in keys:
            await pilot.press(key)
            await settle(app, pilot)
        return stable(app.export_screenshot(title="rfview", simplify=True))


def stable(svg: str) -> str:
    """Return the SVG without what differs from run to run: the number in its class names."""
    return re.sub(r"terminal-\d+-", "terminal-rfview-", svg).replace("\r\n", "\n")


def opener_of(shot: Shot) -> tuple[Callable[..., Any], str]:
    """Return what opens a shot's session, and what it is called."""
    from sessions import open_session

    if shot.kind == "replay":
        files = sorted(RECORDED.glob("*.rfs"))
        path = next((file for file in files if file.stem == "first"), files[0])
        name = str(path.relative_to(REPOSITORY))
    else:
        name = "gemm"

    def open_it(report: Callable[..., None]) -> Any:
        if shot.kind == "replay":
            session = open_session(path)
            session.marks.path = None       # what a picture marks is not kept beside the recording
        else:
            session = open_session(name, design=shot.design)
        session.goto(shot.goto)
        return session

    return open_it, name


def main(words: Sequence[str]) -> int:
    """Write the pictures whose name contains any of the words, or all."""
    for shot in SHOTS:
        if words and not any(word in shot.name for word in words):
            continue
        if shot.kind == "replay" and not list(RECORDED.glob("*.rfs")):
            print(f"{shot.name}.svg  left out: there is no recording in {RECORDED.relative_to(REPOSITORY)}")
            continue
        opener, name = opener_of(shot)
        svg = asyncio.run(take(opener, shot.size, shot.keys, theme=shot.theme, title=name, target=name))
        (FOLDER / f"{shot.name}.svg").write_text(svg, encoding="utf-8")
        print(f"{shot.name}.svg  {len(svg):,} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
