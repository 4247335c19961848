// Price call options by Monte Carlo, one CTA per option: random numbers from counters, Box-Muller, tree sums.
// The finaliser of MurmurHash3 (public domain) over a Weyl sequence: a number for every counter, no state.
__device__ unsigned random_bits(unsigned counter, unsigned key)
{
    unsigned x = counter * 0x9e3779b9u + key;
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    return x ^ (x >> 16);
}

// spot, strike, drift and volatility over the option's life: options[4 * option ...].
template <int THREADS>
__device__ __forceinline__ void price(const float *options, float *mean, float *mean_square, int pairs_per_thread,
                                      float paths_inv)
{
    __shared__ float sums[THREADS];
    __shared__ float squares[THREADS];
    int t = threadIdx.x;
    float spot = options[4 * blockIdx.x], strike = options[4 * blockIdx.x + 1];
    float drift = options[4 * blockIdx.x + 2], volatility = options[4 * blockIdx.x + 3];
    float sum = 0.0f, square = 0.0f;
#pragma unroll 1
    for (int pair = 0; pair < pairs_per_thread; pair++) {
        unsigned counter = (pair * THREADS + t) * 2;
        float u = ((random_bits(counter, blockIdx.x) >> 8) + 1) * 0x1p-24f;  // 0 < u <= 1
        float v = ((int)random_bits(counter + 1, blockIdx.x) >> 8) * 0x1p-23f;  // -1 <= v < 1, times pi the angle
        float radius = sqrtf(-2.0f * __logf(u));
        float angle = v * 3.14159274f;
        float up = spot * __expf(drift + volatility * (radius * __cosf(angle)));
        float down = spot * __expf(drift + volatility * (radius * __sinf(angle)));
        float gain = fmaxf(up - strike, 0.0f);
        sum += gain;
        square += gain * gain;
        gain = fmaxf(down - strike, 0.0f);
        sum += gain;
        square += gain * gain;
    }
    sums[t] = sum;
    squares[t] = square;
    __syncthreads();
    for (int width = THREADS / 2; width > 0; width >>= 1) {
        if (t < width) {
            sums[t] += sums[t + width];
            squares[t] += squares[t + width];
        }
        __syncthreads();
    }
    if (t == 0) {
        mean[blockIdx.x] = sums[0] * paths_inv;
        mean_square[blockIdx.x] = squares[0] * paths_inv;
    }
}

extern "C" __global__ void montecarlo(const float *options, float *mean, float *mean_square, int pairs_per_thread,
                                      float paths_inv)
{
    price<128>(options, mean, mean_square, pairs_per_thread, paths_inv);
}

extern "C" __global__ void montecarlo_256(const float *options, float *mean, float *mean_square, int pairs_per_thread,
                                          float paths_inv)
{
    price<256>(options, mean, mean_square, pairs_per_thread, paths_inv);
}
