"""Runs that leave a run.

    fork        something changed from here on; swap: another design or kernel
    capture     a part of a run as a file
    relief      the setting that a chain of causes names, tried; the run again with other parameters
    follow      where a wrong value goes, by running on with the right one beside; arrivals: what comes to differ
"""
