"""The result of one warp instruction of machine code: execute's opcodes, and those that only machine code has."""

from __future__ import annotations

from rfview.engine import isa
from rfview.engine.compile.device import device
from rfview.engine.values.arithmetic import I64, U32
from rfview.engine.values.execute import TABLE, Way, computing
from rfview.engine.values.lanes import MACHINE_BODIES
from rfview.engine.values.machine_rows import (add3_rows, byte_rows, compare_high_rows, division_rows, double_choice_rows,
                                               elect_rows, extreme_rows, first_rows, float_pair_rows, funnel_rows,
                                               lea_rows, logic_rows, mad_rows, mad_wide_rows, narrow_rows, vote_both_rows)
from rfview.engine.values.matrix import movm_rows
from rfview.engine.values.packed import packed_rows
from rfview.engine.values.product import product_rows
from rfview.engine.values.small_floats import small_float_rows
from rfview.engine.values.words import handle

MACHINE_TABLE: dict[int, Way] = {
    **TABLE,
    **{op: Way(body, is_vector=True) for op, body in MACHINE_BODIES.items()},
    isa.OP_ADD3_CC: Way(add3_rows, gives=True),
    isa.OP_MAD_CC: Way(mad_rows, gives=True),
    isa.OP_MAD_WIDE_CC: Way(mad_wide_rows, gives=True),
    isa.OP_LEA: Way(lea_rows, gives=True),
    isa.OP_LOP3_P: Way(logic_rows, gives=True),
    isa.OP_FUNNEL: Way(funnel_rows),
    isa.OP_SETP_EX: Way(compare_high_rows, gives=True),
    isa.OP_MINMAX3: Way(extreme_rows),
    isa.OP_FLOAT_PAIR: Way(float_pair_rows),
    isa.OP_FCHK: Way(division_rows, gives=True),
    isa.OP_DMINMAX: Way(double_choice_rows, gives=True),
    isa.OP_F2IP: Way(byte_rows),
    isa.OP_I2IP: Way(narrow_rows),
    isa.OP_VOTE_BOTH: Way(vote_both_rows, gives=True),
    isa.OP_R2UR: Way(first_rows, gives=True),
    isa.OP_ELECT: Way(elect_rows, gives=True),
    isa.OP_PACKED: Way(packed_rows, gives=True),
    isa.OP_PRODUCT: Way(product_rows),
    isa.OP_MOVM: Way(movm_rows),
    isa.OP_SMALL_FLOATS: Way(small_float_rows),
}
compute = computing(MACHINE_TABLE, __name__)


@device
def execute_machine(inst, rows, src, dst, mask, p0, p1):
    """Compute one warp instruction of machine code, as `execute.execute` does; inst: MACHINE_INST record.

    Opcodes that stages execute (OP_LD .. OP_TEX, and from OP_PLOP3 on) do nothing here.
    """
    rows = handle(rows)
    return compute(I64(inst.op), rows, I64(src), I64(dst), U32(mask), U32(p0), U32(p1), U32(inst.aux), U32(inst["flags"]))
