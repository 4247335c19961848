// Generic addresses: one function reads global, shared and local memory; the address space is asked at run time.
__device__ __noinline__ int total(const int *from, int count)
{
    int sum = 0;
    for (int k = 0; k < count; k++)
        sum += from[k] * (k + 1);
    return sum;
}

extern "C" __global__ void generic_pointers(const int *in, int *out, int *spaces)
{
    __shared__ int tile[68];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, mine[4];
    tile[t] = in[i];
    if (t < 4)
        tile[64 + t] = t;
    for (int k = 0; k < 4; k++)
        mine[k] = in[i] * (k + 2);
    __syncthreads();
    const int *from = t % 3 == 0 ? in + blockIdx.x * blockDim.x + (t & 31) : t % 3 == 1 ? tile + t : mine;
    out[i] = total(from, 4);
    spaces[i] = (__isGlobal(from) ? 1 : 0) | (__isShared(from) ? 2 : 0) | (__isLocal(from) ? 4 : 0);
    __syncthreads();
    int *to = t & 1 ? &tile[t] : &mine[t & 3];
    *to = 7 * t;
    atomicAdd(t & 1 ? &tile[t] : &out[i], 1000);
    __syncthreads();
    out[i] += t & 1 ? tile[t] : mine[t & 3];
}
