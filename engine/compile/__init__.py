"""How the machine becomes machine code: marks, decorators, the cache on disk, and what numba is told to do otherwise.

    device        marks for functions of the compiled step, without importing numba
    jit           numba's decorators: entry points, and helpers that become parts of them
    cache         the folder of machine code, the engine's source files, and the hash that keeps the one true to the other
    bits  intrinsics    helpers in plain Python, and the compiled versions of them
    extern        the call by symbol from a design's loop to what all designs share
    numba_parts   machine code of entry points alone, and of what they call only as parts of them
    warm  child   whether the cache has it; a process that compiles into the cache, with progress
"""
