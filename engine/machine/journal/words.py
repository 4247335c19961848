"""State changes: words of the recorded record that differ from a shadow copy, compared up to 32 at a time.

The clock section is never compared, the hot section always (its in-flight table only where marked), the cold section
in blocks that the cycle marked dirty. Each comparison starts at a unit of the machine (a warp, an in-flight entry,
four banks, or 32 words of anything else), so that a mask's bit means the same word in all units.
"""

from __future__ import annotations

import numpy as np

from rfview.engine import state
from rfview.engine.compile.bits import changed32, keep_changed, popcount, set_bits, take32, words_at
from rfview.engine.compile.device import device

WIDTH = 32
RECORDED_WORDS = state.RECORDED_BYTES // 4
HOT_WORD = state.HOT_OFFSET // 4
COLD_WORD = state.COLD_OFFSET // 4
WARP_WORD, INFLIGHT_WORD, COLLECTOR_WORD, BANK_WORD, PIPE_WORD = (
    state.SM.fields[name][1] // 4 for name in ("warp", "inflight", "collector", "bank", "pipe")
)
WARP_WORDS, INFLIGHT_WORDS, COLLECTOR_WORDS, BANK_WORDS = (
    dtype.itemsize // 4 for dtype in (state.WARP, state.INFLIGHT, state.COLLECTOR, state.BANK)
)
CTA_END = (state.SM.fields["cta"][1] + state.SM.fields["cta"][0].itemsize) // 4
PIPE_COUNT = -(-(CTA_END - PIPE_WORD) // WIDTH)
WHOLE = (1 << WIDTH) - 1
assert state.SM["dirty_rows"].shape[0] <= 64
assert WARP_WORDS <= WIDTH and INFLIGHT_WORDS <= WIDTH and 4 * WIDTH == state.BLOCK
assert PIPE_WORD + PIPE_COUNT * WIDTH <= COLD_WORD


@device
def scan(log, words, shadow, first, count, stride, watched, base):
    """List those of `count` blocks, `stride` words apart, in which a word in the mask `watched` differs from the shadow.

    base: number of the first of `words` among all recorded words. Every block is written to the list; the next overwrites it
    if nothing differs: data-dependent branches would be mispredicted, here and in the stages that follow.
    """
    block_first = words_at(log.block_first_at, log.block_first_size)
    block_mask = words_at(log.block_mask_at, log.block_mask_size)
    at = np.uint64(first)
    entry = np.uint64(log.blocks)
    for _ in range(count):
        mask = changed32(words, shadow, at) & np.uint64(watched)
        block_first[entry] = np.uint64(base) + at
        block_mask[entry] = mask
        entry += np.uint64(mask != 0)
        at += np.uint64(stride)
    log.blocks = entry


@device
def scan_all(log, words, shadow, first, count, stride, watched):
    """Do the same for hot blocks, faster if there are many: all are compared before any is dropped."""
    block_first = words_at(log.block_first_at, log.block_first_size)
    block_mask = words_at(log.block_mask_at, log.block_mask_size)
    at = np.uint64(first)
    entry = np.uint64(log.blocks)
    for block in range(np.uint64(count)):
        block_mask[entry + block] = changed32(words, shadow, at) & np.uint64(watched)
        at += np.uint64(stride)
    log.blocks = keep_changed(block_first, block_mask, entry, np.uint64(count), np.uint64(first), np.uint64(stride))


@device
def take(log, words, shadow, begin, base):
    """Append the new values of the blocks listed from number `begin` on, and update the shadow."""
    block_first = words_at(log.block_first_at, log.block_first_size)
    block_mask = words_at(log.block_mask_at, log.block_mask_size)
    block_value = words_at(log.block_value_at, log.block_value_size)
    value = np.uint64(log.values)
    for block in range(np.uint64(begin), np.uint64(log.blocks)):
        mask = np.uint64(block_mask[block])
        take32(words, shadow, np.uint64(block_first[block]) - np.uint64(base), mask, block_value, value)
        value += np.uint64(popcount(mask))
    log.values = value


@device
def scan_hot(sm, log, words, shadow):
    """Compare the hot section, except for the in-flight table and units that the machine does not have."""
    config = sm.config
    head = WARP_WORD - HOT_WORD
    scan(log, words, shadow, HOT_WORD, head // WIDTH, WIDTH, WHOLE, 0)
    if head % WIDTH != 0:
        scan(log, words, shadow, HOT_WORD + head // WIDTH * WIDTH, 1, WIDTH, (1 << head % WIDTH) - 1, 0)
    scan_all(log, words, shadow, WARP_WORD, np.int64(config.num_warps), WARP_WORDS, (1 << WARP_WORDS) - 1)
    scan(log, words, shadow, COLLECTOR_WORD, blocks_of(np.int64(config.num_collectors) * COLLECTOR_WORDS), WIDTH, WHOLE, 0)
    scan(log, words, shadow, BANK_WORD, blocks_of(np.int64(config.num_banks) * BANK_WORDS), WIDTH, WHOLE, 0)
    scan(log, words, shadow, PIPE_WORD, PIPE_COUNT, WIDTH, WHOLE, 0)


@device
def blocks_of(count):
    """Return the number of blocks that cover `count` words."""
    return (count + WIDTH - 1) // WIDTH


@device
def scan_inflight(sm, log, words, shadow):
    """Compare the in-flight entries that this cycle marked."""
    for word in range(state.MAX_INFLIGHT // 64):
        for low in set_bits(sm.dirty_inflight[word]):
            first = INFLIGHT_WORD + (word * 64 + low) * INFLIGHT_WORDS
            scan(log, words, shadow, first, 1, WIDTH, (1 << INFLIGHT_WORDS) - 1, 0)
        sm.dirty_inflight[word] = 0


@device
def scan_cold(sm, log, words, shadow):
    """Compare the cold blocks that this cycle marked."""
    for word in set_bits(sm.dirty_touched):
        marked = np.uint64(sm.dirty[word])
        sm.dirty[word] = 0
        for low in set_bits(marked):
            scan(log, words, shadow, COLD_WORD + (word * 64 + low) * WIDTH, 1, WIDTH, WHOLE, 0)
    sm.dirty_touched = 0


@device
def capture_design(log):
    """Log the changes of the design's state, compared in its own units, which the journal lists."""
    words = words_at(log.design_at, log.design_size)
    shadow = words_at(log.design_shadow_at, log.design_shadow_size)
    units = words_at(log.units_at, log.units_size)
    block_first = words_at(log.block_first_at, log.block_first_size)
    block_mask = words_at(log.block_mask_at, log.block_mask_size)
    begin = log.blocks
    entry = np.uint64(begin)
    for unit in range(np.uint64(log.units_size // 2)):
        at = np.uint64(units[np.uint64(2) * unit])
        mask = changed32(words, shadow, at) & np.uint64(units[np.uint64(2) * unit + np.uint64(1)])
        block_first[entry] = np.uint64(RECORDED_WORDS) + at
        block_mask[entry] = mask
        entry += np.uint64(mask != 0)
    log.blocks = entry
    take(log, words, shadow, begin, RECORDED_WORDS)


@device
def capture_chosen(log):
    """Log the changes of the chosen words, a block each; their numbers count the recorded words, then the design's."""
    words = words_at(log.state_at, log.state_size)
    shadow = words_at(log.shadow_at, log.shadow_size)
    design = words_at(log.design_at, log.design_size)
    design_shadow = words_at(log.design_shadow_at, log.design_shadow_size)
    chosen = words_at(log.chosen_at, log.chosen_size)
    block_first = words_at(log.block_first_at, log.block_first_size)
    block_mask = words_at(log.block_mask_at, log.block_mask_size)
    block_value = words_at(log.block_value_at, log.block_value_size)
    for number in range(log.num_chosen):
        word = np.int64(chosen[number])
        if word < RECORDED_WORDS:
            now, before = words[word], shadow[word]
            shadow[word] = now
        else:
            now, before = design[word - RECORDED_WORDS], design_shadow[word - RECORDED_WORDS]
            design_shadow[word - RECORDED_WORDS] = now
        if now != before:
            block_first[log.blocks] = word
            block_mask[log.blocks] = 1
            block_value[log.values] = now
            log.blocks += 1
            log.values += 1
