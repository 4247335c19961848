"""The focus: which panel has it, alone on the screen or with others, what is chosen in it, and clicks on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rfview.engine.errors import InputError
from rfview.keys import Pressed
from rfview.render import frame, overview, panels
from rfview.render.layout import is_tiny, shown
from rfview.render.panel import Place
from rfview.render.panels import ALONE, FOCUSABLE
from rfview.screens import requests
from rfview.sessions.warps import check_warp

if TYPE_CHECKING:
    from rfview.screens.desk import Desk


def give_keys(main: Desk, panel: str) -> None:
    """Focus a panel; a hidden one then fills the screen."""
    size = main.app.size
    is_shown = panel in shown(frame.places_of(main.scene.at(panel=panel), size.width, size.height))
    if panel in ALONE and main.scene.panel not in ALONE:
        main.back_to = main.scene.panel
    tiny = is_tiny(size.width, size.height)
    again = tiny or main.zoomed or panel in ALONE or main.scene.panel in ALONE
    if not is_shown and not tiny:
        main.zoomed = again = True
    main.scene = main.scene.at(panel=panel)
    if again:
        main.lay_out()
    else:
        main.repaint_panels()


def turn(main: Desk, by: int) -> None:
    """Move the focus by a number of panels in reading order."""
    order = list(FOCUSABLE) if is_tiny(*main.app.size) or main.zoomed else shown(main.places)
    order = [name for name in order if name not in ALONE or name == main.scene.panel or main.zoomed]
    at = order.index(main.scene.panel) if main.scene.panel in order else 0
    give_keys(main, order[(at + by) % len(order)])


def toggle_alone(main: Desk, panel: str) -> None:
    """Show a full-screen panel, or leave it."""
    give_keys(main, main.back_to if main.scene.panel == panel else panel)


def zoom(main: Desk) -> None:
    """Show the focused panel alone, or all again."""
    main.zoomed = not main.zoomed
    main.lay_out()


def leave_layer(main: Desk) -> bool:
    """Leave the panel that fills the screen; return whether there was one."""
    if main.scene.panel in ALONE:
        give_keys(main, main.back_to)
    elif main.zoomed:
        zoom(main)
    else:
        return False
    return True


def choose_warp(main: Desk, warp: int) -> None:
    """Focus a warp; one that the machine does not have is reported."""
    try:
        check_warp(warp, main.scene.now.num_warps if main.scene.now else 1)
    except InputError as error:
        main.say(str(error), "error")
        return
    main.change(warp=warp, scroll=0, line=-1)


def cursor_pc(main: Desk) -> int:
    """Return the pc of the instruction at CODE's cursor: the focused warp's next one plus the scroll."""
    scene = main.scene
    count = len(scene.info.program)
    return max(0, min(count - 1, scene.machine.pc[scene.warp] + scene.scroll))


def focused_item(main: Desk, count: int | None = None) -> str:
    """Return the focused item as an expression. count: typed before the key, a register's lane."""
    return panels.of(main.scene.panel).item(main.scene, count)


def move(main: Desk, by: int) -> None:
    """Move the choice in the focused panel."""
    panel = panels.of(main.scene.panel)
    if panel.steps is not None:
        main.act(Pressed(panel.steps[0 if by > 0 else 1], abs(by)))
    else:
        main.change(**panel.move(main.scene, by))


def clicked(main: Desk, place: Place, x: int, y: int, double: bool) -> None:
    """Do what a click on a panel means: choose, go to a cycle, focus; a double click zooms, or does what the panel says."""
    panel = panels.of(place.panel)
    hit = panel.at(main.scene, place, x, y)
    if hit.warp is not None:
        choose_warp(main, hit.warp)
    main.scene = main.scene.at(**hit.view)
    if hit.cycle is not None:
        main.worker.ask(requests.goto, hit.cycle)
    if hit.takes_focus and panel.title:
        give_keys(main, panel.name)
    action, argument = hit.double if double else hit.single
    if action and (panel.title or not hit.takes_focus):
        main.act(Pressed(action, None, argument))


def brushed(main: Desk, start: int, end: int) -> None:
    """Brush the stretch between two columns of the overview."""
    columns = main.app.size.width - 2 * overview.MARGIN
    first, last = (overview.cycle_of(main.scene, x - overview.MARGIN, columns) for x in (start, end))
    main.worker.ask_latest(requests.brush_to, first, last)
