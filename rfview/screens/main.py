"""The main screen: panels in their places, keys and mouse turned into requests, scenes into lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen

from rfview import actions
from rfview.actions import KeyReader, Pressed, token_of
from rfview.messages import Answered, Arrived, Brushed, Busy, Chosen, Clicked, Failed, Said, Wheeled
from rfview.render import footer as footer_lines
from rfview.render import frame, pipeline, timeline
from rfview.render.layout import Place, layout, shown
from rfview.render.scene import Badge, Scene
from rfview.screens.deeds import Deeds
from rfview.screens.driver import Driver
from rfview.screens.opening import first_facts, hints, waiting
from rfview.screens.tables import StatisticsWindow, TraceWindow
from rfview.widgets.code import CodeView
from rfview.widgets.collectors import CollectorsView
from rfview.widgets.event_row import EventView
from rfview.widgets.footer import FooterView
from rfview.widgets.lens import LensView
from rfview.widgets.overview import OverviewView
from rfview.widgets.panel import PanelView, StripCache
from rfview.widgets.pipeline import PipelineView
from rfview.widgets.prompt import Prompt
from rfview.widgets.registers import RegistersView
from rfview.widgets.stalls import StallsView
from rfview.widgets.status import StatusView
from rfview.widgets.timeline import TimelineView
from rfview.widgets.warps import WarpsView
from rfview.widgets.why import WhyView

VIEWS: tuple[type[PanelView], ...] = (
    StatusView, OverviewView, WarpsView, LensView, CollectorsView, WhyView, CodeView, StallsView, RegistersView,
    TimelineView, PipelineView, EventView, FooterView,
)


# actions that mean something before there is a session
WITHOUT_SESSION = ("quit", "help", "close", "message")


class MainScreen(Deeds, Screen[None]):
    """Shows one session. State of its own is only what the user looks at: warp, panel, scroll, formats."""

    def __init__(self, driver: Driver, strips: StripCache, title: str, keymap: dict[str, str] | None = None,
                 scene: Scene | None = None):  # fmt: skip
        super().__init__(id="main")
        self.driver, self.strips = driver, strips
        self.keys = KeyReader(keymap)
        self.scene = waiting(title, self.keys.own) if scene is None else scene
        self.is_open = False        # a scene may be known before the driver has the session
        self.typed_early: list[tuple[str, str | None]] = []
        self.places: list[Place] = []
        self.zoomed = False
        self.back_to = "warps"
        self.needle = ""
        self.sought = ""     # what `find` looks for; n and N repeat it
        self.playing = False
        self.busy = ""
        self.span_columns = self.pipe_columns = 0
        self.begin: Callable[[Any], None] | None = None     # what follows the first frame of the session

    def compose(self) -> ComposeResult:
        for view in VIEWS:
            yield view(self.strips)
        from rfview.sessions.commands.table import ALIASES, VERBS

        yield Prompt([*VERBS, *ALIASES, *(action.command for action in actions.ACTIONS if action.command)])

    def on_mount(self) -> None:
        self.views = {view.panel: view for view in self.query(PanelView)}
        self.prompt = self.query_one(Prompt)
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
        self.places = layout(width, height, self.scene.panel, self.zoomed)
        names = {place.panel for place in self.places}
        for name, view in self.views.items():
            if name not in names:
                view.display = False
        for place in self.places:
            self.views[place.panel].place(place.x, place.y, place.width, place.height)
        columns = max(8, width - 2)
        if columns != self.driver.columns:
            self.driver.columns = columns
            self.driver.ask("columns", columns)
        span = next((timeline.columns_of(place.width) for place in self.places if place.panel == "timeline"), 0)
        if span != self.span_columns:
            self.span_columns = span
            self.driver.ask("timeline", span)
        pipes = next((pipeline.columns_of(place.width) for place in self.places if place.panel == "pipeline"), 0)
        if pipes != self.pipe_columns:
            self.pipe_columns = pipes
            self.driver.ask("pipeline", pipes, warp=self.scene.warp)
        self.repaint_panels()

    def repaint_panels(self) -> None:
        """Paint every panel shown; rows that did not change cost nothing."""
        scene = self.scene
        if scene.over is not None and scene.over.warp != scene.warp:
            self.driver.ask("overlay_warp", scene.warp)
        if scene.pipes is not None and scene.pipes.warp != scene.warp:
            self.driver.ask("pipeline_warp", scene.warp)
        width = self.app.size.width
        for place in self.places:
            view = self.views[place.panel]
            if place.panel == "footer":
                view.show_hints(hints(scene, width, self.keys.own, self.zoomed), width)  # type: ignore[attr-defined]
            else:
                view.show(frame.paint(scene, place))

    def change(self, **facts: object) -> None:
        """Replace some of the view's facts and paint."""
        self.scene = self.scene.at(**facts)
        self.repaint_panels()

    def say(self, text: str, kind: str = "info") -> None:
        """Write the event row."""
        self.change(message=text, message_kind=kind)

    # what the driver reports

    def on_arrived(self, message: Arrived) -> None:
        message.stop()
        scene, mine = message.scene, self.scene
        count = scene.now.num_warps if scene.now else 1
        facts = {
            "warp": min(mine.warp, count - 1), "panel": mine.panel, "bank": mine.bank, "lane": mine.lane, "reg": mine.reg,
            "number_format": mine.number_format, "code_source": mine.code_source, "scroll": mine.scroll,
            "title": mine.title, "speed": mine.speed, "note": mine.note, "own_keys": mine.own_keys,
        }
        if message.keeps_message:
            facts |= {"message": mine.message, "message_kind": mine.message_kind, "badge": mine.badge}
        first, self.is_open = not self.is_open, True
        if first:
            facts |= first_facts(scene.at(own_keys=mine.own_keys))
        self.scene = scene.at(**facts)
        if first:
            self.lay_out()
        self.repaint_panels()
        self.after_arrival()
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
            self.stop_playing()
        elif message.lines:
            self.open_text(message.lines)
        else:
            self.say(message.text, message.kind)

    def on_answered(self, message: Answered) -> None:
        message.stop()
        top = self.app.screen
        if message.kind == "session":
            self.entered_session(message.data)
        elif message.kind == "stalled":
            if message.data and self.scene.warp not in message.data:
                self.choose_warp(message.data[0])       # so that `e` tells of the stall that was asked for
        elif message.kind == "trace":
            self.app.push_screen(TraceWindow(self, message.data))
        elif message.kind == "stats":
            self.app.push_screen(StatisticsWindow(self, (message.data["first"], message.data["last"])))
        elif isinstance(top, StatisticsWindow):
            top.answered(message.data)

    def on_failed(self, message: Failed) -> None:
        message.stop()
        self.failed(message.text, message.error)

    # keys and mouse

    async def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        self.key(event.key, event.character)

    def on_prompt_typed(self, message: Prompt.Typed) -> None:
        message.stop()
        self.key(message.key, message.character)

    def key(self, key: str, character: str | None) -> None:
        """Take a key, in the order typed: it may belong to a prompt or window that was opened by a key before it."""
        if key == "ctrl+q":
            self.act(Pressed("quit"))
        elif self.app.screen is not self:
            self.app.screen.post_message(events.Key(key, character))
        elif not self.is_open and not self._is_for_now(key, character):
            self.typed_early.append((key, character))       # the screen is there already, before the session
        elif self.prompt.is_open:
            line = self.prompt.take(key, character)
            if line is not None:
                self.entered(self.prompt.mode, line)
            elif not self.prompt.is_open:
                self.say("")
        elif key == "ctrl+c":
            self.act(Pressed("close"))
        else:
            self._key_of_an_action(key, character)

    def _is_for_now(self, key: str, character: str | None) -> bool:
        """Say whether a key is for a session that is still being opened, which takes long where code is compiled."""
        is_text = any(typed and typed in ":/" for _, typed in self.typed_early)
        name = self.keys.table.get((token_of(key, character),))
        return key == "ctrl+c" or (self.scene.now is None and not is_text and name in WITHOUT_SESSION)

    def _key_of_an_action(self, key: str, character: str | None) -> None:
        pending = self.keys.shown
        pressed = self.keys.feed(token_of(key, character))
        if pressed is not None:
            if pending and self.scene.message == pending:
                self.say("")        # the digits that were typed before the key
            self.act(pressed)
        elif self.keys.shown:
            self.say(self.keys.shown)
        elif pending and self.scene.message == pending:
            self.say("")

    def act(self, pressed: Pressed) -> None:
        """Do an action; until a session is open only those that need none."""
        if not self.is_open and pressed.action not in WITHOUT_SESSION:
            return
        if pressed.action != "play" and self.playing and pressed.action not in ("faster", "slower"):
            self.stop_playing()
        getattr(self, f"do_{pressed.action}")(pressed)

    def on_chosen(self, message: Chosen) -> None:
        message.stop()
        self.act(Pressed(message.action, message.count, message.argument))

    def on_clicked(self, message: Clicked) -> None:
        message.stop()
        place = next((place for place in self.places if place.panel == message.panel), None)
        if place is not None and self.is_open:
            self.clicked(place, message.x, message.y, message.double)

    def on_brushed(self, message: Brushed) -> None:
        message.stop()
        if self.is_open:
            self.brushed(message.start, message.end)

    def on_wheeled(self, message: Wheeled) -> None:
        message.stop()
        if not self.is_open:
            return
        if message.panel in ("overview", "status", "timeline", "pipeline"):
            self.driver.ask("step", message.by)
        elif message.panel in shown(self.places):
            self.change(panel=message.panel)
            self.move(message.by)

    def prompt_place(self) -> tuple[int, int, int]:
        """Return (x, y, width) of the prompt: the event row behind its label."""
        place = next(place for place in self.places if place.panel == "event")
        label = len(footer_lines.prompt_text(self.scene)) + 1
        return label, place.y, max(8, place.width - label)
