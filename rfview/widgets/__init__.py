"""Textual widgets: thin ones, each of which shows lines that a painter in render/ returns.

    panel      a panel of the main screen
    panels     the overview and the footer: panels that handle the mouse in their own way
    guarded    keyed      screens and widgets whose defects do not end the session; screens that read keys
    prompt     window     the command line; the content of a window, of a picture's too
    pixels     pixels as escape sequences of Kitty or Sixel graphics
"""
