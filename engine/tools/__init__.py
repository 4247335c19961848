"""Host-side tools for the machine: what the papers do before a run, at compile time or by profiling.

    calibration the cycles that an operation takes on a machine, by microbenchmarks
    probes      the same of sub-cores, by small kernels that time themselves; card: on a GPU; measure: into a file
    mapping     the mapping of registers to places in a racetrack bank, from a trace of accesses
    mined_latencies  latencies from ptxas's own control codes, for any architecture
    profiling   that trace, from a run of the racetrack design
    synthetic   generates kernels with given register traffic
    tlp         the fastest number of CTAs per SM, from three profiling runs for each number
"""
