"""`single_buffer`: an STT-RAM register file behind one SRAM buffer that coalesces writes to the same register.

The prior work that HRF (Li et al., DAC'15, sections 1 and 2) compares with: Goswami et al., "Power-performance
co-optimization of throughput core architecture using resistive memory", HPCA'13. Results enter a first-in first-out
buffer; a result for a register that is already waiting there is merged; the oldest entry drains whenever its bank is
idle; reads are forwarded. Differences from `sram`: a bank write takes 4 cycles, and a result that finds the buffer
full waits (wb_full).

Deviations: the paper was not available to us; everything but the coalescing is ours.
 1. 16 warp-registers, each with a mask of valid lanes. One entry per cycle starts to drain; it leaves when written.
 2. A result for an entry whose write has started gets a new entry after it.
 3. A read whose lanes are all in the buffer needs no bank; a partial hit reads both places and merges.
 4. The values of a warp that has ended are dropped when its CTA ends.
 5. Energy and leakage of the buffer are those of HRF Table 1's SRAM by bits (1024 of value, 12 of warp and register).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rfview.engine.machine import registers
from rfview.engine.compile.bits import set_bits
from rfview.engine.plugin import Design, Parameter, plural
from rfview.engine.plugin.explaining import Moment, Refusal, Trail
from rfview.engine.plugin.holding import Access, Columns, Refused
from rfview.engine.compile.device import device
from rfview.engine.events import RF_WRITES
from rfview.engine.stalls import BANK_CONFLICT, FULL_BUFFER, WB_FULL
from rfview.engine.program import NUM_SRC_ROWS
from rfview.engine.state import BANK_BUSY, BANK_WRITE

ENTRIES = 16
WAITING, WRITING, DONE = range(3)      # entry.state

PARAMETERS = (
    Parameter("write_cycles", 4, "cycles", "HRF Table 1", "cycles of one STT-RAM array write", low=1, is_live=True),
)

ENTRY = np.dtype([("lanes", "u4"), ("warp", "u1"), ("reg", "u1"), ("state", "u1"), ("bank", "u1")])
STATE = (
    ("entry", ENTRY, (ENTRIES,)),      # the buffer: a ring starting at `head`
    ("head", "u1"),                    # oldest entry
    ("count", "u1"),                   # entries in use
    ("begun", "u1"),                   # how many of these, from the head, are writing or done
    ("pad", "u1"),
)

EVENTS = (
    ("buffer_writes", "results taken by the buffer, merged ones included"),
    ("buffer_merges", "of these, into an entry that waited there already"),
    ("buffer_reads", "reads that found lanes in the buffer"),
    ("buffer_drains", "entries read out to be written to STT-RAM"),
    ("buffer_dropped", "entries of ended warps that were never written to STT-RAM"),
    ("stt_reads", "STT-RAM rows read"),
    ("stt_writes", "STT-RAM rows written"),
)
(BUFFER_WRITES, BUFFER_MERGES, BUFFER_READS, BUFFER_DRAINS, BUFFER_DROPPED, STT_READS, STT_WRITES) = range(len(EVENTS))

ENTRY_BITS = 1024 + 12
LEAKAGE_MW = 16.2 + 248.7 * ENTRIES * ENTRY_BITS / 2**20
TECHNOLOGY = {
    "leakage_mw": (LEAKAGE_MW, "mW", "HRF Table 1: STT-RAM, and SRAM by bits for the buffer"),
    "area_mm2": (0.038 + 0.194 * ENTRIES * ENTRY_BITS / 2**20, "mm2", "HRF Table 1: as leakage"),
    "node_nm": (32, "nm", "HRF Table 1"),
}
ENERGY_PJ = {
    "stt_reads": (0.239 * 1024, "HRF Table 1: 0.239 pJ/bit, 1024 bits"),
    "stt_writes": (0.300 * 1024, "HRF Table 1: 0.300 pJ/bit, 1024 bits"),
    "buffer_reads": (0.203 * 1024, "HRF Table 1: SRAM 0.203 pJ/bit, 1024 bits"),
    "buffer_drains": (0.203 * ENTRY_BITS, "HRF Table 1: SRAM 0.203 pJ/bit, 1036 bits"),
    "buffer_writes": (0.191 * ENTRY_BITS, "HRF Table 1: SRAM 0.191 pJ/bit, 1036 bits"),
}


def begin_cycle(sm, rf, spec, rows):
    """End the bank writes whose time is over; show banks that are still writing as busy."""
    for bank in range(sm.config.num_banks):
        if sm.bank[bank].until_cycle > sm.cycle:
            sm.bank[bank].activity = BANK_BUSY
    for place in range(np.int64(rf.begun)):
        index = ring(rf, place)
        entry = rf.entry[index]
        if entry.state == WRITING and sm.bank[entry.bank].until_cycle <= sm.cycle:
            row = registers.main_row(sm, np.int64(entry.warp), np.int64(entry.reg))
            registers.write_row(sm, rows, row, np.int64(spec.first_row) + index, entry.lanes)
            entry.state = DONE
    return leave(rf)


def write_back(sm, rf, spec, rows, warp, reg, mask, value_row, slot):
    """Merge a result with its register's waiting entry, or append it; a full buffer refuses (wb_full)."""
    place = newest_waiting(rf, warp, reg)
    if place < 0:
        if rf.count >= ENTRIES:
            return WB_FULL
        place = np.int64(rf.count)
        rf.count += 1
        entry = rf.entry[ring(rf, place)]
        entry.warp = warp
        entry.reg = reg
        entry.lanes = 0
        entry.state = WAITING
        entry.bank = registers.default_bank(sm, warp, reg)
    else:
        count(sm, spec, BUFFER_MERGES)
    index = ring(rf, place)
    rf.entry[index].lanes = np.int64(rf.entry[index].lanes) | np.int64(mask)
    registers.write_row(sm, rows, np.int64(spec.first_row) + index, value_row, mask)
    sm.events[RF_WRITES] += 1
    count(sm, spec, BUFFER_WRITES)
    return registers.release(sm, warp, reg)


def arbitrate(sm, rf, spec, rows, insts):
    """Serve one read per bank: the oldest, or while the bank writes the oldest that hits the buffer completely."""
    limit = np.int64(sm.config.max_banks_per_cycle)
    served = np.int64(0)
    for bank in set_bits(sm.banks_requested):
        if limit == 0 or served < limit:
            busy = sm.bank[bank].until_cycle > sm.cycle
            served += serve_bank(sm, rf, spec, rows, insts, bank, busy)
        registers.refuse_bank(sm, bank, BANK_CONFLICT)
    return registers.refuse_readers(sm)


def read(sm, rf, spec, rows, warp, reg, mask, out_row):
    """Read a register from STT-RAM, overlaid with the buffer's lanes."""
    fetch(sm, rf, spec, rows, warp, reg, mask, out_row)
    return 0


def on_exit(sm, rf, spec, rows, warp):
    """Drop the entries of a warp whose slot is freed; a write in progress keeps its bank busy but writes nothing."""
    for place in range(np.int64(rf.count)):
        entry = rf.entry[ring(rf, place)]
        if entry.warp == warp and entry.state != DONE:
            if entry.state == WAITING:
                count(sm, spec, BUFFER_DROPPED)
            entry.state = DONE
    return leave(rf)


def end_cycle(sm, rf, spec, rows):
    """Start to write the oldest waiting entry, if its bank neither writes nor was read in this cycle."""
    if rf.begun < rf.count:
        entry = rf.entry[ring(rf, np.int64(rf.begun))]
        port = sm.bank[entry.bank]
        if entry.state == DONE:
            rf.begun += 1
        elif port.until_cycle <= sm.cycle and port.read == 0:
            entry.state = WRITING
            rf.begun += 1
            port.activity = BANK_WRITE
            port.written = 1
            port.owner_warp = entry.warp
            port.owner_reg = entry.reg
            port.busy_code = BANK_CONFLICT
            port.since_cycle = sm.cycle
            port.until_cycle = np.int64(sm.cycle) + max(np.int64(1), np.int64(spec.write_cycles))
            count(sm, spec, STT_WRITES)
            count(sm, spec, BUFFER_DRAINS)
    return leave(rf)


def next_event(sm, rf, spec):
    """Return the end of the first bank write, or the current cycle if one could start."""
    if rf.begun < rf.count and sm.bank[rf.entry[ring(rf, np.int64(rf.begun))].bank].until_cycle <= sm.cycle:
        return np.int64(sm.cycle)
    return registers.first_bank_free(sm)


def locate(sm, rf, spec, warp, reg, lane):
    """Return the row of a lane's newest value: the youngest entry that has it, else STT-RAM."""
    row = registers.main_row(sm, warp, reg)
    for place in range(np.int64(rf.count)):
        index = ring(rf, place)
        entry = rf.entry[index]
        if entry.warp == warp and entry.reg == reg and entry.state != DONE and (np.int64(entry.lanes) >> lane) & 1:
            row = np.int64(spec.first_row) + index
    return row


@device
def ring(rf, place):
    """Return the entry at a position of the queue, 0 = oldest."""
    return (np.int64(rf.head) + place) % ENTRIES


@device
def count(sm, spec, event):
    """Count one of the design's own events."""
    sm.events[spec.first_event + event] += 1
    return 0


@device
def leave(rf):
    """Remove entries that are written or dropped from the head of the queue."""
    while rf.count != 0 and rf.entry[rf.head].state == DONE:
        rf.entry[rf.head].state = WAITING
        rf.entry[rf.head].lanes = 0
        rf.head = ring(rf, 1)
        rf.count -= 1
        if rf.begun != 0:
            rf.begun -= 1
    return 0


@device
def newest_waiting(rf, warp, reg):
    """Return the position of a register's entry whose write has not started, or -1."""
    for place in range(np.int64(rf.begun), np.int64(rf.count)):
        entry = rf.entry[ring(rf, place)]
        if entry.warp == warp and entry.reg == reg and entry.state == WAITING:
            return np.int64(place)
    return np.int64(-1)


@device
def buffered_lanes(rf, warp, reg):
    """Return the lanes of a register that the buffer holds."""
    lanes = np.int64(0)
    for place in range(np.int64(rf.count)):
        entry = rf.entry[ring(rf, place)]
        if entry.warp == warp and entry.reg == reg and entry.state != DONE:
            lanes |= np.int64(entry.lanes)
    return lanes


@device
def serve_bank(sm, rf, spec, rows, insts, bank, busy):
    """Serve the oldest read of a bank, or of a busy bank the oldest that hits the buffer completely; return how many."""
    best = np.int64(-1)
    best_operand = np.int64(0)
    for collector in set_bits(sm.bank_requests[bank]):
        operand = servable(sm, rf, insts, bank, collector, busy)
        if operand >= 0 and (best < 0 or seq_of(sm, collector) < seq_of(sm, best)):
            best = np.int64(collector)
            best_operand = operand
    if best < 0:
        return 0
    port = sm.bank[bank]
    unit = sm.collector[best]
    flight = sm.inflight[unit.inflight]
    warp = np.int64(flight.warp)
    reg = np.int64(insts[flight.pc].src[best_operand])
    out_row = np.int64(sm.config.first_collector_row) + best * NUM_SRC_ROWS + best_operand
    activity, owner_warp, owner_reg = np.int64(port.activity), np.int64(port.owner_warp), np.int64(port.owner_reg)
    mask = np.int64(flight.mask)
    buffered = fetch(sm, rf, spec, rows, warp, reg, mask, out_row)
    registers.operand_served(sm, insts, best, best_operand, bank)
    if mask & ~buffered == 0:
        port.read = 0
        port.activity = activity
        port.owner_warp = owner_warp
        port.owner_reg = owner_reg
    return 1


@device
def servable(sm, rf, insts, bank, collector, busy):
    """Return the lowest row slot of a collector that a bank can serve in this cycle, or -1."""
    unit = sm.collector[collector]
    flight = sm.inflight[unit.inflight]
    unread = np.int64(flight.unread)
    for slot in range(NUM_SRC_ROWS):
        if (unread >> slot) & 1 and unit.bank[slot] == bank:
            reg = np.int64(insts[flight.pc].src[slot])
            if not busy or np.int64(flight.mask) & ~buffered_lanes(rf, np.int64(flight.warp), reg) == 0:
                return np.int64(slot)
    return np.int64(-1)


@device
def seq_of(sm, collector):
    """Return the issue order of the instruction in a collector."""
    return np.int64(sm.inflight[sm.collector[collector].inflight].seq)


@device
def fetch(sm, rf, spec, rows, warp, reg, mask, out_row):
    """Read a register into a latch row: the buffer's lanes over STT-RAM's, which is not read if it is not needed.

    Returns the lanes that the buffer has.
    """
    registers.copy_row(rows, registers.main_row(sm, warp, reg), out_row)
    buffered = np.int64(0)
    is_requested = 0
    for place in range(np.int64(rf.count)):
        index = ring(rf, place)
        entry = rf.entry[index]
        if entry.warp == warp and entry.reg == reg and entry.state != DONE:
            registers.copy_lanes(rows, np.int64(spec.first_row) + index, out_row, np.int64(entry.lanes))
            buffered |= np.int64(entry.lanes)
            is_requested = 1
    if np.int64(mask) & ~buffered != 0:
        count(sm, spec, STT_READS)
    if is_requested != 0:
        count(sm, spec, BUFFER_READS)
    return buffered


PANELS = (
    {"kind": "values", "title": "entries in use", "field": "count", "unit": "of 16"},
    {"kind": "table", "title": "write buffer, a ring", "field": "entry"},
)

# explains refusals, on the host, never compiled


def why(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> bool:
    """Explain a full buffer, or a bank that is writing one of its entries."""
    cycles = trail.value("single_buffer.write_cycles", 4)
    relief = {"single_buffer.write_cycles": 1}
    if moment.name(refusal.code) == "wb_full":
        count, head = int(rf["count"]), int(rf["head"])
        entry = rf["entry"][head]
        bank, warp, reg = int(entry["bank"]), int(entry["warp"]), int(entry["reg"])
        trail.add("the write buffer is full", f"{count} of {ENTRIES} entries", code=refusal.code, buffer=0)
        verb = "is written" if int(entry["state"]) == WRITING else "waits for its bank"
        busy = moment.bank(bank, "until_cycle") - moment.ran
        trail.add(
            f"its oldest entry, w{warp} R{reg}, {verb}",
            f"bank {bank}, {busy} of {plural(cycles, 'cycle')} left" if busy > 0 else f"bank {bank}",
            warp=warp,
            since=moment.bank(bank, "since_cycle") if busy > 0 else -1,
            until=moment.bank(bank, "until_cycle") if busy > 0 else -1,
            bank=bank,
            buffer=0,
            slot=head,
        )
        trail.end("STT bank", f"STT-RAM bank {bank}, one write in {plural(cycles, 'cycle')}", relief)
        return True
    if 0 <= refusal.bank < moment.num_banks and moment.bank(refusal.bank, "until_cycle") > moment.ran:
        bank = refusal.bank
        trail.bank_link(moment, bank, refusal.code, "STT write")
        writing = [
            index
            for index, entry in enumerate(rf["entry"])
            if int(entry["state"]) == WRITING and int(entry["bank"]) == bank
        ]
        if writing:
            entry = rf["entry"][writing[0]]
            trail.add(
                f"drain of the write buffer: w{int(entry['warp'])} R{int(entry['reg'])}",
                f"{int(rf['count'])} of {ENTRIES} entries used",
                warp=int(entry["warp"]),
                since=moment.bank(bank, "since_cycle"),
                until=moment.bank(bank, "until_cycle"),
                bank=bank,
                buffer=0,
                slot=writing[0],
            )
        trail.end("STT bank", f"STT-RAM bank {bank}, one write in {plural(cycles, 'cycle')}", relief)
        return True
    return False


def holder(at: Columns, refused: Refused) -> Access | None:
    """A full buffer waits for its oldest entry, a busy bank for the entry that it writes."""
    rows = refused.rows
    entry = {name: at.rf(f"entry[*].{name}")[rows].astype(np.int64) for name in ("warp", "reg", "state", "bank")}
    if refused.name == "wb_full":
        index = at.rf("head")[rows].astype(np.int64) % ENTRIES
        is_there = np.ones(len(rows), bool)
    else:
        writing = (entry["state"] == WRITING) & (entry["bank"] == refused.bank[:, None])
        index, is_there = writing.argmax(axis=1), writing.any(axis=1)
    each = np.arange(len(rows))
    return Access(np.where(is_there, entry["warp"][each, index], -1), np.where(is_there, entry["reg"][each, index], -1))


def floors(counts: Any, values: Any, config: Any) -> list[tuple[str, int, str]]:
    """Return what the STT banks need at least: a bank reads one row a cycle, and nothing while it writes."""
    writes = counts.get("stt_writes", 0)
    cycles, banks = int(values["single_buffer.write_cycles"]), max(1, int(config["num_banks"]))
    return [("STT banks", writes * cycles // banks, f"{writes:,} writes, {cycles} cycles each, in {banks} banks")]


DESIGN = Design(
    name="single_buffer",
    title="16 entries over STT-RAM",
    source="Goswami et al., HPCA'13, as HRF (DAC'15) describes it",
    parameters=PARAMETERS,
    state=STATE,
    extra_rows=ENTRIES,
    events=EVENTS,
    stalls=(FULL_BUFFER,),
    energy_pj=ENERGY_PJ,
    technology=TECHNOLOGY,
    lens="single_buffer",
    panels=PANELS,
    tracks=(("in buffer", "rf.count", 16),),
    places=(("STT-RAM", ("stt_reads",), ("stt_writes",)),
            ("buffer", ("buffer_reads", "buffer_drains"), ("buffer_writes",))),
    paper_preset="hrf",
)
