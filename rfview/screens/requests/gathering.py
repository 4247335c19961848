"""Requests for what the overview and panels show at their present widths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rfview.engine.wording import plural
from rfview.messages import Arrived

if TYPE_CHECKING:
    from rfview.screens.session_worker import SessionWorker


def zoom(worker: SessionWorker, by: int, panel: str) -> None:
    """Show a shorter (by > 0) or longer stretch of a panel along whose time one can zoom, else of the overview."""
    source = worker.source
    axis = source.gathered.get(panel)
    if axis is not None and axis.PER:
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


def gather(worker: SessionWorker, panel: str, count: int, warp: int) -> None:
    """From now on, gather what a panel shows of a warp, or of all, in `count` columns; 0 ends that."""
    source = worker.source.gathered[panel]
    source.columns, source.warp = count, warp
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
