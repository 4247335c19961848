// A histogram per CTA in shared memory, counted by atomics, as Parboil's histo_main; each CTA takes every so many points.
#define BINS 6144
#define THREADS 768

extern "C" __global__ void histo_main(const unsigned int *points, unsigned int *partial, int count)
{
    __shared__ unsigned int bins[BINS];
    for (int i = threadIdx.x; i < BINS; i += THREADS)
        bins[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS)
        atomicAdd(&bins[points[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += THREADS)
        partial[blockIdx.x * BINS + i] = bins[i];
}
