"""The windows that start another run: the same kernel on another design or scheduler, or another kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rfview.keys import Filter, Pressed
from rfview.render import choose
from rfview.render.text import Line
from rfview.screens import requests
from rfview.screens.windows.popup import Popup
from rfview.widgets.keyed import Handlers, Words

if TYPE_CHECKING:
    from rfview.screens.desk import Desk


class DesignsWindow(Popup):
    """All register-file designs; Enter runs the kernel again on the chosen one."""

    ABOUT = "designs on the same kernel"

    def __init__(self, main: Desk):
        super().__init__(main, (96, 15))
        from rfview.engine import plugin as designs
        from rfview.engine.machine.schedulers import SCHEDULERS

        info = main.scene.info
        self.rows = [(name, designs.design(name).title) for name in designs.names()]
        self.now = info.design.partition("+")[0]
        self.current = info.scheduler
        self.schedulers = list(SCHEDULERS) if self.current in SCHEDULERS else [self.current]   # a sub-core has its own
        self.at = self.schedulers.index(self.current) if self.current in self.schedulers else 0
        self.follows_warp = True
        names = [name for name, _ in self.rows]
        self.selected = names.index(self.now) if self.now in names else 0

    def paint(self) -> None:
        """Paint the window, as high as its list is long."""
        self.wanted = (96, len(self.rows) + 3)
        super().paint()

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the list."""
        scheduler = self.schedulers[self.at]
        follow = f"the same instruction of w{self.main.scene.warp}" if self.follows_warp else "the same cycle"
        is_current = scheduler == self.current
        hints = self.keys.hints(("open", "run"), ("previous_choice next_choice", "scheduler", 1), "parameters",
                                "other_place", "close")
        return choose.designs(self.rows, self.now, scheduler, is_current, follow, self.selected, width, height,
                              hints)

    def count(self) -> int:
        """Return the number of designs."""
        return len(self.rows)

    def turn_scheduler(self, by: int) -> None:
        """Choose the next scheduler, or the previous one."""
        self.at = (self.at + by) % len(self.schedulers)
        self.paint()

    def other_place(self, pressed: Pressed) -> None:
        """Choose whether the new run goes to the same instruction or to the same cycle."""
        self.follows_warp = not self.follows_warp
        self.paint()

    def run(self, pressed: Pressed) -> None:
        """Run the kernel on the chosen design."""
        self.dismiss()
        place = f" warp {self.main.scene.warp}" if self.follows_warp else ""
        name = self.rows[self.selected][0]
        design = "-" if name == self.now else name
        self.main.worker.ask(requests.command, f"swap {design} {self.schedulers[self.at]}{place}")

    HANDLERS: ClassVar[Handlers] = {
        "open": run, "next_choice": lambda window, pressed: window.turn_scheduler(1),
        "previous_choice": lambda window, pressed: window.turn_scheduler(-1), "other_place": other_place,
        # in the prompt, Tab goes through the design's parameters
        "parameters": lambda window, pressed: window.type(f"swap {window.rows[window.selected][0]}["), **Popup.HANDLERS,
    }
    WORDS: ClassVar[Words] = {**Popup.WORDS, "open": "run the kernel on it", "previous_choice": "the scheduler"}


class KernelsWindow(Popup):
    """The bundled kernels, narrowed by text typed after /; Enter runs the chosen one on this machine."""

    ABOUT = "kernels to run"

    def __init__(self, main: Desk):
        super().__init__(main, (110, 40))
        from rfview.commands.kernels import listing

        self.all = [(row["name"], row["description"]) for row in listing()]
        self.now = main.scene.info.name
        self.filter = Filter()
        self.selected = next((index for index, (name, _) in enumerate(self.all) if name == self.now), 0)

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The kernels that match the text typed."""
        return self.filter.ranked(self.all, lambda row: row)

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the list."""
        hints = self.keys.hints(("open", "run"), ("search", "narrow"), "launch_file", "close")
        return choose.kernels(self.rows, self.now, self.selected, width, height, hints, self.filter.shown)

    def count(self) -> int:
        """Return the number of kernels shown."""
        return len(self.rows)

    def filtered(self, token: str) -> bool:
        """Narrow the list by what is typed."""
        if not self.filter.is_typing:
            return False
        if self.filter.feed(token):
            self.selected = 0
            self.paint()
        return True

    def narrow(self, pressed: Pressed) -> None:
        """Begin to type."""
        self.filter.is_typing = True
        self.paint()

    def run(self, pressed: Pressed) -> None:
        """Run the chosen kernel."""
        if self.rows:
            self.dismiss()
            self.main.worker.ask(requests.command, f"kernel {self.rows[self.selected][0]}")

    HANDLERS: ClassVar[Handlers] = {
        "open": run, "search": narrow, "launch_file": lambda window, pressed: window.type("kernel "), **Popup.HANDLERS,
    }
    WORDS: ClassVar[Words] = {**Popup.WORDS, "open": "run it on this machine", "search": "letters narrow the list"}
