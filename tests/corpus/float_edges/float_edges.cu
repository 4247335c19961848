// Edges of IEEE arithmetic: directed roundings, subnormals, infinities, NaN in comparisons, minima and signs.
extern "C" __global__ void float_edges(const float *a, const float *b, const double *c, const double *d, float *out,
                                       double *wide, int *flags)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    float x = a[i], y = b[i], r;
    double p = c[i], q = d[i];
    out[i] = __fadd_rn(x, y);
    out[n + i] = __fadd_rz(x, y);
    out[2 * n + i] = __fmul_ru(x, y);
    out[3 * n + i] = __fmul_rd(x, y);
    out[4 * n + i] = __fdiv_rn(x, y);
    out[5 * n + i] = __fsqrt_rn(x);
    out[6 * n + i] = __frcp_rn(x);
    out[7 * n + i] = __fmaf_rz(x, y, 1.0f);
    out[8 * n + i] = __fmaf_rn(x, y, -x);
    out[9 * n + i] = fminf(x, y);
    out[10 * n + i] = fmaxf(x, y);
    out[11 * n + i] = copysignf(x, y);
    asm("add.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
    out[12 * n + i] = r;
    asm("mul.ftz.sat.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
    out[13 * n + i] = r;
    out[14 * n + i] = -x;
    out[15 * n + i] = fabsf(x);
    out[16 * n + i] = __fdiv_rz(x, y);
    out[17 * n + i] = __fsqrt_ru(x);
    wide[i] = __dadd_ru(p, q);
    wide[n + i] = __dmul_rz(p, q);
    wide[2 * n + i] = __ddiv_rn(p, q);
    wide[3 * n + i] = __dsqrt_rn(p);
    wide[4 * n + i] = fmin(p, q);
    wide[5 * n + i] = __fma_rn(p, q, 1.0);
    flags[i] = (x < y) | (x <= y) << 1 | (x == y) << 2 | (x != y) << 3 | !(x > y) << 4 | !(x >= y) << 5 |
               !(x < y) << 6 | isnan(x) << 7 | (isinf(y) ? 1 : 0) << 8 | (p < q) << 9 | !(p <= q) << 10 |
               (signbit(x) ? 1 : 0) << 11;
}
