"""Finding cycles and coming back to them.

    search      the nearest hit from a cycle; events: kinds that one can go to; breakpoints
    changes     what a stop at a change says: old, new, and who wrote it
    marks       named places; history: where a session has stopped
"""
