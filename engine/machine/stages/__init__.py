"""The pipeline stages, one file each, called by cycle.py in hardware order.

    ctas                      CTAs take free slots and give them back
    fetch  issue              refill the I-buffers; decide for every warp, send out one instruction per scheduler
    evaluate  issue_cache     why a warp cannot issue: every check in order; the fast path that gives the same
    units  collectives        what can take one more instruction; instructions that need all lanes of a member mask
    warp_state                what a warp does, what it waits for, and whether that is to be decided anew
    execution                 from a collector with all operands to an execution unit
    control  barriers         what acts at issue; CTA barriers
    splits  split_table       SIMT divergence; the table of a warp's splits
    forward_progress          lanes that others wait for run
    special                   special registers
    memory  regions           LD/ST, one instruction at a time; the memory map that its accesses see
    constants  read_only      the constant cache; what it shares with the instruction cache
    l1  l2                    the data cache and its MSHRs; the port to the interconnect, L2, DRAM
    inflight  completion      the table of issued instructions; the timing wheel that ends them
    write_back                results through the result buses into the register file
"""
