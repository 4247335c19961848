"""A range of cycles with the state at each.

    base          what every timeline provides
    decoded       a live or recorded chunk, decoded on demand for queries about its cycles
    live          a timeline extended by the engine; keyframes: copies of the machine in bounded memory
    sweep         notices when a search goes through a live run, and what it needs of each chunk
    replay        a timeline from a session file; opening: opens it, recovering what it can from a damaged one
    verify        reads a recording completely and compares the states where chunks meet
    recipe        recipe files, from which a run can be simulated again; recipe_writing: runs a kernel and writes one
    recipe_filling  simulates a recipe's run, checked, into a file or live; simulate: the simulator of such a run
    register_log  one register in the log of writes; stores: which store wrote a word of memory
    invariants    sums that must hold at any cycle
"""
