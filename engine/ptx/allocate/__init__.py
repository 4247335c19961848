"""Virtual variables to registers.

    interference  colouring      what cannot share a register; registers for all of them
    spill  predicates            values that stay in local memory, and predicates that stay in registers
    numbering                    numbers that put the sources of an instruction in different banks (an option)
"""
