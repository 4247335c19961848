"""The help screen: every key, state and command, searched with /."""

from __future__ import annotations

from collections.abc import Mapping

from textual import events
from textual.app import ComposeResult

from rfview.actions import help_rows
from rfview.keys import Filter, token_of
from rfview.render import help as help_lines
from rfview.render.scene import Scene
from rfview.widgets.guarded import Layer
from rfview.widgets.window import WindowView


class HelpScreen(Layer):
    """Keys by intent, the states with their glyphs, the commands; text typed after / narrows it."""

    def __init__(self, scene: Scene, own: Mapping[str, str] | None = None):
        super().__init__()
        self.scene = scene
        self.own = own or {}
        self.filter = Filter()
        self.scroll = 0

    def compose(self) -> ComposeResult:
        yield WindowView(self.app.strips)  # type: ignore[attr-defined]

    def on_mount(self) -> None:
        self.paint()

    def on_resize(self, event: events.Resize) -> None:
        self.paint()

    def paint(self) -> None:
        """Paint the whole screen."""
        from rfview.sessions.commands.table import VERBS

        width, height = self.app.size
        view = self.query_one(WindowView)
        view.styles.width, view.styles.height = width, height
        verbs = [(f"{name} {verb.signature}".strip(), verb.help) for name, verb in VERBS.items()]
        body = help_lines.body(self.scene, width - 2, self.filter.text, verbs, self.own, self.terms())
        rows = height - 3
        self.scroll = max(0, min(self.scroll, len(body) - rows))
        shown = body[self.scroll : self.scroll + rows]
        blank = help_lines.blank(width)
        lines = [help_lines.head(width, self.filter.shown), blank]
        lines += [line._replace(spans=((" ", "text"), *line.spans)) for line in shown]
        lines += [blank] * (height - 1 - len(lines))
        view.show([*lines, help_lines.foot(width, self.scroll + rows < len(body))])

    def terms(self) -> list[tuple[str, str]]:
        """Return the terms found by a search, each with its explanation and source."""
        if len(self.filter.text) < 2:
            return []
        from rfview.learn import terms

        return [(term.name, f"{term.text.splitlines()[0]}  [{term.source}]") for term in terms.find(self.filter.text)[:12]]

    async def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        token = token_of(event.key, event.character)
        if self.filter.is_typing:
            self.filter.feed(token)
            self.scroll = 0
        elif token in ("escape", "q", "?"):
            if token == "escape" and self.filter.text:
                self.filter.text = ""
            else:
                self.dismiss()
                return
        elif token == "/":
            self.filter.is_typing = True
        elif token == "y":
            table = "\n".join(f"{keys:<18} {sentence}" for _, keys, sentence in help_rows("", self.own))
            self.app.copy_to_clipboard(table)
        else:
            step = {"j": 1, "down": 1, "k": -1, "up": -1, "pagedown": 15, "space": 15, "pageup": -15, "home": -9999,
                    "end": 9999, "g": -9999, "G": 9999}.get(token, 0)
            self.scroll += step
        self.paint()
