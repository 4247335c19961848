"""The same run without lost bits: simulated once from its first cycle and kept with the session."""

from __future__ import annotations

from rfview.sessions.branches.fork import machine_at
from rfview.sessions.session import Session
from rfview.sessions.timeline.base import Timeline
from rfview.sessions.timeline.live import LiveTimeline


def loses_bits(session: Session) -> bool:
    """Say whether the run's design, with its parameters, can lose bits at all."""
    key = _switch(session)
    return "bits_lost" in session.info.design_events and key != "" and session.info.parameters[key] != "none"


def right_run(session: Session) -> Timeline:
    """Return the run without lost bits; both runs are simulated to their ends.

    Raises InputError if the run cannot be simulated, and when session.progress asks to stop.
    """
    right: LiveTimeline | None = session.memo.get("right")
    if right is None:
        machine, _ = machine_at(session.timeline, session.timeline.first, {_switch(session): "none"}, session.progress,
                                session.compiling)
        right = LiveTimeline(machine)
        right.run_to_end(session.progress, "image")
        session.memo["right"] = right
    session.timeline.run_to_end(session.progress, "image")
    return right


def _switch(session: Session) -> str:
    """Return the parameter that determines how bits are lost, or "" if the design has none."""
    return next((key for key in session.info.parameters if key.endswith(".error_mode")), "")
