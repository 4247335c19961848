"""A session's first scene and its footer: the same for the frame before Textual is loaded and for the screen after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rfview import actions
from rfview.render.lens import base_design
from rfview.render.scene import Badge, Scene


def waiting(title: str) -> Scene:
    """Return what is shown until a session is open."""
    return Scene(title=title, badge=Badge("busy", "opening"), message=f"opening {title}")


def first_facts(scene: Scene) -> dict[str, Any]:
    """Return what the view of a session's first scene begins with: the focused warp, and a sentence where there is none."""
    machine = scene.now
    here = [warp for warp in range(machine.num_warps) if machine.resident >> warp & 1] if machine else []
    runs = [warp for warp in here if machine and scene.look(machine.state[warp]).name != "finished"]
    return {"warp": (runs or here or [0])[0], "message": scene.message or greeting(scene)}


def greeting(scene: Scene) -> str:
    """Return the first sentence of a session."""
    if scene.is_live:
        return "live: s steps, c runs to a breakpoint or the end, S and C go back; ? help"
    return f"recorded: {scene.last - scene.first:,} cycles; s S step, G end, c C breakpoints, e why; ? help"


def hints(scene: Scene, width: int, own: Mapping[str, str], is_alone: bool = False) -> list[tuple[str, str, str]]:
    """Return the footer's hints for the focused panel and this design; own: keys of the user's; is_alone: Esc leaves it."""
    has_stalls = any(look.is_register_file for look in scene.looks.values())
    common = [scene.look(code).is_register_file for code in scene.common]
    design = base_design(str(scene.info.get("design", "")))
    return actions.footer_hints(scene.panel, width, has_stalls and any(common), own, design, is_alone)
