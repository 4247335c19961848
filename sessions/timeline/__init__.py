"""A range of cycles with the state at each.

    base          what every timeline provides
    decoded       a live or recorded chunk, decoded on demand for queries about its cycles
    live          a timeline extended by the engine; keyframes: copies of the machine in bounded memory
    sweep         notices when a search goes through a live run, and what it needs of each chunk
    replay        a timeline from a session file; opening: opens it, recovering what it can from a damaged one
    again         a recording's run, simulated again from its keyframes where it has no chunks
    verify        reads a recording completely and compares the states where chunks meet
    filling       records a recording's run again, every cycle; simulate: the simulator of a recording's run
    register_log  one register in the log of writes; stores: which store wrote a word of memory
    once          consecutive chunks of a run, recorded as it goes by
    invariants    sums that must hold at any cycle
"""
