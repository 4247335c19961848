"""Source lines (CUDA C, Python or Triton) of a program: found for each instruction, counted, and searched for.

    table     which line each instruction belongs to, the texts of the sources, and what `file:line` names
    counts    the cost of each instruction and line over a range of cycles: issued, stalled by reason, registers
    moves     the cycles at which a warp reaches another line, for searches
    report    the counts per line as a text table and as data
"""
