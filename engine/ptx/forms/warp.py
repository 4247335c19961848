"""Forms that work across the lanes of a warp: shfl, vote, match, activemask, redux."""

from __future__ import annotations

from rfview.engine.isa import (FLAG_NO_SYNC, OP_ACTIVEMASK, OP_MATCH, OP_REDUX, OP_SHFL, OP_VOTE, REDUX_ADD,
                               REDUX_AND, REDUX_MAX_S, REDUX_MAX_U, REDUX_MIN_S, REDUX_MIN_U, REDUX_OR, REDUX_XOR,
                               SHFL_BFLY, SHFL_DOWN, SHFL_IDX, SHFL_UP, VOTE_ALL, VOTE_ANY, VOTE_BALLOT,
                               VOTE_UNI)
from rfview.engine.program import LAT_SHFL
from rfview.engine.ptx.forms.form import Form, OpInfo, Refused, op_info


def shfl(form: Form) -> OpInfo:
    form.type("b32")
    synced = form.take("sync")
    mode = form.one_of({"up": SHFL_UP, "down": SHFL_DOWN, "bfly": SHFL_BFLY, "idx": SHFL_IDX})
    form.done()
    src = ("b32", "u32", "u32", "u32") if synced else ("b32", "u32", "u32")
    return op_info(OP_SHFL, src, "b32", LAT_SHFL, flags=0 if synced else FLAG_NO_SYNC, aux=mode, pdst=1)


def vote(form: Form) -> OpInfo:
    kind = form.type("pred b32")
    synced = form.take("sync")
    mode = form.one_of({"all": VOTE_ALL, "any": VOTE_ANY, "uni": VOTE_UNI, "ballot": VOTE_BALLOT})
    form.done()
    if (mode == VOTE_BALLOT) != (kind == "b32"):
        raise Refused
    ballot = mode == VOTE_BALLOT
    return op_info(OP_VOTE, ("u32",) if synced else (), "b32" if ballot else "pred", LAT_SHFL,
                   flags=0 if synced else FLAG_NO_SYNC, aux=mode, pdst=0 if ballot else 1, psrc=1)


def match(form: Form) -> OpInfo:
    kind = form.type("b32 b64")
    form.take("sync")
    every = form.one_of({"any": 0, "all": 1})
    form.done()
    return op_info(OP_MATCH, (kind, "u32"), "b32", LAT_SHFL, aux=every + 2 * (kind == "b64"), pdst=every)


def activemask(form: Form) -> OpInfo:
    form.type("b32")
    form.done()
    return op_info(OP_ACTIVEMASK, (), "b32")


def redux(form: Form) -> OpInfo:
    kind = form.type("u32 s32 b32")
    form.take("sync")
    names = ({"and": REDUX_AND, "or": REDUX_OR, "xor": REDUX_XOR} if kind == "b32" else
             {"add": REDUX_ADD, "min": REDUX_MIN_S if kind == "s32" else REDUX_MIN_U,
              "max": REDUX_MAX_S if kind == "s32" else REDUX_MAX_U})
    mode = form.one_of(names)
    form.done()
    return op_info(OP_REDUX, (kind, "u32"), kind, LAT_SHFL, aux=mode)
