"""One cycle of the streaming multiprocessor, and what it calls.

    cycle         the loop over cycles; cores/: one cycle of each kind of core, on one page
    stages/       the pipeline stages, one file each; schedulers/: which ready warp issues
    rows          registers and the rows that hold their values
    ports         the ports of the register banks
    collectors    what the operand collectors still have to read, and which is served
    scoreboard    registers with a pending write or read
    registers     those helpers that designs may call, under one name
    marks         marks for the journal of what the cycle changed
    journal/      logs what changed in each cycle to the arrays of a Chunk
    faults        the message for each fault of a running kernel
    host_calls    calls from a kernel to its host: printf, assert
"""
