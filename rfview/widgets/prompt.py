"""The prompt: a line for commands or a search, with history and completion, in place of the event row."""

from __future__ import annotations

from collections.abc import Iterable

from textual import events
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.widgets import Input


class Prompt(Input):
    """A one-row input; Enter sends it, Esc drops it, ↑ ↓ go through earlier lines, Tab or → completes."""

    DEFAULT_CSS = """
    Prompt { position: absolute; layer: top; height: 1; border: none; padding: 0; display: none; }
    Prompt:focus { border: none; }
    """
    help = "Type a command; Tab completes, Enter runs it, Esc closes."

    class Sent(Message):
        """A line was entered. mode: ":" or "/"."""

        def __init__(self, mode: str, text: str):
            super().__init__()
            self.mode, self.text = mode, text

    class Closed(Message):
        """The prompt was left without a line."""

    def __init__(self, words: Iterable[str]):
        """words: what can be completed, the first that fits is offered."""
        super().__init__(id="prompt", compact=True, select_on_focus=False,
                         suggester=SuggestFromList(list(dict.fromkeys(words)), case_sensitive=True))
        self.mode = ":"
        self.past: list[str] = []
        self.past_at = 0
        self.can_focus = False

    def open(self, mode: str, text: str = "") -> None:
        """Show the prompt and take the keys."""
        self.mode = mode
        self.past_at = len(self.past)
        self.value = text
        self.display = True
        self.can_focus = True
        self.focus()
        self.cursor_position = len(text)

    def close(self) -> None:
        """Give the keys back."""
        self.display = False
        self.can_focus = False
        self.screen.set_focus(None)

    async def on_key(self, event: events.Key) -> None:
        if event.key == "escape" or (event.key == "backspace" and not self.value):
            event.stop()
            event.prevent_default()
            self.close()
            self.post_message(self.Closed())
        elif event.key in ("up", "down"):
            event.stop()
            event.prevent_default()
            self._recall(-1 if event.key == "up" else 1)
        elif event.key == "tab":
            event.stop()
            event.prevent_default()
            self.action_cursor_right()

    def _recall(self, by: int) -> None:
        """Show an earlier line."""
        if self.past:
            self.past_at = max(0, min(len(self.past), self.past_at + by))
            self.value = self.past[self.past_at] if self.past_at < len(self.past) else ""
            self.cursor_position = len(self.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        text = self.value.strip()
        if text and (not self.past or self.past[-1] != text):
            self.past.append(text)
        self.close()
        self.post_message(self.Sent(self.mode, text))
