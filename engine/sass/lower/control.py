"""Branches, calls, convergence barriers, barriers of the CTA, and what changes no value."""

from __future__ import annotations

import re

from rfview.engine import isa
from rfview.engine.machine_code import CODE_BASE
from rfview.engine.program import NO_REG, UNIT_LDST, WAIT_SHORT
from rfview.engine.sass.draft import Draft
from rfview.engine.sass.form import Form, NotExecuted
from rfview.engine.sass.listing import INSTRUCTION_BYTES
from rfview.engine.sass.operands import Operand

BARRIERS = {"SYNC": isa.BAR_SYNC, "SYNCALL": isa.BAR_SYNC, "ARV": isa.BAR_ARRIVE, "POPC": isa.BAR_RED_POPC,
            "AND": isa.BAR_RED_AND, "OR": isa.BAR_RED_OR}
ALL_LANES = 0xFFFFFFFF
DEPENDENCES = re.compile(r"SB([0-5]), (0x[0-9a-f]+)(?:, \{([0-5](?:, ?[0-5])*)\})?")
INDEXED = re.compile(r"(U?R)(\d+)(?:\.64)?\s*\+?(-?0x[0-9a-f]+)?")


def conditional(form: Form, draft: Draft, bit: int = isa.BRA_IF) -> None:
    """Add the predicate operand, which together with the guard says for which lanes it is done."""
    predicate = form.one("p")
    if predicate is not None:
        draft.aux |= bit
        draft.condition(0, predicate)


def branch(form: Form, draft: Draft) -> None:
    """BRA, JMP; .DIV and .CONV: only if the lanes of the mask do not, or do, execute it together."""
    draft.control(isa.OP_BRA, isa.BRA_DIV * form.has("DIV") | isa.BRA_CONV * form.has("CONV"))
    draft.target = form.target_of(form.t.text)
    if draft.aux and form.one("a") is not None:
        draft.source(0, form.a)
    elif draft.aux:
        draft.number(0, ALL_LANES)
    conditional(form, draft)


def indexed_branch(form: Form, draft: Draft) -> None:
    """BRX R -n, BRXU UR -n: to the next instruction plus the register, minus n."""
    match = INDEXED.fullmatch(" ".join(operand.text for operand in (*form.all("a"), *form.all("w"), *form.all("n"))))
    if match is None or int(match[2]) >= NO_REG:
        raise NotExecuted(f"with operand {form.text.partition(' ')[2]}")
    draft.control(isa.OP_JUMP)
    draft.target, draft.offset = form.pc + 1, int(match[3] or "0", 16)
    draft.rows(0, Operand(form.text, match[1], int(match[2])), 1)
    draft.number(1, 0)


def call(form: Form, draft: Draft) -> None:
    """CALL: the return address is in registers already. Through a register as RET, .REL from a function's beginning."""
    first = form.one("a") or form.t
    if first.kind in ("R", "UR"):
        return ret(form, draft)
    draft.control(isa.OP_BRA)
    draft.target = form.target_of(first.text)
    conditional(form, draft)
    return None


def ret(form: Form, draft: Draft) -> None:
    """RET: .REL from the beginning of the function that it names, unless the address is one of code."""
    named = form.one("t")
    target = form.target_of(named.text) if named is not None else form.first_pc
    jump(form, draft, form.a, target if form.has("REL") else None)
    conditional(form, draft)


def jump(form: Form, draft: Draft, register: Operand, target: int | None) -> None:
    """Jump to the address in a pair of registers."""
    if register.kind not in ("R", "UR") or register.number is None or register.sign:
        raise NotExecuted(f"with operand {register.text}")
    draft.control(isa.OP_JUMP)
    draft.rows(0, register, 2)
    if target is not None:
        draft.target = target


def code_address(form: Form, draft: Draft) -> None:
    """LEPC: the address of this instruction, or of a target."""
    target = form.one("t")
    draft.be(isa.OP_MOV64)
    address = CODE_BASE + INSTRUCTION_BYTES * (form.pc if target is None else form.target_of(target.text))
    draft.number(0, address)
    draft.number(1, address >> 32)
    draft.result(form.d, 2)


def host_call(form: Form, draft: Draft) -> None:
    """HOST (driver.py): printf of a format and its arguments; assert: message, file, line."""
    draft.be(form.pick({"PRINTF": isa.OP_PRINTF, "ASSERT": isa.OP_ASSERTFAIL}))
    draft.unit, draft.wait_class = UNIT_LDST, WAIT_SHORT
    for slot, operand, words in ((0, form.a, 2), (2, form.b, 2), (4, form.one("c"), 1)):
        if operand is not None:
            draft.rows(slot, operand, words)
    if form.one("d") is not None:
        draft.result(form.d)


def begin_convergence(form: Form, draft: Draft) -> None:
    """BSSY: the lanes that execute it will meet at the BSYNC of this barrier, at the target."""
    draft.control(isa.OP_BSSY, barrier(form))
    draft.target = form.target_of(form.t.text)


def converge(form: Form, draft: Draft) -> None:
    """BSYNC."""
    draft.control(isa.OP_BSYNC, barrier(form))


def leave(form: Form, draft: Draft) -> None:
    """BREAK: the lanes do not wait at the barrier any more."""
    draft.control(isa.OP_BREAK, barrier(form))
    conditional(form, draft, isa.BREAK_IF)


def move_barrier(form: Form, draft: Draft) -> None:
    """BMOV: a barrier to a register or another barrier, where .CLEAR empties it, or a source to a barrier."""
    others = form.all("B")[1:]
    draft.be(isa.OP_BMOV, barrier(form) | isa.BMOV_CLEAR * form.has("CLEAR"))
    if others:
        draft.aux |= isa.BMOV_TO_BARRIER | isa.BMOV_BETWEEN | barrier(form, 1) << isa.BMOV_FROM_SHIFT
    elif form.one("a") is not None:
        draft.aux |= isa.BMOV_TO_BARRIER
        draft.source(0, form.a)
    else:
        draft.result(form.d)
    if form.has("CLEAR") and form.one("a") is not None or others and (form.one("a") or form.one("d")):
        raise NotExecuted("with these operands")


def barrier(form: Form, which: int = 0) -> int:
    """Return the number of the convergence barrier, or of one behind it."""
    number = (form.all("B")[which] if which else form.B).number or 0
    if number >= 16:
        raise NotExecuted(f"with B{number}")
    return number


def meet(form: Form, draft: Draft) -> None:
    """WARPSYNC: wait for the lanes of a mask, .EXCLUSIVE: which go on without others.

    .COLLECTIVE: all go on together behind one of the places, then to targets.
    """
    kinds = {"COLLECTIVE": isa.WARPSYNC_COLLECTIVE, "EXCLUSIVE": isa.WARPSYNC_EXCLUSIVE}
    draft.control(isa.OP_WARPSYNC, form.pick(kinds, 0))
    operands = [*form.all("a"), *form.all("t")]
    if form.has("COLLECTIVE"):
        draft.target = form.target_of(operands.pop().text)
    if operands and not form.has("ALL"):
        draft.source(0, operands[0])
    else:
        draft.number(0, ALL_LANES)


def plain(op: int):
    """Return the lowering of an instruction that is only its opcode."""
    def lower(form: Form, draft: Draft) -> None:
        draft.control(op)

    return lower


def dependence_barrier(form: Form, draft: Draft) -> None:
    """DEPBAR.LE SB0, 0x1, {3,2}: aux is the counter plus one | what may be outstanding << 8 | counters to be 0 << 16."""
    match = DEPENDENCES.search(form.text)
    if match is None:
        raise NotExecuted(f"with operands {form.text.partition(' ')[2]}")
    listed = sum(1 << int(counter) for counter in (match[3] or "").replace(" ", "").split(",") if counter)
    draft.control(isa.OP_NOP, int(match[1]) + 1 | int(match[2], 16) << 8 | listed << 16)


def leave_thread(form: Form, draft: Draft) -> None:
    """EXIT."""
    draft.control(isa.OP_EXIT)
    conditional(form, draft)


def cta_barrier(form: Form, draft: Draft) -> None:
    """BAR."""
    draft.control(isa.OP_BAR, form.pick(BARRIERS))
    operands = form.all("a")
    for k in range(2):
        if k < len(operands):
            draft.source(k, operands[k])
        else:
            draft.number(2 * k, 0)
    if form.one("p") is not None:
        draft.condition(0, form.p)


def barrier_result(form: Form, draft: Draft) -> None:
    """B2R.RESULT: what the last BAR.RED gave."""
    if not form.has("RESULT"):
        raise NotExecuted("but as .RESULT")
    draft.be(isa.OP_B2R)
    draft.result(form.d)
    draft.truth(0, form.one("q"))
