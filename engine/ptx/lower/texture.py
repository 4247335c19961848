"""Lowering of texture instructions: tex and tld4 become one machine instruction, txq a load from the texture's header."""

from __future__ import annotations

from rfview.engine import isa
from rfview.engine.program import MEM_LOAD, SPACE_GLOBAL
from rfview.engine.ptx.lower.access import Access, memory_inst
from rfview.engine.ptx.lower.arithmetic import lower_table
from rfview.engine.ptx.lower.context import Lowering, is_discarded
from rfview.engine.ptx.lower.cube import CUBES, as_layers
from rfview.engine.ptx.lower.memory import elements, lower_load
from rfview.engine.ptx.parse.syntax import Address, Group, Instruction, Number, Operand
from rfview.engine.ptx.virtual import VirtualInst, VirtualProgram
from rfview.engine.textures import H_DATA_TYPE, H_DEPTH, H_FLAGS, H_HEIGHT, H_ORDER, H_WIDTH

# geometry: dimensions, and whether a layer comes first
GEOMETRIES = {"1d": (1, False), "2d": (2, False), "3d": (3, False), "a1d": (1, True), "a2d": (2, True)}
_COMPONENTS = "rgba"
_QUERIES = {"width": H_WIDTH, "height": H_HEIGHT, "depth": H_DEPTH, "array_size": H_DEPTH, "channel_order": H_ORDER,
            "channel_data_type": H_DATA_TYPE, "normalized_coords": H_FLAGS}
_FIXED = {"num_mipmap_levels": 1, "num_samples": 1, "memory_layout": 0}    # the same for all: no surface is linear memory


def lower_texture(low: Lowering, statement: Instruction) -> None:
    """Lower tex.{1d,2d,3d,a1d,a2d,cube,acube}, with or without .level or .grad, and tld4.{r,g,b,a}.2d.

    Textures have one mipmap level: a level operand is read but has no effect; gradients are not even read.
    """
    base, *parts = statement.opcode.split(".")
    gather = _COMPONENTS.index(parts.pop(0)) + 1 if base == "tld4" else 0
    mode = parts.pop(0) if parts[0] in ("base", "level", "grad") else ""
    geometry, kind, operands = parts[0], parts[-1], statement.operands
    if geometry in CUBES:
        return lower_texture(low, as_layers(low, statement, geometry))
    texture, coordinates = texture_operand(operands[1])
    dims, is_layered = GEOMETRIES[geometry]
    inst = texture_inst(low, statement, texture)
    inst.aux = dims | isa.TEX_LAYERED * is_layered | isa.TEX_INTEGER * (kind == "s32")
    inst.aux |= gather << isa.TEX_GATHER_SHIFT
    for place, item in enumerate(coordinates[: dims + is_layered]):
        low.fill(inst, 2 + place, item, "u32" if is_layered and place == 0 else kind)
    if mode == "level":
        low.fill(inst, 5, operands[2], kind)
    results = elements(operands[0])
    written = [component for component, item in enumerate(results) if not is_discarded(item)]
    inst.aux |= sum(1 << isa.TEX_MASK_SHIFT + component for component in written)
    inst.dst = low.destinations([results[component] for component in written], 32)
    inst.count = dims + is_layered
    low.emit(low.guard_of(inst, statement))


def texture_inst(low: Lowering, statement: Instruction, texture: object) -> VirtualInst:
    """Make the machine instruction, with the texture's handle in slots 0 and 1."""
    inst = memory_inst(low, isa.OP_TEX, Access(SPACE_GLOBAL, "b32", 1, False), statement.opcode, MEM_LOAD)
    inst.form = "texture"
    low.fill(inst, 0, texture, "b64")
    return inst


def texture_operand(operand: Operand) -> tuple[Operand, list[Operand]]:
    """Split `[texture, {x, y}]` or `[texture, sampler, {x, y}]`; the launch file describes the two together."""
    assert isinstance(operand, Group)
    return operand.items[0], elements(operand.items[-1])


def lower_texture_query(low: Lowering, statement: Instruction) -> None:
    """Lower txq and suq: a word of the texture's or surface's header, or what is the same for all."""
    query = statement.opcode.partition(".")[2].partition(".")[0]
    target, operand = statement.operands
    assert isinstance(operand, Address)
    guard = (statement.guard, statement.guard_negate)
    if query in _FIXED:
        lower_table(low, Instruction(statement.line, "mov.b32", [target, Number("int", _FIXED[query])], *guard))
        return
    moved = Address(operand.base, operand.offset + 4 * _QUERIES[query])
    lower_load(low, Instruction(statement.line, "ld.global.u32", [target, moved], *guard))
    if query == "normalized_coords":  # bit 1 of the flags
        lower_table(low, Instruction(statement.line, "bfe.u32", [target, target, Number("int", 1), Number("int", 1)],
                                     *guard))


def drop_unread_components(program: VirtualProgram) -> None:
    """Let fetches write only the components that are read, like the write mask of GPUs."""
    insts = [inst for block in program.blocks for inst in block.insts]
    read = {var for inst in insts for var in inst.reads()}
    for inst in insts:
        if inst.op != isa.OP_TEX:
            continue
        rows = iter(inst.dst)
        used = []
        for component in range(4):
            bit = 1 << isa.TEX_MASK_SHIFT + component
            if inst.aux & bit:
                row = next(rows)
                if row >> 1 in read:
                    used.append(row)
                else:
                    inst.aux &= ~bit
        inst.dst = used
