// Division of 64 and 128 bits, and 64-bit values whose low words are used beside them.
extern "C" __global__ void wide_division(const long long *in, long long *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    long long x = in[2 * i], y = in[2 * i + 1] | 1;
    int p = (int)x, q = (int)y;
    unsigned u = (unsigned)x;
    unsigned short s = (unsigned short)x, t = (unsigned short)y;
    unsigned long long a = x, b = y;
    unsigned __int128 w = (unsigned __int128)a * b + a;
    __int128 v = (__int128)x * y - x;
    long long *r = out + 12 * i;
    r[0] = x / y;
    r[1] = x % y;
    r[2] = a / b;
    r[3] = a % b;
    r[4] = (long long)(w / (b >> 3 | 1));
    r[5] = (long long)(w % (b >> 3 | 1));
    r[6] = (long long)(v / (y >> 5 | 1));
    r[7] = (long long)(v % (y >> 5 | 1));
    r[8] = p / (q | 2);
    r[9] = u % (t | 1u);
    r[10] = s * t + p;
    r[11] = x / 1000 + a % 60;
}
