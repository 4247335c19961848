"""Analyses that all passes use, and the optimisations that run before register allocation.

    control_flow  liveness  bitsets      control-flow graph; live variables; sets of variables
    cleanup                              copy and constant propagation, dead code elimination, sinking of parameters
    addresses                            narrows 64-bit values of which only the low word is needed (an option)
    dependences  schedule                which instructions of a block must stay in order; list scheduling (an option)
"""
