"""The layout of the checker's data: one array of u4 words, in which compiled code addresses everything by offsets.

A header, then for each warp slot of the SM its registers and clocks, for each barrier its arrivals, the facts of each
instruction, the table of findings, what warps know about other CTAs, and last a record per word of the arena. Only pages
that are touched take memory. A thread is identified by its warp's number in the session, from 1 on (0 = none), and a lane.
"""

from __future__ import annotations

from rfview.engine.state import MAX_COLLECTORS, MAX_CTAS, MAX_WARPS, NUM_BARRIERS

# --- the header: offsets of what follows, and facts of the running launch ---------------------------------------------
(H_LAUNCH, H_BASE, H_GRID_WARPS, H_CTA_WARPS, H_SEQ, H_PCS, H_FINDINGS, H_LOST, H_KNOWN, H_POOL, H_POOL_SLOTS, H_RECORDS,
 H_BYTES, H_SECONDS, H_USED, H_ISSUED, H_FENCES, H_PLACES, H_STEPS, H_PUBLISHED, H_FOLLOWED, H_GLOBAL, H_UNDEFINED,
 H_UNDEFINED_HIGH, H_UNDEFINED_WORDS) = range(25)
HEADER_WORDS = 64

# --- a warp slot -----------------------------------------------------------------------------------------------------
(W_ID, W_MASK, W_ISSUED, W_CLOCK, W_FENCED, W_FENCED_GPU, W_SYNC, W_FULL_SYNC, W_KNOWS, W_BARRIER, W_OPEN, W_EXIT_PC,
 W_EXIT_LANES, W_EXIT_CYCLE, W_FIRST, W_POOL, W_POOL_VERSION, W_BARRIER_LANES, W_BARRIER_PC, W_MISSING) = range(20)
WARP_WORDS = 32
WARPS = HEADER_WORDS
MAX_FOLLOWED = 256
FOLLOWED = WARPS + MAX_WARPS * WARP_WORDS         # lanes in which each tracked variable has been written
CLOCKS = FOLLOWED + MAX_WARPS * MAX_FOLLOWED      # [slot, other slot]: the latest clock of the other that is known
FENCED_CLOCKS = CLOCKS + MAX_WARPS * MAX_WARPS    # the same as of the slot's last fence
LANES = FENCED_CLOCKS + MAX_WARPS * MAX_WARPS     # [slot, lane, other lane]: the latest of the warp's syncs
BARRIERS = LANES + MAX_WARPS * 32 * 32            # [CTA slot, barrier]: clocks of those that arrived, and BARRIER_WORDS
(B_CLOSED, B_COUNT, B_PC, B_ARRIVED) = range(4)   # B_ARRIVED: two words, bit per warp slot
BARRIER_WORDS = MAX_WARPS + 8
DATA = BARRIERS + MAX_CTAS * NUM_BARRIERS * BARRIER_WORDS    # [collector, row of data]: lanes that store or load undefined
DATA_ROWS = 4
FIXED_WORDS = DATA + MAX_COLLECTORS * DATA_ROWS

# --- facts of an instruction, from the parts of its opcode -----------------------------------------------------------
STRONG, RELEASE, SPILL, WHOLE_WARP, CTA_FENCE, BETWEEN_LANES = (1 << bit for bit in range(6))
# --- steps of an instruction for the tracked variables (undefined.py): a kind, a variable, another ----------------------
# STEP_STORE, STEP_STORE_NEVER and STEP_LOAD: a variable (the second: one that nothing writes), and its row of data
(NO_STEP, STEP_CHECK, STEP_CHECK_GUARD, STEP_SET, STEP_SET_ALL, STEP_COPY, STEP_NEVER, STEP_STORE, STEP_STORE_NEVER,
 STEP_LOAD) = range(10)

# --- the record of a word of memory (or, after narrower accesses, of each of its four bytes) --------------------------
# One cache line of the host: for kernels that touch each word once, the pages of its record cost more than the checks.
(M_FLAGS, M_OWNER, M_WRITER, M_LANE, M_PC, M_CLOCK, M_SYNC, M_CYCLE, M_VALUE, M_READER) = range(10)
(R_WARP, R_LANES, R_PC, R_CLOCK, R_SYNC, R_CYCLE, R_STRONG) = range(7)
RECORD_WORDS = 16
NARROW, TWO_READERS = 16, 32                      # of M_FLAGS, in addition to a bit per byte that has been written
COPIED = 6                                        # and four bits from here on: bytes that hold a copy of an undefined value
STRONG_WRITE = 32                                 # of M_LANE, in addition to the lane
# M_READER is the last reader; the last one of another warp is stored elsewhere, since few words are read by two warps
READER_WORDS = 7
SECOND_WORDS = 8
# Arenas are large and sparse: H_RECORDS, H_BYTES and H_SECONDS count records of RECORD_WORDS, other places words.
MAX_WORDS = RECORD_WORDS << 32

# --- the pool: what strong writes publish; several locations share a slot --------------------------------------------
P_VERSION, POOL_WORDS = 0, 1                      # a version
POOL_ARRAYS = 3                                   # then by warp of the grid: clocks, lanes that published, and their syncs
POOL_BYTES = 64 << 20
MAX_POOL_SLOTS, MIN_POOL_SLOTS = 4096, 16

# --- a finding -------------------------------------------------------------------------------------------------------
(F_KIND, F_PC, F_OTHER_PC, F_COUNT, F_CYCLE, F_WARP, F_LANE, F_SLOT, F_ADDRESS, F_ADDRESS_HIGH, F_SPACE, F_OTHER_CYCLE,
 F_OTHER_WARP, F_OTHER_LANE, F_EXTRA, F_LAUNCH) = range(16)
FINDING_WORDS = 16
MAX_FINDINGS = 4096

(UNWRITTEN_REGISTER, UNWRITTEN_SHARED, UNWRITTEN_LOCAL, UNWRITTEN_GLOBAL, RACE_SHARED, RACE_GLOBAL,
 BARRIER_EXITED, BARRIER_PART, MASK_WITHOUT_LANE, MASKS_DIFFER, INACTIVE_LANE) = range(1, 12)
WRITE_WRITE, READ_AFTER_WRITE, WRITE_AFTER_READ = range(3)

# in the machine's scratch (not used by engine/values/access.py): the address of the checker's words, 0 = no checker
POINTER, POINTER_WORDS = 262, 263
