"""`rfc` on the sub-core: a register file cache in place of the reuse cache, for the warps that wrote last (B12.8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rfview.engine import hooks
from rfview.engine.compile.bits import bit64
from rfview.engine.compile.device import device
from rfview.engine.designs.rfc import (BYPASSES, DEPARTURES, EVICTIONS, FLUSHES, LOOKUPS, LRU, MAX_ENTRIES, OVERTAKEN,
                                       OVERWRITES, PARTIAL_READS, READS, RFC_FLUSH, SHORT, WRITES)
from rfview.engine.errors import InputError

MEANING = ("each sub-core caches results of the two warps that wrote last, eight in the SM as in the paper, in place of the "
           "reuse cache; another warp's result makes the one that wrote less recently leave; there are no last-use bits")
REUSE_CACHE = False
SETS, QUEUE = 2, 16     # warps that a sub-core caches for; values on their way to the main file
PLACES = np.dtype(
    [
        ("order", "i8"),                          # when its warp wrote last
        ("used", "i8", (MAX_ENTRIES,)),           # when an entry was taken (lru: used)
        ("lanes", "u4", (MAX_ENTRIES,)),          # valid lanes, 0 = free
        ("reg", "u1", (MAX_ENTRIES,)),
        ("owner", "u1"),                          # warp plus one
        ("pad", "u1", (7,)),
    ],
    align=True,
)
WAITING = np.dtype([("lanes", "u4", (QUEUE,)), ("warp", "u1", (QUEUE,)), ("reg", "u1", (QUEUE,)), ("count", "u4")])
STATE = (("order", "i8"), ("places", PLACES, (4, SETS)), ("waiting", WAITING, (4,)))
PANELS = (
    {"kind": "table", "title": "warps that have a cache, from 1; a row per sub-core", "field": "places.owner"},
    {"kind": "grid", "title": "entries in use", "field": "places.lanes"},
    {"kind": "table", "title": "their registers", "field": "places.reg"},
    {"kind": "values", "title": "evicted entries to write", "field": "waiting.count"},
)


def check(text: str, values: Mapping[str, Any]) -> None:
    """Raise InputError for parameters without meaning on the sub-core."""
    for name in ("read_allocate", "bypass", "evict_first"):
        if values[f"rfc.{name}"]:
            raise InputError(f"--design {text}: on the sub-core only results fill the cache: {name} must be 0")


def read_cycles(sm, rf, spec, warp, reg, is_float):
    """Read the cache, or what waits for its write to the main file; else the main file."""
    sm.events[spec.first_event + LOOKUPS] += 1
    place = set_of(rf, warp)
    entry = find(rf.places[np.int64(warp) % 4][place], reg) if place >= 0 else np.int64(-1)
    lanes = waiting_lanes(rf, warp, reg)
    if entry >= 0:
        places = rf.places[np.int64(warp) % 4][place]
        lanes |= np.int64(places.lanes[entry])
        if spec.replacement == LRU:
            places.used[entry] = touch(rf)
    if lanes != 0:
        sm.events[spec.first_event + READS] += 1
        if lanes | np.int64(sm.warp[warp].exited) == 0xFFFFFFFF:
            return 0
        sm.events[spec.first_event + PARTIAL_READS] += 1
    return np.int64(hooks.read_cycles(sm, rf.mrf, spec.mrf, warp, reg, is_float))


def write_cycles(sm, rf, spec, warp, reg, lanes, is_late, is_float):
    """Write a result into the cache, evicting if needed (B2.1); late ones past it into the main file (B2.3)."""
    number, place = np.int64(warp) % 4, set_of(rf, warp)
    if is_late and spec.allocate == SHORT:
        if place >= 0 and not leave(sm, rf, spec, number, place, find(rf.places[number][place], reg), lanes, OVERTAKEN):
            return -RFC_FLUSH
        sm.events[spec.first_event + BYPASSES] += 1
        return np.int64(hooks.write_cycles(sm, rf.mrf, spec.mrf, warp, reg, lanes, is_late, is_float))
    if place < 0:
        place = np.int64(0) if rf.places[number][0].order <= rf.places[number][1].order else np.int64(1)
        if not empty(sm, rf, spec, number, place):
            return -RFC_FLUSH
        rf.places[number][place].owner = warp + 1
    places = rf.places[number][place]
    entry = find(places, reg)
    if entry < 0:
        entry = victim(spec, places)
        if not leave(sm, rf, spec, number, place, entry, 0, EVICTIONS):
            return -RFC_FLUSH
        places.reg[entry] = reg
        places.used[entry] = touch(rf)
    else:
        sm.events[spec.first_event + OVERWRITES] += 1
    places.lanes[entry] = np.int64(places.lanes[entry]) | np.int64(lanes)
    places.order = touch(rf)
    sm.events[spec.first_event + WRITES] += 1
    return 0


def bank_cycles(sm, rf, spec, rows, bank):
    """Let the main file work; else write the oldest value that waits for the bank."""
    cycles = np.int64(hooks.bank_cycles(sm, rf.mrf, spec.mrf, rows, bank))
    waiting = rf.waiting[bank // 2]
    for entry in range(np.int64(waiting.count)):
        if cycles == 0 and np.int64(waiting.reg[entry]) & 1 == bank & 1:
            warp, reg = np.int64(waiting.warp[entry]), np.int64(waiting.reg[entry])
            cycles = np.int64(hooks.write_cycles(sm, rf.mrf, spec.mrf, warp, reg, np.int64(waiting.lanes[entry]), 1, 0))
            if cycles < 0:
                return 0
            sm.bank[bank].busy_code = RFC_FLUSH
            sm.bank[bank].owner_warp = warp
            sm.bank[bank].owner_reg = reg
            remove(waiting, entry)
            return cycles
    return cycles


def on_exit(sm, rf, spec, rows, warp):
    """Drop what is kept for a warp that has ended (B0.7)."""
    place, waiting = set_of(rf, warp), rf.waiting[np.int64(warp) % 4]
    if place >= 0:
        forget(rf.places[np.int64(warp) % 4][place])
    for entry in range(np.int64(waiting.count) - 1, -1, -1):
        if waiting.warp[entry] == warp:
            remove(waiting, entry)
    return np.int64(hooks.on_exit(sm, rf.mrf, spec.mrf, rows, warp))


def next_event(sm, rf, spec):
    """Return the current cycle while a value waits, else the main file's event."""
    for number in range(4):
        if rf.waiting[number].count != 0:
            return np.int64(sm.cycle)
    return np.int64(hooks.next_event(sm, rf.mrf, spec.mrf))


@device
def touch(rf):
    """Return the next number in the order of uses."""
    rf.order += 1
    return np.int64(rf.order)


@device
def set_of(rf, warp):
    """Return the entries of a warp in its sub-core, or -1."""
    for place in range(SETS):
        if rf.places[np.int64(warp) % 4][place].owner == warp + 1:
            return np.int64(place)
    return np.int64(-1)


@device
def find(places, reg):
    """Return a register's entry, or -1."""
    for entry in range(MAX_ENTRIES):
        if places.lanes[entry] != 0 and places.reg[entry] == reg:
            return np.int64(entry)
    return np.int64(-1)


@device
def victim(spec, places):
    """Return a free entry, else the one taken first."""
    best = np.int64(0)
    for entry in range(np.int64(spec.entries)):
        if places.lanes[entry] == 0:
            return np.int64(entry)
        if places.used[entry] < places.used[best]:
            best = np.int64(entry)
    return best


@device
def leave(sm, rf, spec, number, place, entry, overwritten, event):
    """Free an entry whose lanes wait for the main file from now on, but for overwritten ones; False if there is no room."""
    places, waiting = rf.places[number][place], rf.waiting[number]
    if entry < 0 or places.lanes[entry] == 0:
        return True
    lanes = np.int64(places.lanes[entry]) & ~np.int64(overwritten)
    if lanes != 0:
        if waiting.count >= QUEUE:
            return False
        waiting.lanes[waiting.count] = lanes
        waiting.warp[waiting.count] = places.owner - 1
        waiting.reg[waiting.count] = places.reg[entry]
        waiting.count += 1
    sm.events[spec.first_event + event] += 1
    places.lanes[entry] = 0
    return True


@device
def empty(sm, rf, spec, number, place):
    """Let a warp leave the cache; return False while its values find no room on their way to the main file."""
    places = rf.places[number][place]
    if places.owner == 0:
        return True
    if np.uint64(sm.unfinished) & bit64(places.owner - 1) == 0:
        return forget(places)
    for entry in range(MAX_ENTRIES):
        if not leave(sm, rf, spec, number, place, entry, 0, FLUSHES):
            return False
    sm.events[spec.first_event + DEPARTURES] += 1
    return forget(places)


@device
def forget(places):
    """Empty a warp's entries; return True."""
    for entry in range(MAX_ENTRIES):
        places.lanes[entry] = 0
    places.owner = 0
    return True


@device
def waiting_lanes(rf, warp, reg):
    """Return the lanes of a register that wait for the main file."""
    waiting, lanes = rf.waiting[np.int64(warp) % 4], np.int64(0)
    for entry in range(np.int64(waiting.count)):
        if waiting.warp[entry] == warp and waiting.reg[entry] == reg:
            lanes |= np.int64(waiting.lanes[entry])
    return lanes


@device
def remove(waiting, entry):
    """Remove a value that waits; younger ones move up."""
    waiting.count -= 1
    for place in range(entry, np.int64(waiting.count)):
        waiting.lanes[place] = waiting.lanes[place + 1]
        waiting.warp[place] = waiting.warp[place + 1]
        waiting.reg[place] = waiting.reg[place + 1]
