// Price European call options on a binomial tree, one CTA per option, by backward induction in shared memory.
template <int STEPS>
__device__ __forceinline__ void induce(float spot, float strike, float log_up, float up, float down, float *value)
{
    __shared__ float call[STEPS + 1];
    int t = threadIdx.x;
    float price = spot * __expf(log_up * (float)(2 * t - STEPS));
    call[t] = fmaxf(price - strike, 0.0f);
#pragma unroll 1
    for (int step = STEPS; step > 0; step--) {
        __syncthreads();
        float mine = 0.0f;
        if (t < step)
            mine = up * call[t + 1] + down * call[t];
        __syncthreads();
        if (t < step)
            call[t] = mine;
    }
    if (t == 0)
        value[blockIdx.x] = call[0];
}

// spot, strike, log of one step up, and the discounted probabilities up and down: options[5 * option ...].
extern "C" __global__ void binomial(const float *options, float *value)
{
    const float *option = options + 5 * blockIdx.x;
    induce<95>(option[0], option[1], option[2], option[3], option[4], value);
}

// The same on trees of 127 steps, with an array of each.
extern "C" __global__ void binomial_128(const float *spot, const float *strike, const float *log_up, const float *up,
                                        const float *down, float *value)
{
    int i = blockIdx.x;
    induce<127>(spot[i], strike[i], log_up[i], up[i], down[i], value);
}
