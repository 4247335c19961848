"""Finding cycles and coming back to them.

    search       the nearest hit from a cycle; events: kinds that one can go to
    breakpoints  a place with a condition; kinds: what there is to wait for, a class each
    hits         which warp an expression is about
    changes      what a stop at a change says: old, new, and who wrote it
    marks        named places; history: where a session has stopped
"""
