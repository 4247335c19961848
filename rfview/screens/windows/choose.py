"""The windows that start another run: the same kernel on another design or scheduler, or another kernel."""

from __future__ import annotations

from typing import Any

from textual import events

from rfview.keys import Filter, token_of
from rfview.render import choose
from rfview.render.text import Line
from rfview.screens import requests
from rfview.screens.windows.popup import Popup


class DesignsWindow(Popup):
    """All register-file designs; Enter runs the kernel again on the chosen one."""

    def __init__(self, main: Any):
        super().__init__(main, (96, 15))
        from rfview.engine import plugin as designs
        from rfview.engine.state import SCHEDULERS

        info = main.scene.info
        self.rows = [(name, designs.design(name).title) for name in designs.names()]
        self.now = str(info.get("design", "")).partition("+")[0]
        self.schedulers = list(SCHEDULERS)
        self.current = str(info.get("scheduler", ""))
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
        kept = scheduler == self.current
        return choose.designs(self.rows, self.now, scheduler, kept, follow, self.selected, width, height)

    def count(self) -> int:
        """Return the number of designs."""
        return len(self.rows)

    def pressed(self, token: str) -> None:
        """Change the scheduler or the cycle to go to, or run."""
        if token in ("left", "h", "right", "l"):
            self.at = (self.at + (1 if token in ("right", "l") else -1)) % len(self.schedulers)
            self.paint()
        elif token == "m":
            self.follows_warp = not self.follows_warp
            self.paint()
        elif token == "p":      # in the prompt, Tab goes through its parameters
            self.dismiss()
            self.main.call_after_refresh(self.main.open_prompt, ":", f"swap {self.rows[self.selected][0]}[")
        elif token == "enter":
            self.dismiss()
            place = f" warp {self.main.scene.warp}" if self.follows_warp else ""
            name = self.rows[self.selected][0]
            design = "-" if name == self.now else name
            self.main.worker.ask(requests.command, f"swap {design} {self.schedulers[self.at]}{place}")


class KernelsWindow(Popup):
    """The bundled kernels, narrowed by text typed after /; Enter runs the chosen one on this machine."""

    def __init__(self, main: Any):
        super().__init__(main, (110, 40))
        from rfview.commands.kernels import listing

        self.all = [(row["name"], row["description"]) for row in listing()]
        self.now = str(main.scene.info.get("name", ""))
        self.filter = Filter()
        self.selected = next((index for index, (name, _) in enumerate(self.all) if name == self.now), 0)

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The kernels that match the text typed."""
        return [row for row in self.all if self.filter.finds(*row)]

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the list."""
        return choose.kernels(self.rows, self.now, self.selected, width, height, self.filter.shown)

    def count(self) -> int:
        """Return the number of kernels shown."""
        return len(self.rows)

    async def on_key(self, event: events.Key) -> None:
        if not self.filter.is_typing:
            await super().on_key(event)
            return
        event.stop()
        event.prevent_default()
        if self.filter.feed(token_of(event.key, event.character)):
            self.selected = 0
            self.paint()

    def pressed(self, token: str) -> None:
        """Run the chosen kernel, prompt for a file, or narrow the list."""
        if token == "/":
            self.filter.is_typing = True
            self.paint()
        elif token == "f" or (token == "enter" and self.rows):
            self.dismiss()
            if token == "enter":
                self.main.worker.ask(requests.command, f"kernel {self.rows[self.selected][0]}")
            else:
                self.main.call_after_refresh(self.main.open_prompt, ":", "kernel ")
