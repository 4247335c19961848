// Conversions between floats, doubles and integers: every rounding, saturation, NaN and infinity.
extern "C" __global__ void conversions(const float *f, const double *d, const int *k, const long long *w, int *ints,
                                       long long *longs, float *floats, double *doubles)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    float x = f[i];
    double y = d[i];
    ints[i] = __float2int_rn(x);
    ints[n + i] = __float2int_rz(x);
    ints[2 * n + i] = __float2int_ru(x);
    ints[3 * n + i] = __float2int_rd(x);
    ints[4 * n + i] = (int)__float2uint_rz(x);
    ints[5 * n + i] = __double2int_rn(y);
    ints[6 * n + i] = __double2int_rz(y);
    ints[7 * n + i] = __double2hiint(y) ^ __double2loint(y);
    int r;
    asm("cvt.rzi.u8.f32 %0, %1;" : "=r"(r) : "f"(x));
    ints[8 * n + i] = r;
    asm("cvt.sat.s8.s32 %0, %1;" : "=r"(r) : "r"(k[i]));
    ints[9 * n + i] = r;
    asm("cvt.sat.u16.s32 %0, %1;" : "=r"(r) : "r"(k[i]));
    ints[10 * n + i] = r;
    longs[i] = __float2ll_rz(x);
    longs[n + i] = __double2ll_rd(y);
    longs[2 * n + i] = (long long)__double2ull_rz(y);
    longs[3 * n + i] = k[i];
    longs[4 * n + i] = (unsigned)k[i];
    floats[i] = (float)y;
    floats[n + i] = __double2float_rz(y);
    floats[2 * n + i] = (float)k[i];
    floats[3 * n + i] = __uint2float_ru((unsigned)k[i]);
    floats[4 * n + i] = (float)w[i];
    floats[5 * n + i] = (float)(unsigned long long)w[i];
    floats[6 * n + i] = __saturatef(x);
    floats[7 * n + i] = rintf(x) + truncf(x) * 0.5f;
    floats[8 * n + i] = floorf(x) - ceilf(x);
    doubles[i] = (double)x;
    doubles[n + i] = (double)w[i];
    doubles[2 * n + i] = __ull2double_rz((unsigned long long)w[i]);
    doubles[3 * n + i] = rint(y) + trunc(y) * 0.5;
    doubles[4 * n + i] = (double)(unsigned)k[i];
}
