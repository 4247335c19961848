"""Who causes the wait: every lost warp-cycle, charged to the instruction that waited and to the one that held it up.

    account     the sparse table of lost warp-cycles by state, waiting instruction and holder; what accesses send
    rules       the holder for each state, with its source: one table
    after       what one instruction in flight delayed, hop by hop: the same rules turned round
    subcore     the holders on the sub-cores of Volta and later
    stretch     a stretch of cycles as columns, which the rules read
    flights     the instruction that a warp waits for, and the one that holds that up
    refusals    the instruction whose access has a bank, or keeps a design busy
"""
