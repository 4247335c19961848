// Sum an array: every CTA sums a strided part into one partial, a second launch of one CTA sums the partials.
#define THREADS 256

extern "C" __global__ void reduction(const float *in, float *out, int n)
{
    __shared__ float sums[THREADS];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS)
        sum += in[i];
    sums[t] = sum;
    __syncthreads();
    for (int width = THREADS / 2; width > 0; width >>= 1) {
        if (t < width)
            sums[t] += sums[t + width];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = sums[0];
}
