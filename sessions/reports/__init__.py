"""Tables for people and scripts.

    tables      the machine at a cycle; statistics: what happened between two
    tracing     every past hit of a condition, with the values there
    pipeline    one warp's instructions, stage by stage
"""
