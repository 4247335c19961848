"""Explains why a warp has no decoded instruction: it began, branched, missed the instruction cache, or awaits its turn."""

from __future__ import annotations

import numpy as np

from rfview.engine.machine.stages.read_only import find_line
from rfview.engine.wording import listed, plural
from rfview.sessions.why.links import NOWHERE
from rfview.sessions.machine import Machine
from rfview.sessions.why.trail import Trail, first_link, next_text


def no_instruction(trail: Trail, moment: Machine, warp: int) -> None:
    """Explain an empty I-buffer: the warp has just begun, branched, missed the instruction cache, or waits for its turn."""
    scheduler = moment.scheduler_of(warp)
    pc, last_pc = moment.warp(warp, "pc"), moment.warp(warp, "last_pc")
    issued = moment.warp(warp, "num_issued")
    first_link(trail, moment, warp, f"w{warp} has nothing decoded", next_text(moment, warp))
    branched = issued > 0 and pc != last_pc + 1
    last_issue = moment.warp(warp, "last_issue_cycle")
    if issued == 0:
        begun = moment.warp(warp, "state_since_cycle")
        trail.add(f"w{warp} has just begun", f"CTA slot {moment.warp(warp, 'cta')}", warp=warp, since=begun)
    elif branched:
        text = f"it branched to PC {pc} in cycle {last_issue:,}"
        trail.add(text, moment.text(last_pc), warp=warp, since=last_issue, pc=last_pc)
        if moment.config["branch_cycles"] and moment.cycle <= last_issue + moment.config["branch_cycles"] + 1:
            extra = plural(moment.config["branch_cycles"], "extra cycle")
            trail.end("fetch", f"branch unit, {extra} per branch", {"sm.branch_cycles": 0})
            return
    pause = moment.config["refill_cycles"]
    if issued > 0 and not branched and pause and moment.cycle <= last_issue + pause + 1:
        trail.add(f"it used up its I-buffer in cycle {last_issue:,}", "what is fetched is decoded before it can issue",
                  warp=warp, since=last_issue, pc=last_pc)
        trail.end("fetch", f"decoding, {plural(pause, 'extra cycle')} per refill", {"sm.refill_cycles": 0})
        return
    earlier = trail.past.at(moment.ran) or moment
    if missing_code(trail, earlier, warp, pc):
        return
    waiting = [
        other
        for other in range(moment.num_warps)
        if (int(earlier.sm["need_fetch"]) >> other) & 1 and moment.scheduler_of(other) == scheduler and other != warp
    ]
    if waiting:
        trail.add("the fetch serves other warps first", f"scheduler {scheduler}: {listed(waiting)}", warp=waiting[0])
    width = min(moment.config["fetch_width"], moment.config["ibuffer_entries"])
    if issued > 0 and not branched and not waiting:
        text, refill = f"it used up its I-buffer in cycle {last_issue:,}", f"{plural(width, 'instruction')} per refill"
        trail.add(text, refill, warp=warp, since=last_issue, pc=last_pc)
    # after a jump the buffer is empty whatever its size: only a further fetch slot would have come earlier
    runs_dry = issued > 0 and not branched
    trail.end(
        "fetch",
        f"fetch slot of scheduler {scheduler}, one warp and {plural(width, 'instruction')} per cycle",
        {"sm.fetch_width": 16, "sm.ibuffer_entries": 16} if runs_dry else {"sm.num_schedulers": 4},
    )


def missing_code(trail: Trail, earlier: Machine, warp: int, pc: int) -> bool:
    """Explain a warp whose next instruction is not in the instruction cache; return whether that is the case."""
    config = earlier.config
    if not config["icache_sets"]:
        return False
    sets, ways = config["icache_sets"], config["icache_ways"]
    size = config["icache_instructions"]
    way = int(find_line(earlier.sm["icache"].view(np.recarray), sets, ways, pc // size))
    until = int(earlier.sm["icache"][way]["fill_cycle"]) if way >= 0 else NOWHERE
    if way >= 0 and until < earlier.cycle:
        return False
    first = pc // size * size
    where = f"PC {first} to PC {min(first + size, len(earlier.info.program)) - 1}"
    if way < 0:
        trail.add(f"the instruction cache does not hold {where}", "one miss per cycle and scheduler goes out", warp=warp)
    else:
        trail.add(f"the instruction cache awaits {where}", f"back in cycle {until:,}", warp=warp, until=until)
    trail.end("instruction cache", f"instruction cache, {sets} sets of {plural(ways, 'way')} of {size} instructions",
              {"memory.icache_sets": 0})
    return True
