"""Requests for what views show at their present widths: overview, TIMELINE, PIPELINE, LINES."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rfview.messages import Arrived
from rfview.engine.wording import plural

if TYPE_CHECKING:
    from rfview.screens.worker import SessionWorker


def zoom(worker: SessionWorker, by: int, panel: str) -> None:
    """Show a shorter (by > 0) or longer stretch of TIMELINE or PIPELINE if `panel` is one of them, else of the overview."""
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
    """Zoom overview and TIMELINE as they were when the session was left, with `text` as the message."""
    worker.source.zoom = overview
    worker.source.spans.change_zoom(timeline - worker.source.spans.zoom)
    worker.arrive(text)


def columns(worker: SessionWorker, count: int) -> None:
    """Show an overview of `count` columns."""
    worker.columns = worker.source.columns = count
    show_again(worker)


def timeline(worker: SessionWorker, count: int) -> None:
    """From now on, gather what TIMELINE shows in `count` columns; 0 ends that."""
    worker.source.spans.columns = count
    show_again(worker)


def pipeline(worker: SessionWorker, count: int, warp: int) -> None:
    """From now on, gather what PIPELINE shows of a warp in `count` columns; 0 ends that."""
    worker.source.pipes.columns, worker.source.pipes.warp = count, warp
    show_again(worker)


def lines(worker: SessionWorker) -> None:
    """From now on, count what each source line cost, for LINES and CODE."""
    worker.source.counts_lines = True
    show_again(worker)


def pipeline_warp(worker: SessionWorker, warp: int) -> None:
    """Make PIPELINE show another warp."""
    worker.source.pipes.warp = warp
    show_again(worker)


def show_again(worker: SessionWorker) -> None:
    """Show the same cycle with what the views now need; the message stays."""
    worker.post(Arrived(worker.source.scene()).keep())


def refresh(worker: SessionWorker, message: str = "") -> None:
    """Show the scene at the cursor."""
    worker.arrive(message)
