"""Opcodes that work across the lanes of a warp: shfl, vote, match, activemask, redux."""

from __future__ import annotations

from rfview.engine.isa import (FLAG_NO_SYNC, OP_ACTIVEMASK, OP_MATCH, OP_REDUX, OP_SHFL, OP_VOTE, REDUX_ADD,
                               REDUX_AND, REDUX_MAX_S, REDUX_MAX_U, REDUX_MIN_S, REDUX_MIN_U, REDUX_OR, REDUX_XOR,
                               SHFL_BFLY, SHFL_DOWN, SHFL_IDX, SHFL_UP, VOTE_ALL, VOTE_ANY, VOTE_BALLOT, VOTE_UNI)
from rfview.engine.program import LAT_OTHER, LAT_SHFL
from rfview.engine.ptx.forms.form import Chosen, Spelling

_OPS = {"shfl": OP_SHFL, "vote": OP_VOTE, "match": OP_MATCH, "activemask": OP_ACTIVEMASK, "redux": OP_REDUX}
_MODES = {
    "shfl": {"up": SHFL_UP, "down": SHFL_DOWN, "bfly": SHFL_BFLY, "idx": SHFL_IDX},
    "vote": {"all": VOTE_ALL, "any": VOTE_ANY, "uni": VOTE_UNI, "ballot": VOTE_BALLOT}, "match": {"any": 0, "all": 1},
    "activemask": {},
}
_REDUCTIONS = {
    "b32": {"and": REDUX_AND, "or": REDUX_OR, "xor": REDUX_XOR},
    "s32": {"add": REDUX_ADD, "min": REDUX_MIN_S, "max": REDUX_MAX_S},
    "u32": {"add": REDUX_ADD, "min": REDUX_MIN_U, "max": REDUX_MAX_U},
}


def collective(form: Spelling) -> Chosen:
    """Choose the mode; shfl and vote without .sync, of older PTX, have all active lanes as members."""
    modes = _REDUCTIONS[form.type] if form.base == "redux" else _MODES[form.base]
    aux = form.value(modes, 0) + 2 * (form.base == "match" and form.type == "b64")
    is_synced = "sync" in form.words or form.base not in ("shfl", "vote")
    return Chosen(_OPS[form.base], LAT_OTHER if form.base == "activemask" else LAT_SHFL,
                  flags=0 if is_synced else FLAG_NO_SYNC, aux=aux)
