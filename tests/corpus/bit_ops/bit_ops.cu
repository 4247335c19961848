// Bit operations of 32 and 64 bits: counts, reversals, fields, permutes, funnel shifts, three-input logic, dot products.
extern "C" __global__ void bit_ops(const unsigned *a_in, const unsigned *b_in, unsigned *out,
                                   unsigned long long *wide)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    unsigned a = a_in[i], b = b_in[i], r;
    int s;
    unsigned long long w = ((unsigned long long)a << 32) | b, v;
    out[i] = __popc(a);
    out[n + i] = __clz(a);
    out[2 * n + i] = __brev(a);
    out[3 * n + i] = __ffs(a);
    out[4 * n + i] = __byte_perm(a, b, b & 0x7777);
    out[5 * n + i] = __funnelshift_l(a, b, b & 63);
    out[6 * n + i] = __funnelshift_rc(a, b, b & 63);
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b & 31), "r"((b >> 5) & 63));
    out[7 * n + i] = r;
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(s) : "r"(a), "r"(b & 31), "r"((b >> 5) & 63));
    out[8 * n + i] = s;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(b & 31), "r"((b >> 5) & 31));
    out[9 * n + i] = r;
    asm("lop3.b32 %0, %1, %2, %3, 0xE8;" : "=r"(r) : "r"(a), "r"(b), "r"(a ^ (b << 3)));
    out[10 * n + i] = r;
    asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(a));
    out[11 * n + i] = r;
    asm("bfind.shiftamt.s32 %0, %1;" : "=r"(r) : "r"((int)b));
    out[12 * n + i] = r;
    out[13 * n + i] = __umulhi(a, b) ^ __mulhi((int)a, (int)b);
    out[14 * n + i] = __sad((int)a, (int)b, 7u);
    out[15 * n + i] = __dp4a((int)a, (int)b, 5);
    asm("prmt.b32.rc8 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(b & 3));
    out[16 * n + i] = r;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(b & 0xffff));  // bit 3 of a selector copies the sign
    out[17 * n + i] = r;
    asm("mul24.lo.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    out[18 * n + i] = r;
    out[19 * n + i] = __uhadd(a, b) + __rhadd((int)a, (int)b);
    asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b & 63));  // amounts above 31 give 0, not a wrapped shift
    out[20 * n + i] = r;
    asm("shr.s32 %0, %1, %2;" : "=r"(s) : "r"(a), "r"(b & 63));
    out[21 * n + i] = s;
    asm("cnot.b32 %0, %1;" : "=r"(r) : "r"(a & 1));
    out[22 * n + i] = r;
    wide[i] = __popcll(w);
    wide[n + i] = __clzll(w >> (b & 31));
    wide[2 * n + i] = __brevll(w);
    wide[3 * n + i] = __umul64hi(w, ~w);
    asm("bfe.s64 %0, %1, %2, %3;" : "=l"(v) : "l"(w), "r"(b & 63), "r"((a >> 4) & 31));
    wide[4 * n + i] = v;
    asm("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(v) : "l"(w), "l"(~w), "r"(b & 63), "r"(a & 31));
    wide[5 * n + i] = v;
    asm("bfind.u64 %0, %1;" : "=r"(r) : "l"(w >> 9));
    wide[6 * n + i] = r;
    wide[7 * n + i] = (w << (b & 31)) ^ (w >> (a & 63)) ^ (unsigned long long)((long long)w >> (b & 63));
}
