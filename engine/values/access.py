"""Memory instructions: addresses to arena words, coalescing, loads, stores and atomics of 32 lanes.

`resolve` turns the address operands of one instruction into byte offsets in the arena, checks alignment and bounds, and
finds the 128-byte lines and the shared-memory passes needed; `load`, `store`, `atomic` then move the values. Lanes are
processed in ascending order: of colliding stores the highest lane wins. No word is touched that `resolve` did not check.
`access` is the entry point; inside, `rows`, `memory`, `regions`, `scratch` and the journal's `words` are
handles (engine/values/words.py).

The arena is one u4 array, `memory`. `regions` describes the parts mapped in the global address space (REGION dtype,
sorted by base, `num_regions` in use). Shared, local and parameter memory are given by their first arena word and size.
Local memory is interleaved: word k of a thread is arena word local_word + ((warp_slot * local_words + k) * 32 + lane).

`scratch` (sm.scratch of engine/state.py) gets the result of `resolve`:
    [ADDR + lane]     byte offset in the arena of the lane's first byte
    [SPACES + lane]   SPACE_* of the lane's address (generic addresses resolved)
    [LINES + k]       distinct line ids in order of lanes: address >> 7 for global, constant and parameter memory, arena
                      byte offset >> 7 for local memory (arenas are far smaller than the first global address)
    [NUM_LINES]       number of lines; [PASSES] shared-memory passes: 1 = no conflict, 0 = no shared lane
    [USED_SPACES]     bit 1 << SPACE_* for every space accessed
    [UNIT]            1 if the active lanes have a unit stride of 4 bytes in one region (then all of ADDR is set)
    [FAULT_LANE], [FAULT_ADDRESS]   first faulting lane and its address when the code is not 0
    [SECTORS + k]     sectors of line k that are accessed, from sectors.note_sectors
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rfview.engine.fault_codes import (LOCAL_RANGE, MISALIGNED, NO_FAULT, PARAM_RANGE, READ_ONLY, SHARED_RANGE,
                                       UNMAPPED)
from rfview.engine.isa import (ATOM_ADD, ATOM_AND, ATOM_ARRIVE, ATOM_DEC, ATOM_EXCH, ATOM_INC, ATOM_MAX, ATOM_MIN, ATOM_OR,
                               ATOM_PHASE, ATOM_SYNC, ATOM_XOR, FP_ADD, FP_MAX, FP_MIN, SYNC_COMPLETES, SYNC_DROPS, T_F16,
                               T_F32, T_F64, T_S32, T_S64)
from rfview.engine.program import (MEM_LOAD, MEM_REDUCTION, MEM_STORE, SPACE_CONST, SPACE_GENERIC, SPACE_GLOBAL,
                                   SPACE_LOCAL, SPACE_PARAM, SPACE_SHARED)
from rfview.engine.state import LINE_BYTES
from rfview.engine.values.arithmetic import (I64, M32, ONE64, S32, SIGN64, U32, U64, Z64, bits_f32, bits_f64, clz,
                                             ctz, extend, f32_bits, f64_bits, low_bits)
from rfview.engine.compile.device import device
from rfview.engine.values.lanes import UNIT_STRIDE_4, UNIT_STRIDE_8, UNIT_STRIDE_16, run
from rfview.engine.values.rounding import NAN32, NAN64, flush32, half_lane
from rfview.engine.values.words import (copy_words, fill_series, handle, load as lane_load, load_long, load_word,
                                        store as lane_store, store_long, store_word)

FIELD20, FIELD22 = U64(0xFFFFF), U64(0x3FFFFF)      # of a barrier object: arrivals, transactions
SHARED_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, WINDOW_BYTES = (
    0x0100_0000_0000, 0x0200_0000_0000, 0x0300_0000_0000, 1 << 24)

REGION = np.dtype(
    [
        ("base_address", "u8"),
        ("end_address", "u8"),       # exclusive
        ("word_offset", "i8"),       # arena word of base_address (base_address is a multiple of 4)
        ("writable", "u1"),
        ("kind", "u1"),              # REGION_KIND_TEXTURE of textures.py: a texture's header; else 0
    ],
    align=True,
)

ADDR, SPACES, LINES, MAX_LINES, WORK = 0, 32, 64, 128, 192
(NUM_LINES, PASSES, USED_SPACES, UNIT, FAULT_LANE, FAULT_ADDRESS) = range(256, 262)
SECTORS = 264

SHARED_START, LOCAL_START, PARAM_START, WINDOW = (
    U64(SHARED_WINDOW), U64(LOCAL_WINDOW), U64(PARAM_WINDOW), U64(WINDOW_BYTES))


class WarpMemory(NamedTuple):
    """Where a warp's shared, local and parameter memory are: *_word are arena words; local_word is that of all warps."""

    shared_word: int
    shared_bytes: int
    local_word: int
    local_words: int     # per thread
    warp_slot: int
    param_word: int
    param_bytes: int
    is_timed: bool = True    # find the lines and passes, from which only the access's time follows


@device
def note_word(log, mem_index, word):
    """Append an arena word index to the journal; mem_count above the array's size means overflow."""
    if log.on:
        at = log.mem_count
        if at < mem_index.size:
            mem_index[at] = word
        log.mem_count = at + 1


@device
def journal(on, words, capacity, at, word):
    """Append a word index to the handle `words` at position `at`; returns the next position."""
    if not on:
        return at
    if at < capacity:
        store_word(words, at, U32(word))
    return at + I64(1)


@device
def region_base(regions, region):
    """First address of a region; `regions` is a handle: a REGION is four 8-byte words."""
    return U64(load_long(regions, 4 * region))


@device
def region_end(regions, region):
    """Address after the last of a region."""
    return U64(load_long(regions, 4 * region + 1))


@device
def region_word(regions, region):
    """Arena word of the first address of a region."""
    return load_long(regions, 4 * region + 2)


@device
def region_writable(regions, region):
    """True unless the region is read-only."""
    return load_long(regions, 4 * region + 3) & 255 != 0


@device
def ctz_size(size):
    """Logarithm of an access size, which is a power of two."""
    return I64(ctz(U64(size)))


@device
def find_region(regions, num_regions, address):
    """Index of the last region that begins at or below `address`, or -1."""
    low, high = I64(0), I64(num_regions)
    while low < high:
        middle = (low + high) >> I64(1)
        if region_base(regions, middle) <= address:
            low = middle + I64(1)
        else:
            high = middle
    return low - I64(1)


@device
def fault(scratch, code, lane, address):
    """Note the first faulting lane."""
    store_long(scratch, FAULT_LANE, I64(lane))
    store_long(scratch, FAULT_ADDRESS, I64(address))
    return code


@device
def lane_address(inst, rows, src, lane):
    """Effective address of one lane; 32-bit addresses into shared, local and parameter memory wrap at 32 bits."""
    high = U64(lane_load(rows, src + 1, lane))
    address = (U64(lane_load(rows, src, lane)) | (high << S32)) + U64(I64(inst.offset))
    if high == Z64 and (inst.space == SPACE_SHARED or inst.space == SPACE_LOCAL or inst.space == SPACE_PARAM):
        address = address & M32
    return address


@device
def add_line(scratch, line, highest):
    """Add a line id unless it is in the list; returns the highest so far."""
    count = load_long(scratch, NUM_LINES)
    if line <= highest:
        for k in range(count - 1, -1, -1):
            if load_long(scratch, LINES + k) == line:
                return highest
    if count < MAX_LINES:
        store_long(scratch, LINES + count, line)
        store_long(scratch, NUM_LINES, count + 1)
    return max(line, highest)


@device
def resolve(inst, rows, src, mask, regions, num_regions, own, scratch):
    """Resolve the addresses of a load, store or atomic into `scratch`; returns 0 or an ERR_* code.

    rows: handle; address in slots 0 and 1 from `src` on, inst.offset added. mask: u4 active lanes. own: WarpMemory.
    """
    base, mask, src = rows, U32(mask), I64(src)
    store_long(scratch, NUM_LINES, 0)
    store_long(scratch, PASSES, 0)
    store_long(scratch, USED_SPACES, 0)
    store_long(scratch, UNIT, 0)
    if mask == U32(0):
        return NO_FAULT
    size = I64(inst.width) * I64(inst.count)
    if is_unit_stride(inst, base, src, mask, size):
        code = resolve_unit(inst, base, src, mask, regions, num_regions, size, own, scratch)
        if code >= 0:
            return code
    if inst.space == SPACE_SHARED and resolve_shared(inst, base, src, mask, size, own, scratch):
        return NO_FAULT
    return resolve_each(inst, base, src, mask, size, regions, num_regions, own, scratch)


@device
def resolve_each(inst, base, src, mask, size, regions, num_regions, own, scratch):
    """Resolve lane by lane, for any space and any addresses; the first bad lane causes the fault."""
    region, highest, used = I64(-1), I64(-1), I64(0)
    for lane in range(32):
        if (mask >> U32(lane)) & U32(1) == U32(0):
            continue
        address = lane_address(inst, base, src, lane)
        if address & U64(size - 1) != Z64:
            return fault(scratch, MISALIGNED, lane, address)
        space, offset = I64(inst.space), address
        if space == SPACE_GENERIC:
            space, offset = generic_space(address)
        if space == SPACE_SHARED:
            if offset >= U64(own.shared_bytes) or I64(offset) + size > own.shared_bytes:
                return fault(scratch, SHARED_RANGE, lane, offset)
            store_long(scratch, ADDR + lane, I64(own.shared_word) * 4 + I64(offset))
        elif space == SPACE_LOCAL:
            limit = I64(own.local_words) * 4
            if offset >= U64(limit) or I64(offset) + size > limit:
                return fault(scratch, LOCAL_RANGE, lane, offset)
            word = I64(own.local_word) + (I64(own.warp_slot) * I64(own.local_words) + (I64(offset) >> 2)) * 32 + lane
            store_long(scratch, ADDR + lane, word * 4 + (I64(offset) & 3))
            for k in range(max(size >> 2, 1) if own.is_timed else 0):
                highest = add_line(scratch, (word + 32 * k) >> 5, highest)
        elif space == SPACE_PARAM:
            if offset >= U64(own.param_bytes) or I64(offset) + size > own.param_bytes:
                return fault(scratch, PARAM_RANGE, lane, offset)
            store_long(scratch, ADDR + lane, I64(own.param_word) * 4 + I64(offset))
            if own.is_timed:
                highest = add_line(scratch, I64(offset) >> 7, highest)
        else:
            if region < 0 or address < region_base(regions, region) or address >= region_end(regions, region):
                region = find_region(regions, num_regions, address)
            if region < 0 or address >= region_end(regions, region) or region_end(regions, region) - address < U64(
                    size):
                return fault(scratch, UNMAPPED, lane, address)
            if not region_writable(regions, region) and inst.memory_kind != MEM_LOAD:
                return fault(scratch, READ_ONLY, lane, address)
            within = I64(address - region_base(regions, region))
            store_long(scratch, ADDR + lane, region_word(regions, region) * 4 + within)
            if own.is_timed:
                highest = add_line(scratch, I64(address >> U64(7)), highest)
        store_long(scratch, SPACES + lane, space)
        used |= I64(1) << space
    store_long(scratch, USED_SPACES, used)
    if own.is_timed and used & (I64(1) << I64(SPACE_SHARED)):
        store_long(scratch, PASSES, count_passes(mask, size, scratch))
    return NO_FAULT


@device
def generic_space(address):
    """Space and offset in it of a generic address."""
    if address - SHARED_START < WINDOW:
        return I64(SPACE_SHARED), address - SHARED_START
    if address - LOCAL_START < WINDOW:
        return I64(SPACE_LOCAL), address - LOCAL_START
    if address - PARAM_START < WINDOW:
        return I64(SPACE_PARAM), address - PARAM_START
    return I64(SPACE_GLOBAL), address


@device
def global_lanes(inst, rows, src, mask):
    """Lanes of `mask` whose generic address is one of global memory."""
    found = I64(0)
    for lane in range(32):
        if (mask >> lane) & 1 and generic_space(lane_address(inst, rows, src, lane))[0] == I64(SPACE_GLOBAL):
            found |= I64(1) << lane
    return found


@device
def is_unit_stride(inst, rows, src, mask, size):
    """True if the active lanes' addresses are consecutive accesses of 4, 8 or 16 bytes in lane order."""
    if inst.space == SPACE_LOCAL or inst.space == SPACE_PARAM:
        return False
    first = U32(ctz(U64(mask)))
    if size == 4:
        return run(rows, src, src, first, U32(0), UNIT_STRIDE_4) & mask == mask
    if size == 8:
        return run(rows, src, src, first, U32(0), UNIT_STRIDE_8) & mask == mask
    if size == 16:
        return run(rows, src, src, first, U32(0), UNIT_STRIDE_16) & mask == mask
    return False


@device
def resolve_unit(inst, rows, src, mask, regions, num_regions, size, own, scratch):
    """Resolve unit stride within one region or within shared memory; -1 if the general case must decide."""
    shift = ctz_size(size)
    first, last = I64(ctz(U64(mask))), I64(63) - I64(clz(U64(mask)))
    low = lane_address(inst, rows, src, first)
    space = I64(inst.space)
    if space == SPACE_GENERIC:
        space, low = generic_space(low)
    bytes_used = U64((last - first + 1) * size)
    if low & U64(size - 1) != Z64:
        return -1
    if space == SPACE_SHARED:
        if low >= U64(own.shared_bytes) or low + bytes_used > U64(own.shared_bytes):
            return -1
        start = I64(own.shared_word) * 4 + I64(low)
        if own.is_timed:
            store_long(scratch, PASSES, used_groups(mask, size))
    elif space == SPACE_GLOBAL or space == SPACE_CONST:
        region = find_region(regions, num_regions, low)
        if region < 0:
            return -1
        end = region_end(regions, region)
        if low >= end or end - low < bytes_used:
            return -1
        if inst.memory_kind != MEM_LOAD and not region_writable(regions, region):
            return -1
        start = region_word(regions, region) * 4 + I64(low - region_base(regions, region))
        from_line, to_line = I64(low >> U64(7)), I64((low + bytes_used - ONE64) >> U64(7))
        if not own.is_timed:
            to_line = from_line - 1
        count = I64(0)
        for line in range(from_line, to_line + 1):
            # lanes of this line: a line can be without active lanes only if the mask has a hole there
            begin = max(((line * LINE_BYTES - I64(low)) >> shift) + first, first)
            stop = min((((line + 1) * LINE_BYTES - 1 - I64(low)) >> shift) + first, last)
            lanes = (U64(mask) >> U64(begin)) & (~Z64 >> U64(63 - (stop - begin)))
            if lanes != Z64:
                store_long(scratch, LINES + count, line)
                count += 1
        store_long(scratch, NUM_LINES, count)
    else:
        return -1
    start -= first * size
    fill_series(scratch, ADDR, start, size)
    fill_series(scratch, SPACES, space, 0)
    store_long(scratch, USED_SPACES, I64(1) << space)
    store_long(scratch, UNIT, I64(size == 4 and start & 3 == 0))
    return NO_FAULT


@device
def resolve_shared(inst, rows, src, mask, size, own, scratch):
    """Resolve an access to shared memory without a branch per lane; False if the general case must find a fault."""
    limit = U64(own.shared_bytes)
    lowest, highest, wrong = limit, Z64, False
    for lane in range(32):
        is_active = (mask >> U32(lane)) & U32(1) != U32(0)
        address = lane_address(inst, rows, src, lane) if is_active else Z64
        wrong |= address & U64(size - 1) != Z64 or address >= limit or address + U64(size) > limit
        lowest, highest = min(lowest, address if is_active else lowest), max(highest, address)
        store_long(scratch, ADDR + lane, I64(own.shared_word) * 4 + I64(address))
    if wrong:
        return False
    fill_series(scratch, SPACES, I64(SPACE_SHARED), 0)
    store_long(scratch, USED_SPACES, I64(1) << I64(SPACE_SHARED))
    if not own.is_timed:
        return True
    # 32 consecutive words are in different banks
    is_near = ((highest + U64(size - 1)) >> U64(2)) - (lowest >> U64(2)) < U64(32)
    store_long(scratch, PASSES, used_groups(mask, size) if is_near else count_passes(mask, size, scratch))
    return True


@device
def used_groups(mask, size):
    """Passes of conflict-free shared accesses: 32, 16 or 8 lanes at a time for up to 4, 8 and 16 bytes."""
    group = min(I64(32), max(I64(128) >> ctz_size(size), I64(1)))
    passes = I64(0)
    for first in range(0, 32, group):
        if (U64(mask) >> U64(first)) & ((ONE64 << U64(group)) - ONE64) != Z64:
            passes += 1
    return passes


@device
def count_passes(mask, size, scratch):
    """Shared-memory passes: per group of lanes, the most distinct 4-byte words in one of 32 banks.

    Each pass serves one word per bank, and every lane that accesses it. The order of a bank's words
    does not change the number of passes: here the last comes first.
    """
    group = min(I64(32), max(I64(128) >> ctz_size(size), I64(1)))
    words = max(size >> 2, I64(1))
    passes = I64(0)
    for first in range(0, 32, group):
        items = I64(0)           # up to 32 words to access, in WORK; the word served by each bank, in WORK + 32
        for lane in range(first, first + group):
            if (mask >> U32(lane)) & U32(1) != U32(0) and load_long(scratch, SPACES + lane) == SPACE_SHARED:
                for k in range(words):
                    store_long(scratch, WORK + items, (load_long(scratch, ADDR + lane) >> 2) + k)
                    items += 1
        while items > 0:
            passes += 1
            for item in range(items):
                word = load_long(scratch, WORK + item)
                store_long(scratch, WORK + 32 + (word & 31), word)
            waiting = I64(0)
            for item in range(items):
                word = load_long(scratch, WORK + item)
                store_long(scratch, WORK + waiting, word)
                waiting += I64(load_long(scratch, WORK + 32 + (word & 31)) != word)
            items = waiting
    return passes


@device
def word_step(space):
    """Arena words between consecutive words of one lane's data."""
    return I64(32) if space == SPACE_LOCAL else I64(1)


@device
def in_register(inst, value):
    """Return what a register holds after the load of an element, whose bits are the lowest of `value`.

    It is sign- or zero-extended to the register, whose row has zero upper bits if it is narrower. PTX ISA, Operand Size
    Exceeding Instruction-Type Size: signed types are sign-extended, all others zero-extended. All loads extend here.
    """
    return low_bits(extend(value, U64(8) * U64(inst.width), inst.signed != 0), U64(inst.reg_bits))


@device
def load(inst, rows, dst, mask, memory, scratch):
    """Load the resolved addresses into the rows from `dst` on; other lanes keep their values.

    Element j of the vector fills one row, or two with 64-bit registers.
    """
    mask, dst = U32(mask), I64(dst)
    width, count = I64(inst.width), I64(inst.count)
    wide = inst.reg_bits == 64
    if load_long(scratch, UNIT) and width == 4 and not wide and mask == U32(0xFFFFFFFF):
        copy_words(rows, dst * 32, memory, load_long(scratch, ADDR) >> 2)
        return
    if width == 4 and count == 1 and inst.reg_bits == 32:
        for lane in range(32):
            if (mask >> U32(lane)) & U32(1) != U32(0):
                lane_store(rows, dst, lane, load_word(memory, load_long(scratch, ADDR + lane) >> 2))
        return
    for lane in range(32):
        if (mask >> U32(lane)) & U32(1) == U32(0):
            continue
        word, step = load_long(scratch, ADDR + lane) >> 2, word_step(load_long(scratch, SPACES + lane))
        shift = U64(8 * (load_long(scratch, ADDR + lane) & 3))
        row = dst
        for element in range(count):
            if width >= 4:
                value = U64(load_word(memory, word))
                if width == 8:
                    word += step
                    value |= U64(load_word(memory, word)) << S32
                word += step
            else:
                place = shift + U64(8 * width * element)
                value = U64(load_word(memory, word + step * I64(place >> U64(5)))) >> (place & U64(31))
            value = in_register(inst, value)
            lane_store(rows, row, lane, U32(value & M32))
            row += 1
            if wide:
                lane_store(rows, row, lane, U32(value >> S32))
                row += 1


@device
def store(inst, rows, src, mask, memory, scratch, on, words, capacity, noted):
    """Store elements from the rows src + 2 ... to the resolved addresses; returns the journal's new length."""
    mask, row0 = U32(mask), I64(src) + 2
    width, count = I64(inst.width), I64(inst.count)
    per_element = 2 if inst.reg_bits == 64 else 1
    if load_long(scratch, UNIT) and width == 4 and mask == U32(0xFFFFFFFF):
        first = load_long(scratch, ADDR) >> 2
        copy_words(memory, first, rows, row0 * 32)
        if on:
            for k in range(32):
                noted = journal(on, words, capacity, noted, first + k)
        return noted
    for lane in range(32):
        if (mask >> U32(lane)) & U32(1) == U32(0):
            continue
        word, step = load_long(scratch, ADDR + lane) >> 2, word_step(load_long(scratch, SPACES + lane))
        shift = U64(8 * (load_long(scratch, ADDR + lane) & 3))
        for element in range(count):
            row = row0 + element * per_element
            value = lane_load(rows, row, lane)
            if width >= 4:
                store_word(memory, word, value)
                noted = journal(on, words, capacity, noted, word)
                if width == 8:
                    word += step
                    store_word(memory, word, lane_load(rows, row + 1, lane))
                    noted = journal(on, words, capacity, noted, word)
                word += step
            else:
                place = shift + U64(element * width * 8)
                at = word + step * I64(place >> U64(5))
                field = ((ONE64 << U64(8 * width)) - ONE64) << (place & U64(31))
                old = U64(load_word(memory, at))
                store_word(memory, at, U32((old & ~field) | ((U64(value) << (place & U64(31))) & field)))
                noted = journal(on, words, capacity, noted, at)
    return noted


@device
def float_sum(kind, old, operand):
    """Sum of f32, f64, f16 or packed halves, rounded to nearest, NaN canonical."""
    if kind == T_F32:
        total = bits_f32(U32(old & M32)) + bits_f32(U32(operand & M32))
        return U64(f32_bits(total)) if total == total else NAN32
    if kind == T_F64:
        wide = bits_f64(old) + bits_f64(operand)
        return f64_bits(wide) if wide == wide else NAN64
    return half_lane(FP_ADD, kind, 0, old, operand, Z64)


@device
def arrival(old):
    """New value of a barrier object of sm_80 in shared memory after one more arrival.

    As ptxas initialises it for n arrivals per phase: bits 0..29 are -n, bits 32..61 -(the arrivals still missing), bit 62
    is set while one is missing, bit 63 is the phase.
    """
    new = old + (ONE64 << S32)
    if (new ^ old) & SIGN64 == Z64:
        return new
    return (new & SIGN64) | (U64(0x40000000) | old & U64(0x3FFFFFFF)) << S32 | old & M32


@device
def synchronised(old, b, c):
    """New value of a barrier object of sm_90 (sass/lower/mbarrier.py) after arrivals and transactions.

    b: arrivals, in the upper word transactions. The phase is over when no arrival is missing and no transaction is to come.
    """
    arrivals, more = b & FIELD20, (b >> S32) & FIELD22
    expected, transactions, missing = (old >> ONE64) & FIELD20, (old >> U64(21)) & FIELD22, (old >> U64(43)) & FIELD20
    if c & U64(SYNC_COMPLETES) != Z64:
        more = ~more + ONE64
    transactions = (transactions + more) & FIELD22
    missing = (missing + arrivals) & FIELD20
    if c & U64(SYNC_DROPS) != Z64:
        expected = (expected + arrivals) & FIELD20
    phase = old & SIGN64
    if missing == Z64 and transactions == Z64:
        phase, missing = phase ^ SIGN64, expected
    return phase | missing << U64(43) | transactions << U64(21) | expected << ONE64


@device
def atomic_result(sub, kind, old, b, c):
    """New value of an atomic operation; 32-bit operands are zero-extended."""
    if sub == ATOM_ADD:
        return float_sum(kind, old, b) if kind >= T_F16 else old + b
    if sub == ATOM_AND:
        return old & b
    if sub == ATOM_OR:
        return old | b
    if sub == ATOM_XOR:
        return old ^ b
    if sub == ATOM_EXCH:
        return b
    if sub == ATOM_INC:
        return Z64 if old >= b else old + ONE64
    if sub == ATOM_DEC:
        return b if old == Z64 or old > b else old - ONE64
    if sub == ATOM_MIN or sub == ATOM_MAX:
        if kind >= T_F16:       # halves
            return half_lane(FP_MIN if sub == ATOM_MIN else FP_MAX, kind, 0, old, b, Z64)
        flip = Z64
        if kind == T_S32:
            flip = U64(0x80000000)
        elif kind == T_S64:
            flip = ONE64 << U64(63)
        below = (b ^ flip) < (old ^ flip)
        return b if below == (sub == ATOM_MIN) else old
    if sub == ATOM_ARRIVE:
        return arrival(old)
    if sub == ATOM_SYNC:
        return synchronised(old, b, c)
    if sub == ATOM_PHASE:
        return old
    return c if old == b else old


@device
def flushed_sum(old, b):
    """Sum of two f32 with subnormal operands and results flushed to zeros of their sign."""
    return flush32(float_sum(T_F32, flush32(old), flush32(b)))


@device
def update(inst, rows, src, dst, lane, element, memory, scratch, on, words, capacity, noted):
    """Perform one lane's atomic on one element, a word behind the one before it; arguments and result as in `atomic`."""
    sub, kind, width = I64(inst.aux) & 255, (I64(inst.aux) >> 8) & 255, I64(inst.width)
    space = load_long(scratch, SPACES + lane)
    step = word_step(space)
    word = (load_long(scratch, ADDR + lane) >> 2) + element * step
    b, c = U64(lane_load(rows, src + 2 + element, lane)), U64(lane_load(rows, src + 4, lane))
    whole = U64(load_word(memory, word))
    old, place = whole, U64(0)
    if width == 8:
        b |= U64(lane_load(rows, src + 3, lane)) << S32
        c |= U64(lane_load(rows, src + 5, lane)) << S32
        old |= U64(load_word(memory, word + step)) << S32
    elif width == 2:
        place = U64(8 * (load_long(scratch, ADDR + lane) & 2))
        old, b, c = (whole >> place) & U64(0xFFFF), b & U64(0xFFFF), c & U64(0xFFFF)
    if sub == ATOM_ADD and kind == T_F32 and space == SPACE_GLOBAL:
        new = flushed_sum(old, b)
    else:
        new = atomic_result(sub, kind, old, b, c)
    if width == 2:
        new = (whole & ~(U64(0xFFFF) << place)) | ((new & U64(0xFFFF)) << place)
    store_word(memory, word, U32(new & M32))
    noted = journal(on, words, capacity, noted, word)
    if width == 8:
        store_word(memory, word + step, U32(new >> S32))
        noted = journal(on, words, capacity, noted, word + step)
    if inst.memory_kind != MEM_REDUCTION:
        lane_store(rows, dst + element, lane, U32(old & M32))
        if width == 8:
            lane_store(rows, dst + 1, lane, U32(old >> S32))
    return noted


@device
def atomic(inst, rows, src, dst, mask, memory, scratch, on, words, capacity, noted):
    """Perform an atomic or reduction, lanes ascending; operand b in slots 2, 3, c in slots 4, 5; returns the log's length.

    Old values go to the rows from `dst` on unless it is a reduction (MEM_REDUCTION).
    inst.aux: ATOM_* | type << 8. 16-bit operations (cas, exch, f16 add) work on their half of the word. An f32 is added
    to global memory with subnormals flushed, to shared memory without (B0.17). Several elements, one after another, are
    words (machine code alone), with b in slots 2 to 5.
    """
    mask, src, dst = U32(mask), I64(src), I64(dst)
    for lane in range(32):
        if (mask >> U32(lane)) & U32(1) != U32(0):
            for element in range(I64(inst.count)):
                noted = update(inst, rows, src, dst, lane, I64(element), memory, scratch, on, words, capacity, noted)
    return noted


@device
def perform(inst, rows, src, dst, mask, memory, scratch, on, words, capacity, noted):
    """Move the values of an instruction whose addresses are resolved."""
    if inst.memory_kind == MEM_LOAD:
        load(inst, rows, dst, mask, memory, scratch)
        return noted
    if inst.memory_kind == MEM_STORE:
        return store(inst, rows, src, mask, memory, scratch, on, words, capacity, noted)
    return atomic(inst, rows, src, dst, mask, memory, scratch, on, words, capacity, noted)


@device
def access(key, inst, rows, src, dst, mask, memory, regions, own, scratch, log, mem_index):
    """Resolve and perform one memory instruction; returns 0, or an ERR_* code if nothing was written.

    key: record whose type carries the source hash; the other arguments as in `resolve`, `load`, `store`, `atomic`.
    """
    num_regions = len(regions)
    rows, memory, scratch, regions = handle(rows), handle(memory), handle(scratch), handle(regions)
    code = resolve(inst, rows, src, mask, regions, num_regions, own, scratch)
    if code == NO_FAULT:
        log.mem_count = perform(inst, rows, src, dst, mask, memory, scratch, log.on != 0, handle(mem_index),
                                mem_index.size, log.mem_count)
    return code
