"""What each machine instruction becomes: fields by hand, and what is refused by name and line."""

from __future__ import annotations

import re

import numpy as np
import pytest

from rfview.engine import isa
from rfview.engine.errors import SassError
from rfview.engine.program import (MEM_ATOMIC, MEM_LOAD, MEM_STORE, NO_PRED, NO_REG, SPACE_GLOBAL, SPACE_PARAM, SPACE_SHARED, UNIT_CTRL,
                                   UNIT_LDST)
from rfview.engine.sass.module import module_of_listing
from rfview.engine.sass.table import ROWS, TABLE

HEAD = "// rfview machine code 1\n.target sm_80\n.address_size 64\n.bank 3 16\n.entry k\n.registers 40\n.params 0x160\n.param 0x0 8 u64 p\n"
PLAIN = "B------:R-:W-:-:S01"


def lowered(*texts: str) -> np.ndarray:
    """Return the instructions of a kernel of these."""
    lines = [f"{16 * index:04x} {PLAIN} {text}" for index, text in enumerate(texts)]
    return module_of_listing(HEAD + "\n".join(lines) + "\n", "k.sass").kernels["k"].insts


def one(text: str) -> np.void:
    return lowered(text, "EXIT")[0]


@pytest.mark.parametrize("text, op, fields", [
    ("MOV R1, c[0x0][0x28]", isa.OP_MOV32, {"const_mask": 1, "imm": {0: 0x28}, "dst": [1]}),
    ("IADD3 R3, -R3.reuse, 0x1, R0", isa.OP_ADD3, {"src": {0: 3, 4: 0}, "imm": {2: 1}, "modify": [isa.MODIFY_NEG, 0, 0]}),
    ("BMOV.32.CLEAR B5, B4", isa.OP_BMOV, {"aux": 5 | isa.BMOV_CLEAR | isa.BMOV_TO_BARRIER | isa.BMOV_BETWEEN | 4 << 12}),
    ("BMOV.32 B15, 0x0", isa.OP_BMOV, {"aux": 15 | isa.BMOV_TO_BARRIER, "imm": {0: 0}}),
    ("IADD3 R3, R4, -R5, RZ", isa.OP_SUB32, {"src": {0: 4, 2: 5}, "modify": [0, 0, 0]}),
    ("IADD3 R3, P1, R4, -R5, RZ", isa.OP_ADD3_CC,
     {"aux": 1, "modify": [0, isa.MODIFY_NOT, 0], "pdst": [1, NO_PRED], "imm": {4: 0}, "imm_mask": 0b10000}),
    ("IADD3.X R3, ~R4, R5, RZ, P1, !PT", isa.OP_ADD3_CC,
     {"aux": 0, "modify": [isa.MODIFY_NOT, 0, 0], "psrc": [1, NO_PRED, NO_PRED], "psrc_negate": [0, 0, 0]}),
    ("IMAD.MOV.U32 R4, RZ, RZ, -c[0x0][0x180]", isa.OP_MOV32, {"modify": [isa.MODIFY_NEG, 0, 0], "imm": {0: 0x180}}),
    ("IMAD.WIDE R2, R4, R5, c[0x0][0x168]", isa.OP_MAD_WIDE_S32,
     {"const_mask": 0b110000, "imm": {4: 0x168, 5: 0x16C}, "dst": [2, 3]}),
    ("IMAD.HI.U32 R5, R5, R7, R4", isa.OP_MAD_WIDE_CC, {"aux": isa.MAD_UPPER, "src": {4: 4, 5: 5}, "dst": [5]}),
    ("LEA.HI.X.SX32 R4, R9, R5, 0x2, P0", isa.OP_LEA, {"aux": 2 | isa.LEA_HIGH | isa.LEA_SIGN_EXTEND, "psrc": [0, NO_PRED, NO_PRED]}),
    ("LEA R4, P0, R9, R5, 0x3", isa.OP_LEA, {"aux": 3, "pdst": [0, NO_PRED], "psrc_negate": [0, 0, 0]}),
    ("SHF.L.U32 R5, R6, 0x4, RZ", isa.OP_SHL32, {"src": {0: 6}, "imm": {2: 4}}),
    ("SHF.R.S32.HI R5, RZ, 0x1f, R6", isa.OP_SHR_S32, {"src": {0: 6}, "imm": {2: 31}}),
    ("SHF.R.U64 R5, R6, 0x4, R7", isa.OP_FUNNEL, {"aux": isa.FUNNEL_WIDE, "src": {0: 6, 4: 7}, "imm": {2: 4}}),
    ("LOP3.LUT R5, R6, 0xff, RZ, 0xc0, !PT", isa.OP_AND32, {"src": {0: 6}, "imm": {2: 255}}),
    ("LOP3.LUT P0, RZ, R6, R7, RZ, 0xc0, !PT", isa.OP_LOP3_P, {"aux": 0xC0, "pdst": [0, NO_PRED], "psrc_negate": [0, 0, 0]}),
    ("FADD.FTZ R4, -|R5|, 1:3f800000", isa.OP_FADD_FTZ, {"modify": [isa.MODIFY_FNABS, 0, 0], "imm": {2: 0x3F800000}}),
    ("FFMA.RZ R4, R5, R6, -RZ", isa.OP_FLOAT, {"flags": isa.FLAG_RZ, "aux": isa.FP_FMA, "imm": {4: 0x80000000}}),
    ("DADD R4, -R6, 1.5:3ff80000", isa.OP_DADD, {"modify": [isa.MODIFY_DNEG, 0, 0], "imm": {2: 0, 3: 0x3FF80000}, "dst": [4, 5]}),
    ("MUFU.RCP64H R5, R7", isa.OP_SFU, {"aux": isa.SFU_RCP64, "src": {1: 7}, "imm": {0: 0}, "dst": [NO_REG, 5]}),
    ("HFMA2.MMA R4, -RZ, RZ, 1.875/0:3f800000", isa.OP_MOV32, {"imm": {0: 0x3F800000}}),
    ("HMMA.16816.F32.BF16 R16, R4.reuse, R12, R16", isa.OP_PRODUCT,
     {"aux": isa.PRODUCT_BF16 | isa.PRODUCT_TALL | isa.PRODUCT_DEEP, "dst": [16, 17, 18, 19],
      "src": {0: 4, 1: 5, 6: 6, 7: 7, 2: 12, 3: 13, 4: 16, 5: 17, 8: 18, 9: 19}}),
    ("HMMA.1688.F16 R10, R8, R4, RZ", isa.OP_PRODUCT,
     {"aux": isa.PRODUCT_F16 | isa.PRODUCT_TALL | isa.PRODUCT_HALVES, "dst": [10, 11], "src_mask": 0b111, "imm_mask": 0b110000}),
    ("IMMA.8832.S4.U4.SAT R10, R3.ROW, R4.COL, R10", isa.OP_PRODUCT,
     {"aux": isa.PRODUCT_INT4 | isa.PRODUCT_SIGNED_A | isa.PRODUCT_SATURATES, "src": {0: 3, 2: 4, 4: 10, 5: 11}}),
    ("DMMA.8x8x4 R8, R2, R4, R12", isa.OP_PRODUCT, {"aux": isa.PRODUCT_F64, "src": {1: 3, 3: 5, 5: 13, 9: 15}, "num_dst": 4}),
    ("VIADD.16x2 R7, -R2, RZ", isa.OP_PACKED, {"aux": 16 | isa.PACKED_SUB << isa.PACKED_SHIFT, "src": {2: 2}, "imm_mask": 0b10001}),
    ("VIMNMX.U16x2 R3, P0, P1, R4, R5, !PT", isa.OP_PACKED, {"aux": 16 | isa.PACKED_MAX << isa.PACKED_SHIFT, "pdst": [0, 1]}),
    ("VABSDIFF4.U8 R4, R5, R6, R7", isa.OP_PACKED, {"aux": 8 | isa.PACKED_DISTANCE << isa.PACKED_SHIFT}),
    ("IDP.2A.HI.S16.U8 R9, R6, R3, R8", isa.OP_DP2A, {"aux": 5}),
    ("HADD2.F32 R4, R5.H0_H0, -RZ.H0_H0", isa.OP_CVT, {"src": {0: 5}, "modify": [isa.PART_H0_H0 << isa.PART_SHIFT, 0, 0]}),
    ("HADD2.F32 R4, -RZ, R5.H1_H1", isa.OP_CVT, {"modify": [isa.PART_H1_H1 << isa.PART_SHIFT, 0, 0]}),
    ("IMNMX.S64 PT, PT, R20, R8, R10, !PT, !PT", isa.OP_INT,
     {"aux": isa.INT_MAX | isa.T_S64 << 8, "src": {0: 8, 1: 9, 2: 10, 3: 11}, "dst": [20, 21]}),
    ("HADD2.F32 R4, -RZ, |R5|.H0_H0", isa.OP_CVT, {"modify": [isa.MODIFY_HABS | isa.PART_H0_H0 << isa.PART_SHIFT, 0, 0]}),
    ("HFMA2.BF16_V2.RELU R4, R5, R6, R7", isa.OP_HALF, {"aux": isa.FP_FMA | isa.T_BF16X2 << 8, "flags": isa.FLAG_RELU}),
    ("HMNMX2.NAN R4, R5.H0_H0, R6.H1_H1, !PT", isa.OP_HALF, {"aux": isa.FP_MAX | isa.T_F16X2 << 8, "flags": isa.FLAG_NAN}),
    ("HADD2.FTZ.SAT R4, R5, -R6.H1_H1", isa.OP_HALF,
     {"aux": isa.FP_ADD | isa.T_F16X2 << 8, "flags": isa.FLAG_FTZ | isa.FLAG_SAT, "src": {0: 5, 2: 6}}),
    ("HFMA2.FTZ.RELU R4, R5, R6, R7", isa.OP_HALF, {"aux": isa.FP_FMA | isa.T_F16X2 << 8, "flags": isa.FLAG_FTZ | isa.FLAG_RELU}),
    ("HMNMX2.FTZ R4, R5, R6, PT", isa.OP_HALF, {"aux": isa.FP_MIN | isa.T_F16X2 << 8, "flags": isa.FLAG_FTZ}),
    ("HSETP2.LT.FTZ.AND P0, P1, R5, R6, PT", isa.OP_SETP_HALF,
     {"aux": isa.CMP_LT | isa.T_F16X2 << 8, "flags": isa.FLAG_FTZ, "pdst": [0, 1]}),
    ("HSET2.BF.LT.FTZ.AND R4, R5, R6, PT", isa.OP_SET, {"flags": isa.FLAG_FTZ}),
    ("MUFU.EX2.F16 R4, R5.H1", isa.OP_SFU, {"aux": isa.SFU_EX2 | isa.SFU_HALF, "flags": 0, "modify": [isa.PART_H1 << isa.PART_SHIFT, 0, 0]}),
    ("MUFU.EX2.BF16 R4, R5", isa.OP_SFU, {"aux": isa.SFU_EX2 | isa.SFU_HALF | isa.SFU_BF16, "flags": isa.FLAG_FTZ}),
    ("MUFU.TANH.BF16 R4, R5", isa.OP_SFU, {"aux": isa.SFU_TANH | isa.SFU_HALF | isa.SFU_BF16, "flags": 0}),
    ("MUFU.TANH R4, R5", isa.OP_SFU, {"aux": isa.SFU_TANH, "flags": 0}),
    ("F2FP.SATFINITE.RELU.BF16.F32.PACK_AB.RZ R4, R5, R6", isa.OP_CVT,
     {"aux": isa.T_BF16X2 | isa.T_F32 << 8 | isa.CVT_PAIR | isa.CVT_FINITE, "flags": isa.FLAG_RELU | isa.FLAG_RZ}),
    ("F2FP.RELU.MERGE_C R4, R5, RZ", isa.OP_CVT, {"imm": {0: 0}, "imm_mask": 1, "src": {2: 5}, "flags": isa.FLAG_RELU}),
    ("F2FP.SATFINITE.RELU.E5M2.F32.PACK_AB_MERGE_C R4, R5, R6.reuse, R7", isa.OP_SMALL_FLOATS,
     {"aux": isa.SMALL_E5M2, "flags": isa.FLAG_RELU, "src": {0: 5, 2: 6, 4: 7}, "moved": [0, 0, 0]}),
    ("F2FP.SATFINITE.E4M3.F16.UNPACK_B_MERGE_C R4, R5, RZ", isa.OP_SMALL_FLOATS,
     {"aux": isa.SMALL_HALVES, "src": {0: 5}, "imm": {4: 0}, "moved": [1, 0, 0]}),
    ("F2FP.F16.E4M3.UNPACK_B R4, R5.H1", isa.OP_SMALL_FLOATS,
     {"aux": isa.SMALL_HALVES | isa.SMALL_WIDEN, "modify": [isa.PART_H1 << isa.PART_SHIFT, 0, 0], "moved": [1, 0, 0]}),
    ("REDG.E.ADD.F32x4.FTZ.RN.STRONG.GPU desc[UR4][R20.64+0xcc], R12", isa.OP_RED,
     {"aux": isa.ATOM_ADD | isa.T_F32 << 8, "width": 4, "count": 4, "src": {2: 12, 3: 13, 4: 14, 5: 15}}),
    ("ATOMG.E.MIN.BF16x4.RN.STRONG.GPU PT, R8, desc[UR4][R20.64], R12", isa.OP_ATOM,
     {"aux": isa.ATOM_MIN | isa.T_BF16X2 << 8, "count": 2, "src": {2: 12, 3: 13}, "dst": [8, 9]}),
    ("SYNCS.CCTL.IVALL", isa.OP_NOP, {}),
    ("CCTL.E.RML2 [R16]", isa.OP_NOP, {}),
    ("S2UR UR4, SR_VIRTCFG", isa.OP_SREG, {"aux": isa.SREG_NWARPID | 8 << isa.SREG_SHIFT, "dst": [4], "dst_uniform": 1}),
    ("I2IP.S8.S32.SAT R4, R5, R6, R7", isa.OP_I2IP, {"aux": 8 | isa.I2IP_SIGNED, "src": {0: 5, 2: 6, 4: 7}}),
    ("I2IP.U4.S32.SAT R4, R5, R6, R7.24", isa.OP_I2IP, {"aux": 4, "src": {0: 5, 2: 6, 4: 7}}),
    ("PLOP3.LUT P1, PT, R5.SIGN, R6.SIGN, R7.SIGN, 0x40, 0x0", isa.OP_LOP3_P,
     {"aux": 0x40 | isa.LOP3_SIGN, "src": {0: 5, 2: 6, 4: 7}, "dst": [NO_REG], "pdst": [1, NO_PRED], "psrc_negate": [0, 0, 0]}),
    ("PLOP3.LUT P1, PT, R5.SIGN, c[0x0][0x160].SIGN, UR7.SIGN, 0x8, 0x0", isa.OP_LOP3_P,
     {"src": {0: 5}, "imm": {2: 0x160, 4: 7}, "const_mask": 4, "uniform_mask": 16}),
    ("VIADD.S32.ISAT R4, R5, -R6", isa.OP_INT,
     {"aux": isa.INT_SUB | isa.T_S32 << 8, "flags": isa.FLAG_SAT, "src": {0: 5, 2: 6}, "modify": [0, 0, 0]}),
    ("VIADD.S32.ISAT R4, -R5, R6", isa.OP_INT, {"aux": isa.INT_SUB | isa.T_S32 << 8, "src": {0: 6, 2: 5}}),
    ("VIADD.S32.ISAT R4, R5, R6", isa.OP_INT, {"aux": isa.INT_ADD | isa.T_S32 << 8, "flags": isa.FLAG_SAT}),
    ("HADD2.F32.SAT R4, R5.H0_H0, -RZ.H0_H0", isa.OP_CVT, {"src": {0: 5}, "flags": isa.FLAG_SAT}),
    ("HSET2.BF.LT.AND R4, R5, R6, PT", isa.OP_SET, {"aux": isa.CMP_LT | isa.T_F16X2 << 8 | isa.T_F16X2 << 16}),
    ("HSET2.BF16_V2.EQ.AND R4, R5, R6, P0", isa.OP_SET,
     {"aux": isa.CMP_EQ | isa.T_BF16X2 << 8 | isa.T_U16 << 16, "psrc": [0, NO_PRED, NO_PRED]}),
    ("I2F.BF16.U32.RZ R4, R5", isa.OP_CVT, {"aux": isa.T_BF16 | isa.T_U32 << 8, "flags": isa.FLAG_RZ}),
    ("F2IP.U8.F32.NTZ R4, R5, R6, R7", isa.OP_F2IP, {"flags": 0, "src": {0: 5, 2: 6, 4: 7}}),
    ("IDP.2A.HI.S16.U8 R4, R5, R6, R7", isa.OP_DP2A, {"aux": 1 | 4, "src": {0: 5, 2: 6, 4: 7}}),
    ("QSPC.E.D P0, RZ, [R4+-0x8]", isa.OP_ISSPACEP, {"aux": 3 | 0xFFFFF8 << 8, "src": {0: 4, 1: 5}, "pdst": [0, NO_PRED]}),
    ("QSPC.E.G P0, RZ, [UR4]", isa.OP_ISSPACEP, {"aux": 0, "uniform_mask": 3, "imm": {0: 4, 1: 5}}),
    ("BREAK B2, !P3", isa.OP_BREAK, {"aux": 2 | isa.BREAK_IF, "psrc": [3, NO_PRED, NO_PRED], "psrc_negate": [1, 0, 0]}),
    ("WARPSYNC.EXCLUSIVE R5", isa.OP_WARPSYNC, {"aux": isa.WARPSYNC_EXCLUSIVE, "src": {0: 5}}),
    ("CS2UR UR12, SR_GLOBALTIMERLO", isa.OP_SREG, {"aux": isa.SREG_GLOBALTIMER, "dst": [12, 13], "dst_uniform": 1}),
    ("ISETP.GE.U32.OR P0, PT, R4, c[0x0][0x160], !P1", isa.OP_SETP_U32,
     {"aux": isa.CMP_GE, "flags": isa.FLAG_BOOL_OR, "pdst": [0, NO_PRED], "psrc": [1, NO_PRED, NO_PRED], "psrc_negate": [1, 0, 0]}),
    ("F2I.U32.TRUNC.NTZ R4, R5", isa.OP_CVT_U32_F32, {"src": {0: 5}}),
    ("PLOP3.LUT P0, PT, P1, UP2, PT, 0x80, 0x8", isa.OP_PLOP3,
     {"aux": 0x880, "psrc": [1, 10, NO_PRED], "psrc_negate": [0, 0, 1]}),
    ("UIADD3 UR4, UR5, 0x1, URZ", isa.OP_ADD32, {"uniform_mask": 1, "imm": {0: 5, 2: 1}, "dst": [4], "dst_uniform": 1}),
    ("VOTE.ANY R4, PT, P0", isa.OP_VOTE, {"aux": isa.VOTE_BALLOT, "flags": isa.FLAG_NO_SYNC, "dst": [4]}),
    ("CS2R R4, SRZ", isa.OP_MOV64, {"imm": {0: 0, 1: 0}, "dst": [4, 5]}),
    ("ULDC.64 UR4, c[0x3][0x8]", isa.OP_MOV64, {"const_mask": 3, "imm": {0: 0x408, 1: 0x40C}, "dst_uniform": 1}),
    ("@!UP3 BSSY B2, 0x10", isa.OP_BSSY, {"aux": 2, "guard": 11, "guard_negate": 1, "target": 1, "unit": UNIT_CTRL}),
    ("BRA.DIV ~URZ, 0x10", isa.OP_BRA, {"aux": isa.BRA_DIV, "imm": {0: 0xFFFFFFFF}, "target": 1}),
    ("BRA.CONV 0x10", isa.OP_BRA, {"aux": isa.BRA_CONV, "imm": {0: 0xFFFFFFFF}, "imm_mask": 1}),
    ("R2UR P1, URZ, R4", isa.OP_R2UR, {"pdst": [1, NO_PRED], "dst": [NO_REG], "dst_uniform": 1, "src": {0: 4}}),
    ("R2UR UR4, R4", isa.OP_MOV32, {"pdst": [NO_PRED, NO_PRED], "dst": [4], "dst_uniform": 1}),
    ("ELECT P0, UR6, PT", isa.OP_ELECT, {"pdst": [0, NO_PRED], "dst": [6], "dst_uniform": 1, "psrc_negate": [1, 0, 0]}),
    ("BRA P0, 0x10", isa.OP_BRA, {"aux": isa.BRA_IF, "psrc": [0, NO_PRED, NO_PRED]}),
    ("BRX R6 -0x1d0", isa.OP_JUMP, {"src": {0: 6}, "imm": {1: 0}, "offset": -0x1D0, "target": 1}),
    ("MOV R4, 32@hi((k + 0x10))", isa.OP_MOV32, {"imm": {0: 0x5000}}),
    ("CALL.REL.NOINC R6, k", isa.OP_JUMP, {"src": {0: 6, 1: 7}, "target": 0}),
    ("CALL.ABS.NOINC R6", isa.OP_JUMP, {"src": {0: 6, 1: 7}, "target": 0xFFFFFFFF}),
    ("CALL.REL.NOINC 0x10", isa.OP_BRA, {"target": 1}),
    ("BAR.RED.POPC.DEFER_BLOCKING 0x0, P2", isa.OP_BAR, {"aux": isa.BAR_RED_POPC, "psrc": [2, NO_PRED, NO_PRED], "imm": {0: 0, 2: 0}}),
])
def test_an_instruction_becomes_one_engine_instruction(text, op, fields):
    inst = one(text)
    assert int(inst["op"]) == op
    for name, wanted in fields.items():
        if isinstance(wanted, dict):
            assert {slot: int(inst[name][slot]) for slot in wanted} == wanted
        elif isinstance(wanted, list):
            assert inst[name][: len(wanted)].tolist() == wanted
        else:
            assert int(inst[name]) == wanted, name


@pytest.mark.parametrize("text, fields", [
    ("LDG.E.128.CONSTANT R4, [R2.64+UR6+0x10]", {
        "src": {0: 2, 1: 3}, "imm": {6: 6, 7: 7}, "uniform_mask": 0xC0, "offset": 16, "dst": [4, 5, 6, 7], "count": 4,
        "space": SPACE_GLOBAL, "memory_kind": MEM_LOAD, "unit": UNIT_LDST}),
    ("LDG.E.S16 R4, desc[UR8][R2.U32+UR6]", {
        "src": {0: 2, 1: NO_REG}, "imm": {1: 0, 6: 6, 7: 7}, "width": 2, "signed": 1, "count": 1}),
    ("STS [R3.X4+0x80], R9", {"src": {0: 3, 2: 9}, "imm": {1: 0}, "scale": 2, "offset": 0x80, "space": SPACE_SHARED}),
    ("ATOMG.E.CAS.64.STRONG.GPU PT, R4, [R2], R8, R10", {
        "aux": isa.ATOM_CAS | isa.T_U64 << 8, "src": {0: 2, 1: 3, 2: 8, 3: 9, 4: 10, 5: 11}, "dst": [4, 5], "width": 8,
        "memory_kind": MEM_ATOMIC, "polls": 1}),
    ("ATOMS.POPC.INC.32 RZ, [R4]", {"aux": isa.ATOM_ADD | isa.T_U32 << 8, "imm": {2: 1}, "dst": [NO_REG]}),
    ("TLD.LZ RZ, R4, R6, UR6, 0x0, 1D, 0x3", {
        "uniform_mask": 1, "imm": {0: 6, 1: 0x7000}, "src": {2: 6}, "dst": [4, 5], "num_dst": 2,
        "aux": 1 | isa.TEX_INTEGER | 3 << isa.TEX_MASK_SHIFT}),
    ("TLD.LZ R14, R12, R4, 0x0, 0x58, 1D", {
        "const_mask": 3, "imm": {0: 0x160, 1: 0x164}, "dst": [12, 13, 14, 15],
        "aux": 1 | isa.TEX_INTEGER | 15 << isa.TEX_MASK_SHIFT}),
    ("LDGSTS.E.BYPASS.128.ZFILL [R7+UR4+0x40][R2.64+0x4], P1", {
        "op": isa.OP_LDGSTS, "aux": isa.LDGSTS_ZFILL, "flags": isa.FLAG_PAST_L1, "offset": 4, "width": 4, "count": 4,
         "num_dst": 0, "src": {0: 2, 1: 3, 2: 7}, "imm": {3: 0x40, 4: 4}, "uniform_mask": 16, "psrc": [1, NO_PRED, NO_PRED], "space": SPACE_GLOBAL}),
    ("LDGSTS.E [R7.X16], desc[UR6][R2.64+UR8]", {
        "aux": 4, "flags": 0, "src": {0: 2, 1: 3, 2: 7}, "imm": {6: 8, 7: 9}, "uniform_mask": 0xC0, "psrc_negate": [1, 0, 0]}),
    ("LDSM.16.MT88.2 R12, [R6+0x200]", {
        "op": isa.OP_LDSM, "aux": 2 | isa.MATRIX_TRANSPOSED, "src": {0: 6}, "dst": [12, 13], "num_dst": 2, "count": 4,
        "space": SPACE_SHARED}),
    ("ARRIVES.LDGSTSBAR.64 [UR7+0x8]", {
        "op": isa.OP_RED, "aux": isa.ATOM_ARRIVE | isa.T_U64 << 8, "offset": 8, "uniform_mask": 1 << 6, "imm": {6: 7}, "width": 8}),
    ("STSM.16.M88.4 [R2], R8", {"op": isa.OP_STSM, "aux": 4, "src": {0: 2, 2: 8, 5: 11}, "memory_kind": MEM_STORE}),
    ("LDC.U8 R4, c[0x3][R5+0x2]", {"space": SPACE_PARAM, "src": {0: 5}, "offset": 0x402, "width": 1}),
])
def test_an_access_names_its_address_and_data(text, fields):
    test_an_instruction_becomes_one_engine_instruction(text, int(one(text)["op"]), fields)


@pytest.mark.parametrize("text, said", [
    ("HGMMA.64x64x16.F32 R4, gdesc[UR4], R4", "HGMMA is not executed (tensor cores); Fermi's core executes PTX"),
    ("HMMA.SP.16832.F32 R4, R4, R8, R12, R22, 0x0", "HMMA with .SP is not executed (tensor cores); Fermi's core"),
    ("DMMA.16x8x4 R8, R4, R16, R8", "DMMA with .16x8x4 is not executed (tensor cores); Fermi's core"),
    ("UBLKCP.S.G [UR4], [UR6], UR8", "UBLKCP is not executed (asynchronous copies); Fermi's core"),
    ("HMMA.16816.F32 R4, R8, -R12, R4", "HMMA with operand -R12 is not executed"),
    ("HADD2.F32 R4, R5.H0_H0, R6.H0_H0", "HADD2 but as HADD2.F32 with -RZ is not executed"),
    ("IADD3.FOO R4, R5, R6, RZ", "IADD3 with .FOO is not executed"),
    ("MOV.SPREAD R4, R5", "MOV with .SPREAD is not executed"),
    ("IADD3 R4, R5", "IADD3 with operands R4, R5 is not executed"),
    ("IADD3 R4, R5, R6.H0_H0, |R7|", "IADD3 with operand |R7| is not executed"),
    ("MOV R255, R1", "MOV with operand R255 is not executed"),
    ("LDG.E.128 R253, [R2.64]", "LDG with destination R253 is not executed"),
    ("BRA 0x8", "BRA with target 0x8, outside of its function is not executed"),
    ("BRA 0x40", "BRA with target 0x40, outside of its function is not executed"),
    ("MOV R4, c[0x4][0x0]", "MOV with constant bank 4, which the module does not have is not executed"),
    ("MOV R4, c[0x3][0x1000]", "MOV with a constant outside of its bank is not executed"),
    ("BSYNC B16", "BSYNC with B16 is not executed"),
    ("S2R R4, SR_SECRET", "S2R with special register SR_SECRET is not executed"),
    ("IMNMX R4, R5, R6, P1", "IMNMX with a computed choice between minimum and maximum is not executed"),
])
def test_what_is_not_executed_is_refused_by_name_and_line(text, said):
    with pytest.raises(SassError, match=re.escape(f"k.sass:9: {text}: {said}")):
        lowered(text)


def test_what_ptxas_made_is_refused_with_the_line_of_its_ptx():
    module = module_of_listing(HEAD + f"0000 {PLAIN} HGMMA R4 // 31\n0010 {PLAIN} EXIT\n", "k.ptx")
    with pytest.raises(SassError, match=re.escape("k.ptx:31: HGMMA R4: HGMMA is not executed (tensor")):
        module.kernels["k"]


def test_registers_are_counted_where_the_listing_says_too_few():
    module = module_of_listing(HEAD + f"0000 {PLAIN} MOV R41, R250\n0010 {PLAIN} EXIT\n", "k.sass")
    assert module.kernels["k"].registers == 251


def test_an_address_of_code_is_a_relocation_of_its_function():
    module = module_of_listing(HEAD + f"0000 {PLAIN} MOV R4, 32@lo((k + 0x10))\n0010 {PLAIN} EXIT\n", "k.sass")
    assert [(one.pc, one.slot, one.symbol, one.addend) for one in module.kernels["k"].relocs] == [(0, 0, "k", 16)]


def test_a_kernel_that_calls_functions_has_a_stack():
    called = f".func f\n.local 16\n0000 {PLAIN} RET.REL.NODEC R4 0x0\n"
    text = HEAD + f"0000 {PLAIN} CALL.REL.NOINC f\n0010 {PLAIN} EXIT\n" + called.replace(" 0x0", ", f")
    kernel = module_of_listing(text, "k.sass").kernels["k"]
    assert kernel.local_bytes == 8192 + 16
    assert kernel.functions == (("k", 0), ("f", 2))
    assert [int(kernel.insts["target"][pc]) for pc in (0, 2)] == [2, 2]


def test_a_kernel_has_the_functions_that_it_may_call_and_no_others():
    called = "".join(f".func {name}\n{{}}" for name in "fgh")
    text = HEAD + (f"0000 {PLAIN} CALL.REL.NOINC g\n0010 {PLAIN} EXIT\n.entry l\n.params 0x160\n0000 {PLAIN} CALL.REL.NOINC R2 0x0\n"
                   f"0010 {PLAIN} EXIT\n") + called.format(
        f"0000 {PLAIN} MOV R4, c[0x2][0x0]\n0010 {PLAIN} RET.REL.NODEC R4 0x0, f\n",       # a constant of kernels that call f alone
        f"0000 {PLAIN} CALL.ABS.NOINC h\n", f"0000 {PLAIN} RET.REL.NODEC R4, h\n")
    text = text.replace(".bank 3 16\n", ".bank 3 16\n.address 0x0 h 0x0\n").replace(" 0x0, f", ", f").replace("R2 0x0", "R2")
    kernels = module_of_listing(text, "k.sass").kernels
    assert [name for name, _ in kernels["k"].functions] == ["k", "g", "h"]
    assert [name for name, _ in kernels["l"].functions] == ["l", "h"], "through a register: the one whose address is data"


@pytest.mark.parametrize("text, places", [
    ("IMAD R3, R4, R5, R6", [0, 1, 2]),
    ("SHF.R.U32.HI R3, RZ, 0x17, R0.reuse", [2, 1]),
    ("IMAD.MOV.U32 R4, RZ, RZ, R7.reuse", [2]),
    ("IADD3 R8, -R11, R0.reuse, RZ", [1, 0]),
    ("FADD R10, R16, R21.reuse", [0, 2]),
    ("FADD R7, R3, R3.reuse", [0, 2]),
    ("IMAD.IADD R0, R6, 0x1, R2.reuse", [0, 2]),
    ("IABS R9, R7.reuse", [1]),
    ("I2FP.F32.S32 R6, R4.reuse", [1]),
    ("PRMT R16, R13, R8.reuse, R2", [0, 2, 1]),
    ("HADD2.F32 R24, -RZ, |R31|.reuse.H0_H0", [2]),
])
def test_an_operand_keeps_its_place_for_the_reuse_cache(text, places):
    inst = one(text)
    assert [(k + int(inst["moved"][k])) % 3 for k in range(len(places))] == places


def test_each_opcode_has_one_row():
    names = [name for row in ROWS for name in row.opcodes.split()]
    assert len(names) == len(set(names)) == len(TABLE)
