"""The start screen of plain `rfview`: what there is to open, and what each of it is.

    items      recordings, lessons, kernels and programs found, with the command line that opens each
    page       the screen as lines
    screen     the screen; what Enter chose is run by commands/first.py
"""
