// Real .func calls: several arguments and types, a struct result, a pointer argument, calls two deep in divergent code.
struct Pair { float low; int high; };

__device__ __noinline__ int collatz(unsigned n)
{
    int steps = 0;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n >> 1;
        steps++;
    }
    return steps;
}

__device__ __noinline__ Pair split(float value, int scale)
{
    Pair pair;
    pair.high = (int)(value * scale);
    pair.low = value * scale - pair.high;
    return pair;
}

__device__ __noinline__ void store_pair(Pair pair, float *low, int *high, char flag)
{
    *low = flag ? -pair.low : pair.low;
    *high = pair.high + flag;
}

__device__ __noinline__ double mix(double a, float b, long long c)
{
    return a * b + (double)(c + collatz(7));
}

extern "C" __global__ void calls(const float *in, int *steps, float *low, int *high, double *mixed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    steps[i] = collatz(i + 1);
    Pair pair = split(in[i], 1 << 4);
    store_pair(pair, &low[i], &high[i], i & 1);
    if (i % 3 == 0)
        mixed[i] = mix(0.25 * i, 2.0f, 1LL << 33);
    else if (i % 3 == 1)
        mixed[i] = collatz(i);
}
