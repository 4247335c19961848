// Atomics on shared and global memory whose final values do not depend on the order of the threads.
__device__ double add_by_cas(double *address, double value)
{
    unsigned long long *bits = (unsigned long long *)address, old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}

extern "C" __global__ void atomics(const int *in, int *ints, unsigned *unsigneds, float *floats, double *doubles,
                                   unsigned long long *wide, int *returned, int n)
{
    __shared__ int s_sum, s_min, s_max;
    __shared__ unsigned s_inc, s_bits;
    __shared__ float s_float;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, value = in[i];
    if (t == 0) {
        s_sum = 0; s_min = 1 << 30; s_max = -(1 << 30);
        s_inc = 0; s_bits = 0; s_float = 0.0f;
    }
    __syncthreads();
    atomicAdd(&s_sum, value);
    atomicMin(&s_min, value);
    atomicMax(&s_max, value);
    atomicInc(&s_inc, 12);
    atomicOr(&s_bits, 1u << (value & 31));
    atomicAdd(&s_float, (float)value);  // small whole numbers: every order gives the same sum
    __syncthreads();
    if (t == 0) {
        atomicAdd(&ints[0], s_sum);
        atomicMin(&ints[1], s_min);
        atomicMax(&ints[2], s_max);
        atomicAdd(&unsigneds[0], s_inc);
        atomicOr(&unsigneds[1], s_bits);
        atomicAdd(&floats[0], s_float);
    }
    atomicSub(&ints[3], value);
    atomicXor(&ints[4], value * 2654435);
    atomicAnd(&unsigneds[2], ~(1u << (value & 15)));
    atomicDec(&unsigneds[3], 99);
    atomicMax(&unsigneds[4], (unsigned)value * 77777u);
    atomicAdd(&wide[0], (unsigned long long)value << 20);
    atomicMax(&wide[1], (unsigned long long)(value + 100) << 33);
    atomicAdd(&floats[1], 0.5f);
    atomicAdd(&doubles[0], (double)value);
    add_by_cas(&doubles[1], 2.0 * value);
    returned[i] = atomicExch(&ints[8 + i], value + 1);         // one owner per word: the old value is certain
    returned[n + i] = atomicCAS(&ints[8 + n + i], 5, value);
}
