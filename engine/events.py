"""Event counters of the machine: indices into sm.events, their names and what one count means."""

from __future__ import annotations

FIRST_DESIGN_EVENT = 32

(INSTRUCTIONS, THREAD_INSTRUCTIONS, RF_READS, RF_WRITES, READ_CONFLICTS, WRITE_CONFLICTS, WAR_STALLS, L1_HITS, L1_MISSES,
 L1_PENDING_HITS, L2_HITS, L2_MISSES, DRAM_BYTES, SHARED_ACCESSES, SHARED_PASSES, GLOBAL_LOADS, GLOBAL_STORES, ATOMICS,
 TRANSACTIONS, BRANCHES, DIVERGENT_BRANCHES, BARRIERS, CTAS, SPLIT_YIELDS, CONST_ACCESSES, LOCAL_ACCESSES,
 ICACHE_MISSES, CONST_HITS, CONST_MISSES, SP_CYCLES, SFU_CYCLES, FP64_CYCLES) = range(32)

EVENTS: tuple[tuple[str, str], ...] = (
    ("instructions", "warp instructions issued"),
    ("thread_instructions", "lanes that executed, summed over issued instructions"),
    ("rf_reads", "warp-register reads granted"),
    ("rf_writes", "warp-register writes accepted"),
    ("read_conflicts", "row reads refused because another access had the bank"),
    ("write_conflicts", "row writes refused because another access had the bank"),
    ("war_stalls", "warp-cycles in which only a pending read of the destination blocked"),
    ("l1_hits", "lines found in L1"),
    ("l1_misses", "lines requested from L2"),
    ("l1_pending_hits", "lines found in L1 while still on their way"),
    ("l2_hits", "lines found in L2"),
    ("l2_misses", "lines fetched from DRAM"),
    ("dram_bytes", "bytes moved to and from DRAM"),
    ("shared_accesses", "shared-memory instructions"),
    ("shared_passes", "passes they took, conflicts included"),
    ("global_loads", "global and local load instructions"),
    ("global_stores", "global and local store instructions"),
    ("atomics", "atomic and reduction instructions"),
    ("transactions", "memory lines handled"),
    ("branches", "branch instructions"),
    ("divergent_branches", "branches that split their warp"),
    ("barriers", "barrier arrivals of warps"),
    ("ctas", "CTAs dispatched"),
    ("split_yields", "times a spinning split let a sibling run"),
    ("const_accesses", "constant-memory instructions"),
    ("local_accesses", "local-memory instructions"),
    ("icache_misses", "lines of instructions requested from L2"),
    ("const_hits", "lines found in the constant cache, those on their way among them"),
    ("const_misses", "lines of constants and parameters requested from L2"),
    ("sp_cycles", "cycles for which instructions took the input of an SP, or of a sub-core's FMA or ALU pipe"),
    ("sfu_cycles", "cycles for which they took the SFU, or a sub-core's XU"),
    ("fp64_cycles", "cycles for which they took a sub-core's FP64 pipe, or the one of all sub-cores"),
)
assert len(EVENTS) <= FIRST_DESIGN_EVENT
