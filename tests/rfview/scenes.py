"""Scenes of the small programs in tests/harness.py, for the lenses."""

from __future__ import annotations

from typing import Any

from rfview.sessions.machine import Machine
from rfview.render.scene import Scene
from tests.harness import Machine as Engine


def scene_of(run: Engine, cycle: int, **more: Any) -> Scene:
    """Return the scene after a cycle, with the one before it for comparison."""
    now, before = (Machine.of(run.snapshots[at]) for at in (cycle + 1, cycle))
    return Scene(now=now, before=before, info=run.simulator.info, **more)
