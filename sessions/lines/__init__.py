"""Lines of CUDA C, Python or Triton that a program was compiled from: found for each instruction, counted, and reached.

    table     which line each instruction belongs to, the texts of the sources, and what `file:line` names
    counts    what each instruction and each line cost over a stretch of cycles: issued, stalled by reason, registers
    moves     where a warp comes to another line, as something to search for
    report    the counts per line as a table for people and as data
"""
