// Half precision: conversions with several roundings, loads and stores, pairs in one register, arithmetic.
#include <cuda_fp16.h>

extern "C" __global__ void half_floats(const float *in, const __half *halves, __half *out, float *floats,
                                       const __half2 *pairs, __half2 *pairs_out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    out[i] = __float2half_rn(in[i]);
    out[n + i] = __float2half_rz(in[i]);
    out[2 * n + i] = __float2half_ru(in[i]);
    floats[i] = __half2float(halves[i]) * 0.5f;
    out[3 * n + i] = __int2half_rn((int)in[i]);
    __half2 p = pairs[i];
    __half2 swapped = __lowhigh2highlow(p);
    pairs_out[i] = __hadd2(p, swapped);
    pairs_out[n + i] = __hmul2(p, swapped);
    pairs_out[2 * n + i] = __hfma2(p, swapped, p);
    out[4 * n + i] = __hsub(__low2half(p), __high2half(p));
    floats[n + i] = __hlt(__low2half(p), __high2half(p)) ? 1.0f : 2.0f;
}
