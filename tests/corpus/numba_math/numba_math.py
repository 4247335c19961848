"""numba-cuda: double precision functions with slow paths, and a strided 2D array. Compile: python numba_math.py."""

import math
from pathlib import Path

from numba import cuda, float64, int64, types


def numba_math(angle, matrix, out, powers):
    i = cuda.grid(1)
    if i < angle.shape[0]:
        out[i] = math.sin(angle[i]) + math.sqrt(matrix[i % matrix.shape[0], i % matrix.shape[1]])
        if i % 3 != 0:
            powers[i] = int64(math.pow(1.0 + i % 7, 5.0) + 0.5) // 3


if __name__ == "__main__":
    signature = types.void(float64[::1], float64[:, :], float64[::1], int64[::1])
    ptx, _ = cuda.compile(numba_math, signature, cc=(7, 5), output="ptx", abi="numba", device=False)
    Path(__file__).with_suffix(".sm75.ptx").write_text(ptx)
