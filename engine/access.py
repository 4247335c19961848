"""What a memory instruction does: addresses to arena words, coalescing, loads, stores and atomics of 32 lanes.

`resolve` turns the address operands of one instruction into byte offsets in the arena, checks alignment and bounds, and
finds the 128-byte lines and the shared-memory passes it takes; `load`, `store`, `atomic` then move the values. All lanes
ascending: of colliding stores the highest lane wins. Nothing here touches a word that `resolve` did not check.

The arena is one u4 array, `memory`. `regions` describes what of it is mapped in the global address space (REGION dtype,
sorted by base, `num_regions` in use). Shared, local and parameter memory are given by their first arena word and size.
Local memory is interleaved: word k of a thread is arena word local_word + ((warp_slot * local_words + k) * 32 + lane).

`scratch` (i8[SCRATCH_SIZE], one per SM) carries the result of `resolve`:
    [ADDR + lane]     byte offset in the arena of the lane's first byte
    [SPACES + lane]   SPACE_* that the lane's address lies in (generic addresses resolved)
    [LINES + k]       distinct line ids in order of lane: address >> 7 for global, constant and parameter memory, arena
                      byte offset >> 7 for local memory (arenas are far smaller than the first global address)
    [NUM_LINES]       how many lines; [PASSES] shared-memory passes: 1 = no conflict, 0 = no shared lane
    [USED_SPACES]     bit 1 << SPACE_* of every space met
    [UNIT]            1 if the active lanes lie at unit stride of 4 bytes in one region (ADDR of the other lanes too)
    [FAULT_LANE], [FAULT_ADDRESS]   first faulting lane and its address when the code is not 0
"""

from __future__ import annotations

import numpy as np

from engine import faults, isa, program
from engine.arithmetic import I64, M32, ONE64, S32, U32, U64, Z64, ctz, bits_f64, bits_f32, clz, extend, f32_bits, f64_bits, jit
from engine.jit import entry
from engine.lanes import (
    UNIT_STRIDE_4, UNIT_STRIDE_8, UNIT_STRIDE_16, copy_words, handle, load as lane_load, load_word, run,
    store as lane_store, store_word,
)
from engine.rounding import NAN32, NAN64, half_lane

ERR_OK, ERR_UNMAPPED, ERR_MISALIGNED, ERR_READ_ONLY, ERR_SHARED_RANGE, ERR_LOCAL_RANGE, ERR_PARAM_RANGE = (
    faults.NO_FAULT, faults.UNMAPPED, faults.MISALIGNED, faults.READ_ONLY, faults.SHARED_RANGE, faults.LOCAL_RANGE,
    faults.PARAM_RANGE)

SHARED_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, WINDOW_BYTES = (
    0x0100_0000_0000, 0x0200_0000_0000, 0x0300_0000_0000, 1 << 24)
FIRST_GLOBAL_ADDRESS = 0x7000_0000_0000
LINE_BYTES = 128

REGION = np.dtype(
    [
        ("base_address", "u8"),
        ("end_address", "u8"),       # exclusive
        ("word_offset", "i8"),       # arena word of base_address (base_address is a multiple of 4)
        ("writable", "u1"),
        ("kind", "u1"),              # the owner's own classification; not read here
    ],
    align=True,
)
REGION_KIND_BUFFER, REGION_KIND_SYMBOL, REGION_KIND_CONST = range(3)

ADDR, SPACES, LINES, MAX_LINES, WORK = 0, 32, 64, 128, 192
(NUM_LINES, PASSES, USED_SPACES, UNIT, FAULT_LANE, FAULT_ADDRESS) = range(256, 262)
SCRATCH_SIZE = 264

SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CONST, SPACE_PARAM = (
    program.SPACE_GENERIC, program.SPACE_GLOBAL, program.SPACE_SHARED, program.SPACE_LOCAL, program.SPACE_CONST,
    program.SPACE_PARAM)
ATOM_ADD, ATOM_AND, ATOM_OR, ATOM_XOR, ATOM_MIN, ATOM_MAX, ATOM_INC, ATOM_DEC, ATOM_EXCH = (
    isa.ATOM_ADD, isa.ATOM_AND, isa.ATOM_OR, isa.ATOM_XOR, isa.ATOM_MIN, isa.ATOM_MAX, isa.ATOM_INC, isa.ATOM_DEC,
    isa.ATOM_EXCH)
T_U32, T_S32, T_U64, T_S64, T_F16, T_BF16, T_F32, T_F64, T_F16X2, T_BF16X2 = (
    isa.T_U32, isa.T_S32, isa.T_U64, isa.T_S64, isa.T_F16, isa.T_BF16, isa.T_F32, isa.T_F64, isa.T_F16X2,
    isa.T_BF16X2)
FP_ADD = isa.FP_ADD
IS_LOAD, IS_STORE, IS_ATOM, IS_RED = 1, 2, 3, 4
SHARED_START, LOCAL_START, PARAM_START, WINDOW = (
    U64(SHARED_WINDOW), U64(LOCAL_WINDOW), U64(PARAM_WINDOW), U64(WINDOW_BYTES))

# journal of written words: `on`, and how many entries of the array `mem_index` (u4) are in use
LOG_FIELDS = [("mem_count", "i8"), ("on", "u1")]


@jit
def note_word(log, mem_index, word):
    """Append an arena word index to the journal; mem_count above the array's size tells of an overflow."""
    if log.on:
        at = log.mem_count
        if at < mem_index.size:
            mem_index[at] = word
        log.mem_count = at + 1


@jit
def find_region(regions, num_regions, address):
    """Index of the last region that begins at or below `address`, or -1."""
    low, high = I64(0), I64(num_regions)
    while low < high:
        middle = (low + high) // I64(2)
        if U64(regions[middle].base_address) <= address:
            low = middle + I64(1)
        else:
            high = middle
    return low - I64(1)


@jit
def fault(scratch, code, lane, address):
    """Note the first faulting lane."""
    scratch[FAULT_LANE] = I64(lane)
    scratch[FAULT_ADDRESS] = I64(address)
    return code


@jit
def lane_address(inst, rows, src, lane):
    """Effective address of one lane; 32-bit addresses into shared, local and parameter memory wrap at 32 bits."""
    high = U64(lane_load(rows, src + 1, lane))
    address = (U64(lane_load(rows, src, lane)) | (high << S32)) + U64(I64(inst.offset))
    if high == Z64 and (inst.space == SPACE_SHARED or inst.space == SPACE_LOCAL or inst.space == SPACE_PARAM):
        address = address & M32
    return address


@jit
def add_line(scratch, line):
    """Add a line id if it is not there yet."""
    count = scratch[NUM_LINES]
    for k in range(count - 1, -1, -1):
        if scratch[LINES + k] == line:
            return
    if count < MAX_LINES:
        scratch[LINES + count] = line
        scratch[NUM_LINES] = count + 1


@jit
def resolve(inst, rows, src, mask, regions, num_regions, shared_word, shared_bytes, local_word, local_words, warp_slot,
            param_word, param_bytes, scratch):
    """Resolve the addresses of a load, store or atomic into `scratch`; gives 0 or an ERR_* code.

    rows: row array; address in slots 0 and 1 from `src` on, inst.offset added. mask: u4 active lanes.
    *_word: first arena word of the CTA's shared, the SM's local and the launch's parameter memory; *_bytes: sizes;
    local_words: words per thread; warp_slot: of the warp.
    """
    base, mask = handle(rows), U32(mask)
    src = I64(src)
    scratch[NUM_LINES] = 0
    scratch[PASSES] = 0
    scratch[USED_SPACES] = 0
    scratch[UNIT] = 0
    if mask == U32(0):
        return ERR_OK
    size = I64(inst.width) * I64(inst.count)
    if is_unit_stride(inst, base, src, mask, size):
        code = resolve_unit(inst, base, src, mask, regions, num_regions, size, shared_word, shared_bytes, scratch)
        if code >= 0:
            return code
    region = I64(-1)
    for lane in range(32):
        if (mask >> U32(lane)) & U32(1) == U32(0):
            continue
        address = lane_address(inst, base, src, lane)
        if address & U64(size - 1) != Z64:
            return fault(scratch, ERR_MISALIGNED, lane, address)
        space, offset = I64(inst.space), address
        if space == SPACE_GENERIC:
            space, offset = generic_space(address)
        if space == SPACE_SHARED:
            if offset >= U64(shared_bytes) or I64(offset) + size > shared_bytes:
                return fault(scratch, ERR_SHARED_RANGE, lane, offset)
            scratch[ADDR + lane] = I64(shared_word) * 4 + I64(offset)
        elif space == SPACE_LOCAL:
            limit = I64(local_words) * 4
            if offset >= U64(limit) or I64(offset) + size > limit:
                return fault(scratch, ERR_LOCAL_RANGE, lane, offset)
            word = I64(local_word) + (I64(warp_slot) * I64(local_words) + I64(offset) // 4) * 32 + lane
            scratch[ADDR + lane] = word * 4 + (I64(offset) & 3)
            for k in range(max(size // 4, 1)):
                add_line(scratch, (word + 32 * k) // 32)
        elif space == SPACE_PARAM:
            if offset >= U64(param_bytes) or I64(offset) + size > param_bytes:
                return fault(scratch, ERR_PARAM_RANGE, lane, offset)
            scratch[ADDR + lane] = I64(param_word) * 4 + I64(offset)
            add_line(scratch, I64(offset) // LINE_BYTES)
        else:
            if region < 0 or address < U64(regions[region].base_address) or address >= U64(
                    regions[region].end_address):
                region = find_region(regions, num_regions, address)
            if region < 0 or U64(regions[region].end_address) - address < U64(size) or address >= U64(
                    regions[region].end_address):
                return fault(scratch, ERR_UNMAPPED, lane, address)
            if not regions[region].writable and inst.is_memory != IS_LOAD:
                return fault(scratch, ERR_READ_ONLY, lane, address)
            within = I64(address - U64(regions[region].base_address))
            scratch[ADDR + lane] = I64(regions[region].word_offset) * 4 + within
            add_line(scratch, I64(address >> U64(7)))
        scratch[SPACES + lane] = space
        scratch[USED_SPACES] |= I64(1) << space
    if scratch[USED_SPACES] & (I64(1) << I64(SPACE_SHARED)):
        scratch[PASSES] = count_passes(mask, size, scratch)
    return ERR_OK


@jit
def generic_space(address):
    """Space and offset in it of a generic address."""
    if address - SHARED_START < WINDOW:
        return I64(SPACE_SHARED), address - SHARED_START
    if address - LOCAL_START < WINDOW:
        return I64(SPACE_LOCAL), address - LOCAL_START
    if address - PARAM_START < WINDOW:
        return I64(SPACE_PARAM), address - PARAM_START
    return I64(SPACE_GLOBAL), address


@jit
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


@jit
def resolve_unit(inst, rows, src, mask, regions, num_regions, size, shared_word, shared_bytes, scratch):
    """resolve for unit stride within one region or within shared memory; -1 if the general way must decide."""
    first, last = I64(ctz(U64(mask))), I64(63) - I64(clz(U64(mask)))
    low = lane_address(inst, rows, src, first)
    space = I64(inst.space)
    if space == SPACE_GENERIC:
        space, low = generic_space(low)
    bytes_used = U64((last - first + 1) * size)
    if low & U64(size - 1) != Z64:
        return -1
    if space == SPACE_SHARED:
        if low >= U64(shared_bytes) or low + bytes_used > U64(shared_bytes):
            return -1
        start = I64(shared_word) * 4 + I64(low)
        scratch[PASSES] = used_groups(mask, size)
    elif space == SPACE_GLOBAL or space == SPACE_CONST:
        region = find_region(regions, num_regions, low)
        if region < 0:
            return -1
        end = U64(regions[region].end_address)
        if low >= end or end - low < bytes_used or (not regions[region].writable and inst.is_memory != IS_LOAD):
            return -1
        start = I64(regions[region].word_offset) * 4 + I64(low - U64(regions[region].base_address))
        from_line, to_line = I64(low >> U64(7)), I64((low + bytes_used - ONE64) >> U64(7))
        count = I64(0)
        for line in range(from_line, to_line + 1):
            # lanes of this line: one line at most holds no active lane only if the mask has a hole there
            begin = max((line * LINE_BYTES - I64(low)) // size + first, first)
            stop = min(((line + 1) * LINE_BYTES - 1 - I64(low)) // size + first, last)
            lanes = (U64(mask) >> U64(begin)) & (~Z64 >> U64(63 - (stop - begin)))
            if lanes != Z64:
                scratch[LINES + count] = line
                count += 1
        scratch[NUM_LINES] = count
    else:
        return -1
    start -= first * size
    for lane in range(32):
        scratch[ADDR + lane] = start + lane * size
    for lane in range(32):
        scratch[SPACES + lane] = space
    scratch[USED_SPACES] = I64(1) << space
    scratch[UNIT] = I64(size == 4 and start & 3 == 0)
    return ERR_OK


@jit
def used_groups(mask, size):
    """Passes of conflict-free shared accesses: 32, 16 or 8 lanes at a time for up to 4, 8 and 16 bytes."""
    group = min(I64(32), max(I64(128) // size, I64(1)))
    passes = I64(0)
    for first in range(0, 32, group):
        if (U64(mask) >> U64(first)) & ((ONE64 << U64(group)) - ONE64) != Z64:
            passes += 1
    return passes


@jit
def count_passes(mask, size, scratch):
    """Shared-memory passes: per group of lanes, the most distinct 4-byte words in one of 32 banks."""
    group = min(I64(32), max(I64(128) // size, I64(1)))
    words = max(size // 4, 1)
    passes = I64(0)
    for first in range(0, 32, group):
        filled, worst = I64(0), I64(0)          # distinct words of the group so far, in WORK
        for lane in range(first, first + group):
            if (mask >> U32(lane)) & U32(1) == U32(0) or scratch[SPACES + lane] != SPACE_SHARED:
                continue
            for k in range(words):
                word = scratch[ADDR + lane] // 4 + k
                same_bank, known = I64(1), False
                for other in range(filled):
                    if scratch[WORK + other] == word:
                        known = True
                    elif (scratch[WORK + other] ^ word) & 31 == 0:
                        same_bank += 1
                if not known:
                    scratch[WORK + filled] = word
                    filled += 1
                    worst = max(worst, same_bank)
        passes += worst
    return passes


@jit
def word_step(space):
    """Arena words between consecutive words of one lane's data."""
    return I64(32) if space == SPACE_LOCAL else I64(1)


@jit
def load(inst, rows, dst, mask, memory, scratch):
    """Load the resolved addresses into the rows from `dst` on; other lanes keep what the rows held.

    Element j of the vector fills one row, or two with 64-bit registers; narrow elements are sign- or zero-extended to
    inst.reg_bits (16-bit registers have zero upper bits).
    """
    rows, memory, mask, dst = handle(rows), handle(memory), U32(mask), I64(dst)
    width, count = I64(inst.width), I64(inst.count)
    wide = inst.reg_bits == 64
    if scratch[UNIT] and width == 4 and not wide and mask == U32(0xFFFFFFFF):
        copy_words(rows, dst * 32, memory, scratch[ADDR] // 4)
        return
    bits, signed = U64(8 * width), inst.signed != 0
    kept = U64(0xFFFF) if inst.reg_bits <= 16 else M32
    for lane in range(32):
        if (mask >> U32(lane)) & U32(1) == U32(0):
            continue
        word, step = scratch[ADDR + lane] // 4, word_step(scratch[SPACES + lane])
        shift = U64(8 * (scratch[ADDR + lane] & 3))
        row = dst
        for element in range(count):
            if width >= 4:
                value = U64(load_word(memory, word))
                if width == 8:
                    word += step
                    value |= U64(load_word(memory, word)) << S32
                elif wide and signed:
                    value = extend(value, S32, True)
                word += step
            else:
                place = shift + U64(element) * bits
                value = U64(load_word(memory, word + step * I64(place >> U64(5))))
                value = extend(value >> (place & U64(31)), bits, signed)
            lane_store(rows, row, lane, U32(value & kept))
            row += 1
            if wide:
                lane_store(rows, row, lane, U32(value >> S32))
                row += 1


@jit
def store(inst, rows, src, mask, memory, scratch, log, mem_index):
    """Store elements from the rows src + 2 ... to the resolved addresses and note every word written."""
    rows, memory, mask, row0 = handle(rows), handle(memory), U32(mask), I64(src) + 2
    width, count = I64(inst.width), I64(inst.count)
    per_element = 2 if inst.reg_bits == 64 else 1
    if scratch[UNIT] and width == 4 and mask == U32(0xFFFFFFFF):
        first = scratch[ADDR] // 4
        copy_words(memory, first, rows, row0 * 32)
        if log.on:
            for k in range(32):
                note_word(log, mem_index, first + k)
        return
    for lane in range(32):
        if (mask >> U32(lane)) & U32(1) == U32(0):
            continue
        word, step = scratch[ADDR + lane] // 4, word_step(scratch[SPACES + lane])
        shift = U64(8 * (scratch[ADDR + lane] & 3))
        for element in range(count):
            row = row0 + element * per_element
            value = lane_load(rows, row, lane)
            if width >= 4:
                store_word(memory, word, value)
                note_word(log, mem_index, word)
                if width == 8:
                    word += step
                    store_word(memory, word, lane_load(rows, row + 1, lane))
                    note_word(log, mem_index, word)
                word += step
            else:
                place = shift + U64(element * width * 8)
                at = word + step * I64(place >> U64(5))
                field = ((ONE64 << U64(8 * width)) - ONE64) << (place & U64(31))
                old = U64(load_word(memory, at))
                store_word(memory, at, U32((old & ~field) | ((U64(value) << (place & U64(31))) & field)))
                note_word(log, mem_index, at)


@jit
def float_sum(kind, old, operand):
    """Sum of f32, f64, f16 or packed halves, rounded to nearest, NaN canonical."""
    if kind == T_F32:
        total = bits_f32(U32(old & M32)) + bits_f32(U32(operand & M32))
        return U64(f32_bits(total)) if total == total else NAN32
    if kind == T_F64:
        wide = bits_f64(old) + bits_f64(operand)
        return f64_bits(wide) if wide == wide else NAN64
    return half_lane(FP_ADD, kind, 0, old, operand, Z64)


@jit
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
        flip = Z64
        if kind == T_S32:
            flip = U64(0x80000000)
        elif kind == T_S64:
            flip = ONE64 << U64(63)
        below = (b ^ flip) < (old ^ flip)
        return b if below == (sub == ATOM_MIN) else old
    return c if old == b else old


@jit
def atomic(inst, rows, src, dst, mask, memory, scratch, log, mem_index):
    """Do an atomic or reduction at the resolved addresses, lanes ascending; operand b in slots 2, 3, c in slots 4, 5.

    Old values go to the rows from `dst` on unless it is a reduction (inst.is_memory 4).
    inst.aux: ATOM_* | type << 8. 16-bit operations (cas, exch, f16 add) work on their half of the word.
    """
    rows, memory, mask, src, dst = handle(rows), handle(memory), U32(mask), I64(src), I64(dst)
    sub, kind, width = I64(inst.aux) & 255, (I64(inst.aux) >> 8) & 255, I64(inst.width)
    for lane in range(32):
        if (mask >> U32(lane)) & U32(1) == U32(0):
            continue
        word, step = scratch[ADDR + lane] // 4, word_step(scratch[SPACES + lane])
        b, c = U64(lane_load(rows, src + 2, lane)), U64(lane_load(rows, src + 4, lane))
        whole = U64(load_word(memory, word))
        old, place = whole, U64(0)
        if width == 8:
            b |= U64(lane_load(rows, src + 3, lane)) << S32
            c |= U64(lane_load(rows, src + 5, lane)) << S32
            old |= U64(load_word(memory, word + step)) << S32
        elif width == 2:
            place = U64(8 * (scratch[ADDR + lane] & 2))
            old, b, c = (whole >> place) & U64(0xFFFF), b & U64(0xFFFF), c & U64(0xFFFF)
        new = atomic_result(sub, kind, old, b, c)
        if width == 2:
            new = (whole & ~(U64(0xFFFF) << place)) | ((new & U64(0xFFFF)) << place)
        store_word(memory, word, U32(new & M32))
        note_word(log, mem_index, word)
        if width == 8:
            store_word(memory, word + step, U32(new >> S32))
            note_word(log, mem_index, word + step)
        if inst.is_memory != IS_RED:
            lane_store(rows, dst, lane, U32(old & M32))
            if width == 8:
                lane_store(rows, dst + 1, lane, U32(old >> S32))


@jit
def perform(inst, rows, src, dst, mask, memory, scratch, log, mem_index):
    """Move the values of an instruction whose addresses are resolved."""
    if inst.is_memory == IS_LOAD:
        load(inst, rows, dst, mask, memory, scratch)
    elif inst.is_memory == IS_STORE:
        store(inst, rows, src, mask, memory, scratch, log, mem_index)
    else:
        atomic(inst, rows, src, dst, mask, memory, scratch, log, mem_index)


@entry
def access(key, inst, rows, src, dst, mask, memory, regions, num_regions, shared_word, shared_bytes, local_word,
           local_words, warp_slot, param_word, param_bytes, scratch, log, mem_index):
    """Resolve and perform one memory instruction; gives 0 or the ERR_* code, in which case nothing was written.

    key: record whose type carries the source hash; the other arguments as in `resolve`, `load`, `store`, `atomic`.
    """
    code = resolve(inst, rows, src, mask, regions, num_regions, shared_word, shared_bytes, local_word, local_words,
                   warp_slot, param_word, param_bytes, scratch)
    if code == ERR_OK:
        perform(inst, rows, src, dst, mask, memory, scratch, log, mem_index)
    return code
