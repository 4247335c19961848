"""Chunks as bytes, and back; README.md has goals, grammar and an example.

    streams     streams of numbers in byte planes under zstd, with limits; number lists in maps
    changes     the reader of state changes; logs: of register rows, memory words and register writes
    encode      the writer of all of them; loops: its parts compiled by numba; compiling: compiles them during a recording
    pages       arrays in pages: which changed, and their contents
    limits      how much memory reading may use
"""
