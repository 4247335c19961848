"""Lowering of mapa, getctarank, elect and createpolicy, where every cluster is one CTA."""

from __future__ import annotations

from rfview.engine.ptx.lower.context import Lowering, is_discarded
from rfview.engine.ptx.lower.control import lower_warp_barrier
from rfview.engine.ptx.lower.steps import Steps
from rfview.engine.ptx.parse.syntax import Instruction, Name, Pair


def lower_map_address(low: Lowering, statement: Instruction) -> None:
    """Lower mapa: with one CTA per cluster, the mapped address is the address itself."""
    low.check_clusters()
    bits = "u64" if statement.opcode.endswith("u64") else "u32"
    Steps(low, statement).emit(f"mov.{bits}", *statement.operands[:2])


def lower_cta_rank(low: Lowering, statement: Instruction) -> None:
    """Lower getctarank: every address belongs to the CTA itself, number 0."""
    low.check_clusters()
    Steps(low, statement).emit("mov.u32", statement.operands[0], 0)


def lower_policy(low: Lowering, statement: Instruction) -> None:
    """Lower createpolicy: cache policies have no effect here, so the result is 0."""
    Steps(low, statement).emit("mov.b64", statement.operands[0], 0)


def lower_elect(low: Lowering, statement: Instruction) -> None:
    """Lower elect.sync d|p, mask: the lowest lane of the mask is the leader, as on GPUs."""
    result, mask = statement.operands
    assert isinstance(result, Pair)
    lower_warp_barrier(low, statement)
    steps = Steps(low, statement)
    held, lane, number = steps.new(), steps.new(), steps.new()
    steps.emit("mov.b32", held, mask)
    steps.emit("brev.b32", lane, held)
    steps.emit("clz.b32", lane, lane)
    if not is_discarded(result.first):
        steps.emit("mov.u32", result.first, lane)
    if not is_discarded(result.second):
        steps.emit("mov.u32", number, Name("%laneid"))
        steps.emit("setp.eq.u32", result.second, number, lane)
