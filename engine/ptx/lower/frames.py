"""Stack frames of recursive functions: what is live after a call within the group is saved before it, and loaded after it.

Liveness is known only after everything is lowered: `lay_out_frames` then inserts the loads and stores and the frame sizes.
"""

from __future__ import annotations

from rfview.engine import isa
from rfview.engine.program import UNIT_CTRL, WAIT_FIXED
from rfview.engine.ptx.inserted import hold_predicate, test_held
from rfview.engine.ptx.optimise.bitsets import members
from rfview.engine.ptx.lower.context import Call, Lowering
from rfview.engine.ptx.optimise.liveness import live_sets
from rfview.engine.ptx.lower.names import Body
from rfview.engine.ptx.lower.access import load_from_stack, store_to_stack
from rfview.engine.ptx.virtual import Block, VirtualInst

FRAME_ALIGN = 16


def marker(low: Lowering) -> VirtualInst:
    """Make a placeholder instruction; `lay_out_frames` removes it."""
    inst = VirtualInst(isa.OP_NOP, "", low.line)
    inst.unit, inst.wait_class, inst.is_removable = UNIT_CTRL, WAIT_FIXED, False
    return inst


def stack_start(low: Lowering) -> VirtualInst:
    """Make the move that initialises the stack pointer; its value is set last, since the stack follows all else."""
    inst = low.move(low.rows(low.stack_pointer()), [])
    inst.set_imm(0, 0)
    low.stack_starts.append(inst)
    return inst


def stack_move(low: Lowering, base: str) -> VirtualInst:
    """Make the addition or subtraction of the caller's frame size, to be filled in."""
    row = low.rows(low.stack_pointer())[0]
    return low.integer(base, row, row, 0)


def lay_out_frames(low: Lowering, blocks: list[Block]) -> None:
    """Save and restore what is live after each recursive call around it, and fill in the frame sizes."""
    if not low.calls:
        return
    home = {id(inst): index for index, block in enumerate(blocks) for inst in block.insts}
    backs = {home[id(call.back)] for call in low.calls if id(call.back) in home}
    straight = [Block(block.insts, [target for target in block.successors if target not in backs]) for block in blocks]
    for call in low.calls:
        # liveness treats a call as straight-line code: the thread continues after it with the caller's values
        if id(call.mark) in home:
            block = blocks[home[id(call.mark)]]
            where = next(index for index, inst in enumerate(block.insts) if inst is call.mark)
            after = [home[id(call.back)]] if id(call.back) in home else []
            straight[home[id(call.mark)]] = Block(block.insts[:where], after)
    live_in, _ = live_sets(straight, len(low.variables.names))
    pointer = low.stack_pointer().var
    saved: list[tuple[Call, list[int]]] = []
    for call in low.calls:
        live = members(live_in[home[id(call.back)]]) if call.keeps and id(call.back) in home else []
        saved.append((call, [var for var in live if var != pointer and var not in call.callee.results]))
    for call, variables in saved:
        if call.caller is not None:
            size = -(-call.caller.bytes // 8) * 8 + sum(stack_bytes(low, var) for var in variables)
            call.caller.frame_bytes = max(call.caller.frame_bytes, -(-size // FRAME_ALIGN) * FRAME_ALIGN)
    for call, variables in saved:
        saves: list[VirtualInst] = []
        loads: list[VirtualInst] = []
        if call.caller is not None:
            low.line = call.mark.line
            saves, loads = keep(low, call.caller, variables)
            call.before.set_imm(2, call.caller.frame_bytes)
            back = stack_move(low, "sub")
            back.set_imm(2, call.caller.frame_bytes)
            loads.insert(0, back)
        replace(blocks, home, call.mark, saves)
        replace(blocks, home, call.back, loads)


def stack_bytes(low: Lowering, var: int) -> int:
    """Return the bytes that a variable takes on the stack: 8 for 64 bits, else 4."""
    return 8 if low.variables.words[var] == 2 else 4


def keep(low: Lowering, caller: Body, variables: list[int]) -> tuple[list[VirtualInst], list[VirtualInst]]:
    """Make the stores of variables to the caller's frame, and the loads; variables of 8 bytes come first."""
    saves: list[VirtualInst] = []
    loads: list[VirtualInst] = []
    offset = -(-caller.bytes // 8) * 8
    for var in sorted(variables, key=lambda var: -stack_bytes(low, var)):
        held = var
        if not low.variables.words[var]:
            held = low.variables.new(low.variables.names[var], 32)
            saves.append(hold_predicate(low.line, var, held))
        size = stack_bytes(low, held)
        saves.append(store_to_stack(low, low.stack_pointer(), offset, held, size))
        loads.append(load_from_stack(low, low.stack_pointer(), offset, held, size))
        if held != var:
            loads.append(test_held(low.line, held, var))
        offset += size
    return saves, loads


def replace(blocks: list[Block], home: dict[int, int], mark: VirtualInst, insts: list[VirtualInst]) -> None:
    """Replace a placeholder by instructions, if it is still in the program."""
    if id(mark) not in home:
        return
    own = blocks[home[id(mark)]].insts
    place = next(index for index, inst in enumerate(own) if inst is mark)
    own[place : place + 1] = insts
