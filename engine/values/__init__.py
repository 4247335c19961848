"""What instructions compute: values of 32 lanes, as NumPy code for Python and as vectors for the compiled machine.

    execute       a warp instruction, from source rows to destination rows: the table of opcodes, and its dispatch
    machine       the same for machine code; machine_rows: opcodes of its own; machine_operands: what it does to operands
    product  matrix  packed   tensor cores; matrices in lanes; integers packed in words
    small_floats  pairs of floats of 8 bits
    predicates  lane_by_lane  between_lanes     opcodes that are not vector operations, each a function over 32 lanes
    access        a memory instruction: addresses, coalescing, loads, stores and atomics; texel: a texture fetch
    sectors       the 32-byte sectors that an access touches; ideal: the fewest lines or passes for its bytes
    lanes  vectors  words      32 lanes at once; the frame that gives an opcode its operands; words by address
    arithmetic  rounding  sfu  one lane: integers and bits; rounding modes and conversions; the special function unit
"""
