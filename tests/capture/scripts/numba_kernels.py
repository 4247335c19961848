"""A numba-cuda script that checks its results: host and device arrays, shared memory, a reduction, a ufunc."""

import sys

import numpy as np
from numba import cuda, float32, vectorize

TILE = 8


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def matmul(a, b, c):
    rows = cuda.shared.array((TILE, TILE), dtype=float32)
    columns = cuda.shared.array((TILE, TILE), dtype=float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    found = float32(0.0)
    for i in range(a.shape[1] // TILE):
        rows[tx, ty] = a[x, ty + i * TILE]
        columns[tx, ty] = b[tx + i * TILE, y]
        cuda.syncthreads()
        for j in range(TILE):
            found += rows[tx, j] * columns[j, ty]
        cuda.syncthreads()
    c[x, y] = found


@cuda.reduce
def total(a, b):
    return a + b


@vectorize(["float32(float32, float32)"], target="cuda")
def twice_and(a, b):
    return a + a + b


def main(size):
    rng = np.random.default_rng(7)
    x, y = rng.random(size, dtype=np.float32), rng.random(size, dtype=np.float32)
    wanted = np.float32(2.0) * x + y
    on_device = cuda.to_device(y)
    start, end = cuda.event(), cuda.event()
    start.record()
    saxpy[(size + 63) // 64, 64](np.float32(2.0), x, on_device)
    end.record()
    end.synchronize()
    assert cuda.event_elapsed_time(start, end) > 0
    np.testing.assert_allclose(on_device.copy_to_host(), wanted, rtol=1e-6)
    a, b = rng.random((16, 16), dtype=np.float32), rng.random((16, 16), dtype=np.float32)
    c = np.zeros((16, 16), dtype=np.float32)
    matmul[(2, 2), (TILE, TILE)](a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)
    assert total(np.arange(size, dtype=np.int64)) == size * (size - 1) // 2
    np.testing.assert_array_equal(twice_and(x, y), x + x + y)
    print("all right")
    sys.exit(3)


main(int(sys.argv[1]))
