// Warp shuffles of all four kinds, whole and in segments, of 32 and 64 bits, with and without the predicate result.
#define ALL 0xffffffffu

extern "C" __global__ void shuffles(const int *in, const double *wide, int *out, double *wide_out, float *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    int lane = threadIdx.x & 31, value = in[i];
    out[i] = __shfl_sync(ALL, value, (lane * 7 + 3) & 31);
    out[n + i] = __shfl_up_sync(ALL, value, 3);
    out[2 * n + i] = __shfl_down_sync(ALL, value, 5, 16);
    out[3 * n + i] = __shfl_xor_sync(ALL, value, 9);
    out[4 * n + i] = __shfl_sync(ALL, value, lane + 1, 8);
    int received, valid;
    asm volatile("{ .reg .pred p; shfl.sync.down.b32 %0|p, %2, 11, 31, -1; selp.s32 %1, 1, 0, p; }"
                 : "=r"(received), "=r"(valid) : "r"(value));
    out[5 * n + i] = valid ? received : -1;
    wide_out[i] = __shfl_xor_sync(ALL, wide[i], 31);
    float sum = (float)value;
    for (int offset = 16; offset > 0; offset >>= 1)
        sum += __shfl_down_sync(ALL, sum, offset);
    if (lane == 0)
        sums[i >> 5] = sum;
    if (lane < 12)  // only some lanes take part
        out[6 * n + i] = __shfl_xor_sync(0x00000fffu, value, 1);
}
