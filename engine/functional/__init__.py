"""The functional mode: a launch by its values only, without pipelines, banks, caches and cycles.

    loop      the loop over resident warps; each runs until it waits, ends, or has had its turn
    steps     one warp instruction, complete before the next one begins
    machine_turn  machine_steps     a warp's turn and one instruction of machine code
    gather    loads and stores of whole words, all lanes at once
    watch     calls by which the checker watches the loop
    machine   a Simulator that runs launches in this way
    warm      compiles the loop into the disk cache, in a process of its own
"""
