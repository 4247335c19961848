"""Gathers what a frame is drawn from: in the session worker's thread, so that painters never wait for a file.

    source    the scene at the cursor: the machine, the overview, breakpoints, marks
    spans     pipes     what TIMELINE and PIPELINE show around the cursor
    watches             what is watched, and its last cycles
    lines               what each source line cost, for LINES and CODE
    brush     overlay   the stretch that is looked at as a whole; a second run laid over the first
"""
