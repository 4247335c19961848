"""The help screen: every key, state and command, searched with /."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult

from rfview.keys import Filter, Pressed
from rfview.render import help as help_lines
from rfview.render.scene import Scene
from rfview.widgets.guarded import Layer
from rfview.widgets.keyed import Handlers, Keyed, pages, rows
from rfview.widgets.window import WindowView


class HelpScreen(Keyed, Layer):
    """The panel in focus, keys by intent, states with their glyphs, commands; text typed after / narrows it."""

    def __init__(self, scene: Scene):
        super().__init__()
        self.scene = scene
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
        body = help_lines.body(self.scene, width - 2, self.filter.text, verbs, self.scene.keys, self.terms(),
                               self.reading())
        room = height - 3
        self.scroll = max(0, min(self.scroll, len(body) - room))
        shown = body[self.scroll : self.scroll + room]
        blank = help_lines.blank(width)
        lines = [help_lines.head(width, self.filter.shown, self.keys), blank]
        lines += [line._replace(spans=((" ", "text"), *line.spans)) for line in shown]
        lines += [blank] * (height - 1 - len(lines))
        view.show([*lines, help_lines.foot(width, self.keys, self.scroll + room < len(body))])

    def reading(self) -> list[str]:
        """Return how to read the panel in focus, in paragraphs."""
        from rfview.glossary.focus import how_to_read  # for a fast start: it imports the glossary

        return how_to_read(self.scene)

    def explain(self, pressed: Pressed) -> None:
        """Explain what has the focus on the main screen, with sources."""
        self.dismiss()
        self.app.main.act(pressed)

    def terms(self) -> list[tuple[str, str]]:
        """Return the terms found by a search, each with its explanation and source."""
        if len(self.filter.text) < 2:
            return []
        from rfview.glossary import terms

        return [(term.name, f"{term.text.splitlines()[0]}  [{term.source}]") for term in terms.find(self.filter.text)[:12]]

    @property
    def shown_message(self) -> str:
        """The main screen's message."""
        return str(self.app.main.shown_message)

    def say(self, text: str, kind: str = "info") -> None:
        """Show a message on the main screen, to be read there."""
        self.app.main.say(text, kind)

    def filtered(self, token: str) -> bool:
        """Search for what is typed."""
        if is_typing := self.filter.is_typing:
            self.filter.feed(token)
            self.scroll = 0
            self.paint()
        return is_typing

    def search(self, pressed: Pressed) -> None:
        """Begin to type."""
        self.filter.is_typing = True
        self.paint()

    def close(self, pressed: Pressed) -> None:
        """End the search, else close the help."""
        if pressed.action == "close" and self.filter.text:
            self.filter.text = ""
            self.paint()
        else:
            self.dismiss()

    def copy_table(self, pressed: Pressed) -> None:
        """Copy the table of keys."""
        rows = help_lines.help_rows("", self.scene.keys)
        self.app.copy_to_clipboard("\n".join(f"{keys:<18} {sentence}" for _, keys, sentence in rows))

    def move(self, by: int) -> None:
        """Scroll by a number of rows."""
        self.scroll += by
        self.paint()

    HANDLERS: ClassVar[Handlers] = {
        **dict.fromkeys(("close", "quit", "help"), close), "search": search, "copy": copy_table, "explain": explain,
        "down": rows(1), "up": rows(-1), "read_on": rows(15), **pages(15),
    }
