// Sobol's quasi-random numbers in Gray-code order: a thread jumps to its first point, then one step takes one exclusive or.
extern "C" __global__ void sobol(const unsigned int *directions, float *output, int points)
{
    __shared__ unsigned int v[32];
    directions += 32 * blockIdx.y;
    output += points * blockIdx.y;
    if (threadIdx.x < 32)
        v[threadIdx.x] = directions[threadIdx.x];
    __syncthreads();
    int first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    unsigned int x = 0, gray = first ^ first >> 1;
    for (int bit = 0; bit < 32; bit++)
        if (gray >> bit & 1)
            x ^= v[bit];
    if (first < points)
        output[first] = (float)x * 2.3283064e-10f;
    // stride is a power of two: between a point and the next of this thread two bits of the Gray code change
    unsigned int high = v[__ffs(stride) - 2];
    for (int i = first + stride; i < points; i += stride) {
        x ^= high ^ v[__ffs(~((i - stride) | (stride - 1))) - 1];
        output[i] = (float)x * 2.3283064e-10f;
    }
}
