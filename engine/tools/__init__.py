"""Host-side tools over the machine: what the papers do before a run, at compile time or by profiling.

    calibration what an operation takes on a machine, by microbenchmarks
    mapping     which register lies where in a racetrack bank, from a trace of accesses
    profiling   that trace, from a run of the racetrack design
    synthetic   kernels whose register traffic is chosen
    tlp         how many CTAs per SM run fastest, from three profiling runs for each number
"""
