"""Which warp slots a run never fills: panels say so in one line instead of a row for each."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from rfview.engine.wording import plural
from rfview.sessions.machine import Machine
from rfview.render.scene import Scene

if TYPE_CHECKING:
    from rfview.engine.info import Launch, RunInfo

SLOTS = 48      # of a machine about which nothing is known yet


def used(info: RunInfo) -> int:
    """Return how many warp slots, from slot 0 on, the CTAs of the run's launches fill at most; all if unknown.

    It is the same for the whole run, so that panels do not move. CTAs take slots from 0 on, as many as can reside at once.
    """
    slots = info.num_warps
    most = 0
    for launch in info.launches:
        most = max(most, launch.warps_per_cta * min(launch.resident_ctas, prod(launch.grid)))
    return min(most, slots) if most > 0 else slots


def shown(scene: Scene) -> int:
    """Return how many warp slots have their own row now: those of `used`, or all if the focus or a warp is beyond them."""
    machine = scene.now
    if machine is None:
        return SLOTS
    most = min(used(scene.info), machine.num_warps)
    return machine.num_warps if scene.warp >= most or machine.resident >> most else most


def empty_words(scene: Scene, room: int) -> str:
    """Return "32–47  empty: 4 CTAs of 8 warps fill the registers" in at most `room` cells; "" if no slot is left out."""
    machine = scene.now
    most = shown(scene)
    if machine is None or most >= machine.num_warps:
        return ""
    place = f"{most}–{machine.num_warps - 1}" if most < machine.num_warps - 1 else str(most)
    return next((text for words in _reasons(scene, machine) if len(text := f"{place}  empty: {words}") <= room),
                f"{place} empty")


def _reasons(scene: Scene, machine: Machine) -> list[str]:
    """Return why no more CTAs are resident, the longest sentence first."""
    launches = scene.info.launches
    if not launches:
        return []
    launch = launches[min(int(machine.sm["launch"]["index"]), len(launches) - 1)]
    warps, grid, resident = launch.warps_per_cta, prod(launch.grid), launch.resident_ctas
    number = min(grid, resident)
    ctas, of = plural(number, "CTA"), f"of {plural(warps, 'warp')}"
    if grid <= resident:
        return [f"the grid has {ctas} {of}", f"the grid has {ctas}", f"{ctas} in all"]
    what, verb = _limit(scene.info, machine, launch, warps), "s" * (number == 1)
    return [f"{ctas} {of} fill{verb} the {what}", f"{ctas} fill{verb} the {what}", f"{ctas} reside{verb}"]


def _limit(info: RunInfo, machine: Machine, launch: Launch, warps: int) -> str:
    """Return the resource of which the resident CTAs leave too little for another one."""
    config = machine.config
    shared = -(-launch.shared_bytes // 4) * 4
    limits = {
        "warp slots": config["num_warps"] // max(1, warps),
        "threads": config["max_threads"] // max(1, prod(launch.block)),
        "CTA slots": config["max_ctas"],
        "registers": info.main_rows // max(1, launch.registers * warps),
        "shared memory": config["shared_bytes"] // shared if shared else 1 << 30,
    }
    return min(limits, key=lambda name: limits[name])
