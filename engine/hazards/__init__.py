"""Hazards of machine code: dependences that its stall counts, counters and reuse bits do not cover. Rules: RULES.md, B11.

    effects    what an instruction reads and writes, and what its control code says
    latencies  how many cycles must lie between a producer and its consumer
    paths      which instructions may follow one: branches, calls and returns
    flow       what is outstanding at each instruction, over all paths; the hazards
    watch      hazards while a kernel runs on the sub-core, with the value read and the right one
"""
