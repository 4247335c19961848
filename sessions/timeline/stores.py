"""Finds the store that wrote a word of memory (instruction, warp, lane), from what LD/ST accepted in the cycle before."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from rfview.engine.state import MEMORY
from rfview.sessions.timeline.base import Timeline

if TYPE_CHECKING:
    from rfview.engine.info import Instruction

STORES = ("st", "atom", "red")
ADDRESS = re.compile(r"\[R(?P<register>\d+)(?P<offset>[+-](?:0x[0-9a-f]+|\d+))?\]")
NOBODY = -1          # no store, warp or lane, as far as that can be determined
WIDEST = 16         # bytes that one lane stores at most


def store_at(timeline: Timeline, cycle: int, word: int) -> tuple[int, int, int]:
    """Return (pc, warp, lane) of the store that wrote a word of the arena which the state at `cycle` is the first to show.

    A store takes effect in the cycle in which LD/ST accepts it. NOBODY stands for what cannot be determined.
    """
    if cycle <= timeline.first:
        return NOBODY, NOBODY, NOBODY
    stage, since, warp, pc, mask, issued = (timeline.column(f"sm.inflight[*].{name}", cycle, cycle + 1)[0]
                                            for name in ("stage", "since_cycle", "warp", "pc", "mask", "issue_cycle"))
    program = timeline.info.program
    for slot in np.flatnonzero((stage == MEMORY) & (since == cycle - 1)).tolist():
        entry = program[int(pc[slot])] if int(pc[slot]) < len(program) else None
        if entry is None or entry.mnemonic not in STORES:
            continue
        owner = int(warp[slot])
        # its address registers may have been overwritten since it read them, but not right after its issue
        words = words_of(timeline, max(int(issued[slot]) + 1, timeline.first), owner, entry)
        lanes = [lane for lane in range(32) if int(mask[slot]) >> lane & 1 and 0 <= word - words[lane] < WIDEST // 4]
        return int(pc[slot]), owner, min(lanes, key=lambda lane: word - words[lane], default=NOBODY)
    return NOBODY, NOBODY, NOBODY


def words_of(timeline: Timeline, cycle: int, warp: int, entry: Instruction) -> list[int]:
    """Return for each of 32 lanes the arena word that a load or store at a cycle accesses; far below 0 if none.

    Only global and shared addresses in registers are supported; others give no words.
    """
    nowhere = [-(1 << 40)] * 32
    match = ADDRESS.search(entry.text)
    if match is None or entry.space not in ("global", "shared"):
        return nowhere
    snapshot = timeline.at(cycle)
    register, offset = int(match["register"]), int(match["offset"] or "0", 0)
    try:
        low = snapshot.register(warp, register).astype(np.int64)
        if entry.space == "shared":
            each = (int(snapshot.sm["launch"]["shared_bytes"]) + 3) // 4
            first = int(snapshot.sm["warp"][warp]["cta"]) * each
            return [first + (address & 0xFFFFFFFF) // 4 for address in (low + offset).tolist()]
        high = snapshot.register(warp, register + 1).astype(np.int64)
    except IndexError:
        return nowhere
    places = [(one.address, one.bytes, one.word) for one in timeline.info.variables]
    return [next((word + (address - begin) // 4 for begin, size, word in places if begin <= address < begin + size),
                 nowhere[0]) for address in ((low | high << 32) + offset).tolist()]
