"""Finding cycles and coming back to them.

    search       the nearest hit from a cycle; events: kinds of events to go to
    breakpoints  a place with a condition; kinds: a class for each kind of breakpoint; reads: those of registers
    hits         which warp an expression refers to
    changes      the message for a stop at a change: old and new value, and what wrote it
    marks        named places; history: where a session has stopped
"""
