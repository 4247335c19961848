"""The screen of two programs, or of two versions of one, compared line by line."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from rfview.keys import Pressed
from rfview.messages import Clicked
from rfview.render import by_line
from rfview.render.text import Line
from rfview.screens.compare.programs import ProgramsSource
from rfview.screens.compare.runs import RunsScreen, of_source, times
from rfview.sessions.compare.issues import Issue
from rfview.widgets.keyed import Handlers, Words

# in order of importance: 80 columns show only the first
HINTS = (("next_divergence", "changed line"), ("open", "both there"), "why", ("reload", "reload"), "help", ("quit", "leave"),
         ("sort", "order"), ("swap_runs", "swap"), ("copy", "Markdown"))
OpenBoth = Callable[["ProgramsScreen", ProgramsSource, tuple[Issue | None, Issue | None]], None]


class ProgramsScreen(RunsScreen):
    """Two programs line by line. open_both(screen, source, issues), in the worker's thread, shows both runs at a line."""

    HINTS, TITLE_TEXT, ABOUT = HINTS, "two programs", "compare by line"
    open_both: OpenBoth | None = None
    reloads: Callable[[], None] | None = None      # runs the edited file again; None where there is no session to do so

    def draw(self, width: int, height: int) -> list[Line]:
        """Return the lines of both programs."""
        hints = [hint for hint in self.HINTS if self.reloads is not None or hint[0] != "reload"]
        return by_line.paint(self.picture.at(busy=self.busy), width, height, self.keys.hints(*hints))

    def open_line(self, source: ProgramsSource) -> None:
        """Show both runs at the chosen line's first issue."""
        if self.open_both is None:
            source.say("these runs cannot be opened here")
        else:
            self.open_both(self, source, source.first_issues())

    def explain(self, source: ProgramsSource) -> None:
        """Show why the chosen line waits in both runs."""
        self.app.call_from_thread(self.app.show_text, source.reasons(), "WHY IN BOTH")

    def swap(self, source: ProgramsSource) -> None:
        """Exchange A and B."""
        self.source = source.swap()

    def copy(self, source: ProgramsSource) -> None:
        """Copy the table as Markdown."""
        self.app.call_from_thread(self.app.copy_to_clipboard, by_line.markdown(source.picture()))
        source.say("copied as Markdown: the lines that changed", "good")

    def run_again(self, pressed: Pressed) -> None:
        """Run the edited file again, and compare that."""
        if self.reloads is None:
            self.say("only a session of `rfview debug FILE` runs an edited file again")
        else:
            self.leave()
            self.reloads()

    def on_clicked(self, message: Clicked) -> None:
        """Choose the line clicked."""
        message.stop()
        if self.picture is not None:
            at = by_line.row_at(self.picture, self.app.size.width, self.app.size.height, message.y)
            if at is not None:
                self.ask(lambda source: source.step(at - source.selected))

    HANDLERS: ClassVar[Handlers] = {
        "next_divergence": of_source(lambda source, pressed: source.next_change(pressed.count or 1)),
        "previous_divergence": of_source(lambda source, pressed: source.next_change(-(pressed.count or 1))),
        "down": times("step", 1), "up": times("step", -1),
        "open": lambda screen, pressed: screen.ask(screen.open_line),
        "why": lambda screen, pressed: screen.ask(screen.explain),
        "sort": of_source(lambda source, pressed: source.sort()), "reload": run_again,
        "swap_runs": lambda screen, pressed: screen.ask(screen.swap),
        "copy": lambda screen, pressed: screen.ask(screen.copy),
        **{name: RunsScreen.HANDLERS[name] for name in ("help", "explain", "close", "quit")},
    }
    WORDS: ClassVar[Words] = {
        **RunsScreen.WORDS, "next_divergence": "next / previous line that was edited, or that waits longer or shorter",
        "down": "choose a line", "open": "both runs at the line's first issue; X there turns from one to the other",
        "why": "why the line waits, in both runs", "sort": "in the order of the source, or most changed first",
        "copy": "copy the lines that changed as a Markdown table", "reload": "run the edited file again, and compare that",
    }
