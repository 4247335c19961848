"""Barrier objects of sm_90 and later in shared memory (mbarrier, cuda::barrier): SYNCS, and ARRIVES behind copies.

As ptxas initialises one for n arrivals per phase, and reads it (mbarrier.pending_count, test_wait): bits 1..20 are -n, bits
43..62 -(the arrivals still missing), bit 63 is the phase. Between them is room for the transactions that are still to come
(assumed: bits 21..42). What .A1T0 and its like say is read off ptxas's code for each form of mbarrier: how many arrivals
(A) and transactions (T), 0, 1, or those of the register (R; X: as completed ones); without one, A1TR.
"""

from __future__ import annotations

from rfview.engine import isa
from rfview.engine.program import MEM_ATOMIC, MEM_REDUCTION, SPACE_SHARED
from rfview.engine.sass.draft import Draft
from rfview.engine.sass.form import Form, NotExecuted
from rfview.engine.sass.lower.memory import accessed

OBJECT = isa.T_U64 << 8
# arrivals and transactions: a number, or None for the register; whether these have been completed
ARRIVALS = {"A1T0": (1, 0, False), "A0T1": (0, 1, False), "ART0": (None, 0, False), "A0TR": (0, None, False),
            "A0TX": (0, None, True)}
COPIED = {"ARVCNT": (1, 0, False), "TRANSCNT": (0, 1, True)}        # ARRIVES


def synchronise(form: Form, draft: Draft) -> None:
    """SYNCS: .EXCH initialises, .CCTL ends one or all; .PHASECHK says whether the phase in a word's bit 31 is over."""
    if form.has("CCTL"):
        return
    operation = form.pick({"EXCH": isa.ATOM_EXCH, "ARRIVE": isa.ATOM_SYNC, "PHASECHK": isa.ATOM_PHASE})
    change(form, draft, isa.OP_RED if form.has("RED") else isa.OP_ATOM, operation)
    if operation == isa.ATOM_SYNC:
        arrive(draft, next((ARRIVALS[name] for name in form.modifiers if name in ARRIVALS), (1, None, False)), form)
    else:
        draft.rows(2, form.a, 1 if operation == isa.ATOM_PHASE else 2)
    if operation == isa.ATOM_PHASE:
        draft.number(3, 0)
        draft.flags |= isa.FLAG_ATOM_SUCCESS
        draft.truth(0, form.q)
    elif not form.has("RED"):
        draft.result(form.d, 2)


def arrival(form: Form, draft: Draft) -> None:
    """ARRIVES.LDGSTSBAR.64: when the copies before it have ended, which they have at once; of sm_80, an arrival."""
    if not form.has("LDGSTSBAR") or not form.has("64"):
        raise NotExecuted("but as .LDGSTSBAR.64")
    kind = next((COPIED[name] for name in form.modifiers if name in COPIED), None)
    change(form, draft, isa.OP_RED, isa.ATOM_ARRIVE if kind is None else isa.ATOM_SYNC)
    if kind is not None:
        arrive(draft, kind, form)
    else:
        for slot in (2, 3):
            draft.number(slot, 0)


def change(form: Form, draft: Draft, op: int, operation: int) -> None:
    """Make it an atomic operation on an object."""
    accessed(form, draft, op, SPACE_SHARED, MEM_REDUCTION if op == isa.OP_RED else MEM_ATOMIC)
    draft.width, draft.count, draft.reg_bits = 8, 1, 64
    draft.aux = operation | OBJECT


def arrive(draft: Draft, kind: tuple[int | None, int | None, bool], form: Form) -> None:
    """Fill the arrivals, the transactions and what becomes of them."""
    for slot, number in zip((2, 3), kind[:2]):
        if number is None:
            draft.rows(slot, form.a, 1)
        else:
            draft.number(slot, number)
    draft.number(4, isa.SYNC_COMPLETES * kind[2] | isa.SYNC_DROPS * form.has("OPTOUT"))
    draft.number(5, 0)
