"""Finding cycles and coming back to them.

    search      the nearest hit from a cycle; events: kinds that one can go to; breakpoints
    marks       named places; history: where a session has stopped
"""
