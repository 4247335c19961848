"""The initial state of the main screen: the scene before a session is open, the first focus and greeting; the footer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rfview.engine.escapes import visible
from rfview.engine.wording import plural
from rfview.keys import Keys
from rfview.render.footer import footer_hints
from rfview.render.scene import Badge, Scene
from rfview.sessions.pictures.shape import shape_of

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo


def waiting(title: str, keys: Keys) -> Scene:
    """Return the scene shown until a session is open."""
    return Scene(title=title, badge=Badge("busy", "opening"), message=f"opening {title}", keys=keys)


def first_facts(scene: Scene) -> dict[str, Any]:
    """Return the initial view of a session: the focused warp, and a greeting unless the scene has a message."""
    machine = scene.now
    here = [warp for warp in range(machine.num_warps) if machine.resident >> warp & 1] if machine else []
    runs = [warp for warp in here if machine and scene.look(machine.state[warp]).name != "finished"]
    return {"warp": (runs or here or [0])[0], "message": scene.message or greeting(scene)}


def greeting(scene: Scene) -> str:
    """Return the first sentence of a session, with the keys in force."""
    if scene.is_live:
        back = " and ".join(filter(None, (scene.key("back"), scene.key("reverse_continue"))))
        return "live: " + _hints(scene, (("step", "steps"), ("continue", "runs to a breakpoint or the end")),
                                 f"{back} go back" if back else "")
    pairs = (("step", "step"), ("end", "end"), ("continue", "breakpoints"), ("why", "why"))
    first, last = scene.stored or (scene.first, scene.last)
    rest = "" if last == scene.last else f", those after {last:,} simulated again"
    if first > scene.first:
        rest = f", all but {first:,} to {last:,} simulated again"
    return f"recorded: {plural(scene.last - scene.first, 'cycle')}{rest}; {_hints(scene, pairs, reverse=True)}"


def _hints(scene: Scene, pairs: tuple[tuple[str, str], ...], more: str = "", *, reverse: bool = False) -> str:
    """Return "s S step, G end; ? help" for (action, word) pairs that have keys; reverse: with the opposite actions' keys."""
    parts = [(scene.keys.label(name) if reverse else scene.key(name), word)
             for name, word in pairs]
    keys = ", ".join([f"{key} {word}" for key, word in parts if key] + [more] * bool(more))
    return "; ".join(filter(None, (keys, f"{scene.key('help')} help" if scene.key("help") else "")))


def hints(scene: Scene, width: int, is_alone: bool = False) -> list[tuple[str, str, str]]:
    """Return the footer's hints for the focused panel and design. is_alone: Esc leaves the panel."""
    has_stalls = any(look.is_register_file for look in scene.looks.values())
    common = [scene.look(code).is_register_file for code in scene.common]
    activity = visible(next(iter(scene.info.activities), ""))
    return footer_hints(scene.panel, width, has_stalls and any(common), scene.keys, activity, is_alone)


def offers(info: RunInfo) -> list[str]:
    """Return this run's completions for the prompt: its buffers through time, as pictures, and their elements."""
    items = ["heat w0.R0"]
    for one in info.variables:
        name = visible(one.name)
        total = one.count
        items += [f"heat {name}[0..{min(total, 128) - 1}]", f"origin {name}[0]"]
        if total:
            wide, high = shape_of(one)
            items.append(f"image {name} {wide}x{high}")
    return items
