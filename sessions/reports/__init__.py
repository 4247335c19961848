"""Tables as text and as data.

    tables      the machine at a cycle; statistics: totals between two cycles
    held        the source lines that caused most lost warp-cycles, and what explains them
    tracing     every past hit of a condition, with the values there
    pipeline    one warp's instructions, stage by stage
"""
