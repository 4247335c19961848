// Votes, matches and masks of a warp, whole and divergent.
#define ALL 0xffffffffu

__device__ unsigned lanemask_lt() { unsigned m; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(m)); return m; }
__device__ unsigned lanemask_ge() { unsigned m; asm("mov.u32 %0, %%lanemask_ge;" : "=r"(m)); return m; }
__device__ unsigned lanemask_eq() { unsigned m; asm("mov.u32 %0, %%lanemask_eq;" : "=r"(m)); return m; }

extern "C" __global__ void votes(const int *in, const unsigned long long *keys, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    int lane = threadIdx.x & 31, value = in[i];
    unsigned odd = __ballot_sync(ALL, value & 1);
    out[i] = odd;
    out[n + i] = __any_sync(ALL, value == 3);
    out[2 * n + i] = __all_sync(ALL, value < 16);
    out[3 * n + i] = __match_any_sync(ALL, value);
    int agree;
    out[4 * n + i] = __match_all_sync(ALL, value >> 4, &agree);
    out[11 * n + i] = agree;
    out[5 * n + i] = __popc(odd & lanemask_lt());
    out[6 * n + i] = lanemask_ge() ^ lanemask_eq();
    out[7 * n + i] = __match_any_sync(ALL, keys[i]);
    unsigned active = 0, taken = 0;
    if (value & 1) {
        active = __activemask();
        taken = __ballot_sync(odd, lane & 2);
    }
    out[8 * n + i] = active;
    out[9 * n + i] = taken;
    int uniform;
    asm volatile("{ .reg .pred p, q; setp.gt.s32 p, %1, 7; vote.sync.uni.pred q, p, -1; selp.s32 %0, 1, 0, q; }"
                 : "=r"(uniform) : "r"(value));
    out[10 * n + i] = uniform;
}
