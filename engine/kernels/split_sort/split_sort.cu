// Sort blocks of 1,024 keys with values by some bits, as splitSort in Parboil's mri-gridding: bit by bit, in registers.
#define THREADS 256
#define EACH 4

// Return the sum of a number over the threads before this one; the sum of all is left in *total.
__device__ int scanned(int number, int *sums, int *total)
{
    int thread = threadIdx.x;
    sums[thread] = number;
    __syncthreads();
    for (int reach = 1; reach < THREADS; reach *= 2) {
        int other = thread >= reach ? sums[thread - reach] : 0;
        __syncthreads();
        sums[thread] += other;
        __syncthreads();
    }
    *total = sums[THREADS - 1];
    int before = sums[thread] - number;
    __syncthreads();
    return before;
}

extern "C" __global__ void split_sort(unsigned int *keys, unsigned int *values, int bits)
{
    __shared__ unsigned int moved[THREADS * EACH];
    __shared__ int sums[THREADS];
    int thread = threadIdx.x, base = blockIdx.x * THREADS * EACH;
    unsigned int key[EACH], value[EACH];
    int place[EACH];
    #pragma unroll
    for (int e = 0; e < EACH; e++) {
        key[e] = keys[base + thread * EACH + e];
        value[e] = values[base + thread * EACH + e];
    }
    for (int bit = 0; bit < bits; bit++) {
        int zeros = 0, all;
        #pragma unroll
        for (int e = 0; e < EACH; e++)
            zeros += !(key[e] >> bit & 1);
        int zero = scanned(zeros, sums, &all);
        int one = all + thread * EACH - zero;
        #pragma unroll
        for (int e = 0; e < EACH; e++)
            place[e] = key[e] >> bit & 1 ? one++ : zero++;
        #pragma unroll
        for (int e = 0; e < EACH; e++)
            moved[place[e]] = key[e];
        __syncthreads();
        #pragma unroll
        for (int e = 0; e < EACH; e++)
            key[e] = moved[thread * EACH + e];
        __syncthreads();
        #pragma unroll
        for (int e = 0; e < EACH; e++)
            moved[place[e]] = value[e];
        __syncthreads();
        #pragma unroll
        for (int e = 0; e < EACH; e++)
            value[e] = moved[thread * EACH + e];
        __syncthreads();
    }
    #pragma unroll
    for (int e = 0; e < EACH; e++) {
        keys[base + thread * EACH + e] = key[e];
        values[base + thread * EACH + e] = value[e];
    }
}
