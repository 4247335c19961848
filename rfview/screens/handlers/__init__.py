"""What the actions of rfview/actions.py do to the main screen: plain functions handler(main, pressed), by category.

    time  stop  ask  screen   the categories of the help; each ends in its part of the table, HANDLERS
    table                     all of them: HANDLERS
    prompt                    what a line typed at the prompt does
    focus                     which panel has the keys, what is chosen in it, clicks
    search                    through the program, and in time after `find`
"""
