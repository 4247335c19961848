"""The pipeline stages, one file each, called by cycle.py in hardware order.

    ctas                      CTAs take free slots and return them
    fetch  issue              refill the I-buffers; decide every warp's state, issue one instruction per scheduler
    evaluate  issue_cache     why a warp cannot issue: every check in order; a fast path with the same results
    active_set                which warps of a scheduler may issue
    units  collectives        whether units can take another instruction; instructions that need all lanes of a member mask
    warp_state                what a warp does, what it waits for, and whether that must be decided again
    execution                 from a collector with all operands to an execution unit
    control  barriers         instructions that execute at issue; CTA barriers
    splits  split_table       SIMT divergence; the table of a warp's splits
    forward_progress          lets lanes run that others wait for
    special                   special registers
    convergence               divergence of machine code: a flat set of splits, convergence barriers
    machine_control  sources  its control instructions; where its operands come from, constants and uniform registers
    machine_state             instructions that move predicates and barrier registers
    memory  regions           LD/ST, one instruction at a time; the memory map for its accesses
    compound                  accesses of machine code that are more than a load or a store: LDGSTS, LDSM, STSM, SULD, SUST
    surface                   addresses of surface accesses of machine code
    constants  read_only      the constant cache; code shared with the instruction cache
    l1  l2                    the data cache and its MSHRs; the port to the interconnect, L2, DRAM
    inflight  completion      the table of issued instructions; the timing wheel that completes them
    write_back                results through the result buses into the register file
"""
