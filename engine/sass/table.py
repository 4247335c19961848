"""The table of machine code that rfview executes: per opcode its modifiers, the roles of its operands, and its lowering.

A U-twin (UIADD3) shares the row of its opcode. Whatever is not in the table, opcode or modifier, is refused by name: an
unknown modifier may change the meaning. Roles are those of engine/sass/form.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from rfview.engine import isa
from rfview.engine.sass.draft import Draft
from rfview.engine.sass.form import ANY, Form
from rfview.engine.sass.lower import (control, conversions, floats, integers, mbarrier, memory, moves, predicates, shifts,
                                      tensor, texture, warp)


class Row(NamedTuple):
    """One opcode, or several with the same lowering."""

    opcodes: str
    modifiers: str
    roles: str
    lower: Callable[[Form, Draft], object]


ROUND = "RN RM RP RZ "
COMPARE = "LT EQ LE GT NE GE NUM NAN LTU EQU LEU GTU NEU GEU T F AND OR XOR "
INTEGER = "U8 S8 U16 S16 U32 S32 U64 S64 "
# of memory instructions, without effect on values: scopes, orders and how long caches keep the line
SCOPES = "E SYS GPU CTA SM STRONG WEAK CONSTANT PRIVATE MMIO EF EL LU EU NA LTC64B LTC128B LTC256B "
WIDTH = "U 32 64 128 U8 S8 U16 S16 "
ATOMIC = "ADD MIN MAX INC DEC AND OR XOR EXCH CAS CAST SPIN POPC ARRIVE F32 F64 F16x2 BF16x2 S32 U32 U64 S64 64 32 FTZ RN "
VECTORS = "F32x2 F32x4 F16x4 F16x8 BF16x4 BF16x8"

TEXEL = "d d a r? u? n? n? w k?"
SURFACE = SCOPES + "64 128 U8 S8 U16 S16 D BA TRAP IGN 1D 2D 3D 1D_ARRAY 2D_ARRAY"
PACKED = "U32 S32 U8x4 S8x4 U16x2 S16x2 RELU"
SHAPES = "884 8x8x4 1684 1688 16816 8816 8832 16832 16864 88128 168128 168256 "

ROWS = (
    Row("MOV", "64 U32", "d a n?", moves.move),
    Row("R2UR", "OR", "q? d a", moves.to_uniform),
    Row("SEL", "64", "d a b p", moves.select),
    Row("FSEL", "FTZ", "d a b p", moves.select_float),
    Row("PRMT", "F4E B4E RC8 ECL ECR RC16", "d a b c", moves.permute),
    Row("S2R S2UR", "", "d w", moves.special_register),
    Row("CS2R CS2UR", "32", "d w", moves.special_register),

    Row("IADD3", "X 64", "d q? q? a b c p? p?", integers.add),
    Row("IADD VIADD", "X 64 16x2 U8x4 S32 ISAT", "d q? a b p?", integers.add),
    Row("IMAD", "WIDE HI X U32 S32 MOV SHL IADD", "d q? a b c p?", integers.multiply),
    Row("LEA", "HI X SX32", "d q? a b c? n p?", integers.scaled_add),
    Row("IMNMX VIMNMX", PACKED + " U64 S64", "q? q? d q? q? a b p p?", integers.extreme),
    Row("VIMNMX3 VIADDMNMX", PACKED, "d q? a b c p", integers.extreme_of_three),
    Row("IABS", "", "d a", integers.absolute),
    Row("VABSDIFF", "U32 S32", "d a b c", integers.absolute_difference),
    Row("VABSDIFF4", "U8 S8 ACC", "d a b c", integers.packed_distance),
    Row("IDP", "4A 2A LO HI U8 S8 U16 S16", "d a b c", integers.dot),

    Row("SHF", "L R W HI U32 S32 U64 S64", "d a b c", shifts.shift),
    Row("SHL", "U32", "d a b", shifts.shift_left),
    Row("SHR", "U32 S32", "d a b", shifts.shift_right),
    Row("LOP3", "LUT PAND", "q? d a b c n p?", shifts.logic),
    Row("POPC BREV", "", "d a", shifts.bits_of_one),
    Row("FLO", "SH U32", "d q? a", shifts.bits_of_one),
    Row("SGXT", "U32 W", "d a b", shifts.extend),
    Row("BMSK", "W", "d a b", shifts.extend),

    Row("FADD FMUL", ROUND + "FTZ SAT", "d a b", floats.single),
    Row("FFMA", ROUND + "FTZ SAT", "d a b c", floats.single),
    Row("FADD2 FMUL2", "FTZ", "d a b", floats.pair),
    Row("FFMA2", "FTZ", "d a b c", floats.pair),
    Row("FMNMX", "FTZ NAN", "d q? a b p", floats.extreme),
    Row("FMNMX3", "FTZ NAN", "d q? a b c p", floats.extreme_of_three),
    Row("FCHK", "DIVIDE", "q a b", floats.check),
    Row("MUFU", "RCP RSQ SQRT EX2 LG2 SIN COS TANH RCP64H RSQ64H F16 BF16", "d a", floats.function),
    Row("DADD DMUL", ROUND, "d a b", floats.double),
    Row("DFMA", ROUND, "d a b c", floats.double),
    Row("HADD2", "F32 SAT FTZ BF16_V2", "d a b", floats.half),
    Row("HMUL2", "SAT FTZ BF16_V2", "d a b", floats.half),
    Row("HFMA2", "MMA SAT FTZ RELU BF16_V2", "d a b c", floats.half),
    Row("HMNMX2", "FTZ NAN BF16_V2", "d a b p", floats.half_extreme),

    Row("I2F", INTEGER + ROUND + "F16 BF16 F32 F64", "d a", conversions.integer_to_float),
    Row("I2FP", ROUND + "F32 U32 S32", "d a", conversions.integer_to_float),
    Row("F2I", INTEGER + "FTZ F16 BF16 F32 F64 TRUNC FLOOR CEIL NTZ", "d a", conversions.float_to_integer),
    Row("F2F", ROUND + "F16 BF16 F32 F64 FTZ SAT", "d a", conversions.float_to_float),
    Row("FRND", "F16 BF16 F32 F64 TRUNC FLOOR CEIL FTZ", "d a", conversions.round_to_integer),
    Row("I2I", INTEGER + "SAT", "d a", conversions.integer_to_integer),
    Row("F2FP", "F16 BF16 F32 E4M3 E5M2 PACK_AB MERGE_C PACK_AB_MERGE_C UNPACK_B UNPACK_B_MERGE_C RN RZ RELU SATFINITE",
        "d a b? c?", conversions.pack_floats),
    Row("I2IP", "U16 S16 U8 S8 U4 S4 U2 S2 S32 SAT", "d a b c", conversions.pack_integers),
    Row("F2IP", "U8 F32 TRUNC NTZ", "d a b c", conversions.pack_bytes),

    Row("ISETP", COMPARE + "U32 S32 U64 S64 64 EX", "q q a b p? p?", predicates.compare_integers),
    Row("FSETP", COMPARE + "FTZ", "q q a b p?", predicates.compare_floats),
    Row("DSETP", COMPARE + "MIN MAX", "q q a b p?", predicates.compare_doubles),
    Row("HSETP2", COMPARE + "FTZ BF16_V2", "q q a b p?", predicates.compare_halves),
    Row("FSET", COMPARE + "BF FTZ", "d a b p?", predicates.set_float),
    Row("HSET2", COMPARE + "BF FTZ BF16_V2", "d a b p?", predicates.set_halves),
    Row("PLOP3", "LUT", "q q p? p? p? v? v? v? n n?", predicates.logic),
    Row("P2R P2UR", "B0 B1 B2 B3", "d w a b", predicates.to_register),
    Row("R2P R2UP", "B0 B1 B2 B3", "w a b", predicates.from_register),

    Row("HMMA", SHAPES + "F16 F32 BF16 TF32", "d a b c", tensor.product),
    Row("IMMA", SHAPES + "S8 U8 S4 U4 SAT", "d a b c", tensor.product),
    Row("BMMA", SHAPES + "AND XOR POPC", "d a b c", tensor.product),
    Row("DMMA", SHAPES, "d a b c", tensor.product),
    Row("LDSM", "16 M88 MT88 2 4", "d m", tensor.load),
    Row("STSM", "16 M88 MT88 2 4", "m a", tensor.store),
    Row("MOVM", "16 MT88", "d a", tensor.transpose),

    Row("SHFL", "UP DOWN BFLY IDX", "q d a b c", warp.shuffle),
    Row("ELECT", "", "q d p", warp.elect),
    Row("VOTE VOTEU", "ALL ANY EQ", "d? q p", warp.vote),
    Row("MATCH", "ANY ALL U64", "q? d a", warp.match),
    Row("REDUX CREDUX", "SUM MIN MAX AND OR XOR S32 U32", "d a", warp.reduce),
    Row("QSPC", "E G S L D", "q d m", warp.is_in_space),

    Row("LDG LDS LDL LD", SCOPES + WIDTH, "d m p?", memory.load),
    Row("STG STS STL ST", SCOPES + WIDTH, "m a", memory.store),
    Row("LDGSTS", SCOPES + WIDTH + "BYPASS ZFILL", "m m p?", memory.async_copy),
    Row("LDGDEPBAR", "", "", memory.end_of_group),
    Row("ARRIVES", "LDGSTSBAR 64 ARVCNT TRANSCNT", "m", mbarrier.arrival),
    Row("SYNCS", "EXCH 64 ARRIVE TRANS64 RED OPTOUT A1T0 A0T1 ART0 A0TR A0TX PHASECHK TRYWAIT CCTL IV IVALL", "q? d? m? a?",
        mbarrier.synchronise),
    Row("ATOM ATOMG ATOMS", SCOPES + ATOMIC + VECTORS, "q? d? m a? b?", memory.atomic),
    Row("RED REDG REDS", SCOPES + ATOMIC + VECTORS, "m a?", memory.reduction),
    Row("LDC ULDC LDCU", WIDTH, "d m", memory.load_constant),

    Row("TEX", "SCR B LL LZ", TEXEL, texture.fetch),
    Row("TLD", "SCR B LL LZ CL", TEXEL, texture.texel),
    Row("TLD4", "SCR B R G A", TEXEL, texture.gather),
    Row("TXD", "B", TEXEL, texture.with_gradient),
    Row("TXQ", "B", "d d a w u? n? n? k", texture.query),
    Row("SULD", SURFACE, "d m r? u? n? n?", texture.load),
    Row("SUST", SURFACE, "m a r? u? n? n?", texture.store),

    Row("BRA", "U DIV CONV ANY", "p? a? t", control.branch),
    Row("JMP", "U", "p? t", control.branch),
    Row("BRX BRXU", "", "a? w? n?", control.indexed_branch),
    Row("CALL", "REL ABS NOINC", "p? a? t?", control.call),
    Row("RET", "REL ABS NODEC", "p? a t?", control.ret),
    Row("LEPC", "", "d t?", control.code_address),
    Row("HOST", "PRINTF ASSERT", "d? a b c?", control.host_call),
    Row("BSSY", "RECONVERGENT RELIABLE", "B t", control.begin_convergence),
    Row("BSYNC", "RECONVERGENT RELIABLE", "B", control.converge),
    Row("BREAK", "RELIABLE", "p? B p?", control.leave),
    Row("BMOV", "32 CLEAR PQUAD", "d? B B? a?", control.move_barrier),
    Row("WARPSYNC", "ALL COLLECTIVE EXCLUSIVE", "a? t?", control.meet),
    Row("ENDCOLLECTIVE", "", ANY, control.plain(isa.OP_ENDCOLLECTIVE)),
    Row("YIELD", "", "", control.plain(isa.OP_YIELD)),
    Row("EXIT", "", "p?", control.leave_thread),
    Row("BAR", "SYNC SYNCALL ARV RED POPC AND OR DEFER_BLOCKING", "a? a? p?", control.cta_barrier),
    Row("B2R", "RESULT", "d q?", control.barrier_result),
    Row("BPT", "TRAP", ANY, control.plain(isa.OP_TRAP)),
    Row("NANOSLEEP", "WARP SYNCS", ANY, control.plain(isa.OP_NANOSLEEP)),
    Row("MEMBAR", "SC ALL CTA GPU SYS VC", ANY, control.plain(isa.OP_MEMBAR)),
    Row("NOP PMTRIG", "", ANY, control.plain(isa.OP_NOP)),
    Row("DEPBAR", "LE", ANY, control.dependence_barrier),
    Row("FENCE", "VIEW ASYNC S", ANY, control.plain(isa.OP_NOP)),
    Row("ERRBAR CGAERRBAR PREEXIT", "", ANY, control.plain(isa.OP_NOP)),
    Row("CCTL", "IV IVALL PF1 PF2 PML2 RML2 DML2 E C U D IVALLP", ANY, control.plain(isa.OP_NOP)),
)
TABLE: dict[str, tuple[Row, frozenset[str]]] = {
    opcode: (row, frozenset(row.modifiers.split())) for row in ROWS for opcode in row.opcodes.split()}


def row_of(opcode: str) -> tuple[Row, frozenset[str], bool] | None:
    """Return the row of a base opcode, its modifiers, and whether it is the row's U-twin; None if there is no row."""
    for name, is_uniform in ((opcode, False), (opcode.removeprefix("U"), True)):
        if name in TABLE:
            return (*TABLE[name], is_uniform)
    return None
