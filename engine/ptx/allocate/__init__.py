"""Virtual variables to registers: interference, colouring, spill (to local memory), predicates (to registers)."""
