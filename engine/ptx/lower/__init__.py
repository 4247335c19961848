"""The syntax tree to virtual instructions in basic blocks, statement by statement.

kernel.py's tables say which file lowers which instruction; context is the state of lowering one kernel, names its scopes,
layout where declared variables lie. inline, indirect, recursion, heap: calls; expand, steps: what becomes several
instructions; the other files: one kind of instruction each.
"""
