"""The view of a recording, kept in `<file>.view.json` next to it: the next `rfview replay` opens it as it was left.

The file is one JSON object: "format": 1, "run": the run it belongs to, "cycle", what the screen had in focus (KEPT),
the zooms, "overlay": the overlaid recording, and "breakpoints", including watchpoints. Anything missing, of the wrong
type or out of range gets its default; a bad view file never keeps a recording from opening.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfview.engine import files
from rfview.engine.errors import InputError, RfviewError
from rfview.render.panels import FOCUSABLE
from rfview.render.registers import FORMATS

if TYPE_CHECKING:
    from rfview.screens.desk import Desk
    from rfview.sessions.session import Session

FORMAT = 1
SUFFIX = ".view.json"
KEPT = ("warp", "bank", "lane", "reg", "scroll", "speed", "number_format", "code_source", "code_lines",
        "line")    # of the scene
BREAKPOINT = {"kind": str, "value": int, "warp": int | None, "condition": str, "temporary": bool, "ignore": int,
              "item": str}      # and the types that the file must have


class View:
    """The view of one recording: read, applied to session and screen, and written if it has changed."""

    def __init__(self, recording: str | Path, *, fresh: bool = False):
        """fresh: ignore the saved view, but save the one at the end."""
        path = Path(recording)
        self.path = path.with_name(path.name + SUFFIX)
        self.recording = path
        self.data: dict[str, Any] = {}
        self.note = ""
        self.main: Desk | None = None
        self.session: Session | None = None
        self.opened: dict[str, Any] = {}
        if not fresh:
            self._load()

    def _load(self) -> None:
        try:
            data = files.read_json(self.path)
            if not isinstance(data, dict) or data.get("format") != FORMAT:
                raise ValueError("not of a format that this rfview reads")
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            self.note = f"opened afresh: {self.path.name} cannot be read ({error})"
            return
        self.data = data

    # opening

    def apply(self, session: Session) -> None:
        """Restore the cursor and the breakpoints."""
        self.session = session
        if self.data and self.data.get("run") != _run(session):
            self.data, self.note = {}, f"opened afresh: {self.path.name} belongs to another run"
        timeline = session.timeline
        cycle = self._number("cycle", timeline.first, timeline.last, session.cycle)
        here = session.cycle
        try:
            session.goto(cycle)
            session.snapshot()
        except RfviewError:     # that part of the recording is damaged
            session.goto(here)
        session.came_from = None
        points = self.data.get("breakpoints")
        for entry in points if isinstance(points, list) else ():
            try:
                facts = {key: _typed(entry[key], kind) for key, kind in BREAKPOINT.items()}
                is_enabled = _typed(entry["enabled"], bool)
                point = session.add_breakpoint(facts.pop("kind"), facts.pop("value"), **facts)
                point.enabled = is_enabled
            except (RfviewError, KeyError, TypeError, ValueError, AttributeError):
                continue        # a kind of breakpoint unknown to this version

    def begin(self, main: Desk) -> None:
        """Restore focus, panel, zooms and overlay on the screen, after its first frame."""
        self.main = main
        self._without_doubles()
        if self.data:
            at = f", at cycle {main.scene.cycle:,}" if main.scene.cycle == self.data.get("cycle") else " but for the cycle"
            self.note = f"as it was left{at}; replay --fresh opens it afresh"
            self._focus(main)
        elif self.note:
            main.say(self.note)
        self.opened = self._now()

    def _without_doubles(self) -> None:
        """Remove breakpoints that a start-up file has set again."""
        assert self.session is not None
        seen = set()
        for number, point in list(self.session.breakpoints.items()):
            if point.text in seen:
                self.session.remove_breakpoint(number)
            seen.add(point.text)

    def _focus(self, main: Desk) -> None:
        from rfview.screens import requests             # start-up: --plain reads views without Textual
        from rfview.screens.handlers import focus

        scene, now = main.scene, main.scene.now
        assert now is not None
        facts: dict[str, Any] = {
            "warp": self._number("warp", 0, now.num_warps - 1, scene.warp),
            "bank": self._number("bank", 0, now.num_banks - 1), "lane": self._number("lane", 0, 31),
            "reg": self._number("reg", 0, max(0, now.registers - 1)),
            "scroll": self._number("scroll", -(1 << 16), 1 << 16), "speed": self._number("speed", 1, 1_000_000, scene.speed),
            "code_source": self.data.get("code_source") is True,
            "code_lines": self.data.get("code_lines") is not False, "line": self._number("line", -1, 1 << 20, -1),
        }
        if self.data.get("number_format") in FORMATS:
            facts["number_format"] = self.data["number_format"]
        main.scene = scene.at(**facts)
        if self.data.get("back_to") in FOCUSABLE:
            focus.give_keys(main, self.data["back_to"])
        if self.data.get("panel") in FOCUSABLE:
            focus.give_keys(main, self.data["panel"])
        if self.data.get("zoomed") is True and not main.zoomed:
            main.zoomed = True
        main.lay_out()
        main.worker.ask(requests.restore_zoom, self._number("overview_zoom", 0, 24), self._number("timeline_zoom", 0, 24),
                        self.note)
        other = self.data.get("overlay")
        if isinstance(other, str):
            main.overlay(str(self.recording.parent / other))

    def _number(self, name: str, low: int, high: int, default: int = 0) -> int:
        value = self.data.get(name)
        return max(low, min(high, value)) if isinstance(value, int) and not isinstance(value, bool) else default

    # leaving

    def _now(self) -> dict[str, Any]:
        """Return the view as it is."""
        main, session = self.main, self.session
        assert main is not None and session is not None
        scene, source = main.scene, main.worker.source
        over = main.worker.rival if scene.over is not None else None
        points = [{**{key: getattr(point, key) for key in BREAKPOINT}, "enabled": point.enabled}
                  for point in session.breakpoints.values()]
        return {
            "format": FORMAT, "run": _run(session), "cycle": session.cycle, **{key: getattr(scene, key) for key in KEPT},
            "panel": scene.panel, "back_to": main.back_to, "zoomed": main.zoomed, "overview_zoom": source.zoom,
            "timeline_zoom": source.spans.zoom, "overlay": self._relative(over.path) if over is not None else None,
            "breakpoints": points,
        }

    def _relative(self, path: Path) -> str:
        """Return another recording's path relative to this one's folder, so that both can be moved together."""
        here, there = self.recording.resolve().parent, Path(path).resolve()
        return str(there.relative_to(here)) if there.is_relative_to(here) else str(there)

    def keep(self) -> None:
        """Write the view if it has changed since the start; if that fails, say so on stderr."""
        if self.main is None:
            return
        now = self._now()
        if now == self.opened:
            return
        try:
            files.write(self.path, json.dumps(now, indent=1) + "\n")
        except InputError as error:
            print(f"rfview: the view was not saved: {error}", file=sys.stderr)


def _typed(value: Any, kind: Any) -> Any:
    """Return a value of the file; raises TypeError for one of another type. True is no number here."""
    if not isinstance(value, kind) or isinstance(value, bool) and kind is not bool:
        raise TypeError(f"expected {kind}")
    return value


def _run(session: Session) -> list[Any]:
    """Return what distinguishes a recording from others of the same name."""
    info = session.info
    return [info.kernel, info.design, info.scheduler, info.source_hash, session.timeline.last]
