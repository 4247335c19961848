"""Debugger commands as text, for scripts and the screens' command line.

    table       all of them, and running a line; verb: a command and its answer as data; arguments: parsing their text
    move  breaks  stop  find    steps and places; breakpoints; watchpoints, traces, statistics; events and conditions
    look  why  after  follow    values, tables, marks; why a warp waits, what that delayed; where a wrong value goes
    relief                      what-if runs with the setting that `why` names
    heat  image                 values over time; buffers as pictures
    check                       findings of the checker (races and the like) in the whole run
    branch  capture             forks, swaps and comparisons; a part of a session as a file
    script      command files, as text or as JSON lines; reading: how they are read
"""
