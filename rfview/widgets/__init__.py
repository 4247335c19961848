"""Textual widgets: thin, each shows lines that a painter in render/ returns.

    panel      a panel of the main screen, which needs nothing of its own
    overview   footer     panels that take the mouse in their own way
    guarded               screens and widgets whose defects do not end the session
    prompt     window     the line for commands; the content of a popup
    picture    pixels     the content of the picture window; pixels as sequences of Kitty's or Sixel graphics
"""
