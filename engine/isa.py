"""The opcode table: PTX base names, types and modifiers to the machine's opcodes; plain data, no numba.

`lookup("mul", ("wide", "u32"))` gives the `OpInfo` of an instruction that `engine/execute.py` computes. Loads, stores,
atomics, branches, barriers and special registers have their constants here, but the front end builds those itself.

Operands. `src_types[k]` is the PTX type of source operand k in PTX order. Operands 0, 1, 2 go to row slots 2k (and
2k + 1 for 64 bits); a fourth operand (bfi's length, shfl's member mask) goes to slot 5. Predicate operands are not in
`src_types`: `num_psrc` counts them, in order, for `psrc`. `num_pdst` is the *most* predicate results an instruction can
have (setp p|q: 2; shfl d|p: 1; add.cc: 1, the carry); unused ones are NO_PRED. lop3's immediate table goes to `aux`.
Immediates of 16-bit operands are masked to 16 bits by the front end: upper bits of narrow values are zero in every row.
A cvt to 8 or 16 bits whose destination register is 32 bits wide needs FLAG_WIDE_DST added by the front end.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from engine.program import (
    LAT_DP_ADD, LAT_DP_DIV, LAT_DP_MAD, LAT_DP_MAX, LAT_DP_MUL, LAT_FP_ADD, LAT_FP_DIV, LAT_FP_MAD, LAT_FP_MAX,
    LAT_FP_MUL, LAT_INT_ADD, LAT_INT_DIV, LAT_INT_MAD, LAT_INT_MAX, LAT_INT_MUL, LAT_SFU, LAT_SHFL, UNIT_SFU, UNIT_SP,
    WAIT_FIXED, WAIT_SHORT,
)

# --- flags (INST.flags) --------------------------------------------------------------------------------------------
FLAG_FTZ = 1             # flush subnormal inputs and outputs to zero of the same sign
FLAG_SAT = 2             # clamp: floats to [0, 1], integers to their range
ROUND_SHIFT = 2
FLAG_ROUND_MASK = 12
ROUND_RN, ROUND_RZ, ROUND_RM, ROUND_RP = range(4)
FLAG_RZ, FLAG_RM, FLAG_RP = 4, 8, 12
FLAG_NAN = 16            # min / max: NaN if either input is NaN
FLAG_BOOL_MASK = 96      # setp / set: combine with psrc[0]
FLAG_BOOL_AND, FLAG_BOOL_OR, FLAG_BOOL_XOR = 32, 64, 96
FLAG_CC_IN = 128         # reads the carry (psrc[0])
FLAG_CC_OUT = 256        # writes the carry (pdst[0])
FLAG_INT_ROUND = 512     # cvt: round to an integral value (rni, rzi, rmi, rpi)
FLAG_WIDE_DST = 1024     # cvt to 8 or 16 bits: extend to 32 bits (the destination register is 32 bits wide)
FLAG_NO_SYNC = 2048      # shfl / vote without .sync: every active lane is a member
FLAG_RELU = 4096         # half fma, cvt: negative results and NaN become +0 / NaN

# --- types (in aux of the general opcodes) -------------------------------------------------------------------------
(T_U8, T_S8, T_U16, T_S16, T_U32, T_S32, T_U64, T_S64, T_F16, T_BF16, T_F32, T_F64, T_F16X2, T_BF16X2) = range(14)
TYPE_CODES = {
    "u8": T_U8, "s8": T_S8, "b8": T_U8, "u16": T_U16, "s16": T_S16, "b16": T_U16, "u32": T_U32, "s32": T_S32,
    "b32": T_U32, "u64": T_U64, "s64": T_S64, "b64": T_U64, "f16": T_F16, "bf16": T_BF16, "f32": T_F32, "f64": T_F64,
    "f16x2": T_F16X2, "bf16x2": T_BF16X2,
}
TYPES = frozenset(TYPE_CODES) | {"pred"}
TYPE_BITS = {name: 64 if "64" in name else 32 if "32" in name or "x2" in name else 16 if "16" in name else 8
             for name in TYPE_CODES} | {"pred": 1}

# --- opcodes -------------------------------------------------------------------------------------------------------
_NAMES = (
    # computed by execute, one vector loop each
    "NOP MOV32 MOV64 ADD32 SUB32 MUL_LO32 MAD_LO32 AND32 OR32 XOR32 NOT32 SHL32 SHR_U32 SHR_S32 MIN_S32 MAX_S32 "
    "MIN_U32 MAX_U32 NEG32 ABS32 ADD64 SUB64 MUL_LO64 AND64 OR64 XOR64 NOT64 SHL64 SHR_U64 SHR_S64 NEG64 "
    "MUL_WIDE_U32 MUL_WIDE_S32 MAD_WIDE_U32 MAD_WIDE_S32 "
    "FADD FSUB FMUL FFMA FNEG FABS FMIN FMAX FDIV FSQRT FRCP FADD_FTZ FSUB_FTZ FMUL_FTZ FFMA_FTZ "
    "DADD DSUB DMUL DFMA DNEG DABS DDIV DSQRT DRCP "
    "SETP_S32 SETP_U32 SETP_F32 SETP_F32_FTZ SETP_S64 SETP_U64 SETP_F64 SELP32 SELP64 PRED "
    "ZEXT8 SEXT8 ZEXT16 SEXT16 ZEXT64 SEXT64 CVT_F32_S32 CVT_F32_U32 CVT_S32_F32 CVT_U32_F32 CVT_F64_F32 CVT_F32_F64 "
    "CVT_F64_S32 CVT_F64_U32 LOP3 SHF MUL_HI_U32 MUL_HI_S32 "
    # computed by execute, lane by lane
    "SETP_S16 SETP_HALF SET SLCT INT CARRY PRMT DP4A DP2A FLOAT DOUBLE HALF SFU CVT TESTP COPYSIGN32 COPYSIGN64 "
    "PACK16 UNPACK16 PACK16X4 UNPACK16X4 PACK8X4 UNPACK8X4 ISSPACEP CVTA "
    "SHFL VOTE MATCH ACTIVEMASK REDUX "
    # acted on by the machine
    "LD ST ATOM RED LDPARAM SREG BRA BRA_UNI BRX EXIT BAR BAR_WARP MEMBAR TRAP BRKPT NANOSLEEP PRINTF ASSERTFAIL TEX"
).split()
(
    OP_NOP, OP_MOV32, OP_MOV64, OP_ADD32, OP_SUB32, OP_MUL_LO32, OP_MAD_LO32, OP_AND32, OP_OR32, OP_XOR32, OP_NOT32,
    OP_SHL32, OP_SHR_U32, OP_SHR_S32, OP_MIN_S32, OP_MAX_S32, OP_MIN_U32, OP_MAX_U32, OP_NEG32, OP_ABS32, OP_ADD64,
    OP_SUB64, OP_MUL_LO64, OP_AND64, OP_OR64, OP_XOR64, OP_NOT64, OP_SHL64, OP_SHR_U64, OP_SHR_S64, OP_NEG64,
    OP_MUL_WIDE_U32, OP_MUL_WIDE_S32, OP_MAD_WIDE_U32, OP_MAD_WIDE_S32,
    OP_FADD, OP_FSUB, OP_FMUL, OP_FFMA, OP_FNEG, OP_FABS, OP_FMIN, OP_FMAX, OP_FDIV, OP_FSQRT, OP_FRCP,
    OP_FADD_FTZ, OP_FSUB_FTZ, OP_FMUL_FTZ, OP_FFMA_FTZ,
    OP_DADD, OP_DSUB, OP_DMUL, OP_DFMA, OP_DNEG, OP_DABS, OP_DDIV, OP_DSQRT, OP_DRCP,
    OP_SETP_S32, OP_SETP_U32, OP_SETP_F32, OP_SETP_F32_FTZ, OP_SETP_S64, OP_SETP_U64, OP_SETP_F64, OP_SELP32,
    OP_SELP64, OP_PRED,
    OP_ZEXT8, OP_SEXT8, OP_ZEXT16, OP_SEXT16, OP_ZEXT64, OP_SEXT64, OP_CVT_F32_S32, OP_CVT_F32_U32, OP_CVT_S32_F32,
    OP_CVT_U32_F32, OP_CVT_F64_F32, OP_CVT_F32_F64, OP_CVT_F64_S32, OP_CVT_F64_U32, OP_LOP3,
    OP_SHF, OP_MUL_HI_U32, OP_MUL_HI_S32,
    OP_SETP_S16, OP_SETP_HALF, OP_SET, OP_SLCT, OP_INT, OP_CARRY, OP_PRMT, OP_DP4A, OP_DP2A, OP_FLOAT,
    OP_DOUBLE, OP_HALF, OP_SFU, OP_CVT, OP_TESTP, OP_COPYSIGN32, OP_COPYSIGN64,
    OP_PACK16, OP_UNPACK16, OP_PACK16X4, OP_UNPACK16X4, OP_PACK8X4, OP_UNPACK8X4, OP_ISSPACEP, OP_CVTA,
    OP_SHFL, OP_VOTE, OP_MATCH, OP_ACTIVEMASK, OP_REDUX,
    OP_LD, OP_ST, OP_ATOM, OP_RED, OP_LDPARAM, OP_SREG, OP_BRA, OP_BRA_UNI, OP_BRX, OP_EXIT, OP_BAR, OP_BAR_WARP,
    OP_MEMBAR, OP_TRAP, OP_BRKPT, OP_NANOSLEEP, OP_PRINTF, OP_ASSERTFAIL, OP_TEX,
) = range(len(_NAMES))
REVERSE: dict[int, str] = {code: name.lower() for code, name in enumerate(_NAMES)}

# --- aux of OP_PRED: bit (p0 + 2 * p1) is the result ---------------------------------------------------------------
PRED_FALSE, PRED_AND, PRED_XOR, PRED_OR, PRED_NOT, PRED_MOV, PRED_TRUE = 0, 0b1000, 0b0110, 0b1110, 0b0101, 0b1010, 15

# --- aux of setp, set: low byte; OP_SET, OP_SETP_HALF, OP_SLCT: source type << 8, destination type << 16 ------------
(CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE, CMP_EQU, CMP_NEU, CMP_LTU, CMP_LEU, CMP_GTU, CMP_GEU, CMP_NUM,
 CMP_NAN) = range(14)
COMPARISONS = {name: code for code, name in enumerate(
    "eq ne lt le gt ge equ neu ltu leu gtu geu num nan".split())} | {
    "lo": CMP_LT, "ls": CMP_LE, "hi": CMP_GT, "hs": CMP_GE}

# --- aux of OP_INT: operation | type << 8 --------------------------------------------------------------------------
(INT_ADD, INT_SUB, INT_MUL_LO, INT_MUL_HI, INT_MUL_WIDE, INT_MAD_LO, INT_MAD_HI, INT_MAD_WIDE, INT_MUL24_LO,
 INT_MUL24_HI, INT_MAD24_LO, INT_MAD24_HI, INT_DIV, INT_REM, INT_ABS, INT_NEG, INT_MIN, INT_MAX, INT_SAD, INT_NOT,
 INT_CNOT, INT_SHL, INT_SHR, INT_BFE, INT_BFI, INT_BFIND, INT_BFIND_SHIFT, INT_BREV, INT_CLZ, INT_POPC, INT_FNS,
 INT_BMSK_CLAMP, INT_BMSK_WRAP, INT_SZEXT_CLAMP, INT_SZEXT_WRAP) = range(35)
# aux of OP_CARRY: one of these | type << 8
CARRY_ADD, CARRY_SUB, CARRY_MAD_LO, CARRY_MAD_HI = range(4)
# aux of OP_SHF
SHF_L_CLAMP, SHF_L_WRAP, SHF_R_CLAMP, SHF_R_WRAP = range(4)
# aux of OP_PRMT
PRMT_MODES = {"": 0, "f4e": 1, "b4e": 2, "rc8": 3, "ecl": 4, "ecr": 5, "rc16": 6}
# aux of OP_DP4A / OP_DP2A: bit 0 a signed, bit 1 b signed, bit 2 upper half (dp2a.hi)
# aux of OP_FLOAT, OP_DOUBLE; OP_HALF: operation | type << 8
(FP_ADD, FP_SUB, FP_MUL, FP_FMA, FP_DIV, FP_RCP, FP_SQRT, FP_MIN, FP_MAX, FP_NEG, FP_ABS) = range(11)
# aux of OP_SFU
(SFU_RCP, SFU_SQRT, SFU_RSQRT, SFU_EX2, SFU_LG2, SFU_SIN, SFU_COS, SFU_TANH, SFU_DIV, SFU_DIV_FULL, SFU_RCP64,
 SFU_RSQRT64) = range(12)
SFU_HALF = 1 << 8        # with SFU_EX2, SFU_TANH: f16; SFU_HALF2: f16x2
SFU_HALF2 = 2 << 8
SFU_BF16 = 4 << 8
# aux of OP_CVT: destination type | source type << 8 | CVT_PAIR
CVT_PAIR = 1 << 16       # cvt.rn.f16x2.f32 d, a, b: a to the upper, b to the lower half
# aux of OP_TESTP
TESTP_KINDS = {"finite": 0, "infinite": 1, "number": 2, "notanumber": 3, "normal": 4, "subnormal": 5}
TESTP_F64 = 8            # added for f64
# aux of OP_CVTA and OP_ISSPACEP
CVTA_IDENTITY, CVTA_FROM_SHARED, CVTA_FROM_LOCAL, CVTA_TO_SHARED, CVTA_TO_LOCAL, CVTA_FROM_PARAM, CVTA_TO_PARAM = (
    range(7))
ISSPACEP_KINDS = {"global": 0, "shared": 1, "local": 2, "const": 3, "param": 4}
# aux of OP_SHFL, OP_VOTE, OP_MATCH, OP_REDUX
SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX = range(4)
VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT = range(4)
MATCH_ANY32, MATCH_ALL32, MATCH_ANY64, MATCH_ALL64 = range(4)
REDUX_ADD, REDUX_MIN_U, REDUX_MAX_U, REDUX_MIN_S, REDUX_MAX_S, REDUX_AND, REDUX_OR, REDUX_XOR = range(8)
# aux of OP_BAR
BAR_SYNC, BAR_ARRIVE, BAR_RED_POPC, BAR_RED_AND, BAR_RED_OR = range(5)
# aux of OP_ATOM, OP_RED: operation | type << 8 (a T_* code)
(ATOM_ADD, ATOM_AND, ATOM_OR, ATOM_XOR, ATOM_MIN, ATOM_MAX, ATOM_INC, ATOM_DEC, ATOM_EXCH, ATOM_CAS) = range(10)
ATOM_OPS = {name: code for code, name in enumerate("add and or xor min max inc dec exch cas".split())}

# aux of OP_TRAP: the kernel's own, or that of an indirect call that found no function, or of a surface access outside
TRAP_CALL, TRAP_SURFACE = 1, 2
# aux of OP_TEX: dimensions (1..3) | TEX_LAYERED | TEX_INTEGER | (tld4: component + 1) << shift | components wanted << shift
TEX_LAYERED, TEX_INTEGER, TEX_GATHER_SHIFT, TEX_MASK_SHIFT = 4, 8, 4, 16

# --- aux of OP_SREG ------------------------------------------------------------------------------------------------
SREG_NAMES: tuple[str, ...] = tuple(
    "tid.x tid.y tid.z ntid.x ntid.y ntid.z ctaid.x ctaid.y ctaid.z nctaid.x nctaid.y nctaid.z laneid warpid nwarpid "
    "smid nsmid gridid lanemask_eq lanemask_lt lanemask_le lanemask_gt lanemask_ge clock clock_hi clock64 globaltimer "
    "globaltimer_lo globaltimer_hi dynamic_smem_size total_smem_size envreg".split())
(SREG_TID_X, SREG_TID_Y, SREG_TID_Z, SREG_NTID_X, SREG_NTID_Y, SREG_NTID_Z, SREG_CTAID_X, SREG_CTAID_Y, SREG_CTAID_Z,
 SREG_NCTAID_X, SREG_NCTAID_Y, SREG_NCTAID_Z, SREG_LANEID, SREG_WARPID, SREG_NWARPID, SREG_SMID, SREG_NSMID,
 SREG_GRIDID, SREG_LANEMASK_EQ, SREG_LANEMASK_LT, SREG_LANEMASK_LE, SREG_LANEMASK_GT, SREG_LANEMASK_GE, SREG_CLOCK,
 SREG_CLOCK_HI, SREG_CLOCK64, SREG_GLOBALTIMER, SREG_GLOBALTIMER_LO, SREG_GLOBALTIMER_HI, SREG_DYNAMIC_SMEM_SIZE,
 SREG_TOTAL_SMEM_SIZE, SREG_ENVREG) = range(len(SREG_NAMES))
SREGS: dict[str, int] = {f"%{name}": code for code, name in enumerate(SREG_NAMES)} | {
    f"%envreg{k}": SREG_ENVREG for k in range(32)}      # every environment register reads as 0
SREG_64BIT = frozenset({SREG_CLOCK64, SREG_GLOBALTIMER, SREG_GRIDID})


class OpInfo(NamedTuple):
    """What the front end copies into an INST, and the operand shape it checks; see the module docstring."""

    op: int
    flags: int
    aux: int
    unit: int
    latency_class: int
    wait_class: int
    src_types: tuple[str, ...]
    dst_type: str | None
    num_pdst: int
    num_psrc: int
    is_float: bool


class UnsupportedOpcode(Exception):
    """An instruction form that the machine does not have; `nearest` is a form that it does have."""

    def __init__(self, nearest: str) -> None:
        super().__init__(nearest)
        self.nearest = nearest


class _Refused(Exception):
    """Raised inside the table for a combination of modifiers that does not exist."""


def mnemonic(op: int) -> str:
    """Short lower-case name of an opcode constant, for views."""
    return REVERSE.get(op, f"op{op}")


class _Form:
    """The modifiers of one instruction, taken off one by one; whatever is left over is refused."""

    def __init__(self, base: str, modifiers: tuple[str, ...]) -> None:
        self.base = base
        self.types = [m for m in modifiers if m in TYPES]
        self.left = [m for m in modifiers if m not in TYPES]

    def take(self, name: str) -> bool:
        """Remove modifier `name` if it is there."""
        if name in self.left:
            self.left.remove(name)
            return True
        return False

    def one_of(self, names: dict[str, int], default: int | None = None) -> int:
        """Remove the one modifier out of `names` and give its value."""
        for name in self.left:
            if name in names:
                self.left.remove(name)
                return names[name]
        if default is None:
            raise _Refused
        return default

    def type(self, allowed: str = "") -> str:
        """The one type of the form, which must be among `allowed` (blank separated)."""
        if len(self.types) != 1 or (allowed and self.types[0] not in allowed.split()):
            raise _Refused
        return self.types[0]

    def done(self) -> None:
        """Refuse what is left over."""
        if self.left:
            raise _Refused


_INTS = "u16 s16 u32 s32 u64 s64"
_BITS = "b16 b32 b64"
_ROUNDS = {"rn": ROUND_RN, "rz": ROUND_RZ, "rm": ROUND_RM, "rp": ROUND_RP}
_INT_ROUNDS = {"rni": ROUND_RN, "rzi": ROUND_RZ, "rmi": ROUND_RM, "rpi": ROUND_RP}
_BOOLS = {"and": FLAG_BOOL_AND, "or": FLAG_BOOL_OR, "xor": FLAG_BOOL_XOR}


def _info(op: int, src: tuple[str, ...], dst: str | None, latency: int = LAT_INT_ADD, unit: int = UNIT_SP,
          flags: int = 0, aux: int = 0, pdst: int = 0, psrc: int = 0, is_float: bool = False) -> OpInfo:
    wait = WAIT_SHORT if unit == UNIT_SFU else WAIT_FIXED
    return OpInfo(op, flags, aux, unit, latency, wait, src, dst, pdst, psrc, is_float)


def _int(sub: int, kind: str, src: tuple[str, ...], dst: str, latency: int, flags: int = 0,
         unit: int = UNIT_SP) -> OpInfo:
    return _info(OP_INT, src, dst, latency, unit, flags=flags, aux=sub | TYPE_CODES[kind] << 8)


def _is_signed(kind: str) -> bool:
    return kind[0] == "s"


def _wide(kind: str) -> str:
    return kind[0] + str(TYPE_BITS[kind] * 2)


# --- integer and float arithmetic ----------------------------------------------------------------------------------
def _float_flags(form: _Form, rounding: bool) -> int:
    flags = 0
    if rounding:
        flags |= form.one_of(_ROUNDS, ROUND_RN) << ROUND_SHIFT
    if form.take("ftz"):
        flags |= FLAG_FTZ
    if form.take("sat"):
        flags |= FLAG_SAT
    return flags


_FLOAT_FAST = {
    FP_ADD: (OP_FADD, OP_FADD_FTZ, OP_DADD), FP_SUB: (OP_FSUB, OP_FSUB_FTZ, OP_DSUB),
    FP_MUL: (OP_FMUL, OP_FMUL_FTZ, OP_DMUL), FP_FMA: (OP_FFMA, OP_FFMA_FTZ, OP_DFMA),
    FP_DIV: (OP_FDIV, None, OP_DDIV), FP_RCP: (OP_FRCP, None, OP_DRCP), FP_SQRT: (OP_FSQRT, None, OP_DSQRT),
    FP_NEG: (OP_FNEG, None, OP_DNEG), FP_ABS: (OP_FABS, None, OP_DABS), FP_MIN: (OP_FMIN, None, None),
    FP_MAX: (OP_FMAX, None, None),
}
_FLOAT_LATENCY = {
    FP_ADD: (LAT_FP_ADD, LAT_DP_ADD), FP_SUB: (LAT_FP_ADD, LAT_DP_ADD), FP_MUL: (LAT_FP_MUL, LAT_DP_MUL),
    FP_FMA: (LAT_FP_MAD, LAT_DP_MAD), FP_DIV: (LAT_FP_DIV, LAT_DP_DIV), FP_RCP: (LAT_FP_DIV, LAT_DP_DIV),
    FP_SQRT: (LAT_FP_DIV, LAT_DP_DIV), FP_MIN: (LAT_FP_MAX, LAT_DP_MAX), FP_MAX: (LAT_FP_MAX, LAT_DP_MAX),
    FP_NEG: (LAT_FP_ADD, LAT_DP_ADD), FP_ABS: (LAT_FP_ADD, LAT_DP_ADD),
}


def _float(sub: int, kind: str, count: int, flags: int) -> OpInfo:
    """A float operation: its own opcode where the rounding is to nearest and nothing else is asked, else OP_FLOAT."""
    src = (kind,) * count
    if kind == "f64":
        if flags & (FLAG_FTZ | FLAG_SAT):
            raise _Refused
        fast = _FLOAT_FAST[sub][2]
        op, aux = (fast, 0) if fast is not None and flags == 0 else (OP_DOUBLE, sub)
        return _info(op, src, kind, _FLOAT_LATENCY[sub][1], UNIT_SFU, flags, aux, is_float=True)
    latency = _FLOAT_LATENCY[sub][0]
    if kind != "f32":
        if flags & FLAG_ROUND_MASK:
            raise _Refused
        return _info(OP_HALF, src, kind, latency, UNIT_SP, flags, sub | TYPE_CODES[kind] << 8)
    unit = UNIT_SFU if latency == LAT_FP_DIV else UNIT_SP
    plain, flushed, _ = _FLOAT_FAST[sub]
    if flags == 0:
        return _info(plain, src, kind, latency, unit, is_float=True)
    if flags == FLAG_FTZ and flushed is not None:
        return _info(flushed, src, kind, latency, unit, flags, is_float=True)
    return _info(OP_FLOAT, src, kind, latency, unit, flags, sub, is_float=True)


_FLOATS = "f32 f64 f16 f16x2 bf16 bf16x2"


def _add_sub(form: _Form) -> OpInfo:
    is_add = form.base == "add"
    if form.take("cc"):
        return _carry(form, CARRY_ADD if is_add else CARRY_SUB, False, True, 2)
    kind = form.type(f"{_INTS} {_FLOATS}")
    if kind in _FLOATS.split():
        info = _float(FP_ADD if is_add else FP_SUB, kind, 2, _float_flags(form, True))
        form.done()
        return info
    saturated = form.take("sat")
    form.done()
    if saturated and kind != "s32":
        raise _Refused
    if TYPE_BITS[kind] == 16 or saturated:
        return _int(INT_ADD if is_add else INT_SUB, kind, (kind, kind), kind, LAT_INT_ADD, FLAG_SAT * saturated)
    ops = (OP_ADD32, OP_ADD64) if is_add else (OP_SUB32, OP_SUB64)
    return _info(ops[TYPE_BITS[kind] == 64], (kind, kind), kind)


def _carry(form: _Form, sub: int, reads: bool, writes: bool, count: int) -> OpInfo:
    kind = form.type("u32 s32 u64 s64 b32 b64")
    form.done()
    flags = (FLAG_CC_IN if reads else 0) | (FLAG_CC_OUT if writes else 0)
    latency = LAT_INT_ADD if sub in (CARRY_ADD, CARRY_SUB) else LAT_INT_MAD
    return _info(OP_CARRY, (kind,) * count, kind, latency, flags=flags, aux=sub | TYPE_CODES[kind] << 8,
                 pdst=int(writes), psrc=int(reads))


def _add_sub_carry(form: _Form) -> OpInfo:
    writes = form.take("cc")
    return _carry(form, CARRY_ADD if form.base == "addc" else CARRY_SUB, True, writes, 2)


def _mul(form: _Form) -> OpInfo:
    kind = form.type(f"{_INTS} {_FLOATS}")
    if kind in _FLOATS.split():
        info = _float(FP_MUL, kind, 2, _float_flags(form, True))
        form.done()
        return info
    half = form.one_of({"lo": 0, "hi": 1, "wide": 2}, -1 if form.left else None)
    form.done()
    bits = TYPE_BITS[kind]
    if half == 2:
        if bits == 64:
            raise _Refused
        if bits == 16:
            return _int(INT_MUL_WIDE, kind, (kind, kind), _wide(kind), LAT_INT_MUL)
        return _info(OP_MUL_WIDE_S32 if _is_signed(kind) else OP_MUL_WIDE_U32, (kind, kind), _wide(kind), LAT_INT_MUL)
    if half == 0 and bits != 16:
        return _info(OP_MUL_LO32 if bits == 32 else OP_MUL_LO64, (kind, kind), kind, LAT_INT_MUL)
    if half < 0:
        raise _Refused
    if half == 1 and bits == 32:
        return _info(OP_MUL_HI_S32 if _is_signed(kind) else OP_MUL_HI_U32, (kind, kind), kind, LAT_INT_MUL)
    return _int(INT_MUL_HI if half else INT_MUL_LO, kind, (kind, kind), kind, LAT_INT_MUL)


def _mad(form: _Form) -> OpInfo:
    kind = form.type(f"{_INTS} f32 f64")
    if kind in ("f32", "f64"):
        info = _float(FP_FMA, kind, 3, _float_flags(form, True))
        form.done()
        return info
    half = form.one_of({"lo": 0, "hi": 1, "wide": 2})
    if form.take("cc"):
        if half == 2:
            raise _Refused
        return _carry(form, CARRY_MAD_HI if half else CARRY_MAD_LO, False, True, 3)
    saturated = form.take("sat")
    form.done()
    if saturated and (kind != "s32" or half != 1):
        raise _Refused
    bits = TYPE_BITS[kind]
    if half == 2:
        if bits == 64:
            raise _Refused
        src = (kind, kind, _wide(kind))
        if bits == 16:
            return _int(INT_MAD_WIDE, kind, src, _wide(kind), LAT_INT_MAD)
        return _info(OP_MAD_WIDE_S32 if _is_signed(kind) else OP_MAD_WIDE_U32, src, _wide(kind), LAT_INT_MAD)
    if half == 0 and bits == 32:
        return _info(OP_MAD_LO32, (kind,) * 3, kind, LAT_INT_MAD)
    return _int(INT_MAD_HI if half else INT_MAD_LO, kind, (kind,) * 3, kind, LAT_INT_MAD, FLAG_SAT * saturated)


def _mad_carry(form: _Form) -> OpInfo:
    half = form.one_of({"lo": CARRY_MAD_LO, "hi": CARRY_MAD_HI})
    return _carry(form, half, True, form.take("cc"), 3)


def _mul24(form: _Form) -> OpInfo:
    kind = form.type("u32 s32")
    high = form.one_of({"lo": 0, "hi": 1})
    saturated = form.take("sat")
    form.done()
    if form.base == "mul24":
        return _int(INT_MUL24_HI if high else INT_MUL24_LO, kind, (kind, kind), kind, LAT_INT_MUL)
    if saturated and not (high and kind == "s32"):
        raise _Refused
    return _int(INT_MAD24_HI if high else INT_MAD24_LO, kind, (kind,) * 3, kind, LAT_INT_MAD, FLAG_SAT * saturated)


def _fma(form: _Form) -> OpInfo:
    kind = form.type(_FLOATS)
    flags = _float_flags(form, True)
    if form.take("relu"):
        if kind in ("f32", "f64"):
            raise _Refused
        flags |= FLAG_RELU
    form.done()
    return _float(FP_FMA, kind, 3, flags)


def _div(form: _Form) -> OpInfo:
    kind = form.type(f"{_INTS} f32 f64")
    if kind in ("f32", "f64"):
        bare = kind == "f32" and not form.left
        if kind == "f32" and (form.take("approx") or "full" in form.left or bare):
            full = form.take("full")
            flags = FLAG_FTZ if bare else _float_flags(form, False)
            form.done()
            return _info(OP_SFU, (kind, kind), kind, LAT_SFU, UNIT_SFU, flags, SFU_DIV_FULL if full else SFU_DIV,
                         is_float=True)
        info = _float(FP_DIV, kind, 2, _float_flags(form, True))
        form.done()
        return info
    form.done()
    return _int(INT_DIV, kind, (kind, kind), kind, LAT_INT_DIV, unit=UNIT_SFU)


def _rem(form: _Form) -> OpInfo:
    kind = form.type(_INTS)
    form.done()
    return _int(INT_REM, kind, (kind, kind), kind, LAT_INT_DIV, unit=UNIT_SFU)


def _abs_neg(form: _Form) -> OpInfo:
    is_neg = form.base == "neg"
    kind = form.type(f"s16 s32 s64 {_FLOATS}")
    if kind in _FLOATS.split():
        info = _float(FP_NEG if is_neg else FP_ABS, kind, 1, FLAG_FTZ * form.take("ftz"))
        form.done()
        return info
    form.done()
    if kind == "s32":
        return _info(OP_NEG32 if is_neg else OP_ABS32, (kind,), kind)
    if kind == "s64" and is_neg:
        return _info(OP_NEG64, (kind,), kind)
    return _int(INT_NEG if is_neg else INT_ABS, kind, (kind,), kind, LAT_INT_ADD)


def _min_max(form: _Form) -> OpInfo:
    is_min = form.base == "min"
    kind = form.type(f"{_INTS} {_FLOATS}")
    if kind in _FLOATS.split():
        flags = (FLAG_FTZ * form.take("ftz")) | (FLAG_NAN * form.take("NaN"))
        form.done()
        if kind == "f64" and flags:
            raise _Refused
        return _float(FP_MIN if is_min else FP_MAX, kind, 2, flags)
    form.done()
    if kind in ("u32", "s32"):
        ops = (OP_MIN_U32, OP_MAX_U32, OP_MIN_S32, OP_MAX_S32)
        return _info(ops[2 * _is_signed(kind) + (not is_min)], (kind, kind), kind, LAT_INT_MAX)
    return _int(INT_MIN if is_min else INT_MAX, kind, (kind, kind), kind, LAT_INT_MAX)


def _sad(form: _Form) -> OpInfo:
    kind = form.type(_INTS)
    form.done()
    return _int(INT_SAD, kind, (kind,) * 3, kind, LAT_INT_MAX)


# --- logic, shifts and bit fields ----------------------------------------------------------------------------------
_LOGIC = {"and": (OP_AND32, OP_AND64, PRED_AND), "or": (OP_OR32, OP_OR64, PRED_OR),
          "xor": (OP_XOR32, OP_XOR64, PRED_XOR)}


def _logic(form: _Form) -> OpInfo:
    kind = form.type(f"{_BITS} pred")
    form.done()
    op32, op64, table = _LOGIC[form.base]
    if kind == "pred":
        return _info(OP_PRED, (), "pred", aux=table, pdst=1, psrc=2)
    return _info(op64 if kind == "b64" else op32, (kind, kind), kind)


def _not(form: _Form) -> OpInfo:
    kind = form.type(f"{_BITS} pred")
    form.done()
    if kind == "pred":
        return _info(OP_PRED, (), "pred", aux=PRED_NOT, pdst=1, psrc=1)
    if kind == "b16":
        return _int(INT_NOT, kind, (kind,), kind, LAT_INT_ADD)
    return _info(OP_NOT64 if kind == "b64" else OP_NOT32, (kind,), kind)


def _mov(form: _Form) -> OpInfo:
    kind = form.type(f"{_INTS} {_BITS} f16 bf16 f16x2 bf16x2 f32 f64 pred")
    form.done()
    if kind == "pred":
        return _info(OP_PRED, (), "pred", aux=PRED_MOV, pdst=1, psrc=1)
    return _info(OP_MOV64 if TYPE_BITS[kind] == 64 else OP_MOV32, (kind,), kind)


def _shift(form: _Form) -> OpInfo:
    left = form.base == "shl"
    kind = form.type(_BITS if left else f"{_BITS} {_INTS}")
    form.done()
    bits = TYPE_BITS[kind]
    if bits == 16:
        return _int(INT_SHL if left else INT_SHR, kind, (kind, "u32"), kind, LAT_INT_ADD)
    ops = (OP_SHL32, OP_SHL64) if left else (OP_SHR_S32, OP_SHR_S64) if _is_signed(kind) else (OP_SHR_U32, OP_SHR_U64)
    return _info(ops[bits == 64], (kind, "u32"), kind)


def _shf(form: _Form) -> OpInfo:
    kind = form.type("b32")
    right = form.one_of({"l": 0, "r": 2})
    wrap = form.one_of({"clamp": 0, "wrap": 1})
    form.done()
    return _info(OP_SHF, (kind, kind, "u32"), kind, aux=right + wrap)


def _lop3(form: _Form) -> OpInfo:
    kind = form.type("b32")
    form.done()
    return _info(OP_LOP3, (kind,) * 3, kind)


def _bfe(form: _Form) -> OpInfo:
    kind = form.type("u32 s32 u64 s64")
    form.done()
    return _int(INT_BFE, kind, (kind, "u32", "u32"), kind, LAT_INT_ADD)


def _bfi(form: _Form) -> OpInfo:
    kind = form.type("b32 b64")
    form.done()
    return _int(INT_BFI, kind, (kind, kind, "u32", "u32"), kind, LAT_INT_ADD)


def _bfind(form: _Form) -> OpInfo:
    kind = form.type("u32 s32 u64 s64")
    sub = INT_BFIND_SHIFT if form.take("shiftamt") else INT_BFIND
    form.done()
    return _int(sub, kind, (kind,), "u32", LAT_INT_ADD)


def _bit_count(form: _Form) -> OpInfo:
    kind = form.type("b32 b64")
    form.done()
    sub = {"brev": INT_BREV, "clz": INT_CLZ, "popc": INT_POPC}[form.base]
    return _int(sub, kind, (kind,), kind if form.base == "brev" else "u32", LAT_INT_ADD)


def _cnot(form: _Form) -> OpInfo:
    kind = form.type(_BITS)
    form.done()
    return _int(INT_CNOT, kind, (kind,), kind, LAT_INT_ADD)


def _fns(form: _Form) -> OpInfo:
    form.type("b32")
    form.done()
    return _int(INT_FNS, "b32", ("b32", "u32", "s32"), "b32", LAT_INT_ADD)


def _bmsk(form: _Form) -> OpInfo:
    form.type("b32")
    sub = form.one_of({"clamp": INT_BMSK_CLAMP, "wrap": INT_BMSK_WRAP})
    form.done()
    return _int(sub, "b32", ("u32", "u32"), "b32", LAT_INT_ADD)


def _szext(form: _Form) -> OpInfo:
    kind = form.type("u32 s32")
    sub = form.one_of({"clamp": INT_SZEXT_CLAMP, "wrap": INT_SZEXT_WRAP})
    form.done()
    return _int(sub, kind, (kind, "u32"), kind, LAT_INT_ADD)


def _prmt(form: _Form) -> OpInfo:
    form.type("b32")
    mode = form.one_of(PRMT_MODES, 0)
    form.done()
    return _info(OP_PRMT, ("b32", "b32", "b32"), "b32", aux=mode)


def _dot(form: _Form) -> OpInfo:
    if len(form.types) != 2 or any(kind not in ("u32", "s32") for kind in form.types):
        raise _Refused
    a, b = form.types
    aux = _is_signed(a) | _is_signed(b) << 1
    if form.base == "dp2a":
        aux |= form.one_of({"lo": 0, "hi": 4})
    form.done()
    result = "s32" if aux & 3 else "u32"
    return _info(OP_DP4A if form.base == "dp4a" else OP_DP2A, ("b32", "b32", result), result, LAT_INT_MAD, aux=aux)


# --- comparison and selection --------------------------------------------------------------------------------------
_SETP_OPS = {"s32": OP_SETP_S32, "u32": OP_SETP_U32, "b32": OP_SETP_U32, "s64": OP_SETP_S64, "u64": OP_SETP_U64,
             "b64": OP_SETP_U64, "u16": OP_SETP_U32, "b16": OP_SETP_U32, "s16": OP_SETP_S16, "f32": OP_SETP_F32,
             "f64": OP_SETP_F64}


def _compare(form: _Form, kind: str) -> tuple[int, int]:
    """Comparison code and flags, checked against the type compared."""
    boolean = 0
    if len(form.left) > 1:
        boolean = form.one_of(_BOOLS, 0)
    compare = form.one_of(COMPARISONS)
    is_float = "f" in kind
    if "ftz" in form.left and kind == "f64":
        raise _Refused
    if compare >= CMP_EQU and not is_float or kind[0] == "b" and not is_float and compare > CMP_NE:
        raise _Refused
    return compare, boolean | FLAG_FTZ * form.take("ftz")


def _setp(form: _Form) -> OpInfo:
    kind = form.type(" ".join([*_SETP_OPS, "f16 f16x2 bf16 bf16x2"]))
    compare, flags = _compare(form, kind)
    form.done()
    psrc = int(bool(flags & FLAG_BOOL_MASK))
    if kind in ("f16", "bf16", "f16x2", "bf16x2"):
        return _info(OP_SETP_HALF, (kind, kind), "pred", flags=flags, aux=compare | TYPE_CODES[kind] << 8, pdst=2,
                     psrc=psrc)
    latency, unit = (LAT_DP_ADD, UNIT_SFU) if kind == "f64" else (LAT_INT_ADD, UNIT_SP)
    op = OP_SETP_F32_FTZ if kind == "f32" and flags & FLAG_FTZ else _SETP_OPS[kind]
    return _info(op, (kind, kind), "pred", latency, unit, flags, compare, pdst=2, psrc=psrc,
                 is_float=kind in ("f32", "f64"))


def _set(form: _Form) -> OpInfo:
    if len(form.types) != 2:
        raise _Refused
    dst, kind = form.types
    answers: tuple[str, ...]
    if kind in _HALVES:  # a half answers as a half or an integer, a pair as a pair or a 32-bit integer
        answers = (kind, "u32", "s32") if "x2" in kind else (kind, "u16", "s16", "u32", "s32")
    else:
        answers = ("u32", "s32", "f32") if kind in _SETP_OPS else ()
    if dst not in answers:
        raise _Refused
    compare, flags = _compare(form, kind)
    form.done()
    latency, unit = (LAT_DP_ADD, UNIT_SFU) if kind == "f64" else (LAT_INT_ADD, UNIT_SP)
    return _info(OP_SET, (kind, kind), dst, latency, unit, flags,
                 compare | _SET_TYPES[kind] << 8 | TYPE_CODES[dst] << 16, psrc=int(bool(flags & FLAG_BOOL_MASK)),
                 is_float=kind in ("f32", "f64"))


_HALVES = ("f16", "bf16", "f16x2", "bf16x2")
_SET_TYPES = TYPE_CODES | {"b16": T_U32, "u16": T_U32}


def _selp(form: _Form) -> OpInfo:
    kind = form.type(f"{_INTS} {_BITS} f16 bf16 f32 f64")
    form.done()
    return _info(OP_SELP64 if TYPE_BITS[kind] == 64 else OP_SELP32, (kind, kind), kind, psrc=1)


def _slct(form: _Form) -> OpInfo:
    if len(form.types) != 2 or form.types[1] not in ("s32", "f32") or form.types[0] in ("pred", "u8", "s8", "b8"):
        raise _Refused
    kind, selector = form.types
    flags = FLAG_FTZ * form.take("ftz")
    form.done()
    return _info(OP_SLCT, (kind, kind, selector), kind, flags=flags,
                 aux=TYPE_CODES[selector] << 8 | TYPE_CODES[kind] << 16,
                 is_float=kind in ("f32", "f64") or selector == "f32")


# --- conversion ----------------------------------------------------------------------------------------------------
_CVT_FAST = {
    ("f32", "s32"): OP_CVT_F32_S32, ("f32", "u32"): OP_CVT_F32_U32, ("f64", "f32"): OP_CVT_F64_F32,
    ("f32", "f64"): OP_CVT_F32_F64, ("f64", "s32"): OP_CVT_F64_S32, ("f64", "u32"): OP_CVT_F64_U32,
}


def _cvt_int(dst: str, src: str) -> int | None:
    """The move or extension that an integer conversion without saturation is, or None."""
    dst_bits, src_bits = TYPE_BITS[dst], TYPE_BITS[src]
    if dst_bits == 64 and src_bits == 64:
        return OP_MOV64
    if dst_bits == 64 and src_bits == 32:
        return OP_SEXT64 if _is_signed(src) else OP_ZEXT64
    if dst_bits == 32 and src_bits >= 32:
        return OP_MOV32
    if dst_bits == 32:
        return {("u", 16): OP_ZEXT16, ("s", 16): OP_SEXT16, ("u", 8): OP_ZEXT8, ("s", 8): OP_SEXT8}[src[0], src_bits]
    if dst_bits == 16 and (src_bits >= 16 or src == "u8") and dst == "u16":
        return OP_ZEXT16 if src_bits >= 16 else OP_ZEXT8
    if dst == "u8" and src_bits >= 8:
        return OP_ZEXT8
    return None


def _cvt(form: _Form) -> OpInfo:
    if len(form.types) != 2:
        raise _Refused
    dst, src = form.types
    allowed = "u8 s8 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64".split()
    if dst in ("f16x2", "bf16x2"):
        rounding = form.one_of({"rn": ROUND_RN, "rz": ROUND_RZ})
        flags = rounding << ROUND_SHIFT | FLAG_RELU * form.take("relu")
        form.done()
        if src != "f32":
            raise _Refused
        return _info(OP_CVT, (src, src), dst, flags=flags, aux=TYPE_CODES[dst] | TYPE_CODES[src] << 8 | CVT_PAIR)
    if dst not in allowed or src not in allowed:
        raise _Refused
    flags = FLAG_FTZ * form.take("ftz") | FLAG_SAT * form.take("sat") | FLAG_RELU * form.take("relu")
    dst_float, src_float = "f" in dst, "f" in src
    rounding = form.one_of(_ROUNDS, -1)
    whole = form.one_of(_INT_ROUNDS, -1)
    form.done()
    if flags & FLAG_FTZ and "f32" not in (dst, src) or flags & FLAG_RELU and not (src_float and dst in ("f16", "bf16")):
        raise _Refused
    if src_float and dst_float and whole >= 0 and dst != src:
        raise _Refused
    if src_float and not dst_float or src_float and dst_float and whole >= 0:
        if rounding >= 0 or whole < 0:
            raise _Refused
        flags |= FLAG_INT_ROUND | whole << ROUND_SHIFT
    elif whole >= 0:
        raise _Refused
    else:
        flags |= max(rounding, 0) << ROUND_SHIFT
    aux = TYPE_CODES[dst] | TYPE_CODES[src] << 8
    if not dst_float and not src_float:
        if rounding >= 0:
            raise _Refused
        fast = None if flags else _cvt_int(dst, src)
        return _info(OP_CVT if fast is None else fast, (src,), dst, flags=flags, aux=aux)
    if flags == 0 and (dst, src) in _CVT_FAST:
        return _info(_CVT_FAST[dst, src], (src,), dst)
    if flags == FLAG_INT_ROUND | FLAG_RZ and src == "f32" and dst in ("s32", "u32"):
        return _info(OP_CVT_S32_F32 if dst == "s32" else OP_CVT_U32_F32, (src,), dst)
    return _info(OP_CVT, (src,), dst, flags=flags, aux=aux)


# --- roots, reciprocals and transcendentals ------------------------------------------------------------------------
def _sfu(form: _Form, sub: int) -> OpInfo:
    kind = form.type("f32")
    flags = FLAG_FTZ * form.take("ftz")
    form.done()
    return _info(OP_SFU, (kind,), kind, LAT_SFU, UNIT_SFU, flags, sub, is_float=True)


def _root(form: _Form) -> OpInfo:
    """rcp, sqrt, rsqrt: approximate or correctly rounded; rcp.f32 alone is PTX 1.3's rcp.approx.ftz.f32, as div.f32."""
    _fill_in_defaults(form)
    approx = form.take("approx")
    is_f64 = form.types == ["f64"]
    if form.base == "rsqrt" and not approx:
        raise _Refused
    if approx and is_f64:
        if form.base == "sqrt":
            raise _Refused
        flushed = form.take("ftz")
        form.done()
        if form.base == "rcp" and not flushed:
            raise _Refused
        return _info(OP_SFU, ("f64",), "f64", LAT_SFU, UNIT_SFU, FLAG_FTZ * flushed,
                     SFU_RCP64 if form.base == "rcp" else SFU_RSQRT64, is_float=True)
    if approx:
        return _sfu(form, {"rcp": SFU_RCP, "sqrt": SFU_SQRT, "rsqrt": SFU_RSQRT}[form.base])
    kind = form.type("f32 f64")
    info = _float(FP_RCP if form.base == "rcp" else FP_SQRT, kind, 1, _float_flags(form, True))
    form.done()
    return info


def _fill_in_defaults(form: _Form) -> None:
    """Give a bare f32 form the modifiers that it had in PTX 1.0 to 1.3; later versions ask for them."""
    if form.types == ["f32"] and not form.left:
        form.left = ["approx", "ftz"]


def _transcendental(form: _Form) -> OpInfo:
    """ex2, lg2, sin, cos, tanh; ex2 and tanh for halves too."""
    _fill_in_defaults(form)
    if not form.take("approx"):
        raise _Refused
    sub = {"ex2": SFU_EX2, "lg2": SFU_LG2, "sin": SFU_SIN, "cos": SFU_COS, "tanh": SFU_TANH}[form.base]
    if sub in (SFU_EX2, SFU_TANH) and form.types[:1] in (["f16"], ["f16x2"], ["bf16"], ["bf16x2"]):
        kind = form.type()
        flags = FLAG_FTZ * form.take("ftz")
        form.done()
        sub |= (SFU_HALF2 if "x2" in kind else SFU_HALF) | (SFU_BF16 if kind[0] == "b" else 0)
        return _info(OP_SFU, (kind,), kind, LAT_SFU, UNIT_SFU, flags, sub)
    return _sfu(form, sub)


def _testp(form: _Form) -> OpInfo:
    kind = form.type("f32 f64")
    test = form.one_of(TESTP_KINDS)
    form.done()
    latency, unit = (LAT_DP_ADD, UNIT_SFU) if kind == "f64" else (LAT_INT_ADD, UNIT_SP)
    aux = test + TESTP_F64 * (kind == "f64")
    return _info(OP_TESTP, (kind,), "pred", latency, unit, aux=aux, pdst=1, is_float=True)


def _copysign(form: _Form) -> OpInfo:
    kind = form.type("f32 f64")
    form.done()
    if kind == "f64":
        return _info(OP_COPYSIGN64, (kind, kind), kind, LAT_DP_ADD, UNIT_SFU, is_float=True)
    return _info(OP_COPYSIGN32, (kind, kind), kind, LAT_FP_ADD, is_float=True)


# --- between lanes -------------------------------------------------------------------------------------------------
def _shfl(form: _Form) -> OpInfo:
    form.type("b32")
    synced = form.take("sync")
    mode = form.one_of({"up": SHFL_UP, "down": SHFL_DOWN, "bfly": SHFL_BFLY, "idx": SHFL_IDX})
    form.done()
    src = ("b32", "u32", "u32", "u32") if synced else ("b32", "u32", "u32")
    return _info(OP_SHFL, src, "b32", LAT_SHFL, flags=0 if synced else FLAG_NO_SYNC, aux=mode, pdst=1)


def _vote(form: _Form) -> OpInfo:
    kind = form.type("pred b32")
    synced = form.take("sync")
    mode = form.one_of({"all": VOTE_ALL, "any": VOTE_ANY, "uni": VOTE_UNI, "ballot": VOTE_BALLOT})
    form.done()
    if (mode == VOTE_BALLOT) != (kind == "b32"):
        raise _Refused
    ballot = mode == VOTE_BALLOT
    return _info(OP_VOTE, ("u32",) if synced else (), "b32" if ballot else "pred", LAT_SHFL,
                 flags=0 if synced else FLAG_NO_SYNC, aux=mode, pdst=0 if ballot else 1, psrc=1)


def _match(form: _Form) -> OpInfo:
    kind = form.type("b32 b64")
    form.take("sync")
    every = form.one_of({"any": 0, "all": 1})
    form.done()
    return _info(OP_MATCH, (kind, "u32"), "b32", LAT_SHFL, aux=every + 2 * (kind == "b64"), pdst=every)


def _activemask(form: _Form) -> OpInfo:
    form.type("b32")
    form.done()
    return _info(OP_ACTIVEMASK, (), "b32")


def _redux(form: _Form) -> OpInfo:
    kind = form.type("u32 s32 b32")
    form.take("sync")
    names = ({"and": REDUX_AND, "or": REDUX_OR, "xor": REDUX_XOR} if kind == "b32" else
             {"add": REDUX_ADD, "min": REDUX_MIN_S if kind == "s32" else REDUX_MIN_U,
              "max": REDUX_MAX_S if kind == "s32" else REDUX_MAX_U})
    mode = form.one_of(names)
    form.done()
    return _info(OP_REDUX, (kind, "u32"), kind, LAT_SHFL, aux=mode)


# --- addresses -----------------------------------------------------------------------------------------------------
def _cvta(form: _Form) -> OpInfo:
    kind = form.type("u64 u32")
    to = form.take("to")
    windows = {"global": (CVTA_IDENTITY,) * 2, "const": (CVTA_IDENTITY,) * 2,
               "shared": (CVTA_FROM_SHARED, CVTA_TO_SHARED), "local": (CVTA_FROM_LOCAL, CVTA_TO_LOCAL),
               "param": (CVTA_FROM_PARAM, CVTA_TO_PARAM)}
    for name, pair in windows.items():
        if any(form.take(name + part) for part in ("", "::cta", "::cluster", "::entry")):
            form.done()
            if kind == "u32" and pair[to] != CVTA_IDENTITY:  # the windows lie beyond 32 bits
                raise _Refused
            return _info(OP_CVTA, (kind,), kind, aux=pair[to])
    raise _Refused


def _isspacep(form: _Form) -> OpInfo:
    space = form.one_of(ISSPACEP_KINDS | {"shared::cta": 1, "shared::cluster": 1, "param::entry": 4})
    form.done()
    return _info(OP_ISSPACEP, ("u64",), "pred", aux=space, pdst=1)


BASES: dict[str, Callable[[_Form], OpInfo]] = {
    "add": _add_sub, "sub": _add_sub, "addc": _add_sub_carry, "subc": _add_sub_carry, "mul": _mul, "mad": _mad,
    "madc": _mad_carry, "mul24": _mul24, "mad24": _mul24, "fma": _fma, "div": _div, "rem": _rem, "abs": _abs_neg,
    "neg": _abs_neg, "min": _min_max, "max": _min_max, "sad": _sad, "and": _logic, "or": _logic, "xor": _logic,
    "not": _not, "cnot": _cnot, "shl": _shift, "shr": _shift, "shf": _shf, "lop3": _lop3, "bfe": _bfe, "bfi": _bfi,
    "bfind": _bfind, "brev": _bit_count, "clz": _bit_count, "popc": _bit_count, "fns": _fns, "bmsk": _bmsk,
    "szext": _szext, "prmt": _prmt, "dp4a": _dot, "dp2a": _dot, "setp": _setp, "set": _set, "selp": _selp,
    "slct": _slct, "cvt": _cvt, "mov": _mov, "rcp": _root, "sqrt": _root, "rsqrt": _root, "ex2": _transcendental,
    "lg2": _transcendental, "sin": _transcendental, "cos": _transcendental, "tanh": _transcendental, "testp": _testp,
    "copysign": _copysign, "shfl": _shfl, "vote": _vote, "match": _match, "activemask": _activemask, "redux": _redux,
    "cvta": _cvta, "isspacep": _isspacep,
}

# one or more well-formed examples of each base, for the error message
EXAMPLES: tuple[str, ...] = tuple((
    "add.s32 add.u32 add.s64 add.u64 add.s16 add.u16 add.sat.s32 add.f32 add.rn.f32 add.rz.ftz.sat.f32 add.f64 "
    "add.rn.f64 add.f16 add.f16x2 add.cc.u32 add.cc.u64 addc.u32 addc.cc.u32 sub.s32 sub.u32 sub.s64 sub.u64 sub.s16 "
    "sub.f32 sub.f64 sub.f16x2 sub.cc.u32 subc.u32 subc.cc.u32 mul.lo.s32 mul.lo.u32 mul.hi.s32 mul.hi.u32 "
    "mul.lo.s64 mul.hi.u64 mul.wide.s32 mul.wide.u32 mul.wide.u16 mul.lo.s16 mul.f32 mul.rn.f32 mul.ftz.f32 mul.f64 "
    "mul.f16 mul.f16x2 mad.lo.s32 mad.lo.u32 mad.hi.s32 mad.wide.s32 mad.wide.u32 mad.lo.s64 mad.rn.f32 mad.lo.cc.u32 "
    "mad.hi.cc.u32 madc.lo.u32 madc.hi.u32 madc.lo.cc.u32 madc.hi.cc.u32 mul24.lo.s32 mul24.hi.u32 mad24.lo.s32 "
    "fma.rn.f32 fma.rn.ftz.f32 fma.rz.f32 fma.rn.f64 fma.rn.f16 fma.rn.f16x2 fma.rn.bf16x2 div.s32 div.u32 div.s64 "
    "div.u64 div.u16 div.rn.f32 div.approx.f32 div.approx.ftz.f32 div.full.f32 div.rn.f64 rem.s32 rem.u32 rem.s64 "
    "rem.u64 abs.s32 abs.f32 abs.f64 neg.s32 neg.s64 neg.f32 neg.f64 min.s32 min.u32 min.f32 min.f64 min.NaN.f32 "
    "max.s32 max.u32 max.f32 max.f64 sad.s32 sad.u32 and.b16 and.b32 and.b64 and.pred or.b16 or.b32 or.b64 or.pred "
    "xor.b16 xor.b32 xor.b64 xor.pred not.b16 not.b32 not.b64 not.pred cnot.b32 shl.b16 shl.b32 shl.b64 shr.u16 "
    "shr.s16 shr.u32 shr.s32 shr.b32 shr.u64 shr.s64 shf.l.wrap.b32 shf.r.wrap.b32 shf.l.clamp.b32 shf.r.clamp.b32 "
    "lop3.b32 bfe.u32 bfe.s32 bfe.u64 bfi.b32 bfi.b64 bfind.u32 bfind.shiftamt.u32 brev.b32 brev.b64 clz.b32 clz.b64 "
    "popc.b32 popc.b64 fns.b32 bmsk.clamp.b32 szext.clamp.s32 prmt.b32 prmt.b32.f4e dp4a.s32.s32 dp4a.u32.u32 "
    "dp2a.lo.s32.s32 setp.eq.s32 setp.ne.s32 setp.lt.s32 setp.lt.u32 setp.eq.b32 setp.lt.f32 setp.ltu.f32 setp.lt.f64 "
    "setp.nan.f32 setp.lt.and.s32 setp.eq.s64 setp.eq.f16 set.lt.u32.f32 set.eq.f16.f16 "
    "set.gt.f16x2.f16x2 selp.b32 selp.f32 selp.b64 slct.f32.s32 "
    "cvt.u32.u64 cvt.s64.s32 cvt.u16.u32 cvt.rn.f32.s32 cvt.rn.f32.f64 cvt.f64.f32 cvt.rzi.s32.f32 cvt.rni.s32.f32 "
    "cvt.rn.f16.f32 cvt.f32.f16 cvt.rn.bf16.f32 cvt.sat.f32.f32 cvt.rzi.f32.f32 cvt.rn.f16x2.f32 mov.u16 mov.u32 "
    "mov.b32 mov.b64 mov.u64 mov.f32 mov.f64 mov.pred rcp.rn.f32 rcp.approx.f32 rcp.approx.ftz.f32 rcp.rn.f64 "
    "rcp.approx.ftz.f64 sqrt.rn.f32 sqrt.approx.f32 sqrt.rn.f64 rsqrt.approx.f32 rsqrt.approx.f64 ex2.approx.f32 "
    "ex2.approx.ftz.f32 ex2.approx.f16 lg2.approx.f32 sin.approx.f32 cos.approx.f32 tanh.approx.f32 testp.finite.f32 "
    "copysign.f32 copysign.f64 shfl.sync.up.b32 shfl.sync.down.b32 shfl.sync.bfly.b32 shfl.sync.idx.b32 "
    "vote.sync.all.pred vote.sync.any.pred vote.sync.uni.pred vote.sync.ballot.b32 match.any.sync.b32 "
    "match.all.sync.b32 activemask.b32 redux.sync.add.s32 redux.sync.and.b32 cvta.global.u64 cvta.to.global.u64 "
    "cvta.shared.u64 cvta.to.shared.u64 isspacep.shared").split())


@lru_cache(maxsize=None)
def lookup(base: str, modifiers: tuple[str, ...]) -> OpInfo:
    """Find the opcode of an arithmetic, logic, conversion or warp-wide instruction.

    base: PTX base name ("mad"); modifiers: the dotted parts after it, in order, types included (("lo", "s32")).
    Raises UnsupportedOpcode, whose `nearest` names the closest form that exists.
    """
    handler = BASES.get(base)
    if handler is not None:
        try:
            return handler(_Form(base, modifiers))
        except _Refused:
            pass
    raise UnsupportedOpcode(_nearest(base, modifiers))


def _nearest(base: str, modifiers: tuple[str, ...]) -> str:
    name = ".".join((base, *modifiers))
    if base in BASES:
        own = [form for form in EXAMPLES if form.split(".")[0] == base]
        return difflib.get_close_matches(name, own, n=1, cutoff=0.0)[0]
    return difflib.get_close_matches(name, EXAMPLES, n=1, cutoff=0.0)[0]
