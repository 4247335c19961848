"""What a run was limited by, in at most five sentences, each with its share, its place and what would lift it.

    facts     what the rules may use: counts of the whole run and, if they were counted, who held whom
    floors    the cycles that each unit needs at least, from counts alone
    lifts     what would lift a wait: by its state, by more warps, by what a design says of its own
    rules     the rules: when each fires, what it says, what would lift it
    runs      the other finished runs of the family, beside this one
    summarise the sentences of a session or of a finished simulator, ranked
"""
