"""The instruction whose access has a register bank, or keeps a design busy, while another access is refused.

A design says in its own file which register's access its resource is busy with (`holder(at, refused)`, documented in
engine/plugin/holding.py). Without such a function, or where it gives no answer, that is the register that the refusing bank
serves. A register is then traced to an instruction: the one that reads it from a collector, or the last that wrote it.
"""

from __future__ import annotations

import numpy as np

from rfview.engine import plugin, state as layout
from rfview.engine.errors import InputError
from rfview.engine.plugin.holding import Access, Refused
from rfview.sessions.causes.flights import Waits, holding, in_flight, unread
from rfview.sessions.causes.stretch import Stretch

KINDS = ("freeze", "leave", "late", "read", "write", "issue")


class At:
    """What a design's `holder` may read: the columns of a stretch. It is engine.plugin.holding.Columns."""

    def __init__(self, stretch: Stretch, prefix: str):
        self._stretch, self._prefix = stretch, prefix
        self.ran = stretch.ran

    def rf(self, path: str) -> np.ndarray:
        """Return (rows, ...) values of a field of the design's own state, such as "tape[*].current"."""
        return self._stretch.column(f"{self._prefix}.{path}")

    def sm(self, path: str) -> np.ndarray:
        """Return (rows, ...) values of a field of the machine's state, such as "bank[*].until_cycle"."""
        return self._stretch.column(f"sm.{path}")

    def last_write(self, rows: np.ndarray) -> Access:
        """Return the result that was accepted last, up to each row."""
        return Access(*self._stretch.last_write(rows))


def refused(waits: Waits) -> np.ndarray:
    """Return (k,) i8 the holders of warp-cycles lost to refusals by the register file."""
    stretch, rows = waits.stretch, waits.rows
    stage = stretch.of_flight("stage", rows, waits.entry)
    is_own = (waits.entry >= 0) & (stretch.of_flight("code", rows, waits.entry) == waits.code)
    is_design = waits.of("blocker_kind") == layout.BLOCK_DESIGN
    is_late = is_own & (stage == layout.COLLECT) & (stretch.of_flight("unread", rows, waits.entry) == 0)
    leaves = is_design & (waits.of("membership") == layout.LEAVING)
    conditions = (stretch.column("sm.freeze_code")[rows] == waits.code, leaves, is_late,
                  is_own & (stage == layout.COLLECT), is_own)
    kinds = np.select(conditions, range(len(conditions)), len(conditions))
    found = np.full(len(rows), stretch.facts.nobody)
    for number, kind in enumerate(KINDS):
        chosen = np.flatnonzero(kinds == number)
        if len(chosen):
            found[chosen] = _of_kind(waits.some(chosen), kind)
    return found


def _of_kind(waits: Waits, kind: str) -> np.ndarray:
    """Return the holders of refusals of one kind, each distinct one looked up once."""
    stretch, rows, entry = waits.stretch, waits.rows, waits.entry
    per_warp = kind in ("leave", "issue")
    warps = waits.warps if per_warp else stretch.of_flight("warp", rows, entry)
    banks = np.where(entry < 0, -1, stretch.of_flight("bank", rows, entry))
    if kind == "freeze":
        warps, banks, entry = (np.full(len(rows), -1) for _ in range(3))
    keys = np.stack((rows, warps, banks, entry))
    order = np.lexsort(keys[::-1])
    first = np.ones(len(order), bool)
    first[1:] = (keys[:, order[1:]] != keys[:, order[:-1]]).any(axis=0)
    one = order[first]
    holders = _looked_up(stretch, Refused(waits.name, kind, rows[one], warps[one], banks[one]))
    found = np.empty(len(rows), np.int64)
    found[order] = holders[np.cumsum(first) - 1]
    if kind == "write":         # nothing else has the place any more: the result has not come round to its bus again
        found = np.where(found == stretch.facts.nobody, stretch.instruction(rows, entry), found)
    return found


def _looked_up(stretch: Stretch, what: Refused) -> np.ndarray:
    """Return the holders of distinct refusals: as the designs say, outermost first, otherwise by bank."""
    access = _by_design(stretch, what)
    if access is None:
        access = by_bank(stretch, what)
    elif (missing := np.flatnonzero(access.warp < 0)).size:
        other = by_bank(stretch, Refused(what.name, what.kind, what.rows[missing], what.warp[missing], what.bank[missing]))
        warp, reg, reads = access.warp.copy(), access.reg.copy(), np.broadcast_to(access.reads, access.warp.shape).copy()
        warp[missing], reg[missing], reads[missing] = other.warp, other.reg, other.reads
        access = Access(warp, reg, reads)
    found = instructions(stretch, what.rows, access)
    if what.kind == "leave":        # until the design has work to do, the warp waits for its own results
        own = stretch.first(what.rows, in_flight(stretch, what.rows, what.warp))
        found = np.where(found == stretch.facts.nobody, stretch.instruction(what.rows, own), found)
    return found


def _by_design(stretch: Stretch, what: Refused) -> Access | None:
    """Ask the run's nested designs, outermost first, whose access a refusal waits for; None if none of them says."""
    prefix, dtype = "rf", stretch.timeline.layout.rf_dtype
    for name in stretch.timeline.info.design_spec.chain:
        try:
            design = plugin.find(name)
        except InputError:      # the recording's design is not installed here
            design = None
        if design is not None and hasattr(design, "holder"):
            access = plugin.host_functions.call(design, "holder", At(stretch, prefix), what)
            if access is not None:
                return _checked(access, name, len(what.rows))
        if "mrf" in (dtype.names or ()):
            prefix, dtype = f"{prefix}.mrf", dtype["mrf"]
    return None


def _checked(access: Access, name: str, size: int) -> Access:
    """Return a design's answer as whole numbers; raises InputError if it is not one per refusal."""
    try:
        warp, reg = (np.asarray(part).astype(np.int64) for part in (access.warp, access.reg))
        reads = np.broadcast_to(np.asarray(access.reads, bool), (size,))
    except (AttributeError, TypeError, ValueError):
        raise InputError(f"{name}: its holder() returns {access!r}, expected an Access or None") from None
    if warp.shape != (size,) or reg.shape != (size,):
        raise InputError(f"{name}: its holder() returns {warp.shape} warps and {reg.shape} registers for {size} refusals")
    return Access(warp, reg, reads)


def by_bank(stretch: Stretch, what: Refused) -> Access:
    """Return the registers that banks serve while they refuse others; -1 where a bank is idle or none is known."""
    num = stretch.timeline.info.num_banks
    known = (what.bank >= 0) & (what.bank < num)
    bank = np.where(known, what.bank, 0)
    part = {field: stretch.column(f"sm.bank[*].{field}")[what.rows, bank].astype(np.int64)
            for field in ("owner_warp", "owner_reg", "activity", "until_cycle")}
    works = known & ((part["activity"] != layout.BANK_IDLE) | (part["until_cycle"] > stretch.ran[what.rows]))
    return Access(np.where(works, part["owner_warp"], -1), np.where(works, part["owner_reg"], -1),
                  part["activity"] == layout.BANK_READ)


def instructions(stretch: Stretch, rows: np.ndarray, access: Access) -> np.ndarray:
    """Return (k,) i8 the instructions that read, or have written, registers; nobody where that is unknown."""
    found = stretch.writers(rows, access.warp, access.reg)
    reads = np.flatnonzero(np.broadcast_to(access.reads, rows.shape) & (access.warp >= 0))
    if len(reads):
        at, warp, reg = rows[reads], access.warp[reads], access.reg[reads]
        named = (stretch.facts.source[stretch.flight_pc[at]] == reg[:, None, None]).any(axis=2)
        collecting = in_flight(stretch, at, warp) & (stretch.flights("stage")[at] == layout.COLLECT) & named
        waiting = unread(stretch, at, reg)
        served = stretch.last(at, collecting & ~waiting)
        reader = np.where(served < 0, stretch.first(at, collecting), served)
        found[reads] = stretch.instruction(at, reader)
    return found


def oldest_collector(waits: Waits) -> np.ndarray:
    """Return (k,) i8 the holders of warp-cycles lost for want of a collector: what holds the oldest instruction in one."""
    stretch = waits.stretch
    oldest = stretch.first(np.arange(len(stretch.ran)), stretch.flights("stage") == layout.COLLECT)
    return holding(stretch, waits.rows, oldest[waits.rows])
