"""Gathers a frame's data in the session worker's thread, so that painters never wait for a file.

    source    the scene at the cursor: the machine, the overview, breakpoints, marks
    spans               what TIMELINE and PIPELINE show around the cursor
    watches             the watched items and their last cycles
    lines               the cost of each source line, for LINES and CODE
    summary             what the sentences of SUMMARY are made of, counted while the worker is idle
    brush     overlay   a stretch summed up as a whole; a second run laid over the first
"""
