"""Implements the actions of rfview/actions.py on the main screen: functions handler(main, pressed), by category.

    time  stop  ask  screen   the categories of the help; each ends with its part of the table, HANDLERS
    table                     all of them in one: HANDLERS
    lines                     of LINES
    prompt                    runs a line typed at the prompt
    focus                     which panel has the focus, what is chosen in it, clicks
    search                    in the program, and in time after `find`
"""
