"""The start screen: what it finds in a folder, what Enter opens, and the way back to it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from rfview.commands.first import bundled_recording
from rfview.line_history import LineHistory, path
from rfview.start import items
from rfview.keys import Keys
from rfview.start.page import LISTS, Page, lines, number_at, places
from rfview.start.screen import Listed, StartApp, StartScreen
from rfview.widgets.panel import PanelView
from tests.rfview.keyboard import bytes_of, typed
from tests.rfview.terminal import REPOSITORY, Terminal

CUDA = """#include <cuda.h>
template <int N>
__global__ void __launch_bounds__(256, 2) scale(float *x) {}
extern "C" __global__ void
add(const float *a, int n, float s) {}
"""
PYTHON = "from numba import cuda\n\n@cuda.jit\ndef saxpy(x):\n    pass\n\n@cuda.jit('void()', fastmath=True)\ndef twice():\n    pass\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with a recording, a damaged one, programs and other files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    shutil.copy(bundled_recording(), tmp_path / "run.rfs")
    (tmp_path / "broken.rfs").write_text("no recording")
    (tmp_path / "k.cu").write_text(CUDA)
    (tmp_path / "k.py").write_text(PYTHON)
    (tmp_path / "other.py").write_text("@jit\ndef no():\n    pass\n")
    (tmp_path / "k.ptx").write_text(".visible .entry one(\n)\n{}\n")
    (tmp_path / "launch.toml").write_text('module = "k.ptx"\n[[launch]]\nkernel = "one"\n')
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "dir.rfs").mkdir()
    (tmp_path / "gone.cu").symlink_to(tmp_path / "nowhere")
    return tmp_path


def test_what_a_folder_holds_is_found_by_looking_only(folder: Path) -> None:
    found = items.own(folder)
    here = [item.name for item in found if item.words or "::" in item.name and item.name[0] == "k" and "k.cu::name" not in item.name]
    assert here == ["k.cu::scale", "k.cu::add", "k.ptx::one", "k.py::saxpy", "k.py::twice", "launch.toml"]
    assert [item.words for item in found if item.words] == [("debug", "launch.toml")]
    assert [item.name for item in found][-4:] == [command for command, *_ in items.OWN]
    assert found[0].effect.endswith("rfview debug k.cu::scale --grid N --block N --arg x=f4[1024]:random")
    effects = {item.name: item.effect for item in found}
    assert effects["k.cu::add"].endswith("--arg a=f4[1024]:random --arg n=1024 --arg s=1.0")
    assert effects["k.py::saxpy"].endswith("--arg x=f4[1024]:random") and effects["k.py::twice"].endswith(items.ARGUMENTS)


def test_recordings_are_read_and_damaged_ones_say_so(folder: Path) -> None:
    (folder / "run.rfs.view.json").write_text('{"cycle": 2001}')
    elsewhere = folder / "far"
    elsewhere.mkdir()
    shutil.copy(bundled_recording(), elsewhere / "late.rfs")
    items.opened(str(elsewhere / "late.rfs"))
    items.opened(str(folder / "never.rfs"))
    found = {item.name: items.read(item) for item in items.recordings(folder, bundled_recording())}
    assert set(found) == {"run.rfs", "broken.rfs", "late.rfs", "bundled example"}
    run = found["run.rfs"]
    assert run.words == ("replay", "run.rfs") and run.right == "16,384 cycles" and run.more[0] == ("vectoradd · hrf gto", "at 2,001")
    assert len(run.issued) == len(run.lost) == items.BUCKETS and 0 < max(run.lost) <= 1
    assert not found["broken.rfs"].words and "not an rfview recording" in found["broken.rfs"].effect
    assert found["late.rfs"].words == ("replay", "far/late.rfs")
    assert found["bundled example"].words == items.BUNDLED


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (200, 60), (60, 15), (20, 5)])
def test_every_size_is_filled_exactly(size: tuple[int, int]) -> None:
    shown = Page()
    shown.lists = {"RECORDINGS": [items.Item(f"r{number}", more=(("", ""), ("", ""))) for number in range(30)],
                   "LESSONS": items.lessons(), "KERNELS": items.kernels("hrf"), "YOUR OWN": items.own(Path("/nowhere"))}
    for name in LISTS:
        shown.focus, shown.chosen[name] = name, 3
        painted = lines(shown, *size, Keys(names=StartScreen.HANDLERS))
        assert len(painted) == size[1] and all(len(line.plain) == size[0] for line in painted)
    for name, (x, y, width, height) in places(*size).items():
        assert x + width <= size[0] and number_at(shown, name, width, height, 0) is None
        if size[1] >= 24:
            assert y + height <= size[1] - 2 and shown.chosen[name] in {
                number_at(shown, name, width, height, row) for row in range(height)}


def drive(test: Callable[[StartApp, Callable[..., Awaitable[None]]], Awaitable[None]], size: tuple[int, int] = (120, 40),
          **options: Any) -> StartApp:
    """Run the start screen, driven by keys."""
    app = StartApp(bundled_recording(), Page(), **options)

    async def main() -> None:
        async with app.run_test(size=size) as pilot:
            while not all(app.main.page.lists.values()) or not all(item.issued or not item.words or item.words[0] != "replay"
                                                                   for item in app.main.page.lists["RECORDINGS"]):
                await pilot.pause(0.02)

            async def press(*keys: str) -> None:
                for key in keys:
                    for event in typed(bytes_of(key)):
                        app.post_message(event)
                    await pilot.pause()

            await test(app, press)

    asyncio.run(main())
    return app


@pytest.mark.parametrize("where", ["", "at 12,345"])
def test_a_recordings_run_is_cut_only_for_what_stands_beside_it(where: str) -> None:
    what = "a b c d e f g h i j k l m n o p q r s t u v w x y z"
    item = items.Item("run.rfs", more=((what, where), ("", "")), right="16,384 cycles", words=("replay", "run.rfs"))
    page = Page()
    page.lists["RECORDINGS"] = [item]
    row = next(line.plain for line in lines(page, 80, 24, Keys()) if "run.rfs" in line.plain)
    shown = what if what in row else row[30:].split("…")[0] + "…"
    assert row.rstrip().endswith("16,384 cycles") and where in row
    after = row[30 + len(shown):].removesuffix(" ")
    assert what in row or len(after) - len(after.lstrip()) <= 4, "no free cells beside what is cut"


def test_keys_choose_and_enter_leaves_with_the_command(folder: Path) -> None:
    async def recording(app: StartApp, press: Callable[..., Awaitable[None]]) -> None:
        names = [item.name for item in app.main.page.lists["RECORDINGS"]]
        await press("g", *("j" * names.index("broken.rfs")), "enter")
        assert app.main.chosen is None and "not an rfview recording" in app.main.page.message
        await press("g", *("j" * names.index("run.rfs")), "enter")

    assert drive(recording).main.chosen == ("replay", "run.rfs")

    async def kernel(app: StartApp, press: Callable[..., Awaitable[None]]) -> None:
        await press("tab", "tab", "d", "d", "x")
        assert "x does nothing here" in app.main.page.message
        await press("?", "?", "/", *"gemm", "enter")

    chosen = drive(kernel).main.chosen
    assert chosen is not None and chosen[:2] == ("debug", "gemm") and chosen[2] == "--design" and chosen[3] != "sram"

    async def own(app: StartApp, press: Callable[..., Awaitable[None]]) -> None:
        await press("v", "v", "n", "j")
        assert "j does nothing here" in app.main.page.message and app.main.page.focus == "KERNELS"
        assert "z open" in "".join(line.plain for line in app.main.query_one(PanelView).lines)
        await press("z")

    assert drive(own, own_keys={"v": "next_list", "n": "down", "j": "none", "z": "open"}).main.chosen is not None

    async def second(app: StartApp, press: Callable[..., Awaitable[None]]) -> None:
        await press("/", *"gemm", "down", "enter")

    chosen = drive(second).main.chosen
    assert chosen is not None and chosen[0] == "debug" and chosen[1] != "gemm" and "gemm" in chosen[1]

    async def nothing(app: StartApp, press: Callable[..., Awaitable[None]]) -> None:
        await press("/", *"zzzz", "enter", "enter", "escape")
        assert app.main.page.filter.text == "" and app.is_running
        await press("q")

    assert drive(nothing).main.chosen is None


def test_letters_typed_before_a_list_is_there_find_its_items(folder: Path) -> None:
    async def test(app: StartApp, press: Callable[..., Awaitable[None]]) -> None:
        page = app.main.page
        kernels, page.lists["KERNELS"] = page.lists["KERNELS"], []
        await press("/", *"gemm")
        assert not page.shown(page.focus)
        app.main._tell(Listed("KERNELS", kernels))
        await press("enter")

    chosen = drive(test).main.chosen
    assert chosen is not None and chosen[:2] == ("debug", "gemm")


def test_lessons_taken_to_their_end_are_marked(folder: Path) -> None:
    LineHistory(path("lessons")).add("first")
    assert [item.is_done for item in items.lessons()][:2] == [True, False]


def test_what_was_opened_comes_back_to_the_start_screen(folder: Path) -> None:
    home = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_STATE_HOME": str(folder / "state"),
            "PYTHONPATH": str(REPOSITORY)}
    with Terminal([], environ=home, folder=folder) as terminal:
        terminal.wait(lambda text: "RECORDINGS" in text and "16,384 cycles" in text and "LESSONS" in text)
        terminal.send("Gg")
        terminal.send("/run.rfs")
        terminal.wait(lambda text: "bundled example" not in text and "run.rfs" in text)
        terminal.send("\r")
        terminal.wait(lambda text: "WARPS" in text and "cycle 0" in text)
        terminal.send("5s")
        terminal.wait("cycle 5 ")
        terminal.send("q")
        terminal.wait(lambda text: "RECORDINGS" in text and "at 5" in text)
        terminal.send("\x1b")
        terminal.wait("bundled example")
        terminal.send("q")
        assert terminal.end() == 0
    assert str(folder / "run.rfs") in LineHistory(folder / "state" / "rfview" / "recordings").lines
