"""Virtual variables to registers.

    interference  colouring       what cannot share a register; registers for all of them
    pressure                      which variables to spill where too many are live
    spill  predicates             what is spilled: values to local memory, predicates to registers
    numbering                     numbers that put the sources of an instruction in different banks (an option)
"""
