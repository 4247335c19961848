"""Forms of moves, logic, shifts, bit fields and byte permutations."""

from __future__ import annotations

from rfview.engine.isa import (INT_BFE, INT_BFI, INT_BFIND, INT_BFIND_SHIFT, INT_BMSK_CLAMP, INT_BMSK_WRAP, INT_BREV,
                               INT_CLZ, INT_CNOT, INT_FNS, INT_NOT, INT_POPC, INT_SHL, INT_SHR, INT_SZEXT_CLAMP,
                               INT_SZEXT_WRAP, OP_AND32, OP_AND64, OP_DP2A, OP_DP4A, OP_LOP3, OP_MOV32, OP_MOV64,
                               OP_NOT32, OP_NOT64, OP_OR32, OP_OR64, OP_PRED, OP_PRMT, OP_SHF, OP_SHL32, OP_SHL64,
                               OP_SHR_S32, OP_SHR_S64, OP_SHR_U32, OP_SHR_U64, OP_XOR32, OP_XOR64, PRED_AND,
                               PRED_MOV, PRED_NOT, PRED_OR, PRED_XOR, PRMT_MODES, TYPE_BITS)
from rfview.engine.program import LAT_INT_MAD, LAT_OTHER
from rfview.engine.ptx.forms.form import BITS, INTS, Form, OpInfo, Refused, general_int, is_signed, op_info

_LOGIC = {"and": (OP_AND32, OP_AND64, PRED_AND), "or": (OP_OR32, OP_OR64, PRED_OR),
          "xor": (OP_XOR32, OP_XOR64, PRED_XOR)}


def logic(form: Form) -> OpInfo:
    kind = form.type(f"{BITS} pred")
    form.done()
    op32, op64, table = _LOGIC[form.base]
    if kind == "pred":
        return op_info(OP_PRED, (), "pred", aux=table, pdst=1, psrc=2)
    return op_info(op64 if kind == "b64" else op32, (kind, kind), kind)


def not_(form: Form) -> OpInfo:
    kind = form.type(f"{BITS} pred")
    form.done()
    if kind == "pred":
        return op_info(OP_PRED, (), "pred", aux=PRED_NOT, pdst=1, psrc=1)
    if kind == "b16":
        return general_int(INT_NOT, kind, (kind,), kind, LAT_OTHER)
    return op_info(OP_NOT64 if kind == "b64" else OP_NOT32, (kind,), kind)


def mov(form: Form) -> OpInfo:
    kind = form.type(f"{INTS} {BITS} f32 f64 pred")
    form.done()
    if kind == "pred":
        return op_info(OP_PRED, (), "pred", aux=PRED_MOV, pdst=1, psrc=1)
    return op_info(OP_MOV64 if TYPE_BITS[kind] == 64 else OP_MOV32, (kind,), kind)


def shift(form: Form) -> OpInfo:
    left = form.base == "shl"
    kind = form.type(BITS if left else f"{BITS} {INTS}")
    form.done()
    bits = TYPE_BITS[kind]
    if bits == 16:
        return general_int(INT_SHL if left else INT_SHR, kind, (kind, "u32"), kind, LAT_OTHER)
    ops = (OP_SHL32, OP_SHL64) if left else (OP_SHR_S32, OP_SHR_S64) if is_signed(kind) else (OP_SHR_U32, OP_SHR_U64)
    return op_info(ops[bits == 64], (kind, "u32"), kind)


def shf(form: Form) -> OpInfo:
    kind = form.type("b32")
    right = form.one_of({"l": 0, "r": 2})
    wrap = form.one_of({"clamp": 0, "wrap": 1})
    form.done()
    return op_info(OP_SHF, (kind, kind, "u32"), kind, aux=right + wrap)


def lop3(form: Form) -> OpInfo:
    kind = form.type("b32")
    form.done()
    return op_info(OP_LOP3, (kind,) * 3, kind)


def bfe(form: Form) -> OpInfo:
    kind = form.type("u32 s32 u64 s64")
    form.done()
    return general_int(INT_BFE, kind, (kind, "u32", "u32"), kind, LAT_OTHER)


def bfi(form: Form) -> OpInfo:
    kind = form.type("b32 b64")
    form.done()
    return general_int(INT_BFI, kind, (kind, kind, "u32", "u32"), kind, LAT_OTHER)


def bfind(form: Form) -> OpInfo:
    kind = form.type("u32 s32 u64 s64")
    sub = INT_BFIND_SHIFT if form.take("shiftamt") else INT_BFIND
    form.done()
    return general_int(sub, kind, (kind,), "u32", LAT_OTHER)


def bit_count(form: Form) -> OpInfo:
    kind = form.type("b32 b64")
    form.done()
    sub = {"brev": INT_BREV, "clz": INT_CLZ, "popc": INT_POPC}[form.base]
    return general_int(sub, kind, (kind,), kind if form.base == "brev" else "u32", LAT_OTHER)


def cnot(form: Form) -> OpInfo:
    kind = form.type(BITS)
    form.done()
    return general_int(INT_CNOT, kind, (kind,), kind, LAT_OTHER)


def fns(form: Form) -> OpInfo:
    form.type("b32")
    form.done()
    return general_int(INT_FNS, "b32", ("b32",) * 3, "b32", LAT_OTHER)


def bmsk(form: Form) -> OpInfo:
    form.type("b32")
    sub = form.one_of({"clamp": INT_BMSK_CLAMP, "wrap": INT_BMSK_WRAP})
    form.done()
    return general_int(sub, "b32", ("u32", "u32"), "b32", LAT_OTHER)


def szext(form: Form) -> OpInfo:
    kind = form.type("u32 s32")
    sub = form.one_of({"clamp": INT_SZEXT_CLAMP, "wrap": INT_SZEXT_WRAP})
    form.done()
    return general_int(sub, kind, (kind, "u32"), kind, LAT_OTHER)


def prmt(form: Form) -> OpInfo:
    form.type("b32")
    mode = form.one_of(PRMT_MODES, 0)
    form.done()
    return op_info(OP_PRMT, ("b32", "b32", "b32"), "b32", aux=mode)


def dot(form: Form) -> OpInfo:
    if len(form.types) != 2 or any(kind not in ("u32", "s32") for kind in form.types):
        raise Refused
    a, b = form.types
    aux = is_signed(a) | is_signed(b) << 1
    if form.base == "dp2a":
        aux |= form.one_of({"lo": 0, "hi": 4})
    form.done()
    result = "s32" if aux & 3 else "u32"
    return op_info(OP_DP4A if form.base == "dp4a" else OP_DP2A, ("b32", "b32", result), result, LAT_INT_MAD, aux=aux)
