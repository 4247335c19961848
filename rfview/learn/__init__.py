"""Explains rfview to its users: every term with its source, and the guided tours of `rfview learn`.

    terms  sources     explanations of all terms; the source of each
    own_design  rules  topics      the help topics `design` and `rules`; those that are plain text
    tour  tours/       what a guided tour is; the tours
    page  window       paints a page of a tour; the window at the foot of the main screen
    make               re-records the bundled recording and the tours' runs
"""
