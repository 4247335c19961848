// Many small Mersenne twisters (19 words each) with parameters of their own; then Box and Muller's pairs.
#define WORDS 19
#define MIDDLE 9

extern "C" __global__ void mersenne(const unsigned int *matrix, const unsigned int *mask_b, const unsigned int *mask_c,
                                    const unsigned int *seed, float *output, int numbers)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    unsigned int a = matrix[thread], b = mask_b[thread], c = mask_c[thread];
    unsigned int state[WORDS];
    state[0] = seed[thread];
#pragma unroll 1
    for (int i = 1; i < WORDS; i++)
        state[i] = 1812433253u * (state[i - 1] ^ state[i - 1] >> 30) + i;
    int at = 0;
    unsigned int word = state[0];
    for (int number = 0; number < numbers; number++) {
        int next = at + 1 < WORDS ? at + 1 : 0;
        int middle = at + MIDDLE < WORDS ? at + MIDDLE : at + MIDDLE - WORDS;
        unsigned int following = state[next];
        unsigned int x = (word & 0xfffffffeu) | (following & 1u);
        x = state[middle] ^ x >> 1 ^ (x & 1u ? a : 0u);
        state[at] = x;
        at = next;
        word = following;
        x ^= x >> 12;
        x ^= x << 7 & b;
        x ^= x << 15 & c;
        x ^= x >> 18;
        output[number * threads + thread] = ((x >> 8) + 1) * 0x1p-24f;  // 0 < output <= 1
    }
}

extern "C" __global__ void box_muller(float *output, int numbers)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int number = 0; number < numbers; number += 2) {
        float *first = output + number * threads + thread, *second = first + threads;
        float radius = sqrtf(-2.0f * __logf(*first));
        float angle = fmaf(*second, 6.28318548f, -3.14159274f);
        *first = radius * __cosf(angle);
        *second = radius * __sinf(angle);
    }
}
