// Price European call options on a binomial tree, one CTA per option, by backward induction in shared memory.
#define STEPS 95
#define NODES (STEPS + 1)

// spot, strike, log of one step up, and the discounted probabilities up and down: options[5 * option ...].
extern "C" __global__ void binomial(const float *options, float *value)
{
    __shared__ float call[NODES];
    int t = threadIdx.x;
    const float *option = options + 5 * blockIdx.x;
    float up = option[3], down = option[4];
    float price = option[0] * __expf(option[2] * (float)(2 * t - STEPS));
    call[t] = fmaxf(price - option[1], 0.0f);
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
