"""Runs that branch off from a run.

    fork        the run with something changed from a cycle on; swap: on another design
    edit        the program as its files are after an edit, and another kernel
    capture     a part of a run as a file
    relief      what-if runs: with a setting that `why` names as relief, or with other parameters
    study       all such settings over the whole run, beside the floors of its units and what nudges do by chance
    without     the run without one delay: what that had delayed, unless coincidences decide; lifted: how it is taken away
    follow      where a wrong value goes, by also running with the right one; arrivals: what begins to differ
"""
