"""The screens of `rfview compare`.

    screen    two runs side by side, or more as small multiples
    source  multiples   compute what these two views show
    app       the program; the main screen over a comparison, one run laid over the other
"""
