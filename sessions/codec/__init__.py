"""Chunks as bytes, and back; README.md has goals, grammar and an example.

    streams     streams of numbers in byte planes under zstd, with limits; number lists in maps
    changes     the reader of state changes; logs: of register rows, memory words and register writes
    encode      the writer of them all; loops: what of it numba compiles; compiling: has that done beside a recording
    limits      how much memory reading may take
"""
