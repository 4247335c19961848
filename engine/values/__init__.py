"""What instructions compute: values of 32 lanes, in plain code for Python and as vectors for the compiled machine.

    execute       a warp instruction, from source rows to destination rows: the table of opcodes, and the dispatch made of it
    predicates  lane_by_lane  between_lanes     the opcodes that are no vector operation, each a function over 32 lanes
    access        a memory instruction: addresses, coalescing, loads, stores and atomics; texel: a texture fetch
    lanes  vectors  words      32 lanes at once; the frame in which an opcode finds its operands; words by address
    arithmetic  rounding  sfu  one lane: integers and bits; rounding modes and conversions; the special function unit
"""
