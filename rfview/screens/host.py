"""The Textual app that every program of ours is: our look, our palette of actions, the failure that ended it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

from textual.app import App
from textual.screen import Screen
from textual.theme import Theme

from rfview.engine.escapes import visible
from rfview.palette import Palette
from rfview.screens.palette import ActionProvider
from rfview.widgets.panel import StripCache

STYLES = Path(__file__).resolve().parent.parent / "rfview.tcss"


class HostApp(App[int]):
    """Shows one screen in a palette's colours until the user leaves. failure: what kept it from being shown."""

    CSS_PATH = STYLES
    TITLE = "rfview"
    COMMANDS: ClassVar[set[Any]] = {ActionProvider}
    ENABLE_COMMAND_PALETTE = True
    failure: Any = None
    main: Screen[Any]

    def __init__(self, palette: Palette):
        self._by_terminal = palette.theme in ("ansi16", "mono")
        # rfview has its own look without colours; Textual's filter would turn colours into greys instead
        no_color = os.environ.pop("NO_COLOR", None)
        super().__init__(ansi_color=self._by_terminal)
        if no_color is not None:
            os.environ["NO_COLOR"] = no_color
        self.strips = StripCache(palette)

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text; what its data holds of control characters is copied as escapes."""
        super().copy_to_clipboard(visible(text, "\n\t"))

    def on_mount(self) -> None:
        if self._by_terminal:
            self.theme = "ansi-dark"
        else:
            self.register_theme(theme_of(self.strips.palette))
            self.theme = "rfview"
        self.push_screen(self.main)


def theme_of(palette: Palette) -> Theme:
    """Return the Textual theme for what is not painted by us: prompt, command palette, popups."""
    text, ground = palette.page
    light = palette.theme == "light"
    return Theme(
        name="rfview", primary="#2FCFA6" if not light else "#1F866C", foreground=text, background=ground,
        surface=palette.grounds["popup"], panel=palette.grounds["band"], dark=not light,
        variables={"border": "#4A5B70", "input-cursor-background": text, "input-cursor-foreground": ground},
    )
