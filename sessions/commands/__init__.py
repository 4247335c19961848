"""Debugger commands as text, for scripts and the screens' command line.

    table       all of them, and running a line; verb: what a command is and answers; arguments: reading their text
    move  breaks  stop  find    steps and places; breakpoints; watchpoints, traces, statistics; events and conditions
    look  why  follow           values, tables, marks; why a warp waits; where a wrong value goes
    relief                      the setting that why names, tried
    heat  image                 values through time; buffers as pictures
    check                       what PTX leaves open, in the whole run
    branch  capture             forks, swaps and comparisons; a part of a session as a file
    script      command files, as text or as JSON lines
"""
