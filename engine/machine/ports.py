"""The ports of the register banks: when one is free, claiming it, and counting refusals."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import popcount
from rfview.engine.compile.device import device, inlined
from rfview.engine.events import READ_CONFLICTS, RF_WRITES, WRITE_CONFLICTS
from rfview.engine.stalls import BANK_CONFLICT
from rfview.engine.state import BANK_WRITE, FOREVER


@device
def take_write_port(sm, bank, warp, reg):
    """Claim the write port of a bank for this cycle; return 1, or 0 if it is taken."""
    entry = sm.bank[bank]
    if entry.written != 0 or entry.until_cycle > sm.cycle:
        return 0
    entry.written = 1
    entry.activity = BANK_WRITE
    entry.owner_warp = warp
    entry.owner_reg = reg
    sm.events[RF_WRITES] += 1
    return 1


@device
def read_port_free(sm, bank):
    """Return whether a bank can serve a read this cycle: its port is free and it is not busy with a slow access."""
    entry = sm.bank[bank]
    if entry.until_cycle > sm.cycle:
        return 0
    if sm.config.bank_ports == 1 and entry.written != 0:
        return 0
    return 1 if entry.read == 0 else 0


@device
def first_bank_free(sm):
    """Return the cycle in which the first of the banks that are busy now is free again; FOREVER if none is busy."""
    event = np.int64(FOREVER)
    for bank in range(sm.config.num_banks):
        until = np.int64(sm.bank[bank].until_cycle)
        if until >= sm.cycle:
            event = min(event, until)
    return event


@inlined
def refuse_bank(sm, bank, code):
    """Note and count why a bank refuses the reads it has not served in this cycle; refuse_readers does the rest."""
    left = popcount(np.uint64(sm.bank_requests[bank]))
    sm.bank[bank].queue = left
    sm.refusal[bank] = code
    return count_refused_reads(sm, code, left)


@inlined
def count_refused_reads(sm, code, operands):
    """Count refused operands under their reason."""
    sm.access_wait[code] += operands
    sm.events[READ_CONFLICTS] += operands if code == BANK_CONFLICT else 0
    return 0


@inlined
def count_refused_write(sm, code):
    """Count a refused write of the design itself by its reason; refused results are counted when write_back returns."""
    sm.access_wait[code] += 1
    sm.events[WRITE_CONFLICTS] += 1 if code == BANK_CONFLICT else 0
    return 0
