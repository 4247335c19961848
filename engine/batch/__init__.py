"""Many runs of the machine as plain data, distributed over processes or a cluster, each done once.

The common part of sweeps, comparisons, the check of the papers' claims and the property set. Nothing here imports numba
before a machine runs.

    jobs        one run as data, and its execution
    nudge       a run whose loads take a cycle longer for a while: what moves its end by chance
    samples     measurements that need stepping through a run
    pools       where jobs run: in this process or in several
    cluster     a Dask cluster as a pool; the choice of a pool by a command's options
    sharing     sends batches of items to workers and collects outcomes; repeats what a killed worker had
    keys        everything that a run depends on, as a hash
    runs        results kept in memory
    compiling   compiles designs ahead
"""

from rfview.engine.batch.cluster import pool_of
from rfview.engine.batch.compiling import compile_machines
from rfview.engine.batch.jobs import Job, Result, fingerprint, mapping_of, run_job, shape_of, simulator_of
from rfview.engine.batch.pools import Pool, Processes, signals_deferred
from rfview.engine.batch.runs import Runs
from rfview.engine.batch.sharing import Done, share_out

__all__ = ["Done", "Job", "Pool", "Processes", "Result", "Runs", "compile_machines", "fingerprint", "mapping_of", "pool_of",
           "run_job", "shape_of", "share_out", "signals_deferred", "simulator_of"]
