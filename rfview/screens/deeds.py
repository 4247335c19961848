"""What asking, searching, windows and files do on the main screen; moving is in moves.py, what is looked at in looks.py."""

from __future__ import annotations

import shlex
import textwrap
from typing import TYPE_CHECKING, Any

from rfview.actions import ACTIONS, KeyReader, Pressed
from rfview.render import overview as overview_lines
from rfview.render.footer import event_of, prompt_text
from rfview.render.layout import Place
from rfview.render.registers import FORMATS
from rfview.render.scene import Scene
from rfview.screens.looks import Looks
from rfview.screens.moves import Moves

if TYPE_CHECKING:
    from rfview.screens.driver import Driver
    from rfview.widgets.prompt import Prompt


class Deeds(Moves, Looks):
    """Mixed into MainScreen: one method do_NAME per action."""

    driver: Driver
    prompt: Prompt
    keys: KeyReader
    scene: Scene
    places: list[Place]
    app: Any
    needle: str
    sought: str
    change: Any
    say: Any
    prompt_place: Any
    views: Any
    strips: Any

    # asking

    def do_why(self, pressed: Pressed) -> None:
        """Open the whole chain of reasons."""
        from rfview.screens.windows import WhyWindow

        self.app.push_screen(WhyWindow(self))

    def focused_item(self) -> str:
        """Return the focused thing as an expression."""
        if self.scene.panel == "registers":
            return f"w{self.scene.warp}.R{self.scene.reg}"
        if self.scene.panel == "lens":
            return f"bank[{self.scene.bank}].queue"
        if self.scene.panel == "code":
            return f"w{self.scene.warp}.pc"
        return f"w{self.scene.warp}.state"

    def do_next_change(self, pressed: Pressed) -> None:
        """Go to the focused thing's next change."""
        self.driver.ask("change", self.focused_item(), forward=True)

    def do_last_change(self, pressed: Pressed) -> None:
        """Go to the focused thing's last change."""
        self.driver.ask("change", self.focused_item(), forward=False)

    def do_diff(self, pressed: Pressed) -> None:
        """Choose what the underline compares with."""
        self.driver.ask("diff")

    def do_diff_mark(self, pressed: Pressed) -> None:
        """Underline what has changed since a mark."""
        self.driver.ask("diff", pressed.argument)

    def do_statistics(self, pressed: Pressed) -> None:
        """Open what happened between two marks."""
        from rfview.screens.tables import StatisticsWindow

        brush = self.scene.brush
        self.app.push_screen(StatisticsWindow(self, (brush.first, brush.last) if brush is not None else None))

    def do_brush(self, pressed: Pressed) -> None:
        """Begin a stretch at the cursor, end it there, drop it."""
        self.driver.ask("brush", "")

    def brushed(self, start: int, end: int) -> None:
        """Take the stretch between two columns of the overview."""
        columns = self.app.size.width - 2 * overview_lines.MARGIN
        self.driver.ask("brush_to", tuple(overview_lines.cycle_of(self.scene, x - overview_lines.MARGIN, columns)
                                          for x in (start, end)))

    def do_every_hit(self, pressed: Pressed) -> None:
        """Ask for a tracepoint over the past, with the focused thing as what it shows."""
        self.open_prompt(":", f"trace {self.focused_item()} at ")

    def do_fork(self, pressed: Pressed) -> None:
        """Ask what the branch from here has otherwise."""
        self.open_prompt(":", f"fork b{len(self.driver.session.family) if self.driver.session else 1} set ")

    def do_compare(self, pressed: Pressed) -> None:
        """Run this branch and its parent to the end and show both."""
        self.driver.ask("command", "compare")

    def do_overlay(self, pressed: Pressed) -> None:
        """Lay the other run over this one, or take it off; ask for a recording where no other run is known."""
        session = self.driver.session
        if self.scene.over is None and self.driver.rival is None and session is not None and len(session.family) == 1:
            self.open_prompt(":", "overlay ")
        else:
            self.overlay("")

    def overlay(self, name: str) -> None:
        """Lay a session file or a branch over this run; without a name the last one, or none any more."""
        self.driver.ask("overlay", name, warp=self.scene.warp)

    def do_swap_design(self, pressed: Pressed) -> None:
        """Choose another design or scheduler for the same kernel."""
        from rfview.screens.choose import DesignsWindow

        self.app.push_screen(DesignsWindow(self))

    def do_load_kernel(self, pressed: Pressed) -> None:
        """Choose another kernel for this machine."""
        from rfview.screens.choose import KernelsWindow

        self.app.push_screen(KernelsWindow(self))

    def do_follow(self, pressed: Pressed) -> None:
        """Find where the bits that were lost last went."""
        self.driver.ask("command", "follow")

    def do_next_arrival(self, pressed: Pressed) -> None:
        """Go to the next place that the error reached."""
        self.driver.ask("command", "follow next")

    def do_previous_arrival(self, pressed: Pressed) -> None:
        """Go to the previous place that the error reached."""
        self.driver.ask("command", "follow back")

    def do_capture(self, pressed: Pressed) -> None:
        """Ask for the file to record into from here on, or write what was begun up to here."""
        session = self.driver.session
        if session is not None and "capture" in session.kept:
            self.driver.ask("command", "capture stop")
        else:
            self.open_prompt(":", f"capture {self.scene.info.get('name') or self.scene.title}-{self.scene.cycle}.rfs")

    def open_prompt(self, mode: str, text: str = "") -> None:
        """Show the prompt with a text to go on from."""
        self.change(message=(prompt_text(self.scene).rstrip() if mode == ":" else "search the program /"))
        x, y, width = self.prompt_place()
        self.prompt.styles.offset = (x, y)
        self.prompt.styles.width = width
        self.prompt.open(mode, text)

    def do_search(self, pressed: Pressed) -> None:
        """Ask for a text to search in the program."""
        self.open_prompt("/")

    def do_command(self, pressed: Pressed) -> None:
        """Ask for a command."""
        self.open_prompt(":")

    def entered(self, mode: str, text: str) -> None:
        """Do what was typed at the prompt."""
        if mode == "/":
            self.needle, self.sought = text or self.needle, ""
            self._search(1, include_here=True)
            return
        self.say("")
        if not text:
            return
        word, _, rest = text.partition(" ")
        named = next((action for action in ACTIONS if action.command and text in (action.command, action.name)), None)
        if word in ("q", "quit", "exit"):
            self.app.exit(0)
        elif word in ("warp", "w") and rest.lstrip("w").isdigit():
            self.choose_warp(int(rest.lstrip("w")))
        elif word in ("stepi", "si", "rsi", "reverse-stepi") and not rest:
            self.driver.ask("command", f"{word} {self.scene.warp}")
        elif text in ("next", "nextchange", "last", "lastchange"):
            self.driver.ask("change", self.focused_item(), forward=text.startswith("next"))
        elif word in ("find", "f", "reverse-find", "rf") and rest:
            self.sought = rest
            self._find(1 if word in ("find", "f") else -1)
        elif word == "overlay" and rest:
            self.overlay(rest)
        elif word == "explain" and rest:
            self.explain(rest)
        elif word == "screenshot" and rest:
            self.screenshot(rest)
        elif word == "range" and rest:
            self.driver.ask("brush", rest)
        elif word == "format" and rest in FORMATS:
            self.change(number_format=rest)
        elif word == "panel" and rest.isdigit():
            self.do_panel(Pressed("panel", None, rest))
        elif named is not None and named.name not in ("goto_mark", "mark") and not _is_verb(word):
            getattr(self, f"do_{named.name}")(Pressed(named.name))
        else:
            self.driver.ask("command", text)

    def _search(self, by: int, include_here: bool = False) -> None:
        """Move CODE's cursor to the next instruction that contains the text."""
        if not self.needle:
            self.say("nothing to search for yet: / asks for a text")
            return
        program = self.scene.info.get("program", ())
        assert self.scene.now is not None
        here = self.cursor_pc()
        for offset in range(0 if include_here else 1, len(program) + 1):
            pc = (here + by * offset) % max(1, len(program))
            entry = program[pc]
            if self.needle.lower() in f"{entry['text']} line {entry['line']}".lower():
                self.change(scroll=pc - self.scene.now.pc[self.scene.warp], panel="code",
                            message=f"{self.needle}: {entry['text']}, line {entry['line']}; t runs to it",
                            message_kind="info")
                return
        self.say(f"no instruction contains {self.needle!r}", "error")

    def _find(self, by: int) -> None:
        """Go to the next or previous cycle in which what was asked for with `find` holds."""
        self.driver.ask("find", self.sought, forward=by > 0, count=abs(by))

    def do_search_next(self, pressed: Pressed) -> None:
        """Go to the next hit, in the program or, after `find`, in time."""
        if self.sought:
            self._find(pressed.count or 1)
        else:
            self._search(1)

    def do_search_previous(self, pressed: Pressed) -> None:
        """Go to the previous hit."""
        if self.sought:
            self._find(-(pressed.count or 1))
        else:
            self._search(-1)

    def do_help(self, pressed: Pressed) -> None:
        """Open the help."""
        from rfview.screens.help import HelpScreen

        self.app.push_screen(HelpScreen(self.scene, self.keys.own))

    def do_explain(self, pressed: Pressed) -> None:
        """Say what the focused thing is, with the paper's section or our assumption."""
        from rfview.learn import terms

        self.open_text(tuple(terms.at_focus(self.scene, self.app.size.width - 8)))

    def explain(self, word: str) -> None:
        """Explain a term in a window, or say that nothing does."""
        from rfview.engine.errors import InputError
        from rfview.learn import terms

        try:
            self.open_text(tuple(terms.text_of(word, width=self.app.size.width - 8)))
        except InputError as error:
            self.say(str(error), "error")

    def do_message(self, pressed: Pressed) -> None:
        """Show what the event row says, all of it."""
        text = event_of(self.scene)[0]
        if text:
            self.open_text(tuple(textwrap.wrap(text, max(20, min(108, self.app.size.width - 8)))), "MESSAGE")
        else:
            self.say("no message now")

    def open_text(self, lines: tuple[str, ...], name: str = "ANSWER") -> None:
        """Show several lines in a window."""
        from rfview.screens.windows import TextWindow

        self.app.push_screen(TextWindow(lines, name))

    def do_palette(self, pressed: Pressed) -> None:
        """Open the palette."""
        self.app.action_command_palette()

    def view_command(self) -> str:
        """Return the command line that shows this view again."""
        from rfview import recipe

        rival = self.driver.rival if self.scene.over is not None else None
        over = f" --overlay {shlex.quote(str(rival.path))}" if rival is not None else ""
        line = recipe.command_line(self.app.target_command, self.driver.session, self.scene.cycle, self.scene.warp)
        return line + over

    def do_copy(self, pressed: Pressed) -> None:
        """Copy the command line and show it."""
        text = self.view_command()
        self.app.copy_to_clipboard(text)
        self.say(f"copied: {text}", "good")

    def do_screenshot(self, pressed: Pressed) -> None:
        """Write the screen into a file that is named by kernel, design and cycle."""
        info = self.scene.info
        name = f"{info.get('name') or self.scene.title}-{info.get('design', '')}-{self.scene.cycle}".replace("/", "_")
        self.screenshot(f"{name}.svg")

    def screenshot(self, name: str) -> None:
        """Write the screen as SVG, colours and all, or as plain text where the name ends in .txt."""
        from pathlib import Path

        from rfview.render.frame import drawn

        file = Path(name).expanduser()
        if file.suffix not in (".svg", ".txt"):
            self.say(f"screenshot {name}: expected a name that ends in .svg or .txt", "error")
            return
        self.say("")
        try:
            if file.suffix == ".txt":
                rows = drawn([(place, self.views[place.panel].lines) for place in self.places], *self.app.size)
                file.write_text(self.strips.palette.text("\n".join(rows)) + "\n", encoding="utf-8")
            else:
                file.write_text(self.app.export_screenshot(title=self.view_command()), encoding="utf-8")
        except OSError as error:
            self.say(f"screenshot {name}: cannot be written: {error.strerror or error}", "error")
            return
        self.say(f"written: {file}", "good")

    def entered_session(self, data: dict[str, Any]) -> None:
        """Go along with a session that took the place of the one before: another branch, or another kernel."""
        if data.get("warp") is not None:
            self.choose_warp(data["warp"])
        if "target" in data:
            from rfview import recipe

            self.app.target_command = recipe.for_kernel(self.app.target_command, data)
            self.change(title=data["name"], scroll=0)

    def after_arrival(self) -> None:
        """Keep windows over the main screen in step with it."""
        top = self.app.screen
        if top is not self and hasattr(top, "follow"):
            top.follow()

    def failed(self, text: str, error: Any) -> None:
        """Say that the session could not be opened; the exit code says so too."""
        self.app.failure = error
        self.change(message=f"{text}  q quits", message_kind="error")
        from rfview.render.scene import Badge

        self.change(badge=Badge("fault", "✕ ERROR"))


def _is_verb(word: str) -> bool:
    """Say whether the command language knows a word itself."""
    from rfview.sessions.commands.table import ALIASES

    return word in ALIASES
