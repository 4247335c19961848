// The special function unit: every approximate function that PTX has for f32.
extern "C" __global__ void sfu_approx(const float *in, float *out, float *coarse, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], y;
    asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    out[i] = y;
    asm("lg2.approx.f32 %0, %1;" : "=f"(y) : "f"(fabsf(x)));
    out[n + i] = y;
    out[2 * n + i] = __sinf(x);
    out[3 * n + i] = __cosf(x);
    asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(fabsf(x)));
    out[4 * n + i] = y;
    asm("rcp.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    out[5 * n + i] = y;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(fabsf(x)));
    out[6 * n + i] = y;
    out[7 * n + i] = __fdividef(x, 3.0f);
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    coarse[i] = y;  // tanh.approx has a relative error of 2^-11
    asm("div.full.f32 %0, %1, %2;" : "=f"(y) : "f"(x), "f"(7.0f));
    out[8 * n + i] = y;
    out[9 * n + i] = expf(x) + sqrtf(fabsf(x)) / (1.5f + fabsf(x));
}
