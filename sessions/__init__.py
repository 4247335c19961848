"""What happened: recordings, timelines, and all that one can ask of them; no terminal, and no numba to start a replay.

    session      looking, searching and breakpoints over a timeline; cursor: moves and the way back; branch: where a
                 fork comes from; targets: what a session can be opened on
    layout       where a named field lies in the recorded words of a state
    byte_cache   what was decoded, bounded by its bytes
    check        races and the like in the whole run, looked for in a process of its own
    guard        what a recording breaks by what it holds, in one sentence
    plot         charts over time, for notebooks
    energy       what has been counted, by name, and the energy that it comes to
    bounds       what a value may have been within chunks, by zone maps alone
    file/        the session file: its bytes, writing and opening, zone maps
    codec/       chunks as bytes, and back
    timeline/    a range of cycles with the state at each: live, replayed, simulated again
    expressions/ the condition language: columns of values over cycles
    search/      finding cycles, and coming back to them
    lines/       source lines: of each instruction, counted, reached
    why/         why a warp waits, back to a physical cause
    heat/        a register's lanes, or a buffer's elements, through time
    pictures/    buffers as pictures, and how a wrong pixel came to be
    branches/    forks, swaps, captures; where a wrong value goes
    compare/     two runs, instruction by instruction
    reports/     tables, statistics, traces, a warp's pipeline
    commands/    debugger commands as text
    export/      formats of other programs
    recorded/    the recording that plain `rfview` shows

Verbs are functions over a session, in the room of what they do; a session knows none of them.
"""

from __future__ import annotations

from rfview.sessions.cursor import Stop
from rfview.sessions.session import Session
from rfview.sessions.targets import open_session
from rfview.sessions.timeline.base import Overview, Timeline

__all__ = ["Overview", "Session", "Stop", "Timeline", "open_session"]
