"""The main screen: places the panels, turns keys and mouse into requests and scenes into lines."""

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
from rfview.line_history import LineHistory
from rfview.keys import KeyReader, Pressed, token_of
from rfview.prompt_words import choices
from rfview.messages import Answered, Arrived, Brushed, Busy, Chosen, Clicked, Failed, Said, Wheeled
from rfview.render import frame, pipeline, timeline, watches
from rfview.render.footer import event_of, prompt_text
from rfview.render.layout import Place, shown
from rfview.render.scene import Badge
from rfview.render.text import Row, fill
from rfview.screens import requests
from rfview.screens.handlers import focus, prompt
from rfview.screens.handlers.table import HANDLERS
from rfview.screens.handlers.time import Playback
from rfview.screens.opening import first_facts, hints, offers, waiting
from rfview.screens.windows.popup import Popup
from rfview.screens.windows.findings import FindingsWindow
from rfview.screens.windows.tables import StatisticsWindow, TraceWindow
from rfview.screens.worker import SessionWorker
from rfview.sessions.commands.table import ALIASES, VERBS
from rfview.widgets.footer import FooterView
from rfview.widgets.keyed import Keyed
from rfview.widgets.overview import OverviewView
from rfview.widgets.panel import PanelView, StripCache
from rfview.widgets.prompt import Prompt

WITHOUT_SESSION = ("quit", "help", "close", "message")      # actions that work before a session is open


class MainScreen(Keyed, Screen[None]):
    """Shows one session. Its own state is only the user's view: warp, panel, scroll, formats.

    The keys' handlers are in handlers/, the requests to the session in requests/.
    """

    worker: SessionWorker
    HANDLERS = HANDLERS

    def __init__(self, worker: SessionWorker, strips: StripCache, title: str, own_keys: Mapping[str, str] | None = None):
        super().__init__(id="main")
        self.worker, self.strips = worker, strips
        self.keys = KeyReader(own_keys, HANDLERS)
        self.scene = waiting(title, self.keys)
        self.is_open = False        # the session's first scene has arrived
        self.typed_early: list[tuple[str, str | None]] = []
        self.places: list[Place] = []
        self.zoomed = False
        self.back_to = "warps"      # the panel that had the focus before a full-screen one
        self.needle = ""            # what / searches for in the program
        self.sought = ""            # what `find` searches for in time; n and N repeat it
        self.playback = Playback(self)
        self.busy = ""
        self.defects: set[str] = set()      # of painters, by the sentences reported
        self.overview_columns = self.span_columns = self.pipe_columns = 0
        self.counts_lines = False
        self.begin: Callable[[Any], None] | None = None     # called after the first frame of the session
        self.past = LineHistory()       # of the prompt
        self.unbound: set[str] = set()      # keys already reported to do nothing

    def compose(self) -> ComposeResult:
        yield OverviewView(self.strips)
        yield FooterView(self.strips)
        yield from (PanelView(self.strips, panel) for panel in frame.PAINTERS if panel != "overview")
        yield Prompt([*VERBS, *ALIASES, *(action.command for action in ACTIONS if action.command), *choices()])

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
        self.places = frame.places_of(self.scene, width, height, self.zoomed)
        names = {place.panel for place in self.places}
        for name, view in self.views.items():
            if name not in names:
                view.display = False
        for place in self.places:
            self.views[place.panel].place(place.x, place.y, place.width, place.height)
        self._gather_as_wide(max(8, width - 2))
        self.repaint_panels()

    def _gather_as_wide(self, overview: int) -> None:
        """Request what the overview, TIMELINE and PIPELINE show wherever their widths have changed, and LINES once."""
        if overview != self.overview_columns:
            self.overview_columns = self.worker.columns = overview
            self.worker.ask_latest(requests.columns, overview)
        span = next((timeline.columns_of(place.width) for place in self.places if place.panel == "timeline"), 0)
        if span != self.span_columns:
            self.span_columns = span
            self.worker.ask(requests.timeline, span)
        pipes = next((pipeline.columns_of(place.width) for place in self.places if place.panel == "pipeline"), 0)
        if pipes != self.pipe_columns:
            self.pipe_columns = pipes
            self.worker.ask(requests.pipeline, pipes, self.scene.warp)
        if not self.counts_lines and any(place.panel == "lines" for place in self.places):
            self.counts_lines = True
            self.worker.ask(requests.lines)

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

    # what the worker reports

    def on_arrived(self, message: Arrived) -> None:
        message.stop()
        mine = self.scene
        scene = message.scene.seen_as(mine)
        count = scene.now.num_warps if scene.now else 1
        facts: dict[str, Any] = {"warp": min(mine.warp, count - 1)}
        if message.warp is not None and message.warp != mine.warp:      # the warp of the stop, so that `e` explains it
            facts |= {"warp": min(message.warp, count - 1), "scroll": 0}
        if message.keeps_message:
            facts |= {"message": mine.message, "message_kind": mine.message_kind, "badge": mine.badge}
        first, self.is_open = not self.is_open, True
        if first:
            facts |= first_facts(scene)
        self.scene = scene.at(**facts)
        if first:
            self.learn_words()
        if first or len(watches.watches(mine)) != len(watches.watches(scene)):
            self.lay_out()
        else:
            self.repaint_panels()
        if isinstance(self.app.screen, Popup):
            failed_here = scene.message_kind == "error" and scene.cycle == mine.cycle
            # a window whose own request has failed would ask the same again, for ever
            (self.app.screen.paint if failed_here else self.app.screen.follow)()
        if first and self.begin is not None:
            self.begin(self)
        if first:
            for key, character in self.typed_early:
                self.key(key, character)

    def on_busy(self, message: Busy) -> None:
        message.stop()
        self.busy = message.text
        if message.text:
            self.change(badge=Badge("busy", message.text), message=message.detail or self.scene.message,
                        message_kind="info")

    def on_said(self, message: Said) -> None:
        message.stop()
        if message.kind == "stop":
            self.playback.stop()
        elif message.lines:
            self.app.show_text(message.lines, "ANSWER")
        else:
            self.say(message.text, message.kind)

    def on_answered(self, message: Answered) -> None:
        message.stop()
        top = self.app.screen
        if message.kind == "session":
            self._follow_session(message.data)
        elif message.kind == "stalled":
            if message.data and self.scene.warp not in message.data:
                focus.choose_warp(self, message.data[0])       # so that `e` explains the stall that was searched for
        elif message.kind == "trace":
            self.app.push_screen(TraceWindow(self, message.data))
        elif message.kind == "check":
            self.app.push_screen(FindingsWindow(self, message.data))
        elif message.kind == "stats":
            self.app.push_screen(StatisticsWindow(self, (message.data["first"], message.data["last"])))
        elif message.kind == "compare":
            self._compare(*message.data)
        elif isinstance(top, Popup) and message.kind == top.ANSWERS:
            top.answered(message.data)

    def _compare(self, pair: Any, names: tuple[str, str]) -> None:
        """Open the compare screen over two runs of the session, whose worker serves it, too."""
        from rfview.screens.compare.screen import CompareScreen     # for a fast start: few compare
        from rfview.screens.compare.source import CompareSource

        self.app.push_screen(CompareScreen(self.strips, lambda progress: CompareSource(pair, names, progress), self.worker))

    def on_failed(self, message: Failed) -> None:
        message.stop()
        app: Any = self.app
        app.failure = message.error         # also decides the exit code
        self.change(message=f"{message.text}  q quits", message_kind="error", badge=Badge("fault", "✕ ERROR"))

    def _follow_session(self, data: dict[str, Any]) -> None:
        """Adapt to a session that replaced the previous one: another branch, or another kernel."""
        app: Any = self.app
        if data.get("warp") is not None:
            focus.choose_warp(self, data["warp"])
        self.learn_words()
        if "target" in data:
            app.target_command = command_line.for_kernel(app.target_command, data)
            self.change(title=data["name"], scroll=0)

    def learn_words(self) -> None:
        """Make Tab complete the parameters, fields and states of the run."""
        timeline = self.worker.session.timeline
        self.prompt.words.learn(offers(timeline.info), timeline.info, timeline.layout.sm_dtype)

    # keys and mouse

    def on_prompt_typed(self, message: Prompt.Typed) -> None:
        message.stop()
        self.key(message.key, message.character)

    def key(self, key: str, character: str | None) -> None:
        """Take a key, in the order typed: it may belong to a prompt or window opened by a previous key."""
        if key == "ctrl+q":
            self.act(Pressed("quit"))
        elif self.app.screen is not self:
            self.app.screen.post_message(events.Key(key, character))
        elif not self.is_open and not self._is_for_now(key, character):
            self.typed_early.append((key, character))       # the screen is visible before the session is open
        elif self.prompt.is_open:
            self._key_of_the_prompt(key, character)
        elif key == "ctrl+c":
            self.act(Pressed("close", argument=key))
        else:
            self.read(token_of(key, character))

    def _is_for_now(self, key: str, character: str | None) -> bool:
        """Say whether a key acts at once although the session is still being opened, which is slow if code is compiled."""
        is_text = any(typed and typed in ":/" for _, typed in self.typed_early)
        name = self.keys.table.get((token_of(key, character),))
        return key == "ctrl+c" or (self.scene.now is None and not is_text and name in WITHOUT_SESSION)

    def _key_of_the_prompt(self, key: str, character: str | None) -> None:
        line = self.prompt.feed(key, character)
        if line is not None:
            prompt.entered(self, self.prompt.mode, line)
        elif not self.prompt.is_open:
            self.say("")

    def unknown(self, typed: str) -> None:
        """Report keys without a meaning, each once."""
        if typed not in self.unbound:
            self.unbound.add(typed)
            super().unknown(typed)

    def act(self, pressed: Pressed) -> None:
        """Do an action; until a session is open, only those that need none."""
        if not self.is_open and pressed.action not in WITHOUT_SESSION:
            return
        if self.playback.is_on and pressed.action not in ("play", "faster", "slower"):
            self.playback.stop()
        super().act(pressed)

    def on_chosen(self, message: Chosen) -> None:
        message.stop()
        self.act(Pressed(message.action, message.count, message.argument))

    def on_clicked(self, message: Clicked) -> None:
        message.stop()
        place = next((place for place in self.places if place.panel == message.panel), None)
        if place is not None and self.is_open:
            focus.clicked(self, place, message.x, message.y, message.double)

    def on_brushed(self, message: Brushed) -> None:
        message.stop()
        if self.is_open:
            focus.brushed(self, message.start, message.end)

    def on_wheeled(self, message: Wheeled) -> None:
        message.stop()
        if not self.is_open:
            return
        if message.panel in ("overview", "status", "timeline", "pipeline"):
            self.worker.ask_sum(requests.step, message.by)
        elif message.panel in shown(self.places):
            self.change(panel=message.panel)
            focus.move(self, message.by)

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
