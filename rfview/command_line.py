"""The command line that reopens a view: target, machine, the commands that made its branch, cycle and warp."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rfview.engine import defaults

if TYPE_CHECKING:
    from rfview.sessions.session import Session


def of_view(target_command: str, session: Session | None, cycle: int, warp: int) -> str:
    """Return `target_command` extended by the commands that lead to the session's branch, cycle and warp."""
    from rfview.sessions.branches.fork import way_to

    way = "; ".join(way_to(session)) if session is not None else ""
    words = [target_command, *(("-c", shlex.quote(way)) if way else ()), f"--goto {cycle} --warp {warp}"]
    return " ".join(words)


def for_kernel(target_command: str, data: Mapping[str, Any]) -> str:
    """Return the `rfview debug` command line for another target, design and scheduler.

    data: "target", "design" as --design takes it, "scheduler".
    """
    words = shlex.split(target_command)
    out = words[:2] + [data["target"]]
    rest = words[3:]
    while rest:
        option = rest.pop(0)
        value = rest.pop(0) if rest else ""
        if option not in ("--design", "--scheduler"):
            out += [option, value]
    for option in ("design", "scheduler"):
        if data[option] != defaults.MACHINE[option]:
            out += [f"--{option}", data[option]]
    return shlex.join(out)
