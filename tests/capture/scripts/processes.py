"""A script whose processes use numba-cuda, in the way that its first argument names; it ends with 0 if all is right."""

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from numba import cuda


@cuda.jit
def add(a, by):
    a[cuda.threadIdx.x] += by


def work(by: int) -> bool:
    a = cuda.to_device(np.arange(32, dtype=np.int32))
    add[1, 32](a, by)
    return bool((a.copy_to_host() == np.arange(32) + by).all())


def refused(_: int) -> bool:
    try:
        work(3)
    except cuda.cudadrv.driver.CudaAPIError as error:
        return error.code == 3 and "do not survive fork" in str(error)
    return False


def children(way: str) -> bool:
    if way in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(way).Pool(2) as pool:
            return all(pool.map(work, [10, 20, 30], 1))
    if way == "futures":
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
            return all(pool.map(work, [10, 20, 30]))
    if way == "refused":
        with multiprocessing.get_context("fork").Pool(2) as pool:
            return all(pool.map(refused, [1, 2], 1))
    if way == "subprocess":
        return subprocess.run([sys.executable, __file__, "alone"], check=False).returncode == 0
    if way == "os_fork":
        child = os.fork()
        if not child:
            os._exit(0 if refused(0) else 1)
        return os.waitpid(child, 0)[1] == 0
    return os.system("ls / > /dev/null") == 0


if __name__ == "__main__":
    held = cuda.to_device(np.arange(7)) if sys.argv[1] != "fork" else None
    right = work(1) if sys.argv[1] == "alone" else children(sys.argv[1])
    right = right and work(2) and (held is None or bool((held.copy_to_host() == np.arange(7)).all()))
    sys.exit(0 if right else 1)
