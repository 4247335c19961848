"""Handlers of questions: why, changes, statistics, branches, other designs and kernels, searches, explanations, help."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rfview.keys import Pressed
from rfview.render import panels
from rfview.screens import requests
from rfview.screens.handlers import focus, search
from rfview.screens.windows.choose import DesignsWindow, KernelsWindow
from rfview.screens.windows.help import HelpScreen
from rfview.screens.windows.popup import ExplainWindow
from rfview.screens.windows.tables import StatisticsWindow
from rfview.screens.windows.why import WhyWindow

if TYPE_CHECKING:
    from rfview.screens.desk import Desk

Handler = Callable[["Desk", Pressed], None]


def command(line: str) -> Handler:
    """Run a line of the command language."""
    return lambda main, pressed: main.worker.ask(requests.command, line)


def change(forward: bool) -> Handler:
    """Go to the next or last change of the focused item."""
    return lambda main, pressed: main.worker.ask(requests.change, focus.focused_item(main), forward)


def why(main: Desk, pressed: Pressed) -> None:
    """Open the whole chain of reasons; in REGISTER FILE, that of a warp that waits for or occupies the bank."""
    if (warp := panels.of(main.scene.panel).warp(main.scene)) is not None:
        focus.choose_warp(main, warp)
    main.app.push_screen(WhyWindow(main))


def relief(main: Desk, pressed: Pressed) -> None:
    """Try every setting that the run's commonest waits name, over the whole run."""
    from rfview.screens.windows.relief import ReliefWindow  # for a fast start: most sessions open none

    main.app.push_screen(ReliefWindow(main))
    main.worker.ask(requests.study)


def heat(main: Desk, pressed: Pressed) -> None:
    """Show the focused register through time; if none is focused, prompt for one, or for a buffer."""
    if panels.of(main.scene.panel).values:
        open_heat(main, focus.focused_item(main))
    else:
        main.open_prompt(":", f"heat w{main.scene.warp}.R{main.scene.reg}")


def open_heat(main: Desk, item: str) -> None:
    """Show a register's lanes or a buffer's elements through time."""
    from rfview.screens.windows.heat import HeatWindow  # for a fast start: most sessions open none

    main.app.push_screen(HeatWindow(main, item))


def image(main: Desk, pressed: Pressed) -> None:
    """Prompt for the buffer to show as a picture: the launch's last two-dimensional one is offered, or the last."""
    buffers = main.scene.info.buffers
    flat = [one for one in buffers if len(one.shape) >= 2] or buffers
    main.open_prompt(":", f"image {flat[-1].name}" if flat else "image ")


def open_image(main: Desk, text: str) -> None:
    """Show a buffer as a picture; with `> FILE.png`, write it to a file as in scripts."""
    if ">" in text:
        main.worker.ask(requests.command, f"image {text}")
    else:
        from rfview.screens.windows.image import ImageWindow  # for a fast start, as above

        main.app.push_screen(ImageWindow(main, text))


def statistics(main: Desk, pressed: Pressed) -> None:
    """Open the statistics between two marks, or of the brushed stretch."""
    brush = main.scene.brush
    main.app.push_screen(StatisticsWindow(main, (brush.first, brush.last) if brush is not None else None))


def every_hit(main: Desk, pressed: Pressed) -> None:
    """Prompt for a tracepoint over the past that prints the focused item."""
    main.open_prompt(":", f"trace {focus.focused_item(main)} at ")


def fork(main: Desk, pressed: Pressed) -> None:
    """Prompt for the settings that a branch from here changes."""
    main.open_prompt(":", f"fork b{len(main.worker.session.family)} set ")


def overlay(main: Desk, pressed: Pressed) -> None:
    """Lay the other run over this one, or take it off; prompt for a recording if no other run is known."""
    if main.scene.over is None and main.worker.rival is None and len(main.worker.session.family) == 1:
        main.open_prompt(":", "overlay ")
    else:
        main.overlay("")


def swap_design(main: Desk, pressed: Pressed) -> None:
    """Choose another design or scheduler for the same kernel."""
    main.app.push_screen(DesignsWindow(main))


def load_kernel(main: Desk, pressed: Pressed) -> None:
    """Choose another kernel for this machine."""
    main.app.push_screen(KernelsWindow(main))


def capture(main: Desk, pressed: Pressed) -> None:
    """Prompt for the file to record into from here on, or end the recording in progress here and write it."""
    if "capture" in main.worker.session.memo:
        main.worker.ask(requests.command, "capture stop")
    else:
        main.open_prompt(":", f"capture {main.scene.info.name or main.scene.title}-{main.scene.cycle}.rfs")


def explain(main: Desk, pressed: Pressed) -> None:
    """Explain the focused item, with the paper's section or our assumption."""
    from rfview.glossary.focus import at_focus  # for a fast start: it collects every docstring that explains a term

    main.app.push_screen(ExplainWindow(main, at_focus))


def explain_term(main: Desk, word: str) -> None:
    """Explain a term in a window, or report that no explanation is known."""
    from rfview.engine.errors import InputError
    from rfview.glossary import terms  # for a fast start, as above

    try:
        main.app.show_text(tuple(terms.text_of(word, width=main.app.size.width - 8, info=main.scene.info)), "ANSWER")
    except InputError as error:
        main.say(str(error), "error")


def show_help(main: Desk, pressed: Pressed) -> None:
    """Open the help."""
    main.app.push_screen(HelpScreen(main.scene))


HANDLERS: dict[str, Handler] = {
    "why": why, "relief": relief, "next_change": change(True), "last_change": change(False),
    "diff": lambda main, pressed: main.worker.ask(requests.diff),
    "diff_mark": lambda main, pressed: main.worker.ask(requests.diff, pressed.argument),
    "heat": heat, "image": image, "statistics": statistics,
    "brush": lambda main, pressed: main.worker.ask(requests.brush, ""),
    "every_hit": every_hit, "fork": fork,
    "reload": lambda main, pressed: main.worker.ask(requests.reload),
    "compare": lambda main, pressed: main.worker.ask(requests.compare), "overlay": overlay,
    "swap_design": swap_design, "load_kernel": load_kernel,
    "follow": command("follow"), "next_arrival": command("follow next"), "previous_arrival": command("follow back"),
    "capture": capture, "check": command("check"), "search": lambda main, pressed: main.open_prompt("/"),
    "search_next": lambda main, pressed: search.again(main, pressed.count or 1),
    "search_previous": lambda main, pressed: search.again(main, -(pressed.count or 1)),
    "explain": explain, "command": lambda main, pressed: main.open_prompt(":"), "help": show_help,
}
