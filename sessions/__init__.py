"""What happened: recordings, timelines and the verbs that travel in them; no terminal, and no numba to start a replay."""

from __future__ import annotations

from rfview.sessions.session import Session, Stop
from rfview.sessions.targets import open_session
from rfview.sessions.timeline.base import Overview, Timeline

__all__ = ["Overview", "Session", "Stop", "Timeline", "open_session"]
