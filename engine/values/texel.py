"""Texture fetches: coordinates to texels, address modes, filtering; 32 lanes of one tex or tld4.

The rules are those of the CUDA C++ Programming Guide, "Texture Fetching": a point fetch takes texel floor(x); a linear one
weighs the 2, 4 or 8 texels around x - 0.5 with fractions of 8 bits (9-bit fixed point, 1.0 included), rounded here to the
nearest; the weighted sum is rounded once. A normalised coordinate times the extent is rounded to f32. wrap and mirror apply
to normalised coordinates only, otherwise they mean clamp. A 1D fetch at an integer coordinate reads linear memory: zeros
outside. Channels that a texture lacks read as 0, 0, 1.

Handle in slots 0 and 1, coordinates (a layer first) from slot 2 on. inst.aux: TEX_* of engine/isa.py. `scratch` is filled
as by access.resolve; a fetch notes at most MAX_LINES distinct lines, which only a scattered linear 3D one could exceed.
Simplification: fetches go through LD/ST and L1 as global loads do; there is no texture cache and no block-linear layout.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.fault_codes import TEXTURE
from rfview.engine import textures
from rfview.engine.isa import (TEX_CUBE, TEX_FLAT, TEX_GATHER_SHIFT, TEX_HEADER, TEX_INTEGER, TEX_LAYERED, TEX_MASK_SHIFT,
                               T_F16, T_F32, T_S16, T_S8)
from rfview.engine.textures import (F_LINEAR, F_NORMALIZED, F_READ_FLOAT, H_ADDRESS_X, H_BASE_HIGH, H_BASE_LOW,
                                    H_BASE_WORD, H_BORDER, H_CHANNELS, H_FLAGS, H_KIND, H_PITCH, H_TEXEL_BYTES,
                                    H_WIDTH, REGION_KIND_TEXTURE)
from rfview.engine.values.access import (LINES, NUM_LINES, PASSES, SPACE_GLOBAL, UNIT, USED_SPACES, WORK, add_line,
                                         fault, find_region, region_base, region_word)
from rfview.engine.values.arithmetic import F32, F64, I64, M32, S32, U32, U64, bits_f32, extend, f32_bits
from rfview.engine.compile.device import device
from rfview.engine.values.rounding import NAN32, half_to_float
from rfview.engine.values.words import handle, load as lane_load, load_long, load_word, store as lane_store, store_long

WRAP, MIRROR, BORDER = textures.ADDRESS_WRAP, textures.ADDRESS_MIRROR, textures.ADDRESS_BORDER
ZERO, HALF, ONE, TWO = F64(0.0), F64(0.5), F64(1.0), F64(2.0)
FACES = 6
WEIGHT_ONE = F64(256.0)      # weights have 8 bits after the point
ONE_BITS = U64(0x3F800000)
# WORK + 3 * axis: index of the lower texel (-1: border), of the upper one, weight of the upper one in 1/256
MISSES = WORK + 9            # 1: an integer coordinate is outside linear memory


@device
def word_of(memory, at, k):
    """Word k of the header at arena word `at`."""
    return I64(load_word(memory, at + k))


@device
def position(x, extent, mode, is_normalized):
    """A coordinate in texels, limited if it is far outside."""
    if is_normalized:
        if mode == WRAP:
            x = x - np.floor(x)
        elif mode == MIRROR:
            whole = np.floor(x)
            x = x - whole
            if whole - TWO * np.floor(whole * HALF) == ONE:
                x = ONE - x
        x = F64(F32(x * extent))
    if not x == x:
        return ZERO
    return min(max(x, -TWO), extent + TWO)


@device
def inside(index, extent, mode, is_normalized):
    """The texel that an index refers to in this address mode; -1: the border."""
    if index >= 0 and index < extent:
        return I64(index)
    if mode == BORDER:
        return I64(-1)
    if mode == WRAP and is_normalized:
        return I64(index % extent)
    return I64(0) if index < 0 else I64(extent - 1)


@device
def place_axis(memory, at, axis, pattern, aux, is_linear, scratch):
    """Work out the texels of one axis and the weight of the upper one."""
    extent, mode = word_of(memory, at, H_WIDTH + axis), word_of(memory, at, H_ADDRESS_X + axis)
    slot = WORK + 3 * axis
    if aux & TEX_INTEGER != 0:
        index = I64(extend(U64(pattern), S32, True))
        if aux & 7 == 1 and (index < 0 or index >= extent):
            store_long(scratch, MISSES, 1)
        store_long(scratch, slot, inside(index, extent, mode, False))
        store_long(scratch, slot + 2, 0)
        return
    is_normalized = word_of(memory, at, H_FLAGS) & F_NORMALIZED != 0
    x = position(F64(bits_f32(U32(pattern))), F64(extent), mode, is_normalized)
    if is_linear:
        x = x - HALF
    whole = np.floor(x)
    index, weight = I64(whole), I64(0)
    if is_linear:
        weight = I64(np.floor((x - whole) * WEIGHT_ONE + HALF))
    store_long(scratch, slot, inside(index, extent, mode, is_normalized))
    store_long(scratch, slot + 1, inside(index + 1, extent, mode, is_normalized))
    store_long(scratch, slot + 2, weight)


@device
def texel_offset(memory, at, corner, scratch):
    """Byte offset of one of the texels around the coordinate (bit k of `corner`: the upper one of axis k); -1: border."""
    x = load_long(scratch, WORK + (corner & 1))
    y = load_long(scratch, WORK + 3 + (corner >> 1 & 1))
    z = load_long(scratch, WORK + 6 + (corner >> 2 & 1))
    if x < 0 or y < 0 or z < 0:
        return I64(-1)
    rows = z * word_of(memory, at, H_WIDTH + 1) + y
    return rows * word_of(memory, at, H_PITCH) + x * word_of(memory, at, H_TEXEL_BYTES)


@device
def is_half_or_float(kind):
    """True for texels that are floats themselves."""
    return kind == T_F16 or kind == T_F32


@device
def channel(memory, at, offset, component):
    """The 32 bits of one component in a fetch of one texel."""
    kind, reads_float = word_of(memory, at, H_KIND), word_of(memory, at, H_FLAGS) & F_READ_FLOAT != 0
    if offset < 0:
        return U64(word_of(memory, at, H_BORDER + component))
    if component >= word_of(memory, at, H_CHANNELS):
        if component < 3:
            return U64(0)
        return ONE_BITS if reads_float or is_half_or_float(kind) else U64(1)
    size = word_of(memory, at, H_TEXEL_BYTES) // word_of(memory, at, H_CHANNELS)
    byte = word_of(memory, at, H_BASE_WORD) * 4 + (word_of(memory, at, H_BASE_LOW) & 3) + offset + component * size
    value = U64(load_word(memory, byte >> 2)) >> U64(8 * (byte & 3))
    if size == 4:
        return value & M32
    if kind == T_F16:
        number = half_to_float(value, False)
        return U64(f32_bits(F32(number))) if number == number else NAN32
    is_negative_too = kind == T_S8 or kind == T_S16
    value = extend(value, U64(8 * size), is_negative_too)
    if not reads_float:
        return value & M32
    most = F64((1 << (8 * size - 1)) - 1) if is_negative_too else F64((1 << (8 * size)) - 1)
    return U64(f32_bits(F32(max(F64(I64(value)) / most, -ONE))))


@device
def filtered(memory, at, component, dims, scratch):
    """The weighted sum of the texels around the coordinate, as f32 bits."""
    total = ZERO
    for corner in range(1 << dims):
        weight = ONE
        for axis in range(dims):
            upper = F64(load_long(scratch, WORK + 3 * axis + 2)) / WEIGHT_ONE
            weight = weight * (upper if (corner >> axis) & 1 != 0 else ONE - upper)
        if weight != ZERO:
            pattern = channel(memory, at, texel_offset(memory, at, corner, scratch), component)
            total = total + weight * F64(bits_f32(U32(pattern)))
    return U64(f32_bits(F32(total))) if total == total else NAN32


@device
def note_lines(memory, at, corners, highest, scratch):
    """Add the lines of a lane's texels; returns the highest so far."""
    base = I64(U64(word_of(memory, at, H_BASE_LOW)) | U64(word_of(memory, at, H_BASE_HIGH)) << S32)
    for corner in range(corners):
        offset = texel_offset(memory, at, corner, scratch)
        if offset >= 0:
            first, last = (base + offset) >> 7, (base + offset + word_of(memory, at, H_TEXEL_BYTES) - 1) >> 7
            highest = add_line(scratch, first, highest)
            if last != first:
                highest = add_line(scratch, last, highest)
    return highest


@device
def place_lane(rows, src, lane, memory, at, aux, is_linear, scratch):
    """Work out the texels for one lane's coordinates."""
    dims, first = aux & 3, 2
    store_long(scratch, MISSES, 0)
    for k in range(9):
        store_long(scratch, WORK + k, 0)
    layers, layer = word_of(memory, at, H_WIDTH + 2), I64(0)
    if aux & TEX_LAYERED != 0:
        layer = I64(lane_load(rows, src + 2, lane))
        first = 3
    if aux & TEX_CUBE != 0:
        layer = min(layer, layers // FACES - 1) * FACES
        layer += place_on_cube(rows, src + first, lane, memory, at, aux, is_linear, scratch)
    else:
        for axis in range(dims):
            place_axis(memory, at, axis, lane_load(rows, src + first + axis, lane), aux, is_linear, scratch)
    if aux & (TEX_LAYERED | TEX_CUBE) != 0:
        layer = max(min(layer, layers - 1), I64(0))
        store_long(scratch, WORK + 6, layer)
        store_long(scratch, WORK + 7, layer)
    if aux & TEX_FLAT != 0 and word_of(memory, at, H_WIDTH + 1) == 1 and U32(lane_load(rows, src + 3, lane)) == U32(0):
        for k in range(3):
            store_long(scratch, WORK + 3 + k, 0)


@device
def place_on_cube(rows, src, lane, memory, at, aux, is_linear, scratch):
    """Work out the texels around a direction (engine/ptx/lower/cube.py has the rule); returns its face."""
    x = F64(bits_f32(U32(lane_load(rows, src, lane))))
    y = F64(bits_f32(U32(lane_load(rows, src + 1, lane))))
    z = F64(bits_f32(U32(lane_load(rows, src + 2, lane))))
    of_y, of_z = abs(y), abs(z)
    is_y = of_y >= of_z
    is_x = abs(x) >= max(of_y, of_z)
    size = max(abs(x), max(of_y, of_z))
    is_below = (x if is_x else y if is_y else z) < ZERO
    s = (z if is_below else -z) if is_x else x if is_y else -x if is_below else x
    t = (-z if is_below else z) if is_y and not is_x else -y
    for axis in range(2):
        part = F32((t if axis == 1 else s) / size) if size > ZERO else F32(0.0)
        place_axis(memory, at, axis, f32_bits(F32(F64(part) * HALF + HALF)), aux, is_linear, scratch)
    return I64(0 if is_x else 2 if is_y else 4) + I64(is_below)


@device
def component_of(memory, at, component, aux, is_linear, scratch):
    """One result: a component of the fetch, or for tld4 the gathered component of one of four texels."""
    if aux & 3 == TEX_HEADER:
        return U64(word_of(memory, at, H_WIDTH + component)) if component < 3 else U64(1)      # of levels
    gather = (aux >> TEX_GATHER_SHIFT) & 7
    if gather != 0:
        corner = 2 if component == 0 else 3 if component == 1 else 1 if component == 2 else 0
        return channel(memory, at, texel_offset(memory, at, corner, scratch), gather - 1)
    if load_long(scratch, MISSES) != 0:
        return U64(0)
    if is_linear:
        return filtered(memory, at, component, aux & 3, scratch)
    return channel(memory, at, texel_offset(memory, at, 0, scratch), component)


@device
def fetch(key, inst, rows, src, dst, mask, memory, regions, scratch):
    """Perform one tex or tld4 for the lanes of `mask`; returns 0, or an error code if nothing was written.

    The arguments are those of access.access. Results go to the rows from `dst` on, one for each component in the mask
    of inst.aux.
    """
    num_regions = len(regions)
    rows, memory, scratch, regions = handle(rows), handle(memory), handle(scratch), handle(regions)
    mask, src, dst, aux = U32(mask), I64(src), I64(dst), I64(inst.aux)
    for k in (NUM_LINES, PASSES, UNIT):
        store_long(scratch, k, 0)
    store_long(scratch, USED_SPACES, I64(1) << I64(SPACE_GLOBAL))
    for lane in range(32):
        if (mask >> U32(lane)) & U32(1) != U32(0) and header_word(rows, src, lane, regions, num_regions) < 0:
            return fault(scratch, TEXTURE, lane, handle_of(rows, src, lane))
    highest = I64(-1)
    for lane in range(32):
        if (mask >> U32(lane)) & U32(1) == U32(0):
            continue
        at = header_word(rows, src, lane, regions, num_regions)
        is_gather = (aux >> TEX_GATHER_SHIFT) & 7 != 0
        is_linear = is_gather or word_of(memory, at, H_FLAGS) & F_LINEAR != 0
        is_linear = is_linear and aux & TEX_INTEGER == 0 and aux & 3 != TEX_HEADER
        place_lane(rows, src, lane, memory, at, aux, is_linear, scratch)
        if load_long(scratch, MISSES) == 0 and aux & 3 != TEX_HEADER:
            highest = note_lines(memory, at, 1 << (aux & 3) if is_linear else 1, highest, scratch)
        row = dst
        for component in range(4):
            if (aux >> (TEX_MASK_SHIFT + component)) & 1 != 0:
                lane_store(rows, row, lane, U32(component_of(memory, at, component, aux, is_linear, scratch)))
                row += 1
    if load_long(scratch, NUM_LINES) == 0:
        store_long(scratch, NUM_LINES, 1)          # nothing but borders: only the header is accessed
        store_long(scratch, LINES, I64(handle_of(rows, src, first_lane(mask)) >> U64(7)))
    return 0


@device
def first_lane(mask):
    """The lowest active lane."""
    for lane in range(32):
        if (mask >> U32(lane)) & U32(1) != U32(0):
            return lane
    return 0


@device
def handle_of(rows, src, lane):
    """The texture handle of one lane."""
    return U64(lane_load(rows, src, lane)) | U64(lane_load(rows, src + 1, lane)) << S32


@device
def header_word(rows, src, lane, regions, num_regions):
    """Arena word of the header that a lane's handle points to, or -1."""
    return header_at(handle_of(rows, src, lane), regions, num_regions)


@device
def header_at(address, regions, num_regions):
    """Arena word of the header at an address, or -1."""
    region = find_region(regions, num_regions, address)
    if region < 0 or region_base(regions, region) != address:
        return I64(-1)
    if (load_long(regions, 4 * region + 3) >> 8) & 255 != REGION_KIND_TEXTURE:
        return I64(-1)
    return region_word(regions, region)
