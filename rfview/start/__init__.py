"""The start screen of plain `rfview`: everything there is to open, described.

    items      recordings, lessons, kernels and programs, with the command line that opens each
    page       the screen as lines
    screen     the screen; what Enter chose is run by commands/first.py
"""
