"""The record through which compiled code accesses the journal's arrays, and how much of each is in use."""

from __future__ import annotations

from typing import Any

import numpy as np

# arrays accessed by address: passing this many as arguments costs more than an idle cycle
WATCHED = ("state", "shadow", "design", "design_shadow", "value_rows", "memory", "noted", "chosen", "units")
WRITTEN = ("block_end", "block_first", "block_mask", "block_value", "row_end", "row_index", "row_kind", "row_word",
           "mem_end", "mem_index", "mem_value", "write_end", "write_register", "write_lanes", "write_pc", "write_row",
           "write_word")
# what is logged, as bits of `on`: all changes of state; those of some words; rows, memory words and register writes
STATE, CHOSEN, VALUES = 1, 2, 4
LOG: Any = np.dtype(
    [
        ("mem_count", "i8"),          # words noted in this cycle
        ("blocks", "i8"),             # entries used in the output arrays
        ("values", "i8"),
        ("rows", "i8"),
        ("row_words", "i8"),
        ("words", "i8"),
        ("writes", "i8"),
        ("write_words", "i8"),
        ("cycles", "i8"),
        ("block_space", "i8"),         # entries that must be free before a cycle, else the chunk ends
        ("value_space", "i8"),
        ("row_space", "i8"),
        ("word_space", "i8"),
        ("write_space", "i8"),
        ("num_chosen", "i8"),          # entries of `chosen` in use: numbers of words of state
        ("on", "u1"),
        *((f"{name}_{what}", "i8") for name in (*WATCHED, *WRITTEN) for what in ("at", "size")),  # address, words
    ],
    align=True,
)

# the numbers that `begin` sets to 0
COUNTED = LOG.names[: LOG.names.index("block_space")]
