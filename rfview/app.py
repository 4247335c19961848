"""The terminal program: one Textual app over one session, and the same screen as plain text."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rfview.engine.errors import RfviewError
from rfview.graphics import choose_kind
from rfview.palette import Palette, choose_theme

if TYPE_CHECKING:
    from rfview.sessions.session import Session


def render_text(session: Session, width: int = 120, height: int = 40, *, ascii_only: bool = False, warp: int = 0) -> str:
    """Return the main screen at the session's cursor as plain text; needs no terminal and no Textual.

    warp: the slot in focus, if it exists; 0 means the first one that holds a warp.
    """
    from rfview.render.footer import footer_hints
    from rfview.render import frame
    from rfview.render.panels import FIRST
    from rfview.screens.scenes.source import SceneSource
    from rfview.sessions.guard import consistent

    with consistent(session.timeline):
        source = SceneSource(session)
        source.columns = max(8, width - 2)
        scene = source.scene()
        resident = scene.now.resident if scene.now else 0
        focus = min(warp, scene.now.num_warps - 1) if scene.now else 0
        if not focus and resident:
            focus = (resident & -resident).bit_length() - 1
        scene = scene.at(warp=focus, panel="")
        text = frame.as_text(scene, width, height, footer_hints(FIRST, width))
    palette = Palette("mono", ascii_only)
    palette.know_states(session.info.stalls)
    return palette.text(text)


def make_app(opener: Callable[..., Session], *, title: str = "", theme: str | None = None, ascii_only: bool = False,
             target: str = "", keymap: dict[str, str] | None = None, begin: Callable[[Any], None] | None = None,
             command: str = "") -> Any:
    """Return the app, not yet running. opener(report) opens the session, in a thread after the first frame.

    command: the command line that opens the same session, for `y`; begin: called with the main screen once it shows the
    session.
    """
    chosen = choose_theme(theme, dict(os.environ))
    choose_kind(os.environ)     # an unknown word is reported now, not when a picture is requested
    # start-up: --plain and --json come here without Textual
    from rfview.screens.host import HostApp
    from rfview.screens.main import MainScreen
    from rfview.screens.session_worker import SessionWorker

    class RfviewApp(HostApp):
        """One session on the screen."""

        target_command = command or f"rfview {'replay' if target.endswith('.rfs') else 'debug'} {target or title}"

        def __init__(self) -> None:
            super().__init__(Palette(chosen, ascii_only), keymap)
            self.worker = SessionWorker(opener, self._from_worker)
            self.main = MainScreen(self.worker, self.strips, title, self.own_keys)
            self.main.begin = begin

        def on_mount(self) -> None:
            super().on_mount()
            self.call_after_refresh(self.worker.start)

        def _from_worker(self, message: Any) -> None:
            if self.is_running:
                self.main.post_message(message)

        async def on_unmount(self) -> None:
            self.worker.close()

    return RfviewApp()


def run_app(session: Session | Callable[..., Session], *, title: str = "", ascii_only: bool = False, target: str = "",
            keymap: dict[str, str] | None = None, begin: Callable[[Any], None] | None = None, command: str = "") -> int:
    """Show a session in the terminal until the user leaves; return the exit code.

    session: an open session, or opener(report) -> session, called in a thread after the first frame; report takes
    (share, text) while a machine is compiled. begin, command: as in make_app.
    """
    from rfview import line_history
    from rfview.sessions.expressions.ptx_names import kernel_name

    opener = session if callable(session) else lambda report: session
    name = title or (kernel_name(session.info.kernel) if not callable(session) else "")
    app = make_app(opener, title=name, ascii_only=ascii_only, target=target, keymap=keymap, begin=begin, command=command)
    app.main.past = line_history.LineHistory(line_history.path())
    try:
        code = app.run() or app.return_code
    finally:
        if callable(session) and app.worker.is_open:
            app.worker.session.close()
    if app.failure is not None:
        if not isinstance(app.failure, RfviewError):
            raise app.failure
        return app.failure.exit_code
    return int(code or 0)
