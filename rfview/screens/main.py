"""The main screen: turns keys, the mouse and the worker's messages into actions and scenes."""

from __future__ import annotations

from typing import Any

from textual import events

from rfview import command_line
from rfview.keys import Pressed, token_of
from rfview.messages import Answered, Arrived, Brushed, Busy, Chosen, Clicked, Failed, Notice, Wheeled
from rfview.render import panels, watches
from rfview.render.layout import shown
from rfview.render.panels import ALONE
from rfview.render.scene import Badge
from rfview.screens import requests
from rfview.screens.desk import Desk
from rfview.screens.handlers import focus, prompt
from rfview.screens.handlers.table import HANDLERS
from rfview.screens.opening import first_facts
from rfview.screens.windows.findings import FindingsWindow
from rfview.screens.windows.popup import Popup
from rfview.screens.windows.tables import StatisticsWindow, TraceWindow
from rfview.widgets.prompt import Prompt

SAVED_S = 1.0           # between two looks at the file of the session
WITHOUT_SESSION = ("quit", "help", "close", "message")      # actions that work before a session is open


class MainScreen(Desk):
    """The desk with its keys, the mouse and the worker's messages. Handlers are in handlers/, requests in requests/."""

    HANDLERS = HANDLERS

    def on_mount(self) -> None:
        self.set_interval(SAVED_S, self._look_for_an_edit)

    def _look_for_an_edit(self) -> None:
        """Say that the session's file was saved, once each time, if it can be run again."""
        origin = self.worker.session.origin if self.is_open else None
        if origin is None or self.app.screen is not self or self.prompt.is_open:
            return
        if text := origin.saved(source.path for source in self.worker.session.info.sources):
            self.say(f"{text}{self.keys.tail('reload', 'runs it with the same arguments')}")

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
        if scene.info is not mine.info:
            self.strips.palette.know_states(scene.info.stalls)
        ended = scene.is_closed and scene.first < scene.cycle == scene.last and not scene.fault
        shows_summary = ended and (first or mine.cycle != scene.cycle) and mine.panel not in ALONE
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
        if shows_summary:
            focus.give_keys(self, "summary")
            self.summed_up = scene.cycle
        elif mine.panel == "summary" and self.summed_up not in (-1, scene.cycle):
            focus.leave_layer(self)     # it was shown because the run had ended: the first step leaves it
            self.summed_up = -1
        if first and self.begin is not None:
            self.begin(self)
        if first:
            for key, character in self.typed_early:
                self.key(key, character)

    def on_busy(self, message: Busy) -> None:
        message.stop()
        if message.text:
            if self.scene.badge.kind != "busy":
                self.at_rest = {name: getattr(self.scene, name) for name in ("badge", "message", "message_kind")}
            self.change(badge=Badge("busy", message.text), message=message.detail or self.scene.message,
                        message_kind="info")
        elif self.scene.badge.kind == "busy" and self.at_rest:      # what was gathered has kept the event row
            self.change(**self.at_rest)
        self.busy = message.text

    def on_notice(self, message: Notice) -> None:
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
        from rfview.sessions.compare.comparison import program_difference  # for a fast start: few compare

        if program_difference(pair[0].info, pair[1].info):
            self._compare_programs(pair, names)
            return
        from rfview.screens.compare.screen import CompareScreen  # for a fast start, as above
        from rfview.screens.compare.source import CompareSource

        self.app.push_screen(CompareScreen(self.strips, lambda progress: CompareSource(pair, names, progress), self.worker))

    def _compare_programs(self, pair: Any, names: tuple[str, str]) -> None:
        """Open the screen of two programs; from there, the runs at a line, or the edited file's next run."""
        from rfview.screens.compare.by_line import ProgramsScreen  # for a fast start, as above
        from rfview.screens.compare.programs import ProgramsSource

        def open_both(screen: Any, source: Any, issues: Any) -> None:
            self.app.call_from_thread(self.app.pop_screen)
            self.worker.ask(requests.open_line, source.targets, issues, source.place)

        screen = ProgramsScreen(self.strips, lambda progress: ProgramsSource(pair, names, progress), self.worker)
        screen.open_both = open_both
        screen.reloads = lambda: self.worker.ask(requests.reload)
        self.app.push_screen(screen)

    def on_failed(self, message: Failed) -> None:
        message.stop()
        app: Any = self.app
        app.failure = message.error         # also decides the exit code
        text = f"{message.text}{self.keys.tail('quit', 'quits')}"
        self.change(message=text, message_kind="error", badge=Badge("fault", "✕ ERROR"))

    def _follow_session(self, data: dict[str, Any]) -> None:
        """Adapt to a session that replaced the previous one: another branch, or another kernel."""
        app: Any = self.app
        if data.get("warp") is not None:
            focus.choose_warp(self, data["warp"])
        self.learn_words()
        if "target" in data:
            app.target_command = command_line.for_kernel(app.target_command, data)
            self.change(title=data["name"], scroll=0)

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
        if panels.of(message.panel).is_axis:
            self.worker.ask_sum(requests.step, message.by)
        elif message.panel in shown(self.places):
            self.change(panel=message.panel)
            focus.move(self, message.by)
