"""The checker's data as records: CHECK for the SM and its warps, and arrays whose sizes depend on the run.

A thread is identified by its warp's number in the session, from 1 on (0 = none), and a lane. Clocks and syncs: order.py.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.state import MAX_COLLECTORS, MAX_CTAS, MAX_WARPS, NUM_BARRIERS

MAX_FOLLOWED = 256
DATA_ROWS = 4
MAX_FINDINGS = 4096

# --- facts of an instruction, from the parts of its opcode -----------------------------------------------------------
STRONG, RELEASE, SPILL, WHOLE_WARP, CTA_FENCE, BETWEEN_LANES = (1 << bit for bit in range(6))
INSTRUCTION = np.dtype([("facts", "u4"), ("first_step", "u4")])     # first_step: index of its first step; 0 = it has none
# --- steps of an instruction for the tracked variables (undefined.py) --------------------------------------------------
# STEP_STORE, STEP_STORE_NEVER and STEP_LOAD: a variable (the second: one that nothing writes), and its row of data
(NO_STEP, STEP_CHECK, STEP_CHECK_GUARD, STEP_SET, STEP_SET_ALL, STEP_COPY, STEP_NEVER, STEP_STORE, STEP_STORE_NEVER,
 STEP_LOAD) = range(10)
STEP = np.dtype([("kind", "u4"), ("variable", "u4"), ("other", "u4")])

# --- a word of memory (or, after narrower accesses, each of its four bytes) -------------------------------------------
NARROW, TWO_READERS = 16, 32                      # of marks, in addition to a bit per byte that has been written
COPIED = 6                                        # and four bits from here on: bytes that hold a copy of an undefined value
READER = np.dtype([(name, "u4") for name in ("warp", "lanes", "pc", "clock", "sync", "moment", "is_strong")])
# One cache line of the host: for kernels that touch each word once, the pages of these records cost more than the checks.
PLACE = np.dtype([
    ("marks", "u4"),
    ("owner", "u4"),                              # memory.owner_of
    ("writer", "u4"),                             # the warp that wrote it last, 0 = none; what follows is about this write
    ("lane", "u1"),
    ("is_strong", "u1"),
    ("pad", "u2"),
    ("pc", "u4"),
    ("clock", "u4"),
    ("sync", "u4"),
    ("moment", "u4"),
    ("value", "u4"),
    ("reader", READER),                           # the last one; the last of another warp is in `second_readers`: few
])                                                # words are read by two warps
assert PLACE.itemsize == 64

# --- the pool: what strong writes publish, per slot and warp of the grid; several locations share a slot ---------------
POOL_SLOT = np.dtype([("version", "i8")])         # 0 = nothing was published
PUBLISHED = np.dtype([("clock", "i8"), ("lanes", "i8"), ("sync", "i8")])    # lanes: that published; sync: theirs
POOL_BYTES = 64 << 20
MAX_POOL_SLOTS, MIN_POOL_SLOTS = 4096, 16

# --- a finding -------------------------------------------------------------------------------------------------------
(UNWRITTEN_REGISTER, UNWRITTEN_SHARED, UNWRITTEN_LOCAL, UNWRITTEN_GLOBAL, RACE_SHARED, RACE_GLOBAL,
 BARRIER_EXITED, BARRIER_PART, MASK_WITHOUT_LANE, MASKS_DIFFER, INACTIVE_LANE) = range(1, 12)
WRITE_WRITE, READ_AFTER_WRITE, WRITE_AFTER_READ = range(3)
# kind: 0 = an unused entry. address: byte offset in the arena, or the number of a variable. other_*: the other thread
FINDING = np.dtype([(name, "i8") for name in (
    "kind pc other_pc count moment clock launch warp slot lane address space other_warp other_lane other_moment extra"
).split()])

# --- a warp slot -----------------------------------------------------------------------------------------------------
WARP = np.dtype([
    ("id", "i8"),                                 # the warp's number in the session
    ("first_slot", "i8"),                         # slot of the first warp of its CTA
    # what step.py saw of it in the last cycle
    ("mask", "i8"),
    ("num_issued", "i8"),
    ("open_cycle", "i8"),
    # order (order.py)
    ("clock", "i8"),
    ("fenced", "i8"),                             # its clock after its last fence
    ("fenced_gpu", "i8"),                         # after its last fence of a scope beyond the CTA
    ("sync", "i8"),
    ("full_sync", "i8"),                          # the last sync in which all of its lanes took part
    ("knows_others", "i8"),                       # whether it knows clocks of other CTAs' warps
    ("pool_slot", "i8"),                          # what it read last from the pool, -1 = nothing
    ("pool_version", "i8"),
    # barriers
    ("barrier", "i8"),                            # the one at which it waits, + 1; 0 = none
    ("barrier_lanes", "i8"),                      # lanes that have arrived there
    ("barrier_pc", "i8"),
    ("missing", "i8"),                            # lanes that had not arrived at an aligned barrier when others did
    ("exit_lanes", "i8"),                         # lanes that have ended; where and when the first of them did
    ("exit_pc", "i8"),
    ("exit_moment", "i8"),
])
BARRIER = np.dtype([
    ("is_open", "i8"),                            # it has opened: the next arrival begins a new phase
    ("arrived", "u8"),                            # bit per warp slot
    ("clock", "i8", (MAX_WARPS,)),                # per warp slot: what those that arrived knew
])

KNOWN = np.dtype([("clock", "i8")])               # of a warp of any CTA, as a warp slot knows it

# Arrays beside CHECK: the fields NAME_at and NAME_size give the address and length of each. Only pages that are touched
# take memory.
ARRAYS = {
    "instructions": INSTRUCTION,
    "steps": STEP,
    "known": KNOWN,                               # [slot * grid_warps + warp of the grid]
    "pool": POOL_SLOT,                            # [pool slot]
    "published": PUBLISHED,                       # [pool slot * grid_warps + warp of the grid]
    "places": PLACE,                              # [word of the arena], then [arena_words + byte of the arena]
    "second_readers": READER,                     # as `places`
    "undefined": np.dtype("u4"),                  # the map of global memory (undefined_map.py)
}

CHECK = np.dtype(
    [(f"{name}_{what}", "i8") for name in ARRAYS for what in ("at", "size")]
    + [
        # the run
        ("arena_words", "i8"),
        ("global_word", "i8"),                    # arena word of global memory
        ("grid_warps", "i8"),                     # warps of the largest grid
        ("num_followed", "i8"),                   # tracked variables of the kernel that has most
        # the launch
        ("launch", "i8"),                         # its number + 1; 0 = none has begun
        ("first_id", "i8"),                       # number in the session of its first warp, less 1
        ("cta_warps", "i8"),
        ("has_fenced", "i8"),                     # whether any warp of the run has
        ("has_published", "i8"),
        # what step.py saw of the machine in the last cycle
        ("seq", "i8"),
        ("num_issued", "i8"),
        # findings
        ("now", "i8"),                            # the moment: a cycle, or the number of the warp's instruction
        ("num_findings", "i8"),
        ("is_full", "i8"),                        # some were dropped
        ("finding", FINDING, (MAX_FINDINGS,)),    # a hash table
        # what warps know
        ("warp", WARP, (MAX_WARPS,)),
        ("new_warp", WARP),                       # what a warp slot is set to when a warp begins
        ("followed", "u4", (MAX_WARPS, MAX_FOLLOWED)),      # lanes in which each tracked variable has been written
        ("clock", "i8", (MAX_WARPS, MAX_WARPS)),            # [slot, other slot]: the latest clock of the other that is known
        ("fenced_clock", "i8", (MAX_WARPS, MAX_WARPS)),     # the same as of the slot's last fence
        ("lane_sync", "i8", (MAX_WARPS, 32, 32)),           # [slot, lane, other lane]: the latest sync of the other
        ("barrier", BARRIER, (MAX_CTAS, NUM_BARRIERS)),
        ("copied_lanes", "u4", (MAX_COLLECTORS, DATA_ROWS)),    # lanes that store or load undefined values, by row of data
    ],
    align=True,
)

# in the machine's scratch (not used by engine/values/access.py): the address of CHECK, 0 = no checker
POINTER = 262
