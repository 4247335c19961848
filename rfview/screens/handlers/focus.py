"""The focus: which panel has it, alone on the screen or with others, what is chosen in it, and clicks on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rfview.engine import state as layout_of_state
from rfview.engine.errors import InputError
from rfview.render import code, frame, lines, overview, pipeline, timeline, warps, watches
from rfview.render.lenses import banks
from rfview.render.layout import ALONE, PANELS, Place, is_tiny, shown
from rfview.screens import requests
from rfview.screens.windows.popup import WhyWindow
from rfview.sessions.warps import check_warp

if TYPE_CHECKING:
    from rfview.screens.main import MainScreen


def give_keys(main: MainScreen, panel: str) -> None:
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


def turn(main: MainScreen, by: int) -> None:
    """Move the focus by a number of panels in reading order."""
    order = list(PANELS) if is_tiny(*main.app.size) or main.zoomed else shown(main.places)
    order = [name for name in order if name not in ALONE or name == main.scene.panel or main.zoomed]
    at = order.index(main.scene.panel) if main.scene.panel in order else 0
    give_keys(main, order[(at + by) % len(order)])


def toggle_alone(main: MainScreen, panel: str) -> None:
    """Show a full-screen panel, or leave it."""
    give_keys(main, main.back_to if main.scene.panel == panel else panel)


def zoom(main: MainScreen) -> None:
    """Show the focused panel alone, or all again."""
    main.zoomed = not main.zoomed
    main.lay_out()


def leave_layer(main: MainScreen) -> bool:
    """Leave the panel that fills the screen; return whether there was one."""
    if main.scene.panel in ALONE:
        give_keys(main, main.back_to)
    elif main.zoomed:
        zoom(main)
    else:
        return False
    return True


def choose_warp(main: MainScreen, warp: int) -> None:
    """Focus a warp; one that the machine does not have is said."""
    try:
        check_warp(warp, main.scene.now.num_warps if main.scene.now else 1)
    except InputError as error:
        main.say(str(error), "error")
        return
    main.change(warp=warp, scroll=0, line=-1)


def warp_at_bank(main: MainScreen) -> int | None:
    """Return a warp that waits for the chosen bank, else the one it serves, or None; the focused warp goes first."""
    machine = main.scene.now
    assert machine is not None
    waiting = [warp for bank, _, warp in banks.requests(machine) if bank == main.scene.bank]
    owner = machine.bank[main.scene.bank]
    if owner["activity"] != layout_of_state.BANK_IDLE and owner["owner_warp"] < machine.num_warps:
        waiting.append(owner["owner_warp"])
    return main.scene.warp if main.scene.warp in waiting else next(iter(waiting), None)


def cursor_pc(main: MainScreen) -> int:
    """Return the pc of the instruction at CODE's cursor: the focused warp's next one plus the scroll."""
    scene = main.scene
    assert scene.now is not None
    count = len(scene.info.get("program", ()))
    return max(0, min(count - 1, scene.now.pc[scene.warp] + scene.scroll))


def focused_item(main: MainScreen) -> str:
    """Return the focused item as an expression."""
    scene = main.scene
    if scene.panel == "lens":
        return f"bank[{scene.bank}].queue"
    if scene.panel == "watches" and (found := watches.watches(scene)):
        return found[min(scene.watch, len(found) - 1)].item
    return f"w{scene.warp}." + {"registers": f"R{scene.reg}", "code": "pc"}.get(scene.panel, "state")


def move(main: MainScreen, by: int) -> None:
    """Move the choice in the focused panel."""
    scene = main.scene
    assert scene.now is not None
    if scene.panel == "lens":
        main.change(bank=max(0, min(scene.now.num_banks - 1, scene.bank + by)))
    elif scene.panel == "code":
        count = len(scene.info.get("program", ()))
        pc = scene.now.pc[scene.warp]
        main.change(scroll=max(-pc, min(count - 1 - pc, scene.scroll + by)))
    elif scene.panel == "lines":
        if scene.lines:
            main.change(line=max(0, min(len(scene.lines.lines) - 1, lines.chosen(scene) + by)))
    elif scene.panel == "pipeline":
        main.worker.ask(requests.event, "issue", by > 0, abs(by), scene.warp)
    elif scene.panel == "watches":
        main.change(watch=max(0, min(len(watches.watches(scene)) - 1, scene.watch + by)))
    elif scene.panel == "registers":
        main.change(reg=max(0, min(scene.now.registers - 1, scene.reg + by)))
    else:       # through even warps first, then odd ones
        count = scene.now.num_warps
        order = [*range(0, count, 2), *range(1, count, 2)]
        choose_warp(main, order[max(0, min(count - 1, order.index(scene.warp) + by))])


def clicked(main: MainScreen, place: Place, x: int, y: int, double: bool) -> None:
    """Focus what was clicked; a double click zooms, or toggles a breakpoint in CODE. Time axes go to the cycle."""
    panel, scene = place.panel, main.scene
    if panel == "event":
        main.show_message()
    elif panel == "overview":
        cycle = overview.cycle_of(scene, x - overview.MARGIN, place.width - 2 * overview.MARGIN)
        main.worker.ask(requests.goto, cycle)
    elif panel not in shown(main.places):
        return
    elif panel in ("timeline", "pipeline"):
        _clicked_in_time(main, place, x, y)
    elif panel == "code" and double and (pc := code.pc_at(scene, place.height - 1, y)) is not None:
        main.worker.ask(requests.toggle_breakpoint, pc)
    else:
        if panel == "lines" and (line := lines.line_at(scene, place.height, y)) is not None:
            main.scene = scene.at(line=line)
            if double:
                main.worker.ask(requests.toggle_line_breakpoint, line)
        elif panel == "warps":
            warp = warps.warp_at(scene, place.width, place.height, x, y)
            main.scene = scene if warp is None else scene.at(warp=warp, scroll=0)
        elif panel == "lens" and 1 <= y <= (scene.now.num_banks if scene.now else 0):
            main.scene = scene.at(bank=y - 1)
        give_keys(main, panel)
        if double and panel == "why":
            main.app.push_screen(WhyWindow(main))
        elif double and panel not in ("warps", "code", "lines"):
            zoom(main)


def _clicked_in_time(main: MainScreen, place: Place, x: int, y: int) -> None:
    """Go to the cycle of the clicked column of TIMELINE or PIPELINE; in TIMELINE also focus the row's warp."""
    if place.panel == "timeline":
        warp, cycle = timeline.warp_at(main.scene, place.height, y), timeline.cycle_at(main.scene, x)
        if warp is not None:
            choose_warp(main, warp)
    else:
        cycle = pipeline.cycle_at(main.scene, place.width, x)
    if cycle is not None:
        main.worker.ask(requests.goto, cycle)


def brushed(main: MainScreen, start: int, end: int) -> None:
    """Brush the stretch between two columns of the overview."""
    columns = main.app.size.width - 2 * overview.MARGIN
    first, last = (overview.cycle_of(main.scene, x - overview.MARGIN, columns) for x in (start, end))
    main.worker.ask_latest(requests.brush_to, first, last)
