// Forms of instructions that came with recent GPUs, as compilers write them: sums of halves in 32 bits, minima of three,
// floats of 19 bits, atomics on vectors.
#include <cuda_fp16.h>

extern "C" __global__ void newer_forms(const half *h, const float *f, unsigned *tf32, float *out, float4 *total)
{
    const int i = threadIdx.x, n = blockDim.x;
    const unsigned short a = __half_as_ushort(h[i]), b = __half_as_ushort(h[n + i]);
    const float x = f[i], y = f[n + i], z = f[2 * n + i];
    unsigned away, even;
    float sum, difference, fused, low, high;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(away) : "f"(x));
    asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(even) : "f"(x));
    asm("add.rn.f32.f16 %0, %1, %2;" : "=f"(sum) : "h"(a), "f"(z));
    asm("sub.rn.f32.f16 %0, %1, %2;" : "=f"(difference) : "h"(a), "f"(z));
    asm("fma.rn.f32.f16 %0, %1, %2, %3;" : "=f"(fused) : "h"(a), "h"(b), "f"(z));
    asm("min.f32 %0, %1, %2, %3;" : "=f"(low) : "f"(x), "f"(y), "f"(z));
    asm("max.f32 %0, %1, %2, %3;" : "=f"(high) : "f"(x), "f"(y), "f"(z));
    tf32[i] = away;
    tf32[n + i] = even;
    const float results[] = {sum, difference, fused, low, high};
    for (int k = 0; k < 5; ++k)
        out[k * n + i] = results[k];
    atomicAdd(total, make_float4(1, i, i % 2, -i));
}
