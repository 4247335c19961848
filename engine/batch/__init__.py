"""Many runs of the machine: described as plain data, shared out among processes or a cluster, each done once.

What sweeps, comparisons, the check of the papers' claims and the property set have in common. Nothing here imports numba
before a machine runs.

    jobs        one run as data, and doing it
    pools       where jobs run: here, in a few processes
    cluster     on a Dask cluster; which pool a command's options ask for
    sharing     batches of items to workers and their outcomes back; what a killed worker had is done again
    keys        what a run depends on, as a hash
    runs        results kept in memory
    compiling   designs compiled ahead
"""

from rfview.engine.batch.cluster import pool_of
from rfview.engine.batch.compiling import compile_designs
from rfview.engine.batch.jobs import Job, Result, fingerprint, mapping_of, run_job, shape_of, simulator_of
from rfview.engine.batch.pools import Pool, Processes
from rfview.engine.batch.runs import Runs
from rfview.engine.batch.sharing import Done, share_out

__all__ = ["Done", "Job", "Pool", "Processes", "Result", "Runs", "compile_designs", "fingerprint", "mapping_of", "pool_of",
           "run_job", "shape_of", "share_out", "simulator_of"]
