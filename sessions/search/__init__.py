"""Finding cycles and coming back to them.

    search      the nearest hit from a cycle; events: kinds that one can go to; breakpoints
    hits        which warp a breakpoint stopped for
    changes     what a stop at a change says: old, new, and who wrote it
    marks       named places; history: where a session has stopped
"""
