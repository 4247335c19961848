// Division and remainder of 32 and 64 bits, signed and unsigned, by variables and by constants.
extern "C" __global__ void int_division(const int *a, const int *b, const long long *c, const long long *d, int *out,
                                        long long *wide)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    int x = a[i], y = b[i];
    long long p = c[i], q = d[i];
    out[i] = x / y;
    out[n + i] = x % y;
    out[2 * n + i] = (unsigned)x / (unsigned)y;
    out[3 * n + i] = (unsigned)x % (unsigned)y;
    out[4 * n + i] = x / 7 + x % 1000 + (unsigned)x / 10u;
    out[5 * n + i] = (short)x / (short)(y | 1);
    out[6 * n + i] = (int)((unsigned short)x % (unsigned short)(y | 1));
    wide[i] = p / q;
    wide[n + i] = p % q;
    wide[2 * n + i] = (unsigned long long)p / (unsigned long long)q;
    wide[3 * n + i] = (unsigned long long)p % (unsigned long long)q;
    wide[4 * n + i] = p / 1000003 - p % 97;
}
