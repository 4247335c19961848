// Loads, stores and arithmetic of 8 and 16 bits, signed and unsigned, in global and shared memory.
extern "C" __global__ void narrow_types(const signed char *sc, const unsigned char *uc, const short *ss,
                                        const unsigned short *us, signed char *sc_out, unsigned char *uc_out,
                                        short *ss_out, unsigned short *us_out, int *sums)
{
    __shared__ unsigned char bytes[128];
    __shared__ short words[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    bytes[t] = uc[i];
    words[t] = ss[i];
    __syncthreads();
    signed char a = sc[i];
    unsigned char b = bytes[t ^ 1];
    short c = words[127 - t];
    unsigned short d = us[i];
    sc_out[i] = a * 3 - (signed char)b;
    uc_out[i] = (b >> 1) + (unsigned char)a;
    ss_out[i] = c * a + (c >> 2);
    us_out[i] = (unsigned short)(d * 5) / 3 + b;
    short low = min(c, (short)a);
    unsigned short high = max(d, (unsigned short)b);
    sums[i] = a + b + c + d + low - high + (a < c) + (b > d) * 2 + ~a;
}
