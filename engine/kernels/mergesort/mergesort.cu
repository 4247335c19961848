// Stable merge sort of keys with values: blocks in shared memory, then pairs of runs, cut into short intervals.
#define LARGEST_BLOCK 1024
#define STEP 128

// Return how many of `length` sorted keys are less than a key, or where `equal` not greater.
__device__ int rank_of(unsigned int key, const unsigned int *sorted, int length, bool equal)
{
    int low = 0;
    while (length > 0) {
        int half = length / 2;
        unsigned int other = sorted[low + half];
        if (other < key || (equal && other == key)) {
            low += half + 1;
            length -= half + 1;
        } else {
            length = half;
        }
    }
    return low;
}

extern "C" __global__ void sort_shared(const unsigned int *keys, const unsigned int *values, unsigned int *sorted_keys,
                                       unsigned int *sorted_values)
{
    __shared__ unsigned int key[LARGEST_BLOCK], value[LARGEST_BLOCK];
    int t = threadIdx.x, threads = blockDim.x, block = 2 * threads, base = blockIdx.x * block;
    for (int i = t; i < block; i += threads) {
        key[i] = keys[base + i];
        value[i] = values[base + i];
    }
    for (int run = 1; run < block; run *= 2) {
        // this thread places one key of the first run of a pair and one of the second
        int within = t & (run - 1), pair = 2 * (t - within);
        __syncthreads();
        unsigned int key_a = key[pair + within], value_a = value[pair + within];
        unsigned int key_b = key[pair + run + within], value_b = value[pair + run + within];
        int to_a = pair + within + rank_of(key_a, key + pair + run, run, false);
        int to_b = pair + within + rank_of(key_b, key + pair, run, true);
        __syncthreads();
        key[to_a] = key_a;
        value[to_a] = value_a;
        key[to_b] = key_b;
        value[to_b] = value_b;
    }
    __syncthreads();
    for (int i = t; i < block; i += threads) {
        sorted_keys[base + i] = key[i];
        sorted_values[base + i] = value[i];
    }
}

// Every STEP-th key of a pair of runs begins an interval; starts: how many keys of each run go before the interval.
extern "C" __global__ void limits(const unsigned int *keys, int *starts, int run, int samples)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= samples)
        return;
    int each = run / STEP, pair = i / (2 * each), within = i % (2 * each);
    bool second = within >= each;
    int mine = (second ? within - each : within) * STEP;
    const unsigned int *first_run = keys + pair * 2 * run, *second_run = first_run + run;
    unsigned int key = second ? second_run[mine] : first_run[mine];
    int others = rank_of(key, second ? first_run : second_run, run, second);
    int place = pair * 2 * each + mine / STEP + (others + STEP - 1) / STEP;
    starts[2 * place] = second ? others : mine;
    starts[2 * place + 1] = second ? mine : others;
}

extern "C" __global__ void merge_intervals(const unsigned int *keys, const unsigned int *values, unsigned int *to_keys,
                                           unsigned int *to_values, const int *starts, int run)
{
    __shared__ unsigned int key[2 * STEP], value[2 * STEP];
    int t = threadIdx.x, intervals = 2 * run / STEP;
    int pair = blockIdx.x / intervals, number = blockIdx.x % intervals;
    int a = starts[2 * blockIdx.x], b = starts[2 * blockIdx.x + 1];
    int length_a = (number == intervals - 1 ? run : starts[2 * blockIdx.x + 2]) - a;
    int length_b = (number == intervals - 1 ? run : starts[2 * blockIdx.x + 3]) - b;
    int base = pair * 2 * run;
    unsigned int key_a = 0, value_a = 0, key_b = 0, value_b = 0;
    if (t < length_a) {
        key[t] = key_a = keys[base + a + t];
        value_a = values[base + a + t];
    }
    if (t < length_b) {
        key[STEP + t] = key_b = keys[base + run + b + t];
        value_b = values[base + run + b + t];
    }
    __syncthreads();
    int to_a = t + rank_of(key_a, key + STEP, length_b, false), to_b = t + rank_of(key_b, key, length_a, true);
    __syncthreads();
    if (t < length_a) {
        key[to_a] = key_a;
        value[to_a] = value_a;
    }
    if (t < length_b) {
        key[to_b] = key_b;
        value[to_b] = value_b;
    }
    __syncthreads();
    for (int i = t; i < length_a + length_b; i += STEP) {
        to_keys[base + a + b + i] = key[i];
        to_values[base + a + b + i] = value[i];
    }
}
