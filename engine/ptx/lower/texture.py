"""Lowering of texture instructions: tex and tld4 become one machine instruction, txq a load from the texture's header."""

from __future__ import annotations

from rfview.engine import isa
from rfview.engine.program import MEM_LOAD, SPACE_GLOBAL
from rfview.engine.ptx.lower.access import Access, memory_inst
from rfview.engine.ptx.lower.arithmetic import lower_table
from rfview.engine.ptx.lower.context import Lowering, describe
from rfview.engine.ptx.lower.cube import CUBES, as_layers
from rfview.engine.ptx.lower.memory import lower_load
from rfview.engine.ptx.parse.syntax import Address, Group, Instruction, Name, Number, Vector
from rfview.engine.ptx.virtual import VirtualInst, VirtualProgram
from rfview.engine.textures import H_DATA_TYPE, H_DEPTH, H_FLAGS, H_HEIGHT, H_ORDER, H_WIDTH

# geometry: dimensions, and whether a layer comes first
GEOMETRIES = {"1d": (1, False), "2d": (2, False), "3d": (3, False), "a1d": (1, True), "a2d": (2, True)}
_COMPONENTS = "rgba"
_QUERIES = {"width": H_WIDTH, "height": H_HEIGHT, "depth": H_DEPTH, "array_size": H_DEPTH, "channel_order": H_ORDER,
            "channel_data_type": H_DATA_TYPE, "normalized_coords": H_FLAGS}
_FIXED = {"num_mipmap_levels": 1, "num_samples": 1, "memory_layout": 0}    # the same for all: no surface is linear memory
_TYPES = ("f32", "u32", "s32", "b32")


def lower_texture(low: Lowering, statement: Instruction) -> None:
    """Lower tex.{1d,2d,3d,a1d,a2d,cube,acube}, with or without .level or .grad, and tld4.{r,g,b,a}.2d.

    Textures have one mipmap level: a level operand is read but has no effect; gradients are not even read.
    """
    base, *parts = statement.opcode.split(".")
    gather = 0
    if base == "tld4" and parts and parts[0] in _COMPONENTS:
        gather = _COMPONENTS.index(parts.pop(0)) + 1
    has_level, has_gradients = parts[:1] == ["level"], parts[:1] == ["grad"]
    parts = parts[1:] if parts[:1] and parts[0] in ("level", "grad", "base") else parts
    if base == "tex" and parts[:1] and parts[0] in CUBES and len(parts) == 4 and len(statement.operands) > 1:
        lower_texture(low, as_layers(low, statement, parts[0]))
        return
    is_known = len(parts) == 4 and parts[0] in GEOMETRIES and parts[1] == "v4" and parts[2] in _TYPES
    is_known = is_known and parts[3] in ("f32", "s32") and (not gather or parts[0] == "2d")
    if not is_known or (base == "tld4") != bool(gather):
        near = "tld4.r.2d.v4.f32.f32" if base == "tld4" else "tex.2d.v4.f32.f32"
        raise low.fail(f"unsupported instruction '{statement.opcode}'; nearest supported form: '{near}'")
    operands = statement.operands
    expected = 2 + has_level + 2 * has_gradients
    if len(operands) != expected or not isinstance(operands[0], Vector) or len(operands[0].items) != 4:
        raise low.fail(f"expected '{statement.opcode} {{a, b, c, d}}, [texture, coordinates]"
                       f"{', level' if has_level else ''}'; offsets and comparisons are not supported")
    texture, coordinates = texture_operand(low, operands[1])
    dims, is_layered = GEOMETRIES[parts[0]]
    if len(coordinates) < dims + is_layered:
        raise low.fail(f"'{statement.opcode}' needs {dims + is_layered} coordinates, found {len(coordinates)}")
    inst = texture_inst(low, statement, texture)
    inst.aux = dims | isa.TEX_LAYERED * is_layered | isa.TEX_INTEGER * (parts[3] == "s32")
    inst.aux |= gather << isa.TEX_GATHER_SHIFT
    for place, item in enumerate(coordinates[: dims + is_layered]):
        low.fill(inst, 2 + place, item, "u32" if is_layered and place == 0 else parts[3])
    if has_level:
        low.fill(inst, 5, operands[2], parts[3])
    for component, item in enumerate(operands[0].items):
        if not (isinstance(item, Name) and item.text == "_"):
            inst.aux |= 1 << isa.TEX_MASK_SHIFT + component
            inst.dst += low.destination(item, 32)
    if len(set(inst.dst)) != len(inst.dst):
        raise low.fail("the same register is named twice among the destinations")
    inst.count = dims + is_layered
    low.emit(low.guard_of(inst, statement))


def texture_inst(low: Lowering, statement: Instruction, texture: object) -> VirtualInst:
    """Make the machine instruction, with the texture's handle in slots 0 and 1."""
    inst = memory_inst(low, isa.OP_TEX, Access(SPACE_GLOBAL, "b32", 1, False), statement.opcode, MEM_LOAD)
    inst.form = "texture"
    low.fill(inst, 0, texture, "b64")
    return inst


def texture_operand(low: Lowering, operand: object) -> tuple[object, list[object]]:
    """Split `[texture, {x, y}]` or `[texture, sampler, {x, y}]`; the launch file describes the two together."""
    if not isinstance(operand, Group) or len(operand.items) not in (2, 3):
        raise low.fail(f"expected a texture and coordinates in brackets, found {describe(operand)}")
    last = operand.items[-1]
    return operand.items[0], list(last.items) if isinstance(last, Vector) else [last]


def lower_texture_query(low: Lowering, statement: Instruction) -> None:
    """Lower txq and suq: a word of the texture's or surface's header, or what is the same for all."""
    query = statement.opcode.partition(".")[2].partition(".")[0]
    target, operand = statement.operands
    if not isinstance(operand, Address):
        raise low.fail(f"expected a texture in brackets, found {describe(operand)}")
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
        kept = []
        for component in range(4):
            bit = 1 << isa.TEX_MASK_SHIFT + component
            if inst.aux & bit:
                row = next(rows)
                if row >> 1 in read:
                    kept.append(row)
                else:
                    inst.aux &= ~bit
        inst.dst = kept
