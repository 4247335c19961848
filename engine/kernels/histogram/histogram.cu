// Histogram of bytes in 256 bins: each CTA counts in shared memory, then adds its counts to the global bins.
#define BINS 256

extern "C" __global__ void histogram(const unsigned int *words, unsigned int *bins, int num_words)
{
    __shared__ unsigned int count[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        count[bin] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < num_words; i += gridDim.x * blockDim.x) {
        unsigned int word = words[i];
        atomicAdd(&count[word & 0xff], 1);
        atomicAdd(&count[(word >> 8) & 0xff], 1);
        atomicAdd(&count[(word >> 16) & 0xff], 1);
        atomicAdd(&count[word >> 24], 1);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        atomicAdd(&bins[bin], count[bin]);
}
