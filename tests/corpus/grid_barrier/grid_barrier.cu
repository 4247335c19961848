// A barrier across CTAs that are all resident: a counter, fences, spinning on volatile, acquire and release accesses.
#include <cuda/atomic>

__device__ void wait_for_all(unsigned *arrived, unsigned count)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (*(volatile unsigned *)arrived < count)
            ;
        __threadfence();
    }
    __syncthreads();
}

extern "C" __global__ void grid_barrier(const int *in, int *middle, int *out, unsigned *arrived, int *flag)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    middle[i] = in[i] + 1;
    wait_for_all(arrived, gridDim.x);
    int other = *(volatile int *)&middle[n - 1 - i];
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(flag[0]);
    if (i == n - 1) {
        out[n] = other;
        ready.store(1, cuda::memory_order_release);
    }
    if (threadIdx.x == 0) {
        while (ready.load(cuda::memory_order_acquire) == 0)
            ;
        out[n + 1 + blockIdx.x] = *(volatile int *)&out[n];
    }
    cuda::atomic_ref<int, cuda::thread_scope_block> passed(flag[1]);
    passed.fetch_add(2, cuda::memory_order_relaxed);
    out[i] = other;
}
