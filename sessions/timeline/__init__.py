"""A range of cycles with the state at each: base (the reading contract), live, replay, keyframes, recipe.

    base        what every timeline can answer
    live        one that the engine extends; keyframes: copies of the machine in bounded memory
    replay      one from a session file
    recipe      one from a recipe file: what a run needs to be simulated again
    register_log    who wrote a register, and its value at every cycle, in any design
"""
