"""A range of cycles with the state at each.

    base          what every timeline can answer
    decoded       a chunk, live or recorded, that answers questions about its cycles
    live          one that the engine extends; keyframes: copies of the machine in bounded memory
    replay        one from a session file; opening: opens it, and saves what can be saved of a damaged one
    verify        reads all of a recording, and compares where chunks meet
    recipe        a recipe file: what a run needs to be simulated again; recipe_writing: runs a kernel and writes one
    recipe_filling  simulates a recipe's run again, checked, into a file, or live; simulate: the simulator of such a run
    register_log  one register in the log of writes; invariants: what must add up at any cycle
"""
