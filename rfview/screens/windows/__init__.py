"""The windows that open over the main screen.

    popup     their base class; lines of text
    why       the chain of reasons
    after     the same turned round: what one instruction delayed
    relief    what would make the whole run end earlier
    breaks    breakpoints, watchpoints and marks
    findings  the findings of a check of the run
    tables    statistics, past hits of a tracepoint
    grid      the base class of windows of values on a grid:
    image     a buffer as a picture
    heat      a register's lanes, or a buffer's elements, through time
    choose    another design or kernel
    palette   every action by name
    help      every key, state and command, searched with /
"""
