"""What can be opened as a session: a recording, a launch file or the name of a bundled kernel."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rfview.engine import defaults
from rfview.engine.errors import InputError
from rfview.engine.progress import Progress
from rfview.sessions.search.marks import Marks
from rfview.sessions.session import Session


def open_session(
    target: str | Path,
    *,
    design: str = defaults.DESIGN,
    scheduler: str = defaults.SCHEDULER,
    preset: str = defaults.PRESET,
    settings: Mapping[str, str | int | float] | None = None,
    max_cycles: int = defaults.MAX_CYCLES,
    progress: Progress | None = None,
) -> Session:
    """Open a recording (.rfs) to replay, or a launch file or bundled kernel name to run live.

    design, scheduler, preset, settings, max_cycles: of a live run; a recording contains its own. progress: while code is
    compiled.
    Raises InputError if the target is none of these, cannot be used, or is given a machine other than its own.
    """
    from rfview.sessions.timeline.opening import is_recording, open_recording   # start-up: listing targets does not need it

    path = Path(target)
    machine = {"design": design, "scheduler": scheduler, "preset": preset}
    given = {**{name: value != defaults.MACHINE[name] for name, value in machine.items()},
             "settings": bool(settings), "max_cycles": max_cycles != defaults.MAX_CYCLES}
    if path.suffix == ".rfs" or (path.is_file() and is_recording(path)):
        _refuse(path, given)
        session = Session(open_recording(path), Marks(path.with_name(path.name + ".marks.json")))
        session.compiling = progress
        return session
    from rfview.sessions.timeline.live import open_live    # imports numba

    timeline = open_live(target, **machine, settings=settings or {}, max_cycles=max_cycles, progress=progress)
    return Session(timeline)


def open_bundled(path: Path) -> Session:
    """Open a recording that comes with rfview; its marks end with the session: installed files do not change."""
    from rfview.sessions.timeline.opening import open_recording     # start-up, as above

    return Session(open_recording(path))


def _refuse(path: Path, given: Mapping[str, bool]) -> None:
    """Raise InputError for machine options given to a recording, which contains its machine: they would change nothing."""
    for name in (name for name, is_given in given.items() if is_given):
        raise InputError(f"{path}: the recording fixes its machine; leave out {name}, or open the kernel itself")
