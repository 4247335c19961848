"""One cycle of the streaming multiprocessor, and what it calls.

    cycle         one cycle, on one page, and the loop that runs many
    stages/       the pipeline stages, one file each; schedulers/: which ready warp issues
    registers     registers, ports and the scoreboard: the helpers that stages and designs share
    journal       after each cycle, what changed, into the arrays of a Chunk
    faults        the sentence that each fault of a running kernel becomes
    host_calls    what a kernel asks of its host: printf, assert
"""
