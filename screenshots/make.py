"""Draws pictures of screens from real sessions, with fixed keys and sizes; the same input gives the same bytes.

    python screenshots/make.py --golden         those kept here: a test compares them (tests/rfview/test_golden.py)
    python screenshots/make.py                  all of them; some need the engine, which compiles once
    python screenshots/make.py compare mono     those whose names contain one of the words

Pictures that no test compares and no document shows are for looking at: they are drawn into build/screenshots.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))
FOLDER = Path(__file__).resolve().parent
UNKEPT = REPOSITORY / "build" / "screenshots"
RECORDED = REPOSITORY / "sessions" / "recorded"
SMALL, LARGE = (80, 24), (120, 40)
CYCLES = 4000           # length of the runs recorded for pictures
REST = 2000             # rounds within which a screen must settle


@dataclass(frozen=True)
class Shot:
    """One picture: its session, size and place in time, and the keys and `:` lines entered before it is taken.

    source: "first" is the bundled recording, "tour:NAME" a tour's, "run:KERNEL@DESIGN:SCHEDULER" one made on the spot;
    "live:KERNEL@DESIGN" is a live run, "learn:NAME" a tour; "pair:A B" and "many:A B .." compare recordings.
    """

    name: str
    source: str
    size: tuple[int, int]
    goto: int | str = "50%"
    keys: tuple[str, ...] = ()
    theme: str = "dark"
    overlay: str = ""
    golden: bool = False


def _all(name: str, source: str = "first", *keys: str, goto: int | str = 900, **facts: Any) -> list[Shot]:
    """Return the shots of a screen at both sizes, with and without colour."""
    return [Shot(f"{name}{'_mono' if theme == 'mono' else ''}_{size[0]}x{size[1]}", source, size, goto, keys, theme, **facts)
            for theme in ("dark", "mono") for size in (SMALL, LARGE)]


def _huge(name: str, source: str = "first", *keys: str, goto: int | str = 900) -> list[Shot]:
    """Return the shots of a screen on a large terminal, with and without colour."""
    return [Shot(f"{name}{mono}_160x60", source, (160, 60), goto, keys, mono[1:] or "dark") for mono in ("", "_mono")]


NEXT = "right_square_bracket"
MARKS = (":mark a", ":goto 1400", ":mark b", ":goto 900")
WATCHES = (":watch rf.buffer[0].used", ":watch w8.R3", ":watch w12.state")
STOPS = (":break stall wb_drain > 15", ":watch rf.buffer[0].owner")
# design -> the key after ] that goes to an event specific to the design
EVENTS = {"sram": "b", "stt": "w", "hrf": "w", "hcrf": "x", "rfc": "l", "single_buffer": "w", "edram": "f", "racetrack": "r"}
SCHEDULERS = {"rfc": "two_level"}       # for designs that have nothing to do under gto
PAIR = "pair:tour:first tour:drain"
PROGRAMS = "pair:run:gemm@sram:gto run:gemm_double@sram:gto"
MANY = "many:" + " ".join(f"run:vectoradd@{design}:gto" for design in EVENTS)

# compared byte by byte with what the program draws: at most 23, all of recordings that are in the repository
GOLDEN = (
    "replay_80x24", "replay_120x40", "replay_mono_80x24", "replay_mono_120x40", "timeline_120x40", "timeline_mono_80x24",
    "why_120x40", "why_mono_80x24", "registers_80x24", "breakpoints_mono_80x24", "compare_120x40", "compare_mono_80x24",
    "multiples_120x40", "overlay_120x40", "learn_80x24", "heat_120x40", "picture_mono_80x24",
    "subcore_80x24", "subcore_120x40", "subcore_160x60", "subcore_why_80x24", "subcore_why_120x40", "subcore_why_160x60",
)

SHOTS: tuple[Shot, ...] = tuple(replace(shot, golden=shot.name in GOLDEN) for shot in (
    *_all("replay", goto="50%"),
    Shot("replay_ansi16_80x24", "first", SMALL, theme="ansi16"),
    Shot("replay_ansi16_120x40", "first", LARGE, theme="ansi16"),
    Shot("replay_light_120x40", "first", LARGE, theme="light"),
    Shot("replay_160x60", "first", (160, 60)),
    Shot("replay_100x30", "first", (100, 30)),
    Shot("watches_160x60", "run:gemm@hrf:gto", (160, 60), 2001, WATCHES),
    Shot("watches_200x60", "run:gemm@racetrack:gto", (200, 60), 2001, (":watch bank[3].queue", ":watch w0.pc")),
    Shot("watches_mono_160x60", "run:gemm@hrf:gto", (160, 60), 2001, WATCHES, "mono"),
    *_all("watch_list", "run:gemm@hrf:gto", *WATCHES, "W", goto=2001),
    *(shot for design, event in EVENTS.items()
      for shot in _all(f"main_{design}", f"run:gemm@{design}:{SCHEDULERS.get(design, 'gto')}", NEXT, event, goto=2000)),
    *_all("live", "live:gemm@stt[stall=bank]", goto=3000),
    *_all("why", "first", "1", "0", "o", "e"),
    *_all("explain", "first", "1", "0", "o", "K"),
    *_all("registers", "first", "1", "2", "o", "r"),
    *_all("help", "first", "question_mark"),
    *_all("palette", "first", "ctrl+p"),
    *_all("relief", "tour:drain", "Q", goto=1450), *_huge("relief", "tour:drain", "Q", goto=1450),
    *_all("summary", goto="end"), *_huge("summary", goto="end"),
    *_all("lines", "first", "semicolon"), *_huge("lines", "first", "semicolon"),
    *_all("timeline", "first", "1", "2", "o", *MARKS, "a"),
    *_all("timeline_far", "first", "1", "2", "o", *MARKS, "a", "minus", "minus", "minus"),
    *_all("pipeline", "first", "1", "2", "o", "P"),
    *_all("brush", "first", "V", "right_curly_bracket", "right_curly_bracket", "right_curly_bracket"),
    *_all("breakpoints", "first", *MARKS, *STOPS, "B"),
    *_all("statistics", "first", *MARKS, "number_sign"),
    *_all("trace", "first", ":trace w12.pc, w12.R2[0], rf.buffer[0].used at w12.state == issued"),
    *_all("command", "first", "colon", "c", "o", "n"),
    *_all("designs", "live:vectoradd@sram", "v", goto=300),
    *_all("kernels", "live:vectoradd@sram", "O", goto=300),
    *_all("heat", "tour:drain", ":heat w0.R2", goto=1450),
    *_all("heat_buffer", "tour:drain", ":heat c[0..127]", "minus", "minus", goto="end"),
    *_all("picture", "tour:drain", ":image c 32x32", goto="80%"),
    *_all("picture_edram", "run:hotspot@edram[error_mode=certain]:gto", ":image temp_a", goto="end"),
    *_all("relief_of_a_wait", "tour:drain", "e", "f", "F", goto=1450),
    *_all("after", "tour:shift", "e", "e", "f", goto=700),
    *_huge("after", "tour:shift", "e", "e", "f", goto=700),
    *_all("compare", PAIR),
    *_all("compare_totals", PAIR, "tab")[::2],
    *_all("compare_lines", PROGRAMS), *_huge("compare_lines", PROGRAMS),
    *_all("multiples", "many:tour:first tour:drain tour:dead tour:shift"),
    *_all("multiples_all", MANY),
    *_all("overlay", "tour:first", "6", "o", goto=250, overlay="tour:dead"),
    *_all("subcore", "tour:reuse", goto=751), *_huge("subcore", "tour:reuse", goto=751),
    *_all("subcore_why", "tour:reuse", "e", goto=751), *_huge("subcore_why", "tour:reuse", "e", goto=751),
    *_all("subcore_pipeline", "tour:reuse", "P", goto=765),
    *_all("learn", "learn:drain"),
    *_all("learn_answer", "learn:drain", "2", "s", "s"),
))


# the README's picture: tapes of a racetrack memory moving to their ports, cycle by cycle, then why a warp waits for one
FILM = Shot("film", "run:vectoradd@racetrack:gto", (100, 30), 760, (*("s",) * 12, "e"))
FRAME_S, LAST_FRAMES = 0.5, 10      # seconds that a frame is shown; the last one is shown LAST_FRAMES times as long


async def settle(app: Any, pilot: Any) -> None:
    """Wait until the screen has nothing to wait for and has been drawn."""
    for _ in range(REST):
        await pilot.pause()
        if app.failure is not None:
            raise app.failure
        if _rests(app):
            await pilot.pause()
            if _rests(app):
                return
        await asyncio.sleep(0.005)
    raise RuntimeError("the screen did not come to rest")


def _rests(app: Any) -> bool:
    """Say whether the app's worker has finished everything it was asked for, and its results are on the screen."""
    if hasattr(app.main, "picture"):        # a comparison
        return app.main.picture is not None and app.main.worker.is_idle
    tour = getattr(app.screen, "tour", None)
    return (app.main.scene.now is not None and app.worker.is_idle and (tour is None or app.screen.painted is not None)
            and all(point.is_counted for point in app.main.scene.breakpoints)
            and (app.main.scene.panel != "summary" or hasattr(app.main.scene.summary, "sentences")))


async def take(app: Any, size: tuple[int, int], keys: Sequence[str] = ()) -> str:
    """Return a picture of an app's screen after some keys."""
    from screenshots import svg
    from rfview.screens.handlers import prompt

    async with app.run_test(size=size) as pilot:
        await settle(app, pilot)
        for key in keys:
            if len(key) > 1 and key.startswith(":"):
                prompt.entered(app.main, ":", key[1:])      # as if typed at the prompt
            else:
                await pilot.press(key)
            await settle(app, pilot)
        return svg.of_app(app)


async def take_film(app: Any, shot: Shot) -> str:
    """Return a film of an app's screen: a frame at the start and one after each key."""
    from screenshots import svg

    frames = []
    async with app.run_test(size=shot.size) as pilot:
        await settle(app, pilot)
        for key in ("", *shot.keys):
            if key:
                await pilot.press(key)
                await settle(app, pilot)
            frames.append((svg.strips_of(app), 1))
        frames[-1] = (frames[-1][0], LAST_FRAMES)
        return svg.film(frames, *shot.size, FRAME_S)


def app_of(shot: Shot) -> Any:
    """Return the app for a picture, not yet running."""
    kind, _, rest = shot.source.partition(":")
    if kind in ("pair", "many"):
        from rfview.screens.compare.app import make_compare_app
        from rfview.sessions.timeline.opening import open_recording

        return make_compare_app([open_recording(recording_of(source)) for source in rest.split()], rest.split(),
                                theme=shot.theme)
    from rfview.app import make_app

    begin: Callable[[Any], None] | None = None
    if kind == "learn":
        from rfview.learn import tours
        from rfview.learn.window import TourWindow

        tour = tours.tour(rest)
        return make_app(_replay(tour.recording, 0), title=tour.title, theme=shot.theme, target="tour.rfs",
                        begin=lambda main: main.app.push_screen(TourWindow(main, tour)))
    if shot.overlay:
        other = str(recording_of(shot.overlay))
        begin = lambda main: main.overlay(other)
    opener = _live(rest, shot.goto) if kind == "live" else _replay(recording_of(shot.source), shot.goto)
    return make_app(opener, title=rest, theme=shot.theme, target="run.rfs", begin=begin)


def _replay(path: Path, goto: int | str) -> Callable[..., Any]:
    """Return a function that opens a recording at a cycle; marks set for a picture are not saved with it."""
    from rfview.sessions.timeline.opening import open_recording
    from rfview.sessions.session import Session

    def open_it(report: Callable[..., None]) -> Any:
        session = Session(open_recording(path))
        session.goto(goto)
        return session

    return open_it


def _live(target: str, goto: int | str) -> Callable[..., Any]:
    """Return a function that opens a live run at a cycle."""
    from rfview.sessions import open_session

    kernel, _, design = target.partition("@")

    def open_it(report: Callable[..., None]) -> Any:
        session = open_session(kernel, design=design)
        session.goto(goto)
        return session

    return open_it


@cache
def recording_of(source: str) -> Path:
    """Return the recording that a source names; runs are recorded on demand, into a temporary folder."""
    kind, _, rest = source.partition(":")
    if kind == "first":
        return RECORDED / "first.rfs"
    if kind == "tour":
        from rfview.learn import tours

        return tours.tour(rest).recording
    from rfview.engine import kernels
    from rfview.engine.launch import load_launch_file
    from rfview.engine.simulator import Simulator
    from rfview.sessions.file.writer import record

    kernel, _, machine = rest.partition("@")
    design, _, scheduler = machine.partition(":")
    path = Path(_scratch().name) / f"{kernel}_{design}_{scheduler}.rfs"
    record(Simulator(load_launch_file(kernels.path(kernel)), design=design, scheduler=scheduler), path, max_cycles=CYCLES)
    return path


@cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="rfview-pictures-")


def draw(shot: Shot) -> str:
    """Return a picture as SVG."""
    return asyncio.run(take(app_of(shot), shot.size, shot.keys))


def main(words: Sequence[str]) -> int:
    """Write the pictures whose name contains any of the words, or all; --golden: those that a test compares."""
    total = 0
    if not words or any(word in FILM.name for word in words):
        (FOLDER / f"{FILM.name}.svg").write_text(asyncio.run(take_film(app_of(FILM), FILM)), encoding="utf-8")
        print(f"{FILM.name}.svg", flush=True)
    for shot in SHOTS:
        if (shot.golden if "--golden" in words else not words or any(word in shot.name for word in words)):
            picture, folder = draw(shot), FOLDER if shot.golden else UNKEPT
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{shot.name}.svg").write_text(picture, encoding="utf-8")
            total += len(picture.encode())
            print(f"{shot.name}.svg  {len(picture.encode()):,} bytes", flush=True)
    print(f"{total / 1e6:.2f} MB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
