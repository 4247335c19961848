// Sort blocks of 1,024 pairs by a bitonic network in shared memory, two pairs per thread.
#define SIZE 1024

extern "C" __global__ void bitonic(unsigned int *keys, unsigned int *values)
{
    __shared__ unsigned int key[SIZE], value[SIZE];
    int thread = threadIdx.x, base = blockIdx.x * SIZE;
    for (int i = thread; i < SIZE; i += SIZE / 2) {
        key[i] = keys[base + i];
        value[i] = values[base + i];
    }
    for (int size = 2; size <= SIZE; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int low = 2 * thread - (thread & (stride - 1)), high = low + stride;
            bool up = (low & size) == 0;
            unsigned int a = key[low], b = key[high];
            if ((a > b) == up) {
                key[low] = b;
                key[high] = a;
                unsigned int kept = value[low];
                value[low] = value[high];
                value[high] = kept;
            }
        }
    __syncthreads();
    for (int i = thread; i < SIZE; i += SIZE / 2) {
        keys[base + i] = key[i];
        values[base + i] = value[i];
    }
}
