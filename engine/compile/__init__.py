"""How the machine becomes machine code: marks, decorators, the disk cache, and our changes to numba.

    device        marks for functions of the compiled step, without importing numba
    jit           numba's part: entry points, and what becomes of the marked functions
    cache         the folder of machine code, the engine's source files, and the hash that ties them together
    stored        a file of machine code per function and types of arguments, verified before it is loaded
    bits  intrinsics    helpers in plain Python, and their compiled versions
    extern        the call by symbol from a design's loop to the part shared by all designs
    numba_parts   makes numba generate machine code for entry points only, with everything they call linked in
    warm  child   whether a design is in the cache; a process that compiles into the cache, with progress
"""
