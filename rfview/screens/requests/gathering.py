"""Requests for what the views gather as wide as they are: overview, TIMELINE, PIPELINE, LINES."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rfview.messages import Arrived
from rfview.render.text import plural

if TYPE_CHECKING:
    from rfview.screens.worker import SessionWorker


def zoom(worker: SessionWorker, by: int, panel: str) -> None:
    """Show a shorter stretch (by > 0) or a longer one, of TIMELINE or PIPELINE where that is open, else of the overview."""
    source = worker.source
    if panel in ("timeline", "pipeline"):
        axis = source.spans if panel == "timeline" else source.pipes
        axis.change_zoom(-by)
        worker.arrive(f"1 column = {plural(axis.per, 'cycle')}")
        return
    source.zoom = max(0, min(24, source.zoom + by))
    first, last = source.span()
    worker.arrive(f"overview: {first:,} to {last:,}" if source.zoom else "overview: the whole run")


def restore_zoom(worker: SessionWorker, overview: int, timeline: int, text: str) -> None:
    """Zoom overview and TIMELINE as they were when the session was left, and say `text`."""
    worker.source.zoom = overview
    worker.source.spans.change_zoom(timeline - worker.source.spans.zoom)
    worker.arrive(text)


def columns(worker: SessionWorker, count: int) -> None:
    """Gather an overview of `columns` columns."""
    worker.columns = worker.source.columns = count
    show_again(worker)


def timeline(worker: SessionWorker, count: int) -> None:
    """Gather what TIMELINE shows from now on, in as many columns; 0 ends that."""
    worker.source.spans.columns = count
    show_again(worker)


def pipeline(worker: SessionWorker, count: int, warp: int) -> None:
    """Gather what PIPELINE shows of a warp from now on, in as many columns; 0 ends that."""
    worker.source.pipes.columns, worker.source.pipes.warp = count, warp
    show_again(worker)


def lines(worker: SessionWorker) -> None:
    """Count what each source line cost from now on, as LINES and CODE show it."""
    worker.source.counts_lines = True
    show_again(worker)


def pipeline_warp(worker: SessionWorker, warp: int) -> None:
    """Let PIPELINE show another warp."""
    worker.source.pipes.warp = warp
    show_again(worker)


def show_again(worker: SessionWorker) -> None:
    """Show the same place with what the views now ask for, the message as it is."""
    worker.post(Arrived(worker.source.scene()).keep())


def refresh(worker: SessionWorker, message: str = "") -> None:
    """Show where the session stands."""
    worker.arrive(message)
