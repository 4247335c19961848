"""The screens of `rfview compare`.

    screen    two runs side by side, more as small multiples; their worker thread
    source    gathers what they show
    lent      two runs side by side over the main screen, which lends them
    overlaid  the main screen over a comparison, one run laid over the other
"""
