"""Scenes of the small programs in tests/harness.py, for the lenses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rfview.render import lens
from rfview.sessions.machine import Machine
from rfview.render.scene import Scene
from tests.harness import Machine as Engine

# places of the REGISTER FILE panel, narrow and wide, low and high
SIZES = ((58, 18), (40, 10), (58, 34), (30, 6), (99, 40), (58, 3), (120, 18), (54, 8), (40, 3))


def fits(scenes: Iterable[Scene]) -> None:
    """Assert that the panel is as large as its place, and names the design, whatever its place."""
    for scene in scenes:
        for width, height in SIZES:
            lines = lens.render(scene, width, height)
            assert len(lines) == height and {len(line.plain) for line in lines} == {width}
            assert lens.base_design(scene.info.design) in lines[0].plain


def scene_of(run: Engine, cycle: int, **more: Any) -> Scene:
    """Return the scene after a cycle, with the one before it for comparison."""
    now, before = (Machine.of(run.snapshots[at]) for at in (cycle + 1, cycle))
    return Scene(now=now, before=before, info=run.simulator.info, **more)
