"""The guided tours of `rfview learn`.

    tour  tours/       what a guided tour is; the tours
    page  window       paints a page of a tour; the window at the foot of the main screen
    make               re-records the bundled recording and the tours' runs
"""
