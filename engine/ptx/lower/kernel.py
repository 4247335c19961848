"""Lowers a kernel's syntax tree to virtual instructions in basic blocks: resolves names, inlines calls."""

from __future__ import annotations

from collections.abc import Callable

from rfview.engine import isa
from rfview.engine.program import SPACE_GENERIC, SPACE_LOCAL, SPACE_SHARED, WAIT_FIXED
from rfview.engine.ptx.lower.arithmetic import lower_cvta, lower_mov, lower_table
from rfview.engine.ptx.forms.grammar import Row
from rfview.engine.ptx.lower.async_copy import lower_async_copy
from rfview.engine.ptx.lower.cluster import lower_cta_rank, lower_elect, lower_map_address, lower_policy
from rfview.engine.ptx.lower.bulk_copy import lower_bulk_copy, lower_bulk_reduction
from rfview.engine.ptx.lower.check import checked
from rfview.engine.ptx.lower.context import CallsAgain, Frame, Lowering
from rfview.engine.ptx.lower.control import (control_inst, lower_barrier, lower_branch, lower_fence,
                                             lower_indexed_branch, lower_nanosleep, lower_return, lower_trap)
from rfview.engine.ptx.optimise.control_flow import reverse_post_order
from rfview.engine.ptx.lower.inline import lower_call
from rfview.engine.ptx.lower.layout import kernel_params, reachable, shared_layout
from rfview.engine.ptx.lower.matrix import lower_matrix, lower_transposition
from rfview.engine.ptx.lower.mbarrier import lower_copies_arrive, lower_mbarrier, mentions_bytes
from rfview.engine.ptx.lower.memory import lower_atomic, lower_load, lower_store, no_operation
from rfview.engine.ptx.lower.expand import (clear_out_of_bounds, least_of_three, logic_and_predicate, multiply_signs,
                                            pack_integers, reduce_floats, sum_of_halves, to_finite_halves, to_tf32)
from rfview.engine.ptx.lower.names import CallParam, LabelId, Names, Place, TargetList
from rfview.engine.ptx.lower.parts import lowered_in_parts
from rfview.engine.ptx.lower.products import four_products
from rfview.engine.ptx.lower.simd import packed_integers, pair_of_floats
from rfview.engine.ptx.lower.small_floats import narrow, narrow_scales, widen, widen_scales
from rfview.engine.ptx.lower.frames import lay_out_frames
from rfview.engine.ptx.parse.source import Source
from rfview.engine.ptx.parse.syntax import (BranchTargets, Function, Instruction, Label, RegisterDeclaration, Scope,
                                            SyntaxModule, Variable)
from rfview.engine.ptx.lower.stack import begin_stack, lower_stack, uses_stack
from rfview.engine.ptx.lower.sparse import lower_sparse
from rfview.engine.ptx.lower.surface import lower_surface
from rfview.engine.ptx.lower.tensor import lower_tensor
from rfview.engine.ptx.lower.texture import drop_unread_components, lower_texture, lower_texture_query
from rfview.engine.ptx.lower.steps import Steps
from rfview.engine.ptx.lower.video import PACKED, SCALAR, lower_video
from rfview.engine.ptx.virtual import Block, VirtualInst, VirtualProgram

# by name in the table, or its first word; all others have an opcode of their own
_HANDLERS: dict[str, Callable[[Lowering, Instruction], None]] = {
    "ld": lower_load, "ldu": lower_load, "st": lower_store, "atom": lower_atomic, "red": lower_atomic,
    "mov": lower_mov, "cvta": lower_cvta, "bra": lower_branch, "brx": lower_indexed_branch, "ret": lower_return,
    "exit": lower_return, "bar": lower_barrier, "barrier": lower_barrier, "membar": lower_fence, "fence": lower_fence,
    "trap": lower_trap, "brkpt": lower_trap, "nanosleep": lower_nanosleep, "prefetch": no_operation,
    "prefetchu": no_operation, "discard": no_operation, "applypriority": no_operation, "pmevent": no_operation,
    "griddepcontrol": no_operation, "setmaxnreg": no_operation,
    "tex": lower_texture, "tld4": lower_texture, "txq": lower_texture_query, "suq": lower_texture_query,
    "mapa": lower_map_address, "getctarank": lower_cta_rank, "createpolicy": lower_policy, "elect": lower_elect,
    "mbarrier": lower_mbarrier, "ldmatrix": lower_matrix, "stmatrix": lower_matrix,
    "movmatrix": lower_transposition, "suld": lower_surface, "sust": lower_surface,
    "mma": lower_tensor, "mma.sp": lower_sparse, "mma.sp::ordered_metadata": lower_sparse, "wmma": lower_tensor,
    **dict.fromkeys((*SCALAR, *PACKED), lower_video),
    "cp.async": lower_async_copy, "cp.async.mbarrier.arrive": lower_copies_arrive, "cp.async.bulk": lower_bulk_copy,
    "cp.reduce.async.bulk": lower_bulk_reduction, **dict.fromkeys((
        "cp.async.commit_group", "cp.async.wait_group", "cp.async.wait_all", "cp.async.bulk.commit_group",
        "cp.async.bulk.wait_group", "cp.async.bulk.prefetch.L2"), no_operation),
    "alloca": lower_stack, "stacksave": lower_stack, "stackrestore": lower_stack,
}
# by the mark in the table: forms that become several instructions
_EXPANSIONS: dict[str, Callable[[Steps], None]] = {
    "halves": sum_of_halves, "three": least_of_three, "oob": clear_out_of_bounds, "tf32": to_tf32, "redux": reduce_floats,
    "signs": multiply_signs, "finite": to_finite_halves, "pack": pack_integers, "lop3": logic_and_predicate,
    "packed": packed_integers, "pair": pair_of_floats, "narrow": narrow, "widen": widen, "scale": narrow_scales,
    "unscale": widen_scales, "volta": four_products,
}
_ENDS = (isa.OP_EXIT, isa.OP_TRAP)


def lower_kernel(source: Source, module: SyntaxModule, entry: Function) -> tuple[VirtualProgram, int]:
    """Lower one entry point. Returns the program and its static shared bytes."""
    by_pointer: set[str] = set()
    while True:
        try:
            return lower_entry(source, module, entry, frozenset(by_pointer))
        except CallsAgain as again:
            by_pointer.add(again.name)


def lower_entry(source: Source, module: SyntaxModule, entry: Function,
                by_pointer: frozenset[str]) -> tuple[VirtualProgram, int]:
    """Lower one entry point, with a stack for recursive functions.

    by_pointer: functions that a pointer may re-enter. Raises CallsAgain on finding another one.
    """
    low = Lowering(source, module, frames=[Frame(entry)], by_pointer=by_pointer)
    for param in kernel_params(source, entry):
        low.names.table[param.name] = Place("param", param.offset, size=param.size)
    functions, mentioned = reachable(module, entry)
    low.counts_bytes = any(function.body is not None and mentions_bytes(function.body) for function in functions)
    places, low.shared, shared_bytes = shared_layout(module, functions, mentioned)
    for variable in module.variables.values():
        if id(variable) in places:
            low.shared[variable.name] = places[id(variable)]
    low.places = places
    assert entry.body is not None
    if any(uses_stack(function.body) for function in functions):
        begin_stack(low)
    lower_scope(low, entry.body)
    low.line = entry.line
    low.emit(control_inst(low, isa.OP_EXIT, Instruction(low.last_line, "exit", [])))
    program = VirtualProgram(build_blocks(low.items), low.variables, low.local_bytes, stack_starts=low.stack_starts)
    lay_out_frames(low, program.blocks)
    program.unset = unset_reads(program)
    define_all(program, low.last_line)
    drop_unread_components(program)
    return program, shared_bytes


def unset_reads(program: VirtualProgram) -> list[tuple[int, str, bool, int]]:
    """Return (line, name, as a guard, row of data) of each use of a variable that is never written; row: see below.

    A copy or selection is not a use, nor is a shuffle of it: the padding of a structure is exchanged with the rest. Nor is
    a store to shared or local memory, which is listed with its row of data; for a use the row is -1.
    """
    insts = [inst for block in program.blocks for inst in block.insts]
    written = {var for inst in insts for var in inst.writes()}
    unset = []
    for inst in insts:
        if inst.op in PASS_ON:
            continue
        data = inst.src[2:] if inst.op == isa.OP_ST and inst.space in COPY_SPACES else []
        copied = [(row >> 1, place) for place, row in enumerate(data) if row >= 0]
        elsewhere = {row >> 1 for row in inst.src[:2] if row >= 0} | {inst.guard}
        copies = {var for var, _ in copied} - elsewhere
        uses = [(var, -1) for var in dict.fromkeys(inst.reads())
                if var not in copies and not (inst.op == isa.OP_SHFL and var == inst.src[0] >> 1)]
        unset += [(inst.line, program.variables.names[var], var == inst.guard, row) for var, row in uses + copied
                  if var not in written]
    return unset


def define_all(program: VirtualProgram, line: int) -> None:
    """Make variables that are read but never written read as 0, predicates as false; line: of the instructions added."""
    insts = [inst for block in program.blocks for inst in block.insts]
    written = {var for inst in insts for var in inst.writes()}
    for inst in insts:
        for slot, row in enumerate(inst.src):
            if row >= 0 and row >> 1 not in written:
                inst.set_imm(slot, 0)
    unset = sorted({var for inst in insts for var in inst.reads()} - written)
    for var in unset:
        inst = VirtualInst(isa.OP_PRED, "mov.pred", line)
        inst.aux, inst.wait_class, inst.pdst = isa.PRED_FALSE, WAIT_FIXED, [var]
        program.blocks[0].insts.insert(0, inst)


# operations that copy or select a value: reading an unwritten variable there does not yet use it
PASS_ON = frozenset({isa.OP_MOV32, isa.OP_MOV64, isa.OP_SELP32, isa.OP_SELP64, isa.OP_SLCT, isa.OP_PRMT, isa.OP_PACK16,
                     isa.OP_PACK16X4, isa.OP_PACK8X4, isa.OP_UNPACK16, isa.OP_UNPACK16X4, isa.OP_UNPACK8X4})
# a store there only keeps a copy: using that is the use (global memory is read by others, at generic addresses as well)
COPY_SPACES = frozenset({SPACE_SHARED, SPACE_LOCAL, SPACE_GENERIC})


def lower_scope(low: Lowering, scope: Scope) -> None:
    """Lower `{ ... }`: declare its names first (labels may be used before they appear), then its statements."""
    outer = low.names
    low.names = outer.child()
    declare(low, scope)
    for item in scope.items:
        if isinstance(item, Instruction):
            low.line = low.last_line = item.line
            lower_statement(low, item)
        elif isinstance(item, Label):
            label = low.names.table[item.name]
            assert isinstance(label, LabelId)
            low.items.append(label.number)
        elif isinstance(item, Scope):
            lower_scope(low, item)
    low.names = outer


def declare(low: Lowering, scope: Scope) -> None:
    names: Names = low.names
    for item in scope.items:
        if isinstance(item, RegisterDeclaration):
            names.declare_register(item)
            low.has_parts |= item.vector > 1 or item.type == "b128"
        elif isinstance(item, Label):
            names.table[item.name] = LabelId(low.new_label())
        elif isinstance(item, BranchTargets):
            names.table[item.name] = TargetList(item.targets)
        elif isinstance(item, Variable):
            names.table[item.name] = place_variable(low, item)


def place_variable(low: Lowering, variable: Variable) -> object:
    """Place a variable declared in a function."""
    low.line = variable.line
    if variable.space == "param":
        return CallParam(variable.name, variable.size)
    if variable.space == "local":
        body = low.frames[-1].body
        if body is not None:
            return Place("local", body.area(variable.size, variable.alignment), on_stack=True)
        return Place("local", low.local_area(variable.size, variable.alignment))
    if variable.space == "shared":
        return low.places.get(id(variable), Place("shared"))
    raise low.fail(f".{variable.space} variables cannot be declared in a function")


def lower_statement(low: Lowering, statement: Instruction) -> None:
    """Check a statement of the text, then lower it; a call is checked against the function that it names."""
    if statement.opcode.startswith("call"):
        return lower_call(low, statement, lower_scope)
    form, row = checked(low, statement)
    first = len(low.items)
    lower_form(low, form, row)
    if form is not statement:       # views show the modifiers in the order of the text
        for inst in low.items[first:]:
            if isinstance(inst, VirtualInst) and inst.mnemonic == form.opcode:
                inst.mnemonic = statement.opcode


def lower_form(low: Lowering, statement: Instruction, row: Row) -> None:
    """Lower a statement whose form, a row of the table, has been checked."""
    may_have_parts = low.has_parts or statement.opcode.endswith(".b128") or statement.opcode.startswith("mov.v")
    if may_have_parts and lowered_in_parts(low, statement, lambda part: lower_form(low, part, row)):
        return
    if row.lowered:
        _EXPANSIONS[row.lowered](Steps(low, statement))
    else:
        _HANDLERS.get(row.base, _HANDLERS.get(row.base.split(".")[0], lower_table))(low, statement)


def build_blocks(items: list[VirtualInst | int]) -> list[Block]:
    """Split the instruction list into basic blocks, link them, and drop the unreachable ones.

    The `target` of a branch changes from a label number to a block index. The order of the text is kept.
    """
    blocks = [Block()]
    at_label: dict[int, int] = {}
    for item in items:
        last = blocks[-1].insts
        if isinstance(item, int):
            if last:
                blocks.append(Block())
            at_label[item] = len(blocks) - 1
            continue
        if last and (last[-1].target >= 0 or last[-1].op in _ENDS and last[-1].guard < 0):
            blocks.append(Block())
        blocks[-1].insts.append(item)
    for index, block in enumerate(blocks):
        link(block, index, len(blocks), at_label)
    return drop_unreachable(blocks)


def link(block: Block, index: int, count: int, at_label: dict[int, int]) -> None:
    """Set a block's successors from its last instruction."""
    last = block.insts[-1] if block.insts else None
    falls = True
    if last is not None and last.target >= 0:
        last.target = at_label[last.target]
        block.successors.append(last.target)
        falls = last.guard >= 0
    elif last is not None and last.op in _ENDS and last.guard < 0:
        falls = False
    if falls and index + 1 < count and index + 1 not in block.successors:
        block.successors.append(index + 1)


def drop_unreachable(blocks: list[Block]) -> list[Block]:
    """Keep the blocks reachable from the first, renumbering successors and branch targets."""
    order = sorted(reverse_post_order([block.successors for block in blocks], 0))
    number = {old: new for new, old in enumerate(order)}
    reachable = [blocks[old] for old in order]
    for block in reachable:
        block.successors = [number[target] for target in block.successors]
        for inst in block.insts:
            if inst.target >= 0:
                inst.target = number[inst.target]
    return reachable
