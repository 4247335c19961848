"""Surface accesses of machine code: coordinates and a handle become addresses, which are then loaded from or stored to.

A surface is a texture's memory (engine/textures.py): x counts bytes, y and z texels; a layer is a z. Accesses that leave it
are clamped, load zeros and store nothing, or stop the kernel (PTX manual, suld and sust: .clamp, .zero, .trap).
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.fault_codes import SURFACE, TEXTURE
from rfview.engine.isa import SURFACE_TRAP, SURFACE_ZERO, TEX_LAYERED
from rfview.engine.machine.stages.control import fault
from rfview.engine.program import GLOBAL_BASE
from rfview.engine.textures import H_BASE_HIGH, H_BASE_LOW, H_HEIGHT, H_PITCH, H_TEXEL_BYTES, H_WIDTH
from rfview.engine.values import texel
from rfview.engine.values.words import handle

X, Y, Z, HANDLE = 0, 1, 6, 7        # row slots
HIGH = GLOBAL_BASE >> 32
SIGN = 1 << 31


@device
def aim(sm, rows, inst, arena, regions, warp, pc, mask, first_row, result_row):
    """Put the lanes' addresses into slots 0 and 1; return the lanes of `mask` within the surface, -1 after a fault."""
    memory, table, count = handle(arena), handle(regions), len(regions)
    reached = mask
    for lane in range(32):
        if (mask >> lane) & 1 == 0:
            continue
        header = np.int64(rows[first_row + HANDLE].u[lane]) | np.int64(HIGH) << 32
        at = texel.header_at(np.uint64(header), table, count)
        if at < 0:
            fault(sm, np.int64(TEXTURE), warp, lane, pc, header, np.int64(0))
            return np.int64(-1)
        address = address_of(rows, inst, memory, at, lane, first_row)
        if address < 0:
            if inst.aux & SURFACE_TRAP != 0:
                fault(sm, np.int64(SURFACE), warp, lane, pc, header, np.int64(0))
                return np.int64(-1)
            reached &= ~(np.int64(1) << lane)
            for row in range(np.int64(inst.num_dst)):
                rows[result_row + row].u[lane] = 0
        else:
            rows[first_row].u[lane] = address & 0xFFFFFFFF
            rows[first_row + 1].u[lane] = address >> 32
    return reached


@device
def address_of(rows, inst, memory, at, lane, first_row):
    """Return a lane's address, -1 if it is out of bounds and not clamped. at: arena word of the surface's header."""
    aux = np.int64(inst.aux)
    dims = aux & 3
    y_slot, z_slot = Y, Z
    if aux & TEX_LAYERED != 0 and dims == 1:
        y_slot, z_slot = Z, Y
    last = (np.int64(texel.word_of(memory, at, H_WIDTH)) * np.int64(texel.word_of(memory, at, H_TEXEL_BYTES))
            - np.int64(inst.width) * np.int64(inst.count))
    height = np.int64(texel.word_of(memory, at, H_HEIGHT))
    depth = np.int64(texel.word_of(memory, at, H_HEIGHT + 1))
    x = within(rows[first_row + X].u[lane], last, aux)
    y = within(rows[first_row + y_slot].u[lane], height - 1, aux) if dims > 1 else np.int64(0)
    z = within(rows[first_row + z_slot].u[lane], depth - 1, aux) if dims > 2 or aux & TEX_LAYERED != 0 else np.int64(0)
    if x < 0 or y < 0 or z < 0:
        return np.int64(-1)
    base = np.int64(texel.word_of(memory, at, H_BASE_LOW)) | np.int64(texel.word_of(memory, at, H_BASE_HIGH)) << 32
    return base + (z * height + y) * np.int64(texel.word_of(memory, at, H_PITCH)) + x


@device
def within(coordinate, last, aux):
    """Return a coordinate in 0..last, clamped if the access says so, else -1 out of bounds."""
    value = np.int64(coordinate)
    if aux & (SURFACE_TRAP | SURFACE_ZERO) != 0:
        return value if value <= last else np.int64(-1)
    value = (value ^ SIGN) - SIGN
    return min(max(value, np.int64(0)), max(last, np.int64(0)))
