"""Requests of the screen to the session worker: one function each, called in the worker's thread.

Each takes the worker, whose `session` and `source` nothing else touches meanwhile, and ends by sending a scene.

    moving       places in time and marks; how a stop is reported
    stops        breakpoints and watchpoints
    questions    command lines, statistics, differences, a brushed stretch, a relief
    gathering    what the overview and panels show at their present widths
    values       values through time: heat, writers, pictures
    second_run   a second run: laid over this one, compared with it, or of the edited program
"""

from rfview.screens.requests.gathering import (
    columns,
    gather,
    pipeline_warp,
    refresh,
    restore_zoom,
    zoom,
)
from rfview.screens.requests.moving import (
    change,
    end,
    event,
    find,
    goto,
    history,
    land,
    line,
    mark,
    next_mark,
    play,
    previous_stop,
    resume,
    run_to,
    run_to_line,
    show,
    step,
    wait_at_line,
)
from rfview.screens.requests.questions import after, brush, brush_to, call, command, diff, relief, statistics, study
from rfview.screens.requests.second_run import compare, open_line, overlay, overlay_warp, reload
from rfview.screens.requests.stops import (
    break_once,
    ignore_hits,
    remove_breakpoint,
    switch_breakpoint,
    toggle_breakpoint,
    toggle_line_breakpoint,
    toggle_watchpoint,
)
from rfview.screens.requests.values import HeatQuestion, heat, heat_kind, image, origin, written

__all__ = ["HeatQuestion", "after", "break_once", "brush", "brush_to", "call", "change", "columns", "command", "compare",
           "diff", "end", "event", "find", "gather", "goto", "heat", "heat_kind", "history", "ignore_hits", "image",
           "land", "line", "mark", "next_mark", "open_line", "origin", "overlay", "overlay_warp", "pipeline_warp", "play",
           "previous_stop", "refresh", "relief", "reload", "remove_breakpoint", "restore_zoom", "resume", "run_to",
           "run_to_line", "show", "statistics", "step", "study", "switch_breakpoint", "toggle_breakpoint",
           "toggle_line_breakpoint", "toggle_watchpoint", "wait_at_line", "written", "zoom"]
