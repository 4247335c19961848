"""The screens of `rfview compare`.

    screen    two runs side by side, or more as small multiples; by_line: two programs line by line
    runs      what these have in common
    source  multiples  programs   compute what these views show
    app       the program; the main screen over a comparison, one run laid over the other
"""
