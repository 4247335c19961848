"""One cycle of the streaming multiprocessor, and what it calls.

    cycle         one cycle, on one page, and the loop that runs many
    stages/       the pipeline stages, one file each; schedulers/: which ready warp issues
    rows          registers and the rows that hold their values
    ports         the ports of the register banks
    collectors    what the operand collectors still have to read, and who is served
    scoreboard    registers with a write or a read before them
    registers     the helpers of these that designs may call, under one name
    marks         what the cycle changed, for the journal
    journal/      after each cycle, what changed, into the arrays of a Chunk
    faults        the sentence that each fault of a running kernel becomes
    host_calls    what a kernel asks of its host: printf, assert
"""
