"""Invariants of each design, checked in every cycle.

Buffers never overflow, tapes are aligned, refreshes are on time, pairs keep both values, and what a register cache drops
is in the main file or never read again.
"""

from __future__ import annotations

import numpy as np

from rfview.engine import hooks
from rfview.engine.designs import hrf, racetrack, single_buffer
from rfview.engine.designs.edram import REFRESH
from rfview.engine.state import BANK_BUSY, MAX_WARPS
from tests.properties.watch import Watch, lanes_of


class Check:
    """Checks a design's own state before and after each cycle of a watched machine."""

    def __init__(self, watch: Watch, rf: np.void) -> None:
        self.watch, self.rf = watch, rf
        self.simulator = watch.simulator
        self.sm = watch.simulator.sm

    def before(self) -> None:
        """Remember the state that the cycle may change."""

    def after(self) -> None:
        """Check the state after the cycle."""


class WriteBuffers(Check):
    """hrf: one buffer fills, each register at most once; at most 64 entries and 4 queued writes; no read of a writing bank."""

    def before(self) -> None:
        self.busy = self.watch.bank_until[:2] > self.simulator.cycle

    def after(self) -> None:
        watch, buffer = self.watch, self.rf["buffer"]
        if (buffer["used"] > hrf.ENTRIES).any() or (buffer["position"] > buffer["used"]).any():
            watch.say(f"buffers use {buffer['used']} entries, {buffer['position']} drained")
        filling = np.flatnonzero(buffer["state"] == hrf.FILLING)
        if len(filling) > 1:
            watch.say("both buffers fill")
        for index in filling:
            regs = buffer["reg"][index][: buffer["used"][index]]
            if len(np.unique(regs)) != len(regs):
                watch.say("a register has two entries in one buffer")
        if (self.rf["queue_count"] > hrf.QUEUE_ENTRIES).any():
            watch.say(f"write queues hold {self.rf['queue_count']}")
        for bank in watch.served_banks:
            if self.busy[bank] and self.watch.bank_until[bank] > self.simulator.cycle - 1:
                watch.say(f"a read of STT bank {bank} while it writes")


class SingleBuffer(Check):
    """single_buffer: at most 16 entries, and no more writes begun than there are entries."""

    def after(self) -> None:
        count, begun = int(self.rf["count"]), int(self.rf["begun"])
        if count > single_buffer.ENTRIES or begun > count:
            self.watch.say(f"the buffer holds {count} entries, {begun} begun")


class Tapes(Check):
    """racetrack: accesses only with the row at a port, one step per cycle, few banks at once, write buffers in bounds."""

    def before(self) -> None:
        self.current = self.rf["tape"]["current"].copy()

    def after(self) -> None:
        watch, tape, spec = self.watch, self.rf["tape"], self.simulator.spec_record
        limit = int(self.sm.config.max_banks_per_cycle)
        busy = bin(int(self.rf["busy"])).count("1")
        if limit and busy > limit:
            watch.say(f"{busy} banks served, {limit} allowed")
        if (tape["wb_count"] > int(spec.wb_entries)).any():
            watch.say(f"write buffers hold {tape['wb_count']}")
        activity = tape["activity"]
        for bank in np.flatnonzero((activity == racetrack.READ) | (activity == racetrack.WRITE)):
            entry = self.sm.bank[bank]
            row = int(watch.warp_base[entry.owner_warp]) + int(entry.owner_reg)
            if int(tape["current"][bank]) != int(racetrack.offset_of(self.sm, spec, row)):
                watch.say(f"bank {bank} is accessed with its tape at {tape['current'][bank]}")
        if int(spec.shift_cycles):
            moved = np.abs(tape["current"].astype(int) - self.current.astype(int))
            if self.simulator.cycle - 1 > int(self.sm.launch.start_cycle) and moved.max() > int(spec.shift_steps):
                watch.say(f"a tape moved {moved.max()} steps in one cycle")


class Refreshes(Check):
    """edram: row k of bank b is refreshed at k T0 / 64 + floor(b T0 / 1024) of every T0; its bank does nothing else then."""

    def __init__(self, watch: Watch, rf: np.void) -> None:
        super().__init__(watch, rf)
        values = self.simulator.built.values
        self.t0 = {22: 2048, 16: 1024, 11: 512}[int(values["edram.node"])]
        config = self.sm.config
        self.banks, self.per_bank = int(config.num_banks), int(config.rows_per_bank)
        self.due: dict[int, list[int]] = {}
        for row in range(self.per_bank):
            for bank in range(self.banks):
                at = row * self.t0 // self.per_bank + bank * self.t0 // (self.banks * self.per_bank)
                self.due.setdefault(at % self.t0, []).append(bank)
        record = self.simulator._sm_array[0]["bank"]
        self.activity, self.code = record["activity"], record["busy_code"]

    def after(self) -> None:
        cycle = self.simulator.cycle - 1 - int(self.sm.launch.start_cycle)
        wanted = sorted(self.due.get(cycle % self.t0, []))
        busy = np.flatnonzero((self.activity[: self.banks] == BANK_BUSY) & (self.code[: self.banks] == REFRESH)).tolist()
        if busy != wanted:
            self.watch.say(f"banks {busy} refresh, due are {wanted}")
        if used := set(wanted) & (set(self.watch.served_banks) | set(self.watch.written_banks)):
            self.watch.say(f"banks {sorted(used)} are accessed while they refresh")


class Pairs(Check):
    """hcrf: after a pair is exchanged, both registers are found with their newest values, in different rows."""

    def before(self) -> None:
        self.flags = self.rf["exchanged"].copy()

    def after(self) -> None:
        for word in np.flatnonzero(self.flags ^ self.rf["exchanged"]):
            changed = int(self.flags[word] ^ self.rf["exchanged"][word])
            for bit in range(64):
                if changed >> bit & 1:
                    self.look(int(word) * 64 + bit)

    def look(self, pair: int) -> None:
        """Check both registers of a pair."""
        banks, registers = self.watch.num_banks, int(self.sm.launch.registers)
        for row in (2 * (pair // banks), 2 * (pair // banks) + 1):
            warp, reg = divmod(row * banks + pair % banks, registers)
            if warp < MAX_WARPS:
                self.watch.check_place(warp, reg)


class CacheEntries(Check):
    """rfc: entries in bounds, one per register of a warp; a value that leaves is in the main file, or is not read again."""

    def __init__(self, watch: Watch, rf: np.void) -> None:
        super().__init__(watch, rf)
        self.entries = int(self.simulator.built.values["rfc.entries"])

    def before(self) -> None:
        entry = self.rf["entry"]
        self.valid, self.dirty, self.reg = entry["valid"].copy(), entry["dirty"].copy(), entry["reg"].copy()
        self.age = self.watch.age.copy()
        self.resident = self.watch.resident

    def after(self) -> None:
        entry, watch = self.rf["entry"], self.watch
        if entry["valid"][:, self.entries :].any():
            watch.say(f"more than {self.entries} entries in use")
        gone = (self.valid != 0) & ((entry["valid"] == 0) | (entry["reg"] != self.reg))
        for warp, index in zip(*np.nonzero(gone)):
            if watch.resident >> int(warp) & 1 and watch.age[warp] == self.age[warp]:
                self.left(int(warp), int(self.reg[warp, index]), int(self.dirty[warp, index]))
        changed = np.flatnonzero((self.valid != entry["valid"]).any(axis=1) | (self.reg != entry["reg"]).any(axis=1))
        for warp in changed:
            regs = entry["reg"][warp][entry["valid"][warp] != 0]
            if len(np.unique(regs)) != len(regs):
                watch.say(f"warp {warp} has two entries of one register")

    def left(self, warp: int, reg: int, dirty: int) -> None:
        """Mark the lanes whose value only a vanished entry had, and not the main file: they must not be read again."""
        watch = self.watch
        entry = self.rf["entry"][warp]
        if ((entry["valid"] != 0) & (entry["reg"] == reg)).any():
            return
        for lane in np.flatnonzero(lanes_of(dirty & int(watch.known[warp, reg]))):
            row = int(hooks.locate(self.sm, self.simulator.rf, self.simulator.spec_record, warp, reg, int(lane)))
            if watch.rows[row][lane] != watch.value[warp, reg][lane]:
                watch.lost[warp, reg] |= np.uint32(1 << int(lane))


CHECKS: dict[str, type[Check]] = {
    "hrf": WriteBuffers, "single_buffer": SingleBuffer, "racetrack": Tapes, "edram": Refreshes, "hcrf": Pairs,
    "rfc": CacheEntries,
}


def checks_of(watch: Watch) -> list[Check]:
    """Return the checks of a watched machine's designs, outermost first."""
    found, rf = [], watch.simulator._rf_array[0]
    for name in watch.simulator.built.chain:
        if name in CHECKS:
            found.append(CHECKS[name](watch, rf))
        rf = rf["mrf"] if "mrf" in (rf.dtype.names or ()) else rf
    return found

