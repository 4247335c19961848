"""Tables as text and as data.

    tables      the machine at a cycle; statistics: totals between two cycles
    tracing     every past hit of a condition, with the values there
    pipeline    one warp's instructions, stage by stage
"""
