"""Checks the account of lost warp-cycles against the machine's own totals, and that its rules name an instruction."""

from __future__ import annotations

import numpy as np

from rfview.engine.stalls import NO_STALL, NO_WARP
from rfview.sessions.lines.counts import count_instructions
from rfview.sessions.timeline.base import Timeline

# states in which an instruction is always the holder: a unit, a collector or a register is held by one in flight
NEVER_NOBODY = {"wait", "short_scoreboard", "long_scoreboard", "pipe_throttle", "collector_full", "barrier"}


def wrong_causes(timeline: Timeline) -> list[str]:
    """Return what does not add up in the account of a timeline's cycles, in words."""
    first, last = timeline.first, timeline.last
    counts = count_instructions(timeline, first, last)
    causes, size = counts.causes, len(timeline.info.program)
    names, wrong = timeline.info.stall_names, []
    totals = timeline.stall_totals(last) - timeline.stall_totals(first)
    charged = np.bincount(causes.code, causes.count, len(totals)).astype(np.int64)
    for code, name in names.items():
        expected = 0 if name in NO_STALL else int(totals[code])
        if charged[code] != expected:
            wrong.append(f"{charged[code]:,} lost warp-cycles of {name} charged, {expected:,} counted by the machine")
    lost = counts.states[:-1, [code for code, name in names.items() if name not in NO_STALL]].sum(axis=1)
    if (causes.waits[:size] != lost).any() or causes.waits[size]:
        wrong.append("an instruction's lost warp-cycles differ from those counted at it")
    if not causes.waits.sum() == causes.caused.sum() == causes.total:
        wrong.append(f"{causes.waits.sum():,} warp-cycles waited, {causes.caused.sum():,} caused")
    if len(causes.count) and not (0 <= causes.holder.min() and causes.holder.max() <= size and causes.count.min() > 0):
        wrong.append("a holder is no instruction of the program")
    for name in NEVER_NOBODY & timeline.info.stall_codes.keys():
        code = timeline.info.stall_codes[name]
        nobody = int(causes.count[(causes.code == code) & (causes.holder == size)].sum())
        if nobody:
            wrong.append(f"{nobody:,} warp-cycles of {name} are held by nobody")
    resident = counts.states[:-1].sum()
    if resident != totals.sum() - sum(int(totals[timeline.info.stall_codes[name]]) for name in NO_WARP):
        wrong.append(f"{resident:,} warp-cycles of resident warps, the machine counts others")
    return wrong
