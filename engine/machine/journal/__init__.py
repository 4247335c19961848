"""The journal: logs what changed in each cycle to the arrays of a Chunk.

    recorder      the host's side: shadows of the state, output arrays, and the chunk made of them
    log           the record by which compiled code reaches these arrays
    capture       the entry point, called after each cycle
    words         words of the state that differ from the shadow
    values        rows, register writes and memory words
"""
