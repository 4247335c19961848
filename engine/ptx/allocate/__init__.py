"""Register allocation: assigns registers to virtual variables.

    interference  colouring       which variables cannot share a register; assignment by graph colouring
    pressure                      which variables to spill when too many are live
    spill  predicates             spilling: of values to local memory, of predicates to data registers
    numbering                     renumbers registers so that an instruction's sources lie in different banks (an option)
"""
