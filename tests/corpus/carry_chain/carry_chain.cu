// Arithmetic of 128 bits by carry chains: add.cc, addc, sub.cc, subc, mad.cc, madc, and the compiler's own __int128.
extern "C" __global__ void carry_chain(const uint4 *a, const uint4 *b, uint4 *sum, uint4 *difference, uint4 *product,
                                       unsigned long long *wide)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    uint4 x = a[i], y = b[i], r;
    asm("add.cc.u32 %0, %4, %8; addc.cc.u32 %1, %5, %9; addc.cc.u32 %2, %6, %10; addc.u32 %3, %7, %11;"
        : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
        : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y.x), "r"(y.y), "r"(y.z), "r"(y.w));
    sum[i] = r;
    asm("sub.cc.u32 %0, %4, %8; subc.cc.u32 %1, %5, %9; subc.cc.u32 %2, %6, %10; subc.u32 %3, %7, %11;"
        : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
        : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y.x), "r"(y.y), "r"(y.z), "r"(y.w));
    difference[i] = r;
    asm("mul.lo.u32 %0, %4, %6; mul.hi.u32 %1, %4, %6; mul.lo.u32 %2, %5, %7; mul.hi.u32 %3, %5, %7;\n\t"
        "mad.lo.cc.u32 %1, %4, %7, %1; madc.hi.cc.u32 %2, %4, %7, %2; addc.u32 %3, %3, 0;\n\t"
        "mad.lo.cc.u32 %1, %5, %6, %1; madc.hi.cc.u32 %2, %5, %6, %2; addc.u32 %3, %3, 0;"
        : "=&r"(r.x), "=&r"(r.y), "=&r"(r.z), "=&r"(r.w) : "r"(x.x), "r"(x.y), "r"(y.x), "r"(y.y));
    product[i] = r;
    unsigned __int128 p = (unsigned __int128)x.x << 96 | (unsigned __int128)x.y << 64 | x.z;
    unsigned __int128 q = (unsigned __int128)y.x << 64 | y.w;
    p = p * 3 + q * q - (p >> 5);
    wide[i] = (unsigned long long)p;
    wide[n + i] = (unsigned long long)(p >> 64);
}
