"""Lowering of mapa, getctarank, elect and createpolicy, where every cluster is one CTA."""

from __future__ import annotations

from rfview.engine.ptx.lower.arithmetic import lower_mov, lower_table
from rfview.engine.ptx.lower.async_copy import fresh
from rfview.engine.ptx.lower.context import Lowering
from rfview.engine.ptx.lower.control import lower_warp_barrier
from rfview.engine.ptx.parse.syntax import Instruction, Name, Number, Operand, Pair


def _step(low: Lowering, statement: Instruction, opcode: str, *operands: Operand) -> None:
    whole = Instruction(statement.line, opcode, list(operands), statement.guard, statement.guard_negate)
    (lower_mov if opcode.startswith("mov.") else lower_table)(low, whole)


def lower_map_address(low: Lowering, statement: Instruction) -> None:
    """Lower mapa: with one CTA per cluster, the mapped address is the address itself."""
    low.check_clusters()
    bits = "u64" if statement.opcode.endswith("u64") else "u32"
    _step(low, statement, f"mov.{bits}", *statement.operands[:2])


def lower_cta_rank(low: Lowering, statement: Instruction) -> None:
    """Lower getctarank: every address belongs to the CTA itself, number 0."""
    low.check_clusters()
    _step(low, statement, "mov.u32", statement.operands[0], Number("int", 0))


def lower_policy(low: Lowering, statement: Instruction) -> None:
    """Lower createpolicy: cache policies have no effect here, so the result is 0."""
    _step(low, statement, "mov.b64", statement.operands[0], Number("int", 0))


def lower_elect(low: Lowering, statement: Instruction) -> None:
    """Lower elect.sync d|p, mask: the lowest lane of the mask is the leader, as on GPUs."""
    operands = statement.operands
    if statement.opcode != "elect.sync" or len(operands) != 2:
        raise low.fail("expected 'elect.sync leader|is_leader, mask'")
    leader, chosen = (operands[0].first, operands[0].second) if isinstance(operands[0], Pair) else (operands[0], None)
    lower_warp_barrier(low, statement)
    mask, lane, number = (fresh(low, f"%elect.{part}") for part in ("mask", "lane", "number"))
    _step(low, statement, "mov.b32", mask, operands[1])
    _step(low, statement, "brev.b32", lane, mask)
    _step(low, statement, "clz.b32", lane, lane)
    if isinstance(leader, Name) and leader.text != "_":
        _step(low, statement, "mov.u32", leader, lane)
    if isinstance(chosen, Name) and chosen.text != "_":
        _step(low, statement, "mov.u32", number, Name("%laneid"))
        _step(low, statement, "setp.eq.u32", chosen, number, lane)
