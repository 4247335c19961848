"""The opcodes, their flags and the codes of their `aux`: plain data, no numba.

engine/ptx/forms finds the opcode of a PTX form; values/execute.py computes those before OP_LD, stages execute the rest.
Opcodes from OP_ADD3 on are of machine code only (machine_code.py): values/machine computes those before OP_PLOP3.
"""

from __future__ import annotations

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
FLAG_PAST_L1 = 8192      # ld: from L2, whatever L1 holds (RULES.md, B0.15)
FLAG_ORDERED = 16384     # ld: volatile, relaxed, acquire ..: a loop may wait for what others store

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
    "CVT_F64_S32 CVT_F64_U32 LOP3 SHF MUL_HI_U32 MUL_HI_S32 SETP_S16 "
    # computed by execute, lane by lane
    "SETP_HALF SET SLCT INT CARRY PRMT DP4A DP2A FLOAT DOUBLE HALF SFU CVT TESTP COPYSIGN32 COPYSIGN64 "
    "PACK16 UNPACK16 PACK16X4 UNPACK16X4 PACK8X4 UNPACK8X4 ISSPACEP CVTA "
    "SHFL VOTE MATCH ACTIVEMASK REDUX "
    # executed by stages of the machine
    "LD ST ATOM RED LDPARAM SREG BRA BRA_UNI EXIT BAR BAR_WARP MEMBAR TRAP BRKPT NANOSLEEP PRINTF ASSERTFAIL TEX "
    # of machine code: computed by values/machine, then executed by stages
    "ADD3 ADD3_CC MAD_CC MAD_WIDE_CC LEA LOP3_P FUNNEL SETP_EX MINMAX3 FLOAT_PAIR FCHK DMINMAX F2IP I2IP VOTE_BOTH "
    "R2UR ELECT PACKED PRODUCT MOVM SMALL_FLOATS "
    "PLOP3 P2R R2P B2R JUMP BSSY BSYNC BREAK BMOV WARPSYNC ENDCOLLECTIVE YIELD "
    "LDGSTS LDGDEPBAR LDSM STSM SULD SUST"
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
    OP_LD, OP_ST, OP_ATOM, OP_RED, OP_LDPARAM, OP_SREG, OP_BRA, OP_BRA_UNI, OP_EXIT, OP_BAR, OP_BAR_WARP,
    OP_MEMBAR, OP_TRAP, OP_BRKPT, OP_NANOSLEEP, OP_PRINTF, OP_ASSERTFAIL, OP_TEX,
    OP_ADD3, OP_ADD3_CC, OP_MAD_CC, OP_MAD_WIDE_CC, OP_LEA, OP_LOP3_P, OP_FUNNEL, OP_SETP_EX, OP_MINMAX3, OP_FLOAT_PAIR,
    OP_FCHK, OP_DMINMAX, OP_F2IP, OP_I2IP, OP_VOTE_BOTH, OP_R2UR, OP_ELECT, OP_PACKED, OP_PRODUCT, OP_MOVM,
    OP_SMALL_FLOATS,
    OP_PLOP3, OP_P2R, OP_R2P, OP_B2R, OP_JUMP, OP_BSSY, OP_BSYNC, OP_BREAK, OP_BMOV, OP_WARPSYNC, OP_ENDCOLLECTIVE, OP_YIELD,
    OP_LDGSTS, OP_LDGDEPBAR, OP_LDSM, OP_STSM, OP_SULD, OP_SUST,
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
 SFU_RSQRT64, SFU_SIN_TURNS, SFU_COS_TURNS) = range(14)     # _TURNS: of 2 pi times the operand (MUFU)
SFU_HALF = 1 << 8        # with SFU_EX2, SFU_TANH: f16; SFU_HALF2: f16x2
SFU_HALF2 = 2 << 8
SFU_BF16 = 4 << 8
# aux of OP_CVT: destination type | source type << 8 | CVT_PAIR | CVT_FINITE
CVT_PAIR = 1 << 16       # cvt.rn.f16x2.f32 d, a, b: a to the upper, b to the lower half
CVT_FINITE = 1 << 17     # with CVT_PAIR: what is too large becomes the largest number, not infinity
# aux of OP_TESTP
TESTP_KINDS = {"finite": 0, "infinite": 1, "number": 2, "notanumber": 3, "normal": 4, "subnormal": 5}
TESTP_F64 = 8            # added for f64
# aux of OP_CVTA; of OP_ISSPACEP: one of its kinds | what is added to the address << 8, with sign
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
# aux of OP_BAR_WARP: bar.warp.sync, which also waits for memory, or the wait of elect.sync
BAR_WARP_SYNC, BAR_WARP_ELECT = range(2)
# aux of OP_ATOM, OP_RED: operation | type << 8 (a T_* code)
(ATOM_ADD, ATOM_AND, ATOM_OR, ATOM_XOR, ATOM_MIN, ATOM_MAX, ATOM_INC, ATOM_DEC, ATOM_EXCH, ATOM_CAS, ATOM_ARRIVE,
 ATOM_SYNC, ATOM_PHASE) = range(13)
SYNC_COMPLETES, SYNC_DROPS = 1, 2      # operand c of ATOM_SYNC: transactions are completed, the arrivals are the last ones
ATOM_OPS = {name: code for code, name in enumerate("add and or xor min max inc dec exch cas".split())}

# aux of OP_TRAP: the kernel's own, an indirect call that found no function, or a surface access out of bounds
TRAP_CALL, TRAP_SURFACE = 1, 2
# aux of OP_TEX: dimensions (1..3) | TEX_LAYERED | TEX_INTEGER | (tld4: component + 1) << shift | components wanted << shift
TEX_LAYERED, TEX_INTEGER, TEX_GATHER_SHIFT, TEX_MASK_SHIFT = 4, 8, 4, 16
TEX_CUBE, TEX_FLAT = 1 << 7, 1 << 8     # machine code: a direction, with 2 dimensions; 2D, but of one row at y = 0 it is 1D
TEX_HEADER = 0           # machine code: with no dimensions, the results are words of the header

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

SREG_SHIFT = 8           # machine code: the register | how far its value is shifted left (SR_VIRTID) << this

# --- machine code --------------------------------------------------------------------------------------------------
FLAG_ATOM_SUCCESS = 1 << 15     # ATOMS.CAST: the result is 1 where the swap took place, else 0
FLAG_ATOM_GLOBAL = 1 << 16      # ATOM with a predicate: only lanes with an address in global memory do it, and say so
# modify[k] of an instruction: what happens to operand k before it is computed with; a part is taken first, then the sign
(MODIFY_NONE, MODIFY_NEG, MODIFY_NOT, MODIFY_NEG64, MODIFY_FNEG, MODIFY_FABS, MODIFY_FNABS, MODIFY_DNEG, MODIFY_DABS,
 MODIFY_DNABS, MODIFY_HNEG, MODIFY_HABS, MODIFY_HNABS) = range(13)      # bits 0..3: integers, then f32, f64, both halves
PART_SHIFT = 4                                                          # bits 4..7
(PART_NONE, PART_B0, PART_B1, PART_B2, PART_B3, PART_H0, PART_H1, PART_H0_H0, PART_H1_H1, PART_F32, PART_FTZ) = range(11)
# aux of OP_ADD3_CC: how many ones to add (0..3) | ADD3_WIDE
ADD3_WIDE = 4
# aux of OP_MAD_WIDE_CC
MAD_SIGNED, MAD_UPPER = 1, 2
# aux of OP_LEA: shift | these
LEA_HIGH, LEA_SIGN_EXTEND, LEA_COMPLEMENT, LEA_PLUS_ONE = 64, 128, 256, 512
LOP3_AND, LOP3_SIGN = 256, 512      # aux of OP_LOP3_P: table | these; LOP3_SIGN: only the sign bit counts
I2IP_SIGNED = 256        # aux of OP_I2IP: bits of the packed numbers | this
SMALL_E5M2, SMALL_HALVES, SMALL_WIDEN = 1, 2, 4     # aux of OP_SMALL_FLOATS: E4M3 else; halves, not f32; to halves
# aux of OP_FUNNEL
FUNNEL_LEFT, FUNNEL_WRAP, FUNNEL_HIGH, FUNNEL_WIDE, FUNNEL_SIGNED = 1, 2, 4, 8, 16
SETP_EX_SIGNED = 256     # aux of OP_SETP_EX: CMP_* | this
# aux of OP_MINMAX3
MINMAX3_SIGNED, MINMAX3_MAX, MINMAX3_ADD, MINMAX3_FLOAT = 1, 2, 4, 8
P2R_UNIFORM = 4          # aux of OP_P2R: byte of the result | this
R2P_BYTE_SHIFT, R2P_UNIFORM = 8, 1024       # aux of OP_R2P: mask | byte of the operand | this
# aux of OP_BRA: these; OP_JUMP, OP_EXIT: BRA_IF
BRA_DIV, BRA_CONV, BRA_IF = 1, 2, 4         # lanes go only if psrc[0] holds
# aux of OP_BSSY, OP_BSYNC, OP_BREAK, OP_BMOV: barrier register | these
BREAK_IF, BMOV_TO_BARRIER, BMOV_CLEAR, BMOV_BETWEEN = 256, 256, 512, 1024
BMOV_FROM_SHIFT = 12        # with BMOV_BETWEEN: the barrier register that is read
WARPSYNC_COLLECTIVE, WARPSYNC_EXCLUSIVE = 1, 2       # aux of OP_WARPSYNC
# aux of OP_PACKED: bits of an element (8, 16, 32) | operation of a and b << 8 | of that and c << 11 | these
(PACKED_FIRST, PACKED_ADD, PACKED_SUB, PACKED_MIN, PACKED_MAX, PACKED_DISTANCE) = range(6)
PACKED_SHIFT, PACKED_SHIFT_C = 8, 11
PACKED_SIGNED, PACKED_RELU, PACKED_SUM = 1 << 14, 1 << 15, 1 << 16      # SUM: of all elements, plus c
# aux of OP_PRODUCT (tensor cores): what A and B hold | these
(PRODUCT_F16, PRODUCT_BF16, PRODUCT_TF32, PRODUCT_F64, PRODUCT_INT8, PRODUCT_INT4, PRODUCT_BITS) = range(7)
PRODUCT_KINDS = 7
PRODUCT_TALL, PRODUCT_DEEP = 8, 16          # 16 rows, not 8; two registers of each row along k, not one
PRODUCT_SIGNED_A, PRODUCT_SIGNED_B, PRODUCT_SATURATES = 32, 64, 128         # of integers
PRODUCT_AND, PRODUCT_HALVES = 32, 128       # of bits: AND, not XOR; of halves: C and D are halves, too
# aux of OP_LDGSTS: shift of the register part of the shared address | LDGSTS_ZFILL
LDGSTS_ZFILL = 8        # the low bits of the global address say how many bytes at the end are zeros instead
# aux of OP_SULD, OP_SUST: dimensions | TEX_LAYERED | what becomes of accesses out of bounds
SURFACE_CLAMP, SURFACE_ZERO, SURFACE_TRAP = 0, 8, 16
MATRIX_TRANSPOSED = 8    # aux of OP_LDSM, OP_STSM: matrices (1, 2, 4) | this


def mnemonic(op: int) -> str:
    """Return the short lower-case name of an opcode, for views."""
    return REVERSE.get(op, f"op{op}")
