// Named barriers: two groups of warps that meet apart, producer and consumer by arrive, reductions at barriers.
extern "C" __global__ void named_barriers(const int *in, int *out)
{
    __shared__ int stage[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, n = gridDim.x * blockDim.x, value = in[i];
    stage[t] = value;
    if (t < 64)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("barrier.sync 2, 64;" ::: "memory");
    out[i] = stage[t ^ 63];
    __syncthreads();
    if (t < 64) {  // producers: arrive and go on
        stage[t] = value * 2;
        asm volatile("bar.arrive 3, 128;" ::: "memory");
    } else {  // consumers: wait for the producers
        asm volatile("bar.sync 3, 128;" ::: "memory");
        stage[t] = stage[t - 64] + 1;
    }
    out[n + i] = __syncthreads_count(value & 1);
    out[2 * n + i] = __syncthreads_and(value < 100) * 2 + __syncthreads_or(value == 42);
    out[3 * n + i] = stage[127 - t];
    int barrier = 4 + (t >> 5), threads = 32;
    asm volatile("bar.sync %0, %1;" :: "r"(barrier), "r"(threads) : "memory");
    unsigned count;
    asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 50; barrier.red.popc.u32 %0, 9, 128, p; }"
                 : "=r"(count) : "r"(value) : "memory");
    out[4 * n + i] = count;
}
