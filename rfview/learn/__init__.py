"""What explains rfview to its reader: every term with its source, and the guided tours of `rfview learn`.

    terms  sources     every term explained; where each comes from
    own_design  rules  topics      the help topics `design` and `rules`; those that are text alone
    tour  tours/       what a guided tour is; the tours
    page  window       a page of a tour, painted; the window at the foot of the main screen
    make               records the tours' runs again
"""
