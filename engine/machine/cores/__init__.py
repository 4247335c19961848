"""The cores: how an SM issues, reads, executes and writes. The design's parameter record says which one runs.

    choice        the functions of a core that the loop calls
    collector     Fermi's core: scoreboard, operand collectors, result buses
    subcore/      that of Volta and later: control codes, four sub-cores (RULES.md, B11)
    accounting    what every core counts and asks at the end of a cycle
"""
