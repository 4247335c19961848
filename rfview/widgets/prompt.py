"""The prompt: a line for commands or a search, with history and completion, in place of the event row."""

from __future__ import annotations

from collections.abc import Iterable

from textual import events
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input

from rfview.engine.escapes import visible
from rfview.line_history import LineHistory
from rfview.prompt_words import Words
from rfview.widgets.guarded import Guarded

# keys of a line -> Textual's action for it
EDITING = {
    "left": "cursor_left", "right": "cursor_right", "home": "home", "end": "end",
    "ctrl+a": "home", "ctrl+e": "end", "ctrl+left": "cursor_left_word", "ctrl+right": "cursor_right_word",
    "alt+b": "cursor_left_word", "alt+f": "cursor_right_word",
    "backspace": "delete_left", "delete": "delete_right", "ctrl+d": "delete_right", "ctrl+w": "delete_left_word",
    "ctrl+u": "delete_left_all", "ctrl+k": "delete_right_all",
}


class FirstCompletion(Suggester):
    """Suggests, after what is typed, the rest of the first completion."""

    def __init__(self, words: Words):
        super().__init__(use_cache=False, case_sensitive=True)
        self.words = words

    async def get_suggestion(self, value: str) -> str | None:
        """Return the completed line, None if nothing completes it."""
        return next(iter(self.words.completions(value)), None)


class Prompt(Guarded, Input):
    """A one-row input; Enter sends it, Esc drops it, ↑ ↓ go through earlier lines, → completes.

    Tab completes, too; pressed again, it shows the next completion of what was typed.
    """

    DEFAULT_CSS = """
    Prompt { position: absolute; layer: top; height: 1; border: none; padding: 0; display: none; }
    Prompt:focus { border: none; }
    """

    class Typed(Message):
        """A key was pressed while the prompt had the focus."""

        def __init__(self, key: str, character: str | None):
            super().__init__()
            self.key, self.character = key, character

    def __init__(self, words: Iterable[str]):
        """words: the lines to complete to; the first that fits is offered."""
        self.words = Words(words)
        super().__init__(id="prompt", compact=True, select_on_focus=False, suggester=FirstCompletion(self.words))
        self.round: list[str] = []      # completions that Tab cycles through
        self.mode = ":"
        self.past = LineHistory()
        self.past_at = 0
        self.can_focus = False
        self.is_open = False

    def open(self, mode: str, text: str = "") -> None:
        """Show the prompt and take the focus."""
        self.mode = mode
        self.is_open = True
        self.past_at = len(self.past.lines)
        self.value = text = visible(text)
        self.display = True
        self.can_focus = True
        self.focus()
        self.cursor_position = len(text)

    def close(self) -> None:
        """Hide the prompt and release the focus."""
        self.display = self.is_open = False
        self.can_focus = False
        self.screen.set_focus(None)

    async def on_key(self, event: events.Key) -> None:
        """Pass the key on to the screen, whose queue may still hold keys that were typed before this one."""
        event.stop()
        event.prevent_default()
        self.post_message(self.Typed(event.key, event.character))

    def feed(self, key: str, character: str | None) -> str | None:
        """Apply a key to the line; return the line if it is entered. Enter and keys that cancel also close the prompt."""
        if key != "tab":
            self.round = []
        if key in ("escape", "ctrl+c") or (key == "backspace" and not self.value):
            self.close()
        elif key == "enter":
            text = self.value.strip()
            if text:
                self.past.add(text, lasts=self.mode == ":")
            self.close()
            return text
        elif key in ("up", "down"):
            self._recall(-1 if key == "up" else 1)
        elif key == "tab":
            self._complete()
        elif key in EDITING:
            getattr(self, f"action_{EDITING[key]}")()
        elif character is not None and character.isprintable():
            self.insert_text_at_cursor(character)
        return None

    def _complete(self) -> None:
        """Show the first completion of what was typed, or the one after the current one; after the last, the first."""
        if not self.round:
            self.round = self.words.completions(self.value)
        elif self.value in self.round:
            at = self.round.index(self.value) + 1
            self.round = [*self.round[at:], *self.round[:at]]
        if self.round:
            self.value = self.round[0]
            self.cursor_position = len(self.value)

    def _recall(self, by: int) -> None:
        """Show an earlier line."""
        if past := self.past.lines:
            self.past_at = max(0, min(len(past), self.past_at + by))
            self.value = past[self.past_at] if self.past_at < len(past) else ""
            self.cursor_position = len(self.value)
