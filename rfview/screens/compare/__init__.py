"""The screens of `rfview compare`.

    screen    two runs side by side, or more as small multiples
    runs      what both have in common
    source  multiples   compute what these two views show
    app       the program; the main screen over a comparison, one run laid over the other
"""
