"""`stt`: a plain STT-RAM register file without buffers, the slow baseline of the HRF and HC-RF papers.

A write takes `write_cycles`. With stall = "pipeline" every register write freezes the pipeline for the extra cycles (HRF
section 6.2, rule B1.9); with "bank" only the written bank is busy (HC-RF section V-C). HRF: Li et al., DAC'15.
Deviations: 1. Writes accepted in one cycle overlap their frozen cycles (B0.10); no paper says.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rfview.engine.machine import registers
from rfview.engine.plugin import Design, Parameter, plural
from rfview.engine.plugin.explaining import Moment, Refusal, Trail
from rfview.engine.plugin.holding import Access, Columns, Refused
from rfview.engine.stalls import BANK_CONFLICT, SLOW_STT_WRITE, STT_WRITE
from rfview.engine.state import BANK_BUSY, FOREVER

STALL_PIPELINE, STALL_BANK = 0, 1

PARAMETERS = (
    Parameter("stall", "pipeline", "what a write stalls", "HRF section 6.2; HC-RF section V-C",
              "freeze the pipeline, or keep only the bank busy", ("pipeline", "bank"), is_live=True),
    Parameter("write_cycles", 4, "cycles", "HRF Table 1", "cycles of one array write", low=1, is_live=True),
)

STATE = (
    ("frozen_until_cycle", "i8"),     # the pipeline is frozen before this cycle (stall = pipeline)
    ("writes", "i8"),                 # array writes accepted
)

TECHNOLOGY = {
    "leakage_mw": (16.2, "mW", "HRF Table 1"),
    "area_mm2": (0.038, "mm2", "HRF Table 1"),
    "node_nm": (32, "nm", "HRF Table 1"),
}
ENERGY_PJ = {
    "rf_reads": (0.239 * 1024, "HRF Table 1: 0.239 pJ/bit, 1024 bits"),
    "rf_writes": (0.300 * 1024, "HRF Table 1: 0.300 pJ/bit, 1024 bits"),
}


def begin_cycle(sm, rf, spec, rows):
    """Keep the pipeline frozen during a write (B0.10); show banks that are still writing as busy."""
    if spec.stall == STALL_BANK:
        for bank in range(sm.config.num_banks):
            port = sm.bank[bank]                # all ports are idle so far; computed, since a branch would be mispredicted
            port.activity = np.int64(port.until_cycle > sm.cycle) * BANK_BUSY
        return 0
    return STT_WRITE if rf.frozen_until_cycle > sm.cycle else 0


def write_back(sm, rf, spec, rows, warp, reg, mask, value_row, slot):
    """Start a slow write: the bank, or the whole pipeline, is busy for `write_cycles`."""
    bank = registers.default_bank(sm, warp, reg)
    if sm.bank[bank].until_cycle > sm.cycle:
        return STT_WRITE
    if not registers.take_write_port(sm, bank, warp, reg):
        return BANK_CONFLICT
    registers.write_row(sm, rows, registers.main_row(sm, warp, reg), value_row, mask)
    rf.writes += 1
    until = sm.cycle + spec.write_cycles
    if spec.stall == STALL_BANK:
        sm.bank[bank].since_cycle = sm.cycle
        sm.bank[bank].until_cycle = until
        sm.bank[bank].busy_code = STT_WRITE
    elif rf.frozen_until_cycle < until:
        rf.frozen_until_cycle = until
    registers.release(sm, warp, reg)
    return 0


def next_event(sm, rf, spec):
    """Return the cycle in which the pipeline resumes, or the first busy bank is done."""
    if spec.stall != STALL_PIPELINE:
        return registers.first_bank_free(sm)
    return np.int64(rf.frozen_until_cycle) if rf.frozen_until_cycle >= sm.cycle else np.int64(FOREVER)


# explains refusals, on the host, never compiled

def why(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> bool:
    """Explain a frozen pipeline or a bank that is writing; False for a plain port conflict."""
    cycles = trail.value("stt.write_cycles", 4)
    until = int(rf["frozen_until_cycle"])
    if until > moment.ran and moment.name(refusal.code) == "stt_write":
        began = until - cycles
        trail.add(
            f"an STT write stops everything: {until - moment.ran} of {plural(cycles, 'cycle')} left",
            f"frozen from {began + 1:,} to {until:,}",
            code=refusal.code,
            since=began,
            until=until,
        )
        writer = trail.past.at(began + 1)
        banks = [bank for bank in range(moment.num_banks) if writer is not None and writer.bank(bank, "written")]
        if writer is not None and banks:
            trail.add(
                f"{writer.owner(banks[0])} was written into bank {banks[0]}",
                f"cycle {began:,}",
                warp=writer.bank(banks[0], "owner_warp"),
                since=began,
                until=until,
                bank=banks[0],
            )
            trail.end("STT bank", f"STT-RAM bank {banks[0]}, a write of {plural(cycles, 'cycle')}", {"stt.write_cycles": 1})
        trail.end("STT bank", f"STT-RAM array, a write of {plural(cycles, 'cycle')}", {"stt.write_cycles": 1})
        return True
    if 0 <= refusal.bank < moment.num_banks and moment.bank(refusal.bank, "until_cycle") > moment.ran:
        trail.bank_link(moment, refusal.bank, refusal.code, "STT write")
        trail.end("STT bank", f"STT-RAM bank {refusal.bank}, a write of {plural(cycles, 'cycle')}", {"stt.write_cycles": 1})
        return True
    return False


def holder(at: Columns, refused: Refused) -> Access | None:
    """A frozen pipeline waits for the write that froze it: the last one, since none is accepted in between."""
    if refused.name != "stt_write" or refused.kind == "read":
        return None
    bank = np.maximum(refused.bank, 0)
    is_busy = (refused.bank >= 0) & (at.sm("bank[*].until_cycle")[refused.rows, bank] > at.ran[refused.rows])
    froze = at.last_write(refused.rows)
    return Access(np.where(is_busy, -1, froze.warp), froze.reg)      # a busy bank itself says whose write it is


def floors(counts: Any, values: Any, config: Any) -> list[tuple[str, int, str]]:
    """Return what the banks need at least: with stall = bank, a bank does nothing else while it writes."""
    writes, banks = counts.get("rf_writes", 0), max(1, int(config["num_banks"]))
    cycles = int(values["stt.write_cycles"]) if str(values["stt.stall"]) in ("bank", str(STALL_BANK)) else 1
    return [("STT banks", writes * cycles // banks, f"{writes:,} writes, {plural(cycles, 'cycle')} each, in {banks} banks")]


DESIGN = Design(
    name="stt",
    title="STT-RAM, no buffer",
    source="HRF, DAC'15, section 6.2; HC-RF, section V-C",
    parameters=PARAMETERS,
    state=STATE,
    stalls=(SLOW_STT_WRITE,),
    energy_pj=ENERGY_PJ,
    technology=TECHNOLOGY,
    tracks=(("reads", "count(b.activity == 1)", 0),
            ("writes", "count(b.activity == 2)", 0)),
    places=(("STT-RAM", ("rf_reads",), ("rf_writes",)),),
    lens="banks",
    paper_preset="hrf",
)
