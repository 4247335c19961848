"""numba-cuda: a stencil in shared memory with halo, and an atomic maximum. Compile: python numba_stencil.py."""

from pathlib import Path

from numba import cuda, float32, int32, types


def numba_stencil(source, target, largest):
    tile = cuda.shared.array(66, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    n = source.shape[0]
    if i < n:
        tile[t + 1] = source[i]
        if t == 0:
            tile[0] = source[max(i - 1, 0)]
        if t == cuda.blockDim.x - 1 or i == n - 1:
            tile[t + 2] = source[min(i + 1, n - 1)]
    cuda.syncthreads()
    if i < n:
        value = (tile[t] + tile[t + 2]) * float32(0.25) + tile[t + 1] * float32(0.5)
        target[i] = value
        cuda.atomic.max(largest, i % 4, int32(value))


if __name__ == "__main__":
    signature = types.void(float32[::1], float32[::1], int32[:])
    ptx, _ = cuda.compile(numba_stencil, signature, cc=(7, 5), output="ptx", abi="numba", device=False)
    Path(__file__).with_suffix(".sm75.ptx").write_text(ptx)
