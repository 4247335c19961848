"""The screens of `rfview compare`.

    screen    two runs side by side, or more as small multiples
    source  multiples   gather what these two views show
    worker    the thread in which that happens
    lent      two runs side by side, over the main screen, which lends them
    overlaid  the main screen over a comparison, one run laid over the other
"""
