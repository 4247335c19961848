"""Operations between the lanes that execute them."""

from __future__ import annotations

from rfview.engine import isa
from rfview.engine.program import LAT_SHFL, WAIT_SHORT
from rfview.engine.sass.draft import Draft
from rfview.engine.sass.form import Form, NotExecuted
from rfview.engine.sass.operands import Operand

SHUFFLES = {"UP": isa.SHFL_UP, "DOWN": isa.SHFL_DOWN, "BFLY": isa.SHFL_BFLY, "IDX": isa.SHFL_IDX}
VOTES = {"ALL": isa.VOTE_ALL, "ANY": isa.VOTE_ANY, "EQ": isa.VOTE_UNI}
REDUCTIONS = {"SUM": isa.REDUX_ADD, "AND": isa.REDUX_AND, "OR": isa.REDUX_OR, "XOR": isa.REDUX_XOR}
SPACES = {"G": 0, "S": 1, "L": 2, "D": 3}       # D: shared memory of other CTAs of a cluster, which has one


def between(draft: Draft, op: int, aux: int) -> None:
    """Make it an operation of the lanes that execute it, without a list of members."""
    draft.be(op, aux, isa.FLAG_NO_SYNC)
    draft.latency_class, draft.wait_class = LAT_SHFL, WAIT_SHORT


def shuffle(form: Form, draft: Draft) -> None:
    """SHFL."""
    between(draft, isa.OP_SHFL, form.pick(SHUFFLES))
    for k, operand in enumerate((form.a, form.b, form.c)):
        draft.source(k, operand)
    draft.truth(0, form.q)
    draft.result(form.d)


def vote(form: Form, draft: Draft) -> None:
    """VOTE, VOTEU: the ballot in a register, whether any or all agree in a predicate."""
    target, predicate = form.one("d"), form.q
    mode = form.pick(VOTES)
    if target is None or target.number is None:
        between(draft, isa.OP_VOTE, mode)
    else:
        between(draft, isa.OP_VOTE if predicate.number is None else isa.OP_VOTE_BOTH,
                isa.VOTE_BALLOT if predicate.number is None else mode)
        draft.result(target)
    draft.truth(0, predicate)
    draft.condition(0, form.p)


def elect(form: Form, draft: Draft) -> None:
    """ELECT: the first lane for which the predicate holds, as a predicate and by number."""
    between(draft, isa.OP_ELECT, 0)
    draft.condition(0, form.p)
    draft.truth(0, form.q)
    draft.result(form.d)


def match(form: Form, draft: Draft) -> None:
    """MATCH: the lanes with an equal operand."""
    is_wide = form.has("U64")
    modes = {"ANY": (isa.MATCH_ANY32, isa.MATCH_ANY64)[is_wide], "ALL": (isa.MATCH_ALL32, isa.MATCH_ALL64)[is_wide]}
    between(draft, isa.OP_MATCH, form.pick(modes))
    draft.source(0, form.a, "i64" if is_wide else "i32")
    draft.truth(0, form.one("q"))
    draft.result(form.d)


def reduce(form: Form, draft: Draft) -> None:
    """REDUX, CREDUX: one value of all lanes; without a name it is AND."""
    signed = form.has("S32")
    extremes = {"MIN": (isa.REDUX_MIN_U, isa.REDUX_MIN_S)[signed], "MAX": (isa.REDUX_MAX_U, isa.REDUX_MAX_S)[signed]}
    between(draft, isa.OP_REDUX, form.pick({**REDUCTIONS, **extremes}, isa.REDUX_AND))
    draft.source(0, form.a)
    draft.result(form.d)


def is_in_space(form: Form, draft: Draft) -> None:
    """QSPC: whether a generic address is in a space."""
    terms = [term for term in form.m.terms if term[1] is not None]
    if form.d.number is not None or len(terms) != 1:
        raise NotExecuted(f"with operand {form.m.text}")
    draft.be(isa.OP_ISSPACEP, form.pick(SPACES) | (form.m.offset & 0xFFFFFF) << 8)
    draft.rows(0, Operand(form.m.text, terms[0][0], terms[0][1]), 2)
    draft.truth(0, form.q)
