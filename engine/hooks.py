"""The interface of a register-file design: its hooks, their defaults, and their binding to a design at compile time.

A design is a numba-free Python file with functions of these names. Those it omits are those of the main file that it
is built over, if any, else the defaults here. A call `hooks.read(sm, rf, spec, rows, ...)` runs the function of the
design that `spec` belongs to (the dtype of this parameter record has a field `design_<name>`). Every hook returns an
int on every path. Arguments always come in this order: `sm` the machine's state (state.py), `rf` the design's state,
`spec` its parameters, `rows` the value rows (`.u`, `.f`, `.i`: 32 lanes); then warp and register, `mask` the lanes
that matter, `slot` an instruction in flight (sm.inflight[slot]), `inst` an instruction (program.py). `rfview help
design` explains the rest; designs/template.py is the example to start from.

`rfview help hrf` lists the hooks that a design has, with what it does in each; numbers such as B1.9 refer to RULES.md.

Rules that need several hooks, for example: in hrf, write_back refuses with wb_drain while begin_cycle drains; in rfc,
on_leave returns rfc_flush until begin_cycle has written the live entries, one per cycle, by the main file's
write_back; in hcrf, on_issue finds a pair busy and end_cycle tries again; in racetrack, write_back queues and arbitrate
moves the tape; in edram, begin_cycle takes the bank and read returns refresh. Accepting a write does not free the
scoreboard: the design calls `registers.release(sm, warp, reg)` when its rule says so.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from rfview.engine.machine import registers
from rfview.engine.compile.bits import set_bits
from rfview.engine.compile.device import declare, device, inlined
from rfview.engine.program import NUM_SRC_ROWS
from rfview.engine.stalls import BANK_CONFLICT
from rfview.engine.state import FOREVER

DESIGNS: dict[str, ModuleType] = {}


def register(name: str, module: ModuleType) -> None:
    """Register a design's functions for binding, under the marker `design_<name>`."""
    DESIGNS[name] = module


def _chain(spec: Any) -> list[ModuleType]:
    """Return the designs of a parameter record, outermost first. spec: its NumPy dtype or its numba type."""
    designs = []
    while True:
        fields = spec.fields
        designs.append(DESIGNS[next(name[7:] for name in fields if name.startswith("design_"))])
        if "mrf" not in fields:
            return designs
        spec = fields["mrf"][0]


def _function(spec: Any, default: Callable[..., Any], passed_on: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that implements a hook for a design: its own, its main file's, or else the default.

    Hooks called by the default are again looked up in the design itself.
    """
    for depth, module in enumerate(_chain(spec)):
        if (own := getattr(module, default.__name__, None)) is not None:
            function: Callable[..., Any] = passed_on if depth else own
            return function
    return default


def hook(default: Callable[..., Any]) -> Callable[..., Any]:
    """Turn a default into a function that dispatches to the design by the type of `spec`, the third argument."""
    bound: dict[tuple[str, ...], Callable[..., Any]] = {}

    def call(sm: Any, rf: Any, spec: Any, *rest: Any) -> Any:
        marker = spec.dtype.names[:2]      # the name, and the hash of the sources: an edited file is a different design
        if marker not in bound:
            bound[marker] = _function(spec.dtype, default, passed_on)
        return bound[marker](sm, rf, spec, *rest)

    def passed_on(sm: Any, rf: Any, spec: Any, *rest: Any) -> Any:
        return call(sm, rf.mrf, spec.mrf, *rest)

    call.__name__ = default.__name__
    call.__doc__ = default.__doc__
    declare(call, lambda sm, rf, spec, *rest: _function(spec, default, passed_on))
    return call


@hook
def begin_cycle(sm, rf, spec, rows):
    """Advance what moves by itself; return 0, or a stall code to freeze the whole pipeline this cycle (B0.10)."""
    return 0


def checks_issue(sm, rf, spec):
    """Return whether a design has its own issue_check: only then are warps that wait to issue checked every cycle."""
    return _checks_issue(spec.dtype)


def _checks_issue(spec: Any) -> bool:
    """Return it for the type of a parameter record."""
    return any(hasattr(module, "issue_check") for module in _chain(spec))


# a constant in compiled code, which then drops the call
declare(checks_issue, lambda sm, rf, spec: ((lambda sm, rf, spec: True) if _checks_issue(spec)
                                            else (lambda sm, rf, spec: False)))


@hook
def bank_of(sm, rf, spec, warp, reg):
    """Return the bank whose port a read or write of (warp, reg) needs."""
    return registers.default_bank(sm, warp, reg)


@hook
def read(sm, rf, spec, rows, warp, reg, mask, out_row):
    """Copy the bits that the hardware would read to latch row `out_row`; return 0, or the stall code of a refusal.

    The bank's port has been granted (`mask`: the lanes needed). `arbitrate` calls it at most once per bank and cycle.
    """
    registers.copy_row(rows, registers.main_row(sm, warp, reg), out_row)
    return 0


@hook
def write_back(sm, rf, spec, rows, warp, reg, mask, value_row, slot):
    """Store the lanes `mask` of latch row `value_row` in (warp, reg); return 0 if accepted, else a stall code.

    slot: the in-flight entry. The design claims the bank's write port, and calls registers.release when its rule says so.
    """
    return default_write_back(sm, rf, spec, rows, warp, reg, mask, value_row, slot)


@hook
def arbitrate(sm, rf, spec, rows, insts):
    """Serve pending operand reads for one cycle: by default the oldest request of every free bank."""
    return default_arbitrate(sm, rf, spec, rows, insts)


@hook
def issue_check(sm, rf, spec, rows, warp, inst):
    """Return 0 if a ready warp may issue `inst` now, else a stall code."""
    return 0


@hook
def on_issue(sm, rf, spec, rows, slot, inst):
    """Note that in-flight entry `slot` was issued."""
    return 0


@hook
def on_retire(sm, rf, spec, rows, slot, inst):
    """Note that every result row of in-flight entry `slot` has been accepted."""
    return 0


@hook
def on_leave(sm, rf, spec, rows, warp):
    """Prepare a warp to leave the active set; return 0 when it may leave, else the stall code that holds it."""
    return 0


@hook
def on_join(sm, rf, spec, rows, warp):
    """Note that a warp joined the active set."""
    return 0


@hook
def on_warp_start(sm, rf, spec, rows, warp):
    """Clear the registers of a warp that starts: unwritten registers read as 0."""
    return registers.clear_warp(sm, rows, warp)


@hook
def on_exit(sm, rf, spec, rows, warp):
    """Drop whatever is kept for a warp that has ended (B0.7)."""
    return 0


@hook
def end_cycle(sm, rf, spec, rows):
    """Do the design's work after everything else in a cycle."""
    return 0


@hook
def next_event(sm, rf, spec):
    """Return the next cycle in which the design acts by itself, so that skipping idle cycles changes nothing."""
    return FOREVER


@hook
def locate(sm, rf, spec, warp, reg, lane):
    """Return the row with the newest value of a register's lane: for views and member masks; not an access."""
    return registers.main_row(sm, warp, reg)


# on the sub-core (machine/cores/subcore), in place of read, write_back and arbitrate: RULES.md, B12


@hook
def read_cycles(sm, rf, spec, warp, reg, is_float):
    """Accept a read: return for how many cycles it takes its bank's read port, 0 if it is served elsewhere; at most 80.

    Or minus the stall code of why it has to wait: its instruction stays in Allocate (or Control) and asks again.
    """
    return 1


@hook
def write_cycles(sm, rf, spec, warp, reg, lanes, is_late, is_float):
    """Accept a result: return for how many cycles its write takes the bank, 0 if it goes elsewhere, or minus a stall code.

    At most 8. A fixed-latency instruction asks in Allocate, before its result is due; one of variable latency when it has
    come (is_late). While a write takes more than one cycle the bank cannot be read.
    """
    return 1


@hook
def bank_cycles(sm, rf, spec, rows, bank):
    """Begin what a design does by itself in a bank: return for how many cycles it takes the bank, or 0.

    At most 62. Asked in each cycle in which its last work there is over; the bank does it as soon as nothing has booked it
    for so long. bank: 2 * sub-core + parity of the register.
    """
    return 0


@device
def default_write_back(sm, rf, spec, rows, warp, reg, mask, value_row, slot):
    """Write a result to its main row if its bank's port is free: for designs that do something before or after."""
    bank = bank_of(sm, rf, spec, warp, reg)
    if not registers.take_write_port(sm, bank, warp, reg):
        return BANK_CONFLICT
    registers.write_row(sm, rows, registers.main_row(sm, warp, reg), value_row, mask)
    registers.release(sm, warp, reg)
    return 0


@device
def default_arbitrate(sm, rf, spec, rows, insts):
    """Grant the oldest request of every bank; mark all others with the reason of their refusal."""
    limit = sm.config.max_banks_per_cycle
    served = 0
    for bank in set_bits(sm.banks_requested):
        code = BANK_CONFLICT
        if sm.bank[bank].until_cycle > sm.cycle:
            code = np.int64(sm.bank[bank].busy_code)
        elif (limit == 0 or served < limit) and registers.read_port_free(sm, bank):
            winner = registers.oldest_request(sm, bank)
            code = grant(sm, rf, spec, rows, insts, bank, winner)
            if code == 0:
                served += 1
                code = BANK_CONFLICT
        registers.refuse_bank(sm, bank, code)
    return registers.refuse_readers(sm)


@inlined
def grant(sm, rf, spec, rows, insts, bank, collector):
    """Read the lowest operand that `collector` wants from `bank`; return 0, or the design's refusal."""
    flight = sm.inflight[sm.collector[collector].inflight]
    operand = registers.operand_in_bank(sm, collector, bank)
    reg = insts[flight.pc].src[operand]
    out_row = sm.config.first_collector_row + collector * NUM_SRC_ROWS + operand
    code = read(sm, rf, spec, rows, flight.warp, reg, flight.mask, out_row)
    if code == 0:
        registers.operand_served(sm, insts, collector, operand, bank)
    return code
