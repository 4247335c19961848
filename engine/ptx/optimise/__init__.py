"""What each pass asks about a program, and the passes that make it better before registers are allocated.

    control_flow  liveness  bitsets      the graph of blocks; what is live where; sets of variables
    cleanup                              copies and constants propagated, dead results dropped, parameters sunk
    addresses                            64-bit values of which the low word is enough (an option)
    dependences  schedule                what must stay in order in a block; a better order by latencies (an option)
"""
