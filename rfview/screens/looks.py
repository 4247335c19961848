"""What keys and mouse do to what is looked at: which panel has the keys, alone or with others, and what is chosen in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rfview.actions import Pressed
from rfview.render import code as code_lines
from rfview.render import overview as overview_lines
from rfview.render import pipeline as pipeline_lines
from rfview.render import timeline as timeline_lines
from rfview.render import warps as warp_lines
from rfview.render.layout import ALONE, PANELS, TITLES, Place, is_tiny, layout, shown
from rfview.render.registers import FORMATS
from rfview.render.scene import Scene

if TYPE_CHECKING:
    from rfview.screens.driver import Driver


class Looks:
    """Mixed into MainScreen by Deeds: one method do_NAME per action, and `clicked`."""

    driver: Driver
    scene: Scene
    places: list[Place]
    app: Any
    zoomed: bool
    back_to: str
    busy: str
    change: Any
    say: Any
    lay_out: Any
    repaint_panels: Any
    do_message: Any
    do_why: Any

    def _focus(self, panel: str) -> None:
        """Give a panel the keys; hidden ones come out alone."""
        size = self.app.size
        is_shown = panel in shown(layout(size.width, size.height, panel))
        if panel in ALONE and self.scene.panel not in ALONE:
            self.back_to = self.scene.panel
        tiny = is_tiny(size.width, size.height)
        again = tiny or self.zoomed or panel in ALONE or self.scene.panel in ALONE
        if not is_shown and not tiny:
            self.zoomed = again = True
        self.scene = self.scene.at(panel=panel)
        if again:
            self.lay_out()
        else:
            self.repaint_panels()

    def _turn(self, by: int) -> None:
        size = self.app.size
        order = list(PANELS) if is_tiny(*size) or self.zoomed else shown(self.places)
        order = [name for name in order if name not in ALONE or name == self.scene.panel or self.zoomed]
        at = order.index(self.scene.panel) if self.scene.panel in order else 0
        self._focus(order[(at + by) % len(order)])

    def do_focus_next(self, pressed: Pressed) -> None:
        """Give the next panel the keys."""
        self._turn(1)

    def do_focus_previous(self, pressed: Pressed) -> None:
        """Give the previous panel the keys."""
        self._turn(-1)

    def do_panel(self, pressed: Pressed) -> None:
        """Give a panel the keys by its number."""
        number = int(pressed.argument or "0") or 10     # Alt+0 is the tenth
        if 1 <= number <= len(PANELS):
            self._focus(PANELS[number - 1])
            self.say(TITLES[PANELS[number - 1]])

    def do_zoom(self, pressed: Pressed) -> None:
        """Show the focused panel alone, or all again."""
        self.zoomed = not self.zoomed
        self.lay_out()

    def do_registers(self, pressed: Pressed) -> None:
        """Show the focused warp's registers, or leave them."""
        if self.scene.panel == "registers":
            self._focus(self.back_to)
        else:
            self._focus("registers")

    def do_timeline(self, pressed: Pressed) -> None:
        """Show all warps over time, or leave that."""
        if self.scene.panel == "timeline":
            self._focus(self.back_to)
        else:
            self._focus("timeline")

    def do_pipeline(self, pressed: Pressed) -> None:
        """Show the focused warp's instructions over time, or leave that."""
        self._focus(self.back_to if self.scene.panel == "pipeline" else "pipeline")

    def do_open(self, pressed: Pressed) -> None:
        """Open what has the focus."""
        if self.scene.panel == "overview":
            self.do_timeline(pressed)
        elif self.scene.panel in ("warps", "timeline", "pipeline"):
            self.do_registers(pressed)
        elif self.scene.panel == "why":
            self.do_why(pressed)
        else:
            self.do_zoom(pressed)

    def do_close(self, pressed: Pressed) -> None:
        """Cancel a long move, else close one layer; never quits."""
        if self.busy and self.driver.cancel():
            self.say("cancelled")
        elif self.scene.panel in ALONE:
            self._focus(self.back_to)
        elif self.zoomed:
            self.do_zoom(pressed)
        elif self.scene.scroll:
            self.change(scroll=0)
        elif self.scene.brush is not None:
            self.driver.ask("brush", None)
        else:
            keys = " or ".join(filter(None, (self.scene.key("quit"), "Ctrl+q")))
            self.say(f"{keys} quits" if pressed.action == "close" and not self.scene.message else "")

    def do_quit(self, pressed: Pressed) -> None:
        """Close a layer, or end the program."""
        if self.scene.panel in ALONE:
            self._focus(self.back_to)
        elif self.zoomed:
            self.do_zoom(pressed)
        else:
            self.app.exit(0)

    def choose_warp(self, warp: int) -> None:
        """Focus a warp."""
        count = self.scene.now.num_warps if self.scene.now else 1
        self.change(warp=max(0, min(count - 1, warp)), scroll=0)

    def move(self, by: int) -> None:
        """Move inside the focused panel."""
        scene = self.scene
        assert scene.now is not None
        if scene.panel == "lens":
            self.change(bank=max(0, min(scene.now.num_banks - 1, scene.bank + by)))
        elif scene.panel == "code":
            count = len(scene.info.get("program", ()))
            pc = scene.now.pc[scene.warp]
            self.change(scroll=max(-pc, min(count - 1 - pc, scene.scroll + by)))
        elif scene.panel == "pipeline":
            self.driver.ask("event", "issue", forward=by > 0, count=abs(by), warp=scene.warp)
        elif scene.panel == "registers":
            self.change(reg=max(0, min(scene.now.registers - 1, scene.reg + by)))
        else:
            self._move_warp(by)

    def _move_warp(self, by: int) -> None:
        """Go down or up through even and then odd warps."""
        assert self.scene.now is not None
        count = self.scene.now.num_warps
        order = [*range(0, count, 2), *range(1, count, 2)]
        at = max(0, min(count - 1, order.index(self.scene.warp) + by))
        self.choose_warp(order[at])

    def do_down(self, pressed: Pressed) -> None:
        """Move down."""
        self.move(pressed.count or 1)

    def do_up(self, pressed: Pressed) -> None:
        """Move up."""
        self.move(-(pressed.count or 1))

    def do_other_side(self, pressed: Pressed) -> None:
        """Focus the warp beside this one; with a count, that warp."""
        self.choose_warp(pressed.count if pressed.count is not None else self.scene.warp ^ 1)

    def do_lanes_right(self, pressed: Pressed) -> None:
        """Show lanes further right."""
        self.change(lane=min(31, self.scene.lane + 4 * (pressed.count or 1)))

    def do_lanes_left(self, pressed: Pressed) -> None:
        """Show lanes further left."""
        self.change(lane=max(0, min(self.scene.lane, 28) - 4 * (pressed.count or 1)))

    def do_number_format(self, pressed: Pressed) -> None:
        """Turn through the number formats."""
        self.change(number_format=FORMATS[(FORMATS.index(self.scene.number_format) + 1) % len(FORMATS)])

    def do_source(self, pressed: Pressed) -> None:
        """Turn CODE between decoded instructions and PTX source."""
        self.change(code_source=not self.scene.code_source)

    def do_zoom_in(self, pressed: Pressed) -> None:
        """TIMELINE or PIPELINE where it is open, else the overview: a shorter stretch."""
        self.driver.ask("zoom", pressed.count or 1, panel=self.scene.panel)

    def do_zoom_out(self, pressed: Pressed) -> None:
        """TIMELINE or PIPELINE where it is open, else the overview: a longer stretch."""
        self.driver.ask("zoom", -(pressed.count or 1), panel=self.scene.panel)

    def clicked(self, place: Place, x: int, y: int, double: bool) -> None:
        """Focus what was clicked; twice: zoom, or in CODE a breakpoint."""
        panel = place.panel
        if panel == "event":
            self.do_message(Pressed("message"))
            return
        if panel == "overview":
            columns = place.width - 2 * overview_lines.MARGIN
            self.driver.ask("goto", overview_lines.cycle_of(self.scene, x - overview_lines.MARGIN, columns))
            return
        if panel not in shown(self.places):
            return
        if panel == "timeline":
            warp, cycle = timeline_lines.warp_at(self.scene, place.height, y), timeline_lines.cycle_at(self.scene, x)
            if warp is not None:
                self.choose_warp(warp)
            if cycle is not None:
                self.driver.ask("goto", cycle)
            return
        if panel == "pipeline":
            cycle = pipeline_lines.cycle_at(self.scene, place.width, x)
            if cycle is not None:
                self.driver.ask("goto", cycle)
            return
        if panel == "warps":
            warp = warp_lines.warp_at(self.scene, place.width, place.height, x, y)
            if warp is not None:
                self.scene = self.scene.at(warp=warp, scroll=0)
        elif panel == "code":
            pc = code_lines.pc_at(self.scene, place.height - 1, y)
            if pc is not None and double:
                self.driver.ask("break", pc)
                return
        elif panel == "lens" and 1 <= y <= (self.scene.now.num_banks if self.scene.now else 0):
            self.scene = self.scene.at(bank=y - 1)
        self._focus(panel)
        if double and panel == "why":
            self.do_why(Pressed("why"))
        elif double and panel not in ("warps", "code"):
            self.do_zoom(Pressed("zoom"))
