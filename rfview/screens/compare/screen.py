"""The screens of `rfview compare A B ..`: two runs side by side, or more as small multiples."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.screen import Screen

from rfview.messages import Clicked
from rfview.render import compare as pair_lines
from rfview.render import multiples as multiples_lines
from rfview.render.text import Line
from rfview.screens.compare.multiples import MultiplesSource
from rfview.screens.compare.runs import RunsScreen, of_source, times
from rfview.screens.compare.source import CompareSource
from rfview.widgets.keyed import Handlers, Words

# in order of importance: 80 columns show only the first
PAIR_HINTS = ("next_divergence", ("step", "step ±"), "lock", ("down", "warp"), ("other_pane", "page"), "help",
              ("quit", "leave"), ("overlay", "lay B over A"), "swap_runs", ("step_10", "±10"), "first_divergence", "begin",
              ("copy", "copy"))
MULTIPLES_HINTS = (("step", "step ±"), ("down", "run"), ("open", "compare with A"), "lock", "help", ("quit", "leave"),
                   ("step_10", "±10"), ("step_100", "±100"), "begin", ("percent", "50% half way"))


class CompareScreen(RunsScreen):
    """Two runs side by side."""

    HINTS, TITLE_TEXT, ABOUT = PAIR_HINTS, "two runs", "compare"
    lay_over: Callable[..., Screen[None]] | None = None      # makes the main screen over A, with B laid over it

    def draw(self, width: int, height: int) -> list[Line]:
        """Return the lines of a pair."""
        return pair_lines.paint(self.picture.at(busy=self.busy), width, height, self.keys.hints(*self.HINTS))

    def resized(self, width: int) -> None:
        """Make the strips as wide as the terminal."""
        columns = max(20, width - pair_lines.LABEL - 2)
        self.ask(lambda source: setattr(source, "columns", columns))

    def open_overlay(self, source: CompareSource) -> None:
        """Show A's main screen at its cursor, with B laid over it."""
        from rfview.sessions.timeline.replay import RecordedTimeline

        paths = [str(timeline.path) for timeline in source.timelines if isinstance(timeline, RecordedTimeline)]
        if len(paths) < 2 or self.lay_over is None:      # both are opened again
            source.say("X opens both runs again, which is possible only for recordings; q, then X there, lays a branch over")
            return
        slot = source.comparison.logs[0].slot(source.name, source.cycles[0])
        self.app.show_over(self, self.lay_over(self.strips, (paths[0], paths[1]), source.targets[0], source.cycles[0], slot,
                                               self.app.own_keys))

    def swap(self, source: CompareSource) -> None:
        """Exchange A and B."""
        self.source = source.swap()

    def copy(self, source: CompareSource) -> None:
        """Copy the command that opens B at its cursor."""
        text = source.command(1)
        if text:
            self.app.call_from_thread(self.app.copy_to_clipboard, text)
            source.say(f"copied: {text}", "good")
        else:
            source.say("B is not a session file; there is nothing to copy")

    def on_clicked(self, message: Clicked) -> None:
        """Go to the instruction clicked on the curve."""
        message.stop()
        columns = self.app.size.width - pair_lines.LABEL - 2
        at = message.x - pair_lines.LABEL - 1
        if self.picture is not None and 1 <= message.y <= 6 and 0 <= at < columns:
            count = pair_lines.count_of(self.picture, at, columns)
            self.ask(lambda source: source.go_count(count))

    HANDLERS: ClassVar[Handlers] = {
        "next_divergence": of_source(lambda source, pressed: source.next_divergence(pressed.count or 1)),
        "previous_divergence": of_source(lambda source, pressed: source.next_divergence(-(pressed.count or 1))),
        "first_divergence": of_source(lambda source, pressed: source.go_first()), **RunsScreen.HANDLERS,
        "down": times("warp", 1), "up": times("warp", -1),
        "other_side": of_source(lambda source, pressed: pressed.count is None or source.choose_slot(pressed.count)),
        "overlay": lambda screen, pressed: screen.ask(
            lambda source: screen.app.call_from_thread(screen.open_overlay, source)),
        "swap_runs": lambda screen, pressed: screen.ask(screen.swap),
        "other_pane": of_source(lambda source, pressed: setattr(source, "page", 1 - source.page)),
        "copy": lambda screen, pressed: screen.ask(screen.copy),
    }
    WORDS: ClassVar[Words] = {
        **RunsScreen.WORDS, "step": "step both: by one instruction of the warp, or by one cycle, as locked",
        "step_10": "ten of these", "step_100": "a hundred of these", "down": "the next / previous warp of the grid",
        "other_side": "31o: the warp in A's slot 31", "copy": "copy the command that opens B at its cursor",
        "overlay": "A's main screen at its cursor, with what differs in B underlined",
        "other_pane": "the other page, if the terminal is low: reasons and totals",
    }


class MultiplesScreen(RunsScreen):
    """More than two runs, a band each."""

    HINTS, TITLE_TEXT, ABOUT = MULTIPLES_HINTS, "all runs", "all runs"
    lay_over: Callable[..., Screen[None]] | None = None

    def draw(self, width: int, height: int) -> list[Line]:
        """Return the lines of the bands."""
        return multiples_lines.paint(self.picture.at(busy=self.busy), width, height, self.keys.hints(*self.HINTS))

    def open_pair(self, source: MultiplesSource) -> None:
        """Compare the chosen run with the first one, or the first with the second."""
        other = source.selected or 1
        pair, targets = (source.timelines[0], source.timelines[other]), (source.targets[0], source.targets[other])
        screen = CompareScreen(self.strips, lambda progress: CompareSource(pair, targets, progress), self.worker)
        screen.lay_over = self.lay_over
        self.app.show_over(self, screen)

    HANDLERS: ClassVar[Handlers] = {
        **RunsScreen.HANDLERS, "down": times("select", 1), "up": times("select", -1),
        "open": lambda screen, pressed: screen.ask(
            lambda source: screen.app.call_from_thread(screen.open_pair, source)),
    }
    WORDS: ClassVar[Words] = {
        **RunsScreen.WORDS, "step": "step all runs: by one instruction of the whole machine, or by one cycle, as locked",
        "step_10": "ten of these", "step_100": "a hundred of these", "down": "choose a run",
        "open": "compare it with the first",
    }
