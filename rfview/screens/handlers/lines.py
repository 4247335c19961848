"""Handlers of LINES: to the line that holds the chosen one up, to a cycle in which it waits, and the order of the lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rfview.keys import Pressed
from rfview.render import holders, lines
from rfview.screens import requests

if TYPE_CHECKING:
    from rfview.screens.desk import Desk

Handler = Callable[["Desk", Pressed], None]


def to_holder(main: Desk, pressed: Pressed) -> None:
    """Choose the line that holds the chosen one up most; if that is no other line, go to where the line waits."""
    scene = main.scene
    found = lines.main_holder(scene)
    if found is None:
        to_wait(main, pressed)
        return
    waiter, holder, share = found
    names = holders.name_of(scene, holder), holders.name_of(scene, waiter)
    main.change(line=holder, message=f"{names[0]} holds {names[1]} up in {share} of its waits", message_kind="info")


def to_wait(main: Desk, pressed: Pressed) -> None:
    """Go to the next cycle, else the previous one, in which a warp waits at the chosen line as the line mostly does."""
    scene = main.scene
    if not scene.lines or scene.costs is None:
        main.say("no source lines, or nothing counted yet")
        return
    line, look = lines.chosen(scene), lines.mostly(scene, lines.chosen(scene))
    if look is None:
        main.say(f"{holders.name_of(scene, line)} never waits in what has been counted")
        return
    main.worker.ask(requests.wait_at_line, line, look.code, pressed.count or 1)


def turn_order(main: Desk, pressed: Pressed) -> None:
    """Sort LINES by the next order: source, waits, causes."""
    orders = lines.ORDERS
    order = orders[(orders.index(main.scene.line_order) + 1) % len(orders)]
    main.change(line_order=order, message=f"LINES in the order of {order}", message_kind="info")


HANDLERS: dict[str, Handler] = {"to_holder": to_holder, "to_wait": to_wait}
