"""What the main screen shows and can do: panels in their places, the event row, the prompt; its handlers work on it."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen

from rfview import command_line, crash
from rfview.actions import ACTIONS
from rfview.engine.escapes import visible
from rfview.keys import KeyReader
from rfview.line_history import LineHistory
from rfview.prompt_words import choices
from rfview.render import frame
from rfview.render.event import event_of, prompt_text
from rfview.render.panel import Place
from rfview.render.panels import FIRST, FOCUSABLE, OVERVIEW, PANELS
from rfview.render.text import Row, fill
from rfview.screens import requests
from rfview.screens.opening import hints, offers, waiting
from rfview.screens.playback import Playback
from rfview.screens.session_worker import SessionWorker
from rfview.sessions.commands.table import ALIASES, VERBS
from rfview.widgets.keyed import Keyed
from rfview.widgets.panel import PanelView, StripCache
from rfview.widgets.panels import FooterView, OverviewView
from rfview.widgets.prompt import Prompt

LEAST_SHOWN = 4     # rows of a panel partly below a window, to be fitted into what is left of it
GATHERED = {name: panel.columns_of for name, panel in PANELS.items() if panel.columns_of is not None}


class Desk(Keyed, Screen[None]):
    """Shows one session. Its own state is only the user's view: warp, panel, scroll, formats."""

    worker: SessionWorker

    def __init__(self, worker: SessionWorker, strips: StripCache, title: str, own_keys: Mapping[str, str] | None = None):
        super().__init__(id="main")
        self.worker, self.strips = worker, strips
        self.keys = worker.keys = KeyReader(own_keys, self.HANDLERS)
        self.scene = waiting(title, self.keys)
        self.is_open = False        # the session's first scene has arrived
        self.typed_early: list[tuple[str, str | None]] = []
        self.places: list[Place] = []
        self.zoomed = False
        self.summed_up = -1         # the cycle at whose arrival SUMMARY was shown
        self.back_to = FIRST       # the panel that had the focus before a full-screen one
        self.needle = ""            # what / searches for in the program
        self.sought = ""            # what `find` searches for in time; n and N repeat it
        self.playback = Playback(self)
        self.busy = ""
        self.at_rest: dict[str, Any] = {}       # badge and event row before a long request
        self.defects: set[str] = set()      # of painters, by the sentences reported
        self.columns = dict.fromkeys((OVERVIEW, *GATHERED), 0)      # requested from the worker
        self.begin: Callable[[Any], None] | None = None     # called after the first frame of the session
        self.past = LineHistory()       # of the prompt
        self.covered = 0        # rows at the foot of the screen that a window covers
        self.unbound: set[str] = set()      # keys already reported to do nothing

    def compose(self) -> ComposeResult:
        yield OverviewView(self.strips)
        yield FooterView(self.strips)
        yield from (PanelView(self.strips, panel) for panel in PANELS if panel != OVERVIEW)
        yield Prompt([*VERBS, *ALIASES, *(action.command for action in ACTIONS if action.command), *choices(),
                      *(f"panel {name}" for name in FOCUSABLE)])

    def on_mount(self) -> None:
        self.views = {view.panel: view for view in self.query(PanelView)}
        self.prompt = self.query_one(Prompt)
        self.prompt.past = self.past
        self.lay_out()

    def on_resize(self, event: events.Resize) -> None:
        self.lay_out()

    # layout and painting

    def lay_out(self) -> None:
        """Put the panels where they belong at this size, and paint."""
        width, height = self.app.size
        if width <= 0 or height <= 0:
            return
        self.scene = self.scene.at(note=frame.size_note(width, height))
        self.places = [place if place.y + LEAST_SHOWN > height - self.covered else
                       place._replace(height=min(place.height, height - self.covered - place.y))
                       for place in frame.places_of(self.scene, width, height, self.zoomed)]
        names = {place.panel for place in self.places}
        for name, view in self.views.items():
            if name not in names:
                view.display = False
        for place in self.places:
            self.views[place.panel].place(place.x, place.y, place.width, place.height)
        self._gather_as_wide(max(8, width - 2))
        self.repaint_panels()

    def cover(self, rows: int) -> None:
        """Paint panels into what a window leaves of the screen that covers so many rows at its foot, 0 for none."""
        if rows != self.covered:
            self.covered = rows
            self.lay_out()

    def _gather_as_wide(self, overview: int) -> None:
        """Request what the overview and panels show of the run wherever their numbers of columns have changed."""
        if overview != self.columns[OVERVIEW]:
            self.columns[OVERVIEW] = self.worker.columns = overview
            self.worker.ask_latest(requests.columns, overview)
        widths = {place.panel: place.width for place in self.places}
        for name, columns_of in GATHERED.items():
            wanted = columns_of(widths[name]) if name in widths else 0
            if wanted != self.columns[name] and (wanted or not PANELS[name].stays_gathered):
                self.columns[name] = wanted
                self.worker.ask(requests.gather, name, wanted, self.scene.warp)

    def repaint_panels(self) -> None:
        """Paint every visible panel; unchanged rows cost nothing."""
        scene = self.scene
        if scene.over is not None and scene.over.warp != scene.warp:
            self.worker.ask_latest(requests.overlay_warp, scene.warp)
        if scene.pipes is not None and scene.pipes.warp != scene.warp:
            self.worker.ask_latest(requests.pipeline_warp, scene.warp)
        for place in self.places:
            try:
                self._repaint(place)
            except Exception as error:
                self._not_drawn(place, error)

    def _repaint(self, place: Place) -> None:
        """Paint one panel."""
        view, width = self.views[place.panel], self.app.size.width
        if isinstance(view, FooterView):
            view.show_hints(hints(self.scene, width, self.zoomed), width)
        else:
            view.show(frame.paint(self.scene, place))

    def _not_drawn(self, place: Place, error: Exception) -> None:
        """Mark a panel whose painter has failed as not drawn; report each defect once in the event row."""
        text = crash.sentence(error)
        row = Row(place.width).add(f" {text if place.panel == 'event' else 'cannot be drawn'}", "bad").line()
        self.views[place.panel].show(fill([row], place.width, place.height))
        if text not in self.defects:
            self.defects.add(text)
            self.app.survive(error)  # type: ignore[attr-defined]

    def change(self, **facts: object) -> None:
        """Replace some fields of the scene and paint."""
        self.scene = self.scene.at(**facts)
        self.repaint_panels()

    @property
    def shown_message(self) -> str:
        """What the event row says."""
        return self.scene.message

    def say(self, text: str, kind: str = "info") -> None:
        """Write the event row."""
        self.change(message=text, message_kind=kind)

    def learn_words(self) -> None:
        """Make Tab complete the parameters, fields and states of the run."""
        timeline = self.worker.session.timeline
        self.prompt.words.learn(offers(timeline.info), timeline.info, timeline.layout.sm_dtype)

    # what handlers call

    def open_prompt(self, mode: str, text: str = "") -> None:
        """Show the prompt after its label in the event row, with an initial text. mode: / or :."""
        self.change(message=prompt_text(self.scene).rstrip() if mode == ":" else "search the program /")
        place = next(place for place in self.places if place.panel == "event")
        label = len(prompt_text(self.scene)) + 1
        self.prompt.styles.offset = (label, place.y)
        self.prompt.styles.width = max(8, place.width - label)
        self.prompt.open(mode, text)

    def show_message(self) -> None:
        """Show the event row's message in full."""
        text = event_of(self.scene)[0]
        if text:
            self.app.show_text(tuple(textwrap.wrap(text, max(20, min(108, self.app.size.width - 8)))), "MESSAGE")
        else:
            self.say("no message now")

    def overlay(self, name: str) -> None:
        """Lay a session file or a branch over this run; without a name the last one, or take it off."""
        self.worker.ask(requests.overlay, name, self.scene.warp)

    def view_command(self) -> str:
        """Return the command line that shows this view again."""
        app: Any = self.app
        rival = self.worker.rival if self.scene.over is not None else None
        over = f" --overlay {shlex.quote(str(rival.path))}" if rival is not None else ""
        line = command_line.of_view(app.target_command, self.worker.session, self.scene.cycle, self.scene.warp)
        return visible(line + over)

    def leave(self) -> None:
        """End the program."""
        self.app.exit(0)  # type: ignore[arg-type]
