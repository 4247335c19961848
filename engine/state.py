"""The state record of one streaming multiprocessor: anything that is not in it cannot be rewound.

One aligned NumPy record in four sections. `clock` (the cycle counter and the totals that grow every cycle: derivable,
so never part of a delta), `hot` (changes nearly every cycle, scanned completely by the journal), `cold` (starts at a
multiple of BLOCK bytes; only blocks that the engine marked dirty are scanned), `aux` (derivable from the rest, such
as free lists and the timing wheel: kept in checkpoints, not in recordings). Sizes are maxima; the counts in use are
in `config`.

Time: the state at cycle c is the state before cycle c runs; `warp.state` is what each warp did in cycle c - 1.
All `*_cycle` fields are absolute cycles. Changes are recorded in words of four bytes: small fields that change in the
same cycles share an aligned word, and so do those that hardly ever change.

Registers, design storage and latches are rows of the separate array `rows`:
    [0, main rows)            the main register file, row = physical slot (warp * registers_per_thread + register)
    [main, recorded)          the design's own rows (write buffers, register cache, ...)
    [recorded, ...)           operand latches (6 per collector) and result latches (4 per in-flight instruction); the two
                              latch ranges are checkpointed but not recorded: their values are read from the recorded rows
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rfview.engine import stalls
from rfview.engine.program import NUM_LATENCY_CLASSES, NUM_SRC_ROWS, UNIT_CTRL

MAX_WARPS = 64
MAX_SCHEDULERS = 4
MAX_BANKS = 32
NUM_PORTS = 8           # banks of the sub-cores, each with ports that are booked
MAX_COLLECTORS = 32
MAX_INFLIGHT = 256
MAX_ROWS = 4096
MAX_ACCEPTED = 128
MAX_CTAS = 16
MAX_MSHRS = 128
MAX_PIPES = 8
MAX_SPLITS = 64
MAX_L1_LINES = 512
MAX_L2_LINES = 8192
MAX_ICACHE_LINES = 64
MAX_CCACHE_LINES = 256
LINE_BYTES = 128        # a line of L1 and L2; memory.line_bytes is what DRAM transfers per line
SECTOR_BYTES = 32       # the unit of L2, and of what is stored there
NUM_BARRIERS = 16
MAX_EVENTS = 64
WHEEL_SIZE = 4096
READ_RING, WRITE_RING = 4, 64   # of the cycles for which a sub-core's ports can be booked
BLOCK = 128
LINE = 64

NONE8 = 255
FOREVER = np.iinfo(np.int64).max // 4

# in-flight stages
FREE, COLLECT, EXECUTE, MEMORY, WRITE_BACK, WRITTEN = range(6)
# split states
SPLIT_FREE, SPLIT_READY, SPLIT_PARENT, SPLIT_BARRIER, SPLIT_SYNC, SPLIT_BSYNC = range(6)
# of a bar.red in a warp that has diverged: it issues again when the barrier is open, to fetch the results
RESULTS_AT_OPENING = 256
# blocker kinds: what `warp.blocker` names
(BLOCK_NONE, BLOCK_REGISTER, BLOCK_PREDICATE, BLOCK_READER, BLOCK_UNIT, BLOCK_COLLECTOR, BLOCK_BARRIER, BLOCK_SCHEDULER,
 BLOCK_DESIGN, BLOCK_MEMORY, BLOCK_SYNC, BLOCK_SLEEP, BLOCK_FETCH) = range(13)
# a warp and the active set of its scheduler, field `membership`; a leaving warp keeps its place until the design releases it
OUTSIDE, ACTIVE, LEAVING = range(3)
# pipes: indices of sm.pipe; their names
PIPE_SP0, PIPE_SP1, PIPE_SFU, PIPE_LDST = range(4)
PIPES = ("SP0", "SP1", "SFU", "LDST")
# what a bank did in the cycle that just ran
BANK_IDLE, BANK_READ, BANK_WRITE, BANK_BUSY = range(4)
# why LD/ST could not proceed with its head in the last cycle: field `ldst_reason`
LDST_GOES_ON, LDST_MSHRS_FULL, LDST_SET_FULL, LDST_QUEUE_FULL, LDST_CONST_CACHE = range(5)
# how registers map to banks: config.mapping
SEQUENTIAL, GPGPUSIM = range(2)

ROW = np.dtype(
    {"names": ["u", "f", "i"], "formats": [("u4", 32), ("f4", 32), ("i4", 32)], "offsets": [0, 0, 0], "itemsize": 128}
)

WARP = np.dtype(
    [
        ("sb_write", "u8"),           # registers with a pending write
        ("sb_long", "u8"),            # registers whose pending write is long-latency
        ("state_since_cycle", "i8"),  # first cycle of the current run of `state`
        ("last_issue_cycle", "i8"),
        ("open_cycle", "i8"),         # cycle in which its barrier opened; it continues in the next
        ("wake_cycle", "i8"),         # nanosleep: cannot issue before
        ("sb_pred", "u4"),            # predicates with a pending write
        ("mask", "u4"),               # active lanes of the running split
        ("pc", "u4"),                 # of the running split: the next instruction to issue
        ("exited", "u4"),             # lanes that have ended or never existed
        ("losers", "u4"),             # bit per stall code: other conditions that would have blocked as well
        ("num_issued", "u4"),         # instructions issued since the warp started
        ("age", "u4"),                # order in which warps started, smaller is older
        ("last_pc", "u4"),            # pc of the last issued instruction
        ("reconv", "u4"),             # reconvergence pc of the running split, NO_PC = none
        # one word: what a warp does, and why
        ("blocker", "u2"),            # register, unit, barrier id ... by blocker_kind
        ("state", "u1"),              # stall code of the last cycle
        ("blocker_kind", "u1"),
        # one word: changes with every instruction
        ("ibuffer", "u1"),            # decoded instructions waiting
        ("warp_in_cta", "u1"),
        ("cta", "u1"),                # CTA slot, NONE8 = no warp
        ("membership", "u1"),         # of its scheduler's active set: 0 outside, 1 active, 2 leaving (OUTSIDE ..)
        # one word: changes at branches, barriers and accesses
        ("split", "u1"),              # running entry of the split table, NONE8 = none can run
        ("num_splits", "u1"),
        ("barrier", "u1"),            # barrier id waited at, NONE8 = none
        ("polled", "u1"),             # an atomic or ordered load was issued since the last backward branch
        # the rest rarely changes
        ("reg_base", "u2"),           # physical slot of register 0
        ("leave_code", "u1"),         # stall code that holds a leaving warp back
        ("suspended_pc", "u4"),       # suspend = marked: instruction that made the warp leave once
        ("pad", "u4", (2,)),          # pads to whole cache lines, which the journal compares
        ("stored_cycle", "i8"),       # its stores are acknowledged in this cycle (memory.store_acks)
    ],
    align=True,
)

INFLIGHT = np.dtype(
    [
        ("issue_cycle", "i8"),
        ("since_cycle", "i8"),        # start of the current stage
        ("done_cycle", "i8"),         # end of execution or memory access; while unknown, not later than issue_cycle.
                                      # In a collector: when an operand that was read late arrives, if later than that
        ("seq", "i8"),                # issue order in the session
        ("pc", "u4"),
        ("mask", "u4"),               # lanes that execute (active and guard)
        ("active", "u4"),             # SIMT mask without the guard
        ("psrc", "u4", (2,)),         # captured predicate sources
        ("pval", "u4", (2,)),         # predicate results
        # one word: changes from stage to stage
        ("stage", "u1"),
        ("pipe", "u1"),
        ("collector", "u1"),          # NONE8 once it executes
        ("unwritten", "u1"),          # destination rows still to be written
        # one word: changes as operands are read or refused
        ("warp", "u1"),
        ("unread", "u1"),             # row slots still to be read
        ("refused", "u1"),            # row slots refused a grant in the last cycle, or if all are read, those that are late
        ("code", "u1"),               # stall code of the last refusal, 0 = none in the last cycle
        # the rest changes less often
        ("unit", "u1"),
        ("bank", "u1"),               # bank of the last refusal; of a bar.red its barrier
        ("transactions", "u1"),       # memory: lines, bank passes or transfers still to be handled
        ("missed", "u1"),             # memory: 1 = some line missed L1, or was loaded past it; between lanes: 1 = its
                                      # results were known when it issued, and psrc[1] has the lanes that took part
    ],
    align=True,
)

COLLECTOR = np.dtype(
    [
        ("valid", "u1"),
        ("inflight", "u1"),           # the instruction it gathers operands for
        ("bank", "u1", (NUM_SRC_ROWS,)),     # bank of each row slot that is read
    ]
)

BANK = np.dtype(
    [
        ("until_cycle", "i8"),        # busy until (exclusive)
        ("since_cycle", "i8"),
        # one word: whose access it is
        ("owner_warp", "u1"),
        ("owner_reg", "u1"),
        ("busy_code", "u1"),          # stall code while busy until until_cycle
        ("pad", "u1"),
        # one word: how it is used
        ("activity", "u1"),           # BANK_* of the last cycle
        ("written", "u1"),            # writes accepted this cycle
        ("read", "u1"),               # reads granted this cycle
        ("queue", "u1"),              # requests left waiting after arbitration
    ],
    align=True,
)

PIPE = np.dtype(
    [
        ("until_cycle", "i8"),        # initiation interval: takes nothing before this; LD/ST (ldst_head): last end
        ("inflight", "u1"),           # entry of the instruction taken last
    ],
    align=True,
)

SCHEDULER = np.dtype(
    [
        ("active", "u8"),             # active set, bit per warp
        ("last_warp", "u1"),          # greedy warp / last issued, NONE8 = none
        ("fetch_pointer", "u1"),      # warp considered first when an I-buffer is filled
        ("join_pointer", "u1"),       # warp considered first when a place is free
        ("joined_warp", "u1"),        # last warp that joined, NONE8 = none
        ("parity_pointer", "u1", (2,)),
    ],
    align=True,
)

CTA = np.dtype(
    [
        ("id", "u4"),                 # linear CTA id
        ("ctaid", "u4", (3,)),
        ("live_threads", "u2"),
        ("first_warp", "u1"),
        ("num_warps", "u1"),
        ("live_warps", "u1"),
        ("valid", "u1"),
    ],
    align=True,
)

BARRIER_ENTRY = np.dtype([("arrived", "u2"), ("expected", "u2"), ("red_and", "u1"), ("red_or", "u1"), ("red_count", "u2")])

SPLIT = np.dtype(
    [
        ("pc", "u4"),
        ("reconv", "u4"),
        ("mask", "u4"),
        ("sync_mask", "u4"),          # SPLIT_SYNC: the members awaited; SPLIT_BARRIER: the barrier, and RESULTS_AT_OPENING;
                                      # SPLIT_READY: the lanes whose results wait in `exchanged`, usually none
        ("parent", "u1"),             # NONE8 = root
        ("pending", "u1"),            # children not yet back; SPLIT_SYNC: the kind of collective (INST.collective)
        ("state", "u1"),
        ("spins", "u1"),              # backward branches while other splits of the warp are blocked
    ]
)

MSHR = np.dtype(
    [("line", "i8"), ("since_cycle", "i8"), ("until_cycle", "i8"), ("owner_warp", "u1"), ("owner_reg", "u1")], align=True
)
L1_LINE = np.dtype([("line", "i8"), ("fill_cycle", "i8"), ("used_cycle", "i8")])
L2_LINE = np.dtype([("line", "i8"), ("used_cycle", "i8")])

WARP_COLD: Any = np.dtype(
    [
        ("split", SPLIT, (MAX_SPLITS,)),
        ("pred", "u4", (32,)),
        ("pred_producer", "u1", (32,)),   # in-flight entry that will write the predicate
        ("pad", "u1", (96,)),
    ]
)
assert WARP_COLD.itemsize % BLOCK == 0

LAUNCH = np.dtype(
    [
        ("grid", "u4", (3,)),
        ("block", "u4", (3,)),
        ("num_ctas", "u4"),
        ("next_cta", "u4"),               # linear id of the next CTA to dispatch
        ("done_ctas", "u4"),
        ("entry_pc", "u4"),
        ("start_cycle", "i8"),
        ("index", "u4"),                  # launch number in the session
        ("warps_per_cta", "u4"),
        ("threads_per_cta", "u4"),
        ("registers", "u4"),              # per thread
        ("shared_bytes", "u4"),           # per CTA, dynamic included
        ("dynamic_shared", "u4"),
        ("local_words", "u4"),            # per thread
        ("resident_ctas", "u4"),          # most CTA slots in use
        ("param_word", "u4"),             # arena word of the parameter space
        ("local_word", "i8"),             # arena word of local memory
        ("running", "u1"),
    ],
    align=True,
)

CONFIG = np.dtype(
    [
        (name, "i4")
        for name in (
            "num_warps max_ctas max_threads num_schedulers num_banks rows_per_bank bank_ports max_banks_per_cycle "
            "num_collectors result_buses reserve_results num_sp ibuffer_entries fetch_width branch_cycles refill_cycles "
            "shared_bytes clock_mhz "
            "mapping active_places inner_policy outer_policy parity suspend "
            "l1_enabled l1_sets l1_ways l1_hit_cycles mshrs l2_sets l2_ways l2_hit_cycles dram_cycles "
            "fixed_memory_cycles bytes_per_cycle_x256 queue_cycles shared_cycles shared_bytes_per_cycle const_cycles "
            "param_cycles line_bytes shared_words spin_limit poll_limit l1_hash l1_stores l2_hash flit_bytes store_acks "
            "fetch_ports icache_sets icache_ways icache_instructions "
            "const_sets const_ways const_line_bytes const_mshrs "
            "first_design_row num_recorded_rows first_collector_row first_result_row num_rows"
        ).split()
    ]
    + [("queue_entries", "i4", (UNIT_CTRL,)),      # per unit: instructions in collectors that may be bound for it
       ("latency_cycles", "i4", (NUM_LATENCY_CLASSES,)), ("initiation_cycles", "i4", (NUM_LATENCY_CLASSES,))],
    align=True,
)

CLOCK = [
    ("cycle", "i8"),
    ("stall_total", "i8", (stalls.MAX_CODES,)),   # warp-cycles per state since the session began
]

HOT = [
    ("state_count", "u1", (stalls.MAX_CODES,)),   # warp slots per state in the last cycle; sums to config.num_warps
    ("events", "i8", (MAX_EVENTS,)),              # event counts, indices of events.py, the design's own from 32 on
    ("access_wait", "i8", (stalls.MAX_CODES,)),   # cycles in which an access (not a warp) was refused, by reason
    ("resident", "u8"),                           # warp slots that hold a warp
    ("unfinished", "u8"),                         # of these, warps that have not ended
    ("ended", "u8"),                              # warps that issued their last exit in the last cycle
    ("freeze_code", "u1"),                        # stall code of a frozen pipeline in the last cycle
    ("dispatch_age", "u4"),                       # `age` of the next warp to start
    ("dram_free_x256", "i8"),                     # memory port is free from this time on (cycle x 256)
    ("port_free_cycle", "i8"),                    # the SM's port to the interconnect is free from this cycle on
    ("reply_free_cycle", "i8"),                   # its port for replies: the same, less the time that L2 takes
    ("need_fetch", "u8"),                         # warps whose I-buffer is empty
    ("ldst_head", "u1"),                          # in-flight entry handled by LD/ST, NONE8 = none
    ("ldst_reason", "u1"),                        # why LD/ST could not proceed (LDST_*)
    ("access_space", "u1"),                       # the state space of its instruction
    ("ldst_ideal", "u1"),                         # fewest lines or passes for the bytes it asks for, 0 = not known (B0.24)
    ("error", "u1"),                              # fault code of faults.py, 0 = none
    ("error_warp", "u1"),
    ("error_lane", "u1"),
    ("error_pc", "u4"),
    ("error_address", "u8"),
    ("error_size", "u4"),
    ("host_call", "u1"),                          # in-flight entry of a printf/assert to serve, NONE8 = none
    ("warp", WARP, (MAX_WARPS,)),
    ("inflight", INFLIGHT, (MAX_INFLIGHT,)),
    ("collector", COLLECTOR, (MAX_COLLECTORS,)),
    ("bank", BANK, (MAX_BANKS,)),
    ("pipe", PIPE, (MAX_PIPES,)),
    ("scheduler", SCHEDULER, (MAX_SCHEDULERS,)),
    ("cta", CTA, (MAX_CTAS,)),
]

COLD = [
    ("warp_cold", WARP_COLD, (MAX_WARPS,)),
    ("barrier", BARRIER_ENTRY, (MAX_CTAS, NUM_BARRIERS)),
    ("mshr", MSHR, (MAX_MSHRS,)),
    ("l1", L1_LINE, (MAX_L1_LINES,)),
    ("l2", L2_LINE, (MAX_L2_LINES,)),
    ("icache", L1_LINE, (MAX_ICACHE_LINES,)),     # line: first instruction / instructions per line, -1 = empty
    ("ccache", L1_LINE, (MAX_CCACHE_LINES,)),     # line: byte of the arena / bytes per line, -1 = empty
    ("launch", LAUNCH),
    ("config", CONFIG),
]

# Derived: each of these follows from the fields above (tests/sessions/test_derived.py checks that). They are kept for
# stages and hooks, which would otherwise have to search; snapshots and recordings omit them.
DERIVED = [
    ("inflight_used", "u8", (MAX_INFLIGHT // 64,)), # in-flight entries in use
    ("in_write_back", "u8", (MAX_INFLIGHT // 64,)), # in-flight entries in WRITE_BACK
    ("unreleased", "u8", (MAX_INFLIGHT,)),        # per in-flight entry: registers it holds in the scoreboard
    ("producer", "u1", (MAX_WARPS, 64)),          # per warp and register: the in-flight entry that will write it
    ("sb_read", "u8", (MAX_WARPS,)),              # per warp: registers with a pending read (WAR)
    ("num_inflight", "u1", (MAX_WARPS,)),         # per warp: instructions issued, not retired
    ("mem_pending", "u1", (MAX_WARPS,)),          # per warp: memory instructions issued that have not yet accessed memory
    ("collectors_of", "u4", (MAX_WARPS,)),        # per warp: the collectors it holds
    ("issued_warp", "u1", (MAX_SCHEDULERS,)),     # per scheduler: warp that issued in the last cycle, NONE8 = none
    ("collectors_used", "u4"),                    # collectors that hold an instruction
    ("collector_seq", "i8", (MAX_COLLECTORS,)),   # per collector: issue order of its instruction
    ("collector_banks", "u4", (MAX_COLLECTORS,)), # per collector: the banks it still has to read from
    ("collector_regs", "u8", (MAX_COLLECTORS,)),  # per collector: the registers it still has to read
    ("queued", "u1", (UNIT_CTRL,)),               # per unit: instructions in collectors bound for it
    ("banks_requested", "u4"),                    # banks with a pending read request
    ("bank_requests", "u4", (MAX_BANKS,)),        # per bank: collectors with a pending read there
]

# A result accepted by the register file in this cycle. The in-flight entry may belong to another instruction by the cycle's
# end, so its fields are copied.
ACCEPTED = np.dtype(
    [
        ("row", "u4"),                # holds the value until the cycle's end
        ("register", "u4"),           # warp slot * chunk.REGISTERS_OF_WARP + register
        ("lanes", "u4"),              # lanes written
        ("pc", "u4"),
    ]
)

# Not recorded either: the engine's bookkeeping, which checkpoints keep.
AUX = [
    # order of issue, and the warps that the issue stage considers
    ("seq", "i8"),                                # next issue order number
    ("undecided", "u8"),                          # warps whose state the issue stage must decide again (warp_state.py)
    # transient: refusals of this cycle
    ("reading", "u4"),                            # collectors that still wait for an operand
    ("late", "u4"),                               # collectors with operands that were read and have not arrived
    ("late_operands", "u1", (MAX_COLLECTORS,)),   # per collector: these operands, one bit per row slot
    ("late_code", "u1", (MAX_COLLECTORS,)),       # per collector: stall code of the operand that arrives last
    ("code_before", "u1", (MAX_COLLECTORS,)),     # per collector: refusal of its instruction in the previous cycle
    ("refusal", "u1", (MAX_BANKS,)),              # per bank with requests: why it refused reads in this cycle
    # transient: marks of cold blocks for the journal
    ("dirty", "u8", (32,)),                       # cold blocks of BLOCK bytes that changed in this cycle, one bit each
    ("dirty_touched", "u8"),                      # words of `dirty` that have a mark
    # the timing wheel: a list of in-flight entries per cycle, linked by wheel_next; NONE8 = end of the list
    ("wheel", "u1", (WHEEL_SIZE,)),               # per cycle modulo WHEEL_SIZE: first entry that completes then
    ("wheel_next", "u1", (MAX_INFLIGHT,)),        # per entry: the next in its list
    # of the sub-cores' ports, bank b in cycle c
    ("booked_reads", "u1", (NUM_PORTS, READ_RING)),     # [b][c & 3]: reads
    ("booked_write", "u1", (NUM_PORTS, WRITE_RING)),    # [b][c & 63]: who writes, in-flight entry plus one
    ("booked_work", "u8", (NUM_PORTS,)),          # [b], bit c & 63: it does one thing only, a long write or the design's
    # transient: what else changed in this cycle, for the journal
    ("dirty_inflight", "u8", (MAX_INFLIGHT // 64,)), # in-flight entries
    ("dirty_rows", "u8", (MAX_ROWS // 64,)),      # recorded rows
    ("rows_touched", "u8"),                       # words of dirty_rows that have a mark
    ("accepted", ACCEPTED, (MAX_ACCEPTED,)),      # results accepted by the register file
    ("num_accepted", "u4"),                       # entries of `accepted` in use
    ("lost_rows", "u8", (MAX_ROWS // 64,)),       # rows of registers whose values lost bits
    ("lost_touched", "u8"),                       # words of lost_rows that have a mark
    ("cleared", "u8"),                            # warp slots that a CTA left or took
    # kept by the fast path of issue (issue_cache.py)
    ("scoreboard_clear", "u8"),                   # warps whose head instruction has no hazard
    ("head_unit", "u1", (MAX_WARPS,)),            # per warp: the unit of its head instruction
    ("at_unit", "u8", (4,)),                      # per unit: the warps whose head instruction needs that unit
    ("cached", "u8", (4,)),                       # per kind of state: the warps whose record already has it
    ("cached_under", "u2", (MAX_SCHEDULERS,)),    # per scheduler: conditions under which its warps got these states
    # results of instructions between lanes, from the moment they are known until the lane's instruction issues
    ("exchanged", "u4", (MAX_WARPS, 32)),         # per warp and lane: the result; of a bar.red what its barrier counted
    ("exchanged_pred", "u4", (MAX_WARPS,)),       # per warp: the predicate result, one bit per lane
    # the order of warps
    ("older_warps", "u8", (MAX_WARPS,)),          # per warp: the warps that started before it
    # results in WRITE_BACK in the order of issue: a doubly linked list for each kind of bus, ALU and memory; NONE8 = none
    ("write_first", "u1", (2,)),                  # per bus: first entry
    ("write_last", "u1", (2,)),                   # per bus: last entry
    ("write_next", "u1", (MAX_INFLIGHT,)),        # per entry: the one after it
    ("write_before", "u1", (MAX_INFLIGHT,)),      # per entry: the one before it
    # the loop over cycles
    ("was_idle", "u1"),                           # the last cycle was idle from start to end (cycle.py)
    ("scheduler_mask", "u8", (MAX_SCHEDULERS,)),  # per scheduler: its warp slots
    ("policy", "u1"),                             # how they choose: an index into machine/schedulers.SCHEDULERS
    # the instruction handled by LD/ST
    ("scratch", "i8", (392,)),                    # its addresses and lines; values/access.py names the places in it
    ("num_lines", "i4"),                          # its lines or shared-memory passes
    ("next_line", "i4"),                          # how many of them have been sent
    # bad accesses under kernel.on_fault=report: dropped and noted, where others stop the machine
    ("reports_faults", "u1"),                     # whether they are
    ("reported", "u1"),                           # the code of one in this cycle; the rest is in error_*
    ("dropped", "u4"),                            # lanes of LD/ST's instruction that access nothing
]


def _layout() -> tuple[Any, dict[str, int]]:
    """Build the record: hot arrays aligned to cache lines, the cold section and each of its fields to multiples of BLOCK."""
    names: list[str] = []
    formats: list[object] = []
    offsets: list[int] = []
    marks: dict[str, int] = {}
    at = 0
    for section, fields in (("clock", CLOCK), ("hot", HOT), ("cold", COLD), ("aux", DERIVED + AUX)):
        if section in ("cold", "aux"):
            at = -(-at // BLOCK) * BLOCK
        elif section == "hot":
            at = -(-at // LINE) * LINE
        marks[section] = at
        for entry in fields:
            sub = np.dtype([entry], align=True)
            alignment = max(8 if sub.itemsize >= 8 else sub.alignment, sub.alignment)
            alignment = BLOCK if section == "cold" else LINE if section == "hot" and sub.itemsize >= LINE else alignment
            at = -(-at // alignment) * alignment
            names.append(str(entry[0]))
            formats.append(sub[0])
            offsets.append(at)
            at += sub.itemsize
    size = -(-at // 64) * 64
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size}), marks


SM, SECTIONS = _layout()
HOT_OFFSET = SECTIONS["hot"]
COLD_OFFSET = SECTIONS["cold"]
RECORDED_BYTES = SECTIONS["aux"]
NUM_COLD_BLOCKS = (RECORDED_BYTES - COLD_OFFSET) // BLOCK
assert NUM_COLD_BLOCKS <= 64 * SM["dirty"].shape[0] <= 64 * 64
# the marks of all existing cold blocks
ALL_COLD_BLOCKS = np.packbits(np.arange(64 * SM["dirty"].shape[0]) < NUM_COLD_BLOCKS, bitorder="little").view("<u8")


def recorded_dtype() -> np.dtype:
    """Return the dtype of the recorded part of the record (everything before `aux`)."""
    names = [name for name in SM.names if SM.fields[name][1] < RECORDED_BYTES]
    return np.dtype(
        {
            "names": names,
            "formats": [SM.fields[name][0] for name in names],
            "offsets": [SM.fields[name][1] for name in names],
            "itemsize": RECORDED_BYTES,
        }
    )


def arrays_of(dtype: np.dtype, first: int = 0) -> list[tuple[int, int, int]]:
    """List (first word, word after, words per element, 1 if not whole words) of a record's fields, each up to the next."""
    fields = {dtype.fields[name][1]: dtype.fields[name][0] for name in dtype.names or ()}  # type: ignore[index]
    starts = sorted({at // 4 for at in fields} - {0})
    arrays = []
    for begin, end in zip([0, *starts], [*starts, dtype.itemsize // 4]):
        inner = fields.get(4 * begin)
        whole = inner is not None and inner.base.names is not None and inner.itemsize % 4 == 0
        if inner is not None and whole and not inner.shape:
            last = begin + inner.itemsize // 4
            arrays += arrays_of(inner, first + begin) + ([(first + last, first + end, 1)] if last < end else [])
        else:
            size = inner.base.itemsize // 4 if inner is not None and whole and inner.base.itemsize % 4 == 0 else 1
            arrays.append((first + begin, first + end, size))
    return arrays
