"""What happened: recordings, timelines, and all queries on them; without a terminal, and without numba for replays.

    session      inspecting, searching and breakpoints over a timeline; cursor: moves and history; branch: where a
                 fork comes from; targets: what can be opened as a session
    warps        warps as people write them
    layout       where a named field is in the recorded words of a state
    byte_cache   a cache bounded by bytes, for decoded data
    check        checks the whole run for races and the like, in a separate process
    guard        turns errors caused by an inconsistent recording into one message
    plot         charts over time, for notebooks; drawn_chart: shown as a picture, also offline
    machine      the machine at one cycle, for `why` and painters; producers: who writes a register
    energy       event counts by name, and the energy computed from them
    file/        the session file: its bytes, writing and opening, zone maps
    codec/       chunks as bytes, and back
    timeline/    a range of cycles with the state at each: live, replayed, simulated again
    expressions/ the condition language: columns of values over cycles
    search/      finding cycles, and coming back to them
    lines/       source lines: of each instruction, counted, reached
    why/         why a warp waits, back to a physical cause
    summary/     what limited a run, in at most five sentences
    causes/      every lost warp-cycle, charged to who waited and to who held it up
    heat/        a register's lanes or a buffer's elements over time
    pictures/    buffers as pictures, and the cause of a wrong pixel
    branches/    forks, swaps, captures; where a wrong value spreads
    compare/     two runs compared instruction by instruction
    reports/     tables, statistics, traces, a warp's pipeline
    commands/    debugger commands as text
    export/      formats of other programs
    recorded/    the recording shown by plain `rfview`

Verbs are functions over a session, each in the room for its subject; Session does not know them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rfview.sessions.cursor import Stop
    from rfview.sessions.session import Session
    from rfview.sessions.targets import open_session
    from rfview.sessions.timeline.base import Overview, Timeline

__all__ = ["Overview", "Session", "Stop", "Timeline", "open_session"]
HOMES = {"Overview": "timeline.base", "Session": "session", "Stop": "cursor", "Timeline": "timeline.base",
         "open_session": "targets"}


def __getattr__(name: str) -> Any:
    """Import one of the names above on first use: who counts the lines of a run needs a third of this package."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
