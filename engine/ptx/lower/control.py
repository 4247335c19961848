"""Lowering of branches, exits, barriers, fences and traps."""

from __future__ import annotations

from rfview.engine import isa
from rfview.engine.program import UNIT_CTRL, WAIT_FIXED
from rfview.engine.ptx import forms
from rfview.engine.ptx.lower.context import Lowering
from rfview.engine.ptx.lower.names import TargetList
from rfview.engine.ptx.parse.syntax import Instruction, Name, Number
from rfview.engine.ptx.virtual import NONE, VirtualInst

_BARRIERS = {
    "sync": isa.BAR_SYNC, "arrive": isa.BAR_ARRIVE, "red.popc.u32": isa.BAR_RED_POPC, "red.and.pred": isa.BAR_RED_AND,
    "red.or.pred": isa.BAR_RED_OR,
}


def control_inst(low: Lowering, op: int, statement: Instruction) -> VirtualInst:
    inst = VirtualInst(op, statement.opcode, statement.line)
    inst.unit, inst.wait_class, inst.is_removable = UNIT_CTRL, WAIT_FIXED, False
    return inst


def lower_branch(low: Lowering, statement: Instruction) -> None:
    """Lower bra and bra.uni."""
    guard = low.predicate(Name(statement.guard))[0] if statement.guard else NONE
    low.branch(low.label(statement.operands[0]), guard, statement.guard_negate)


def lower_indexed_branch(low: Lowering, statement: Instruction) -> None:
    """Lower brx.idx to a chain of comparisons and branches."""
    table = low.names.find(statement.operands[1].text)  # type: ignore[union-attr]
    assert isinstance(table, TargetList)
    skip = low.new_label()
    if statement.guard:
        low.branch(skip, low.predicate(Name(statement.guard))[0], not statement.guard_negate)
    labels = [low.label(Name(name)) for name in table.names]
    for index, label in enumerate(labels[:-1]):
        info = forms.lookup("setp", ("eq", "u32"))
        inst = VirtualInst(info.op, "setp.eq.u32", low.line)
        inst.aux, inst.wait_class, inst.latency_class = info.aux, info.wait_class, info.latency_class
        inst.types = info.src_types
        low.fill(inst, 0, statement.operands[0], "u32")
        low.fill(inst, 2, Number("int", index), "u32")
        test = low.temp(1).var
        inst.pdst = [test]
        low.emit(inst)
        low.branch(label, test)
    low.branch(labels[-1])
    low.items.append(skip)


def lower_return(low: Lowering, statement: Instruction) -> None:
    """Lower ret and exit: the end of the thread, or a branch to the end of an inlined or recursive function."""
    target = low.frames[-1].return_label
    if statement.opcode.startswith("ret") and target >= 0:
        guard = low.predicate(Name(statement.guard))[0] if statement.guard else NONE
        low.branch(target, guard, statement.guard_negate)
        return
    low.emit(low.guard_of(control_inst(low, isa.OP_EXIT, statement), statement))


def lower_barrier(low: Lowering, statement: Instruction) -> None:
    """Lower bar and barrier: id in slot 0, thread count in slot 2 (0 = all), a reduction's predicate as source."""
    parts = [p for p in statement.opcode.split(".")[1:] if p not in ("aligned", "cta")]
    if statement.opcode == "bar.warp.sync":
        return lower_warp_barrier(low, statement)
    if statement.opcode.startswith("barrier.cluster."):
        return lower_cluster_barrier(low, statement)
    mode = _BARRIERS[".".join(parts)]
    inst = control_inst(low, isa.OP_BAR, statement)
    inst.aux = mode
    operands = list(statement.operands)
    if mode in (isa.BAR_RED_POPC, isa.BAR_RED_AND, isa.BAR_RED_OR):
        result = operands.pop(0)
        if mode == isa.BAR_RED_POPC:
            inst.dst = low.destination(result, 32)
        else:
            inst.pdst = [low.predicate(result)[0]]
        var, negated = low.predicate_or_constant(operands.pop())
        inst.psrc, inst.psrc_negate = [var], [negated]
    low.fill(inst, 0, operands[0], "u32")
    low.fill(inst, 2, operands[1] if len(operands) > 1 else Number("int", 0), "u32")
    inst.types = ("u32", "u32") if len(operands) > 1 else ("u32",)
    low.emit(low.guard_of(inst, statement))


def lower_cluster_barrier(low: Lowering, statement: Instruction) -> None:
    """Lower barrier.cluster where every cluster is one CTA: arriving does nothing, waiting is bar.sync 0."""
    low.check_clusters()
    if "wait" in statement.opcode:
        lower_barrier(low, Instruction(statement.line, "bar.sync", [Number("int", 0)], statement.guard,
                                       statement.guard_negate))


def lower_warp_barrier(low: Lowering, statement: Instruction) -> None:
    """Lower bar.warp.sync, or the wait for all members of elect.sync: the last operand is the mask."""
    inst = control_inst(low, isa.OP_BAR_WARP, statement)
    inst.aux = isa.BAR_WARP_ELECT if statement.opcode == "elect.sync" else isa.BAR_WARP_SYNC
    inst.types = ("b32",)
    low.fill(inst, 0, statement.operands[-1], "b32")
    low.emit(low.guard_of(inst, statement))


def lower_fence(low: Lowering, statement: Instruction) -> None:
    """Lower membar and fence of every scope and proxy."""
    low.emit(low.guard_of(control_inst(low, isa.OP_MEMBAR, statement), statement))


def lower_trap(low: Lowering, statement: Instruction) -> None:
    op = isa.OP_BRKPT if statement.opcode == "brkpt" else isa.OP_TRAP
    low.emit(low.guard_of(control_inst(low, op, statement), statement))


def lower_nanosleep(low: Lowering, statement: Instruction) -> None:
    inst = control_inst(low, isa.OP_NANOSLEEP, statement)
    inst.types = ("u32",)
    low.fill(inst, 0, statement.operands[0], "u32")
    low.emit(low.guard_of(inst, statement))
