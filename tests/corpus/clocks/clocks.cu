// Clocks and identities: only facts that hold on every machine are stored, the readings themselves are not.
extern "C" __global__ void clocks(int *facts, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    long long begin = clock64();
    unsigned first = clock();
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    __nanosleep(20);
    int value = in[i] * 3;
    facts[i] = value;
    unsigned long long later;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(later));
    unsigned smid, nsmid, warpid, laneid, nwarpid;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(smid));
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(nsmid));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warpid));
    asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(nwarpid));
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(laneid));
    facts[n + i] = (clock64() > begin) | (clock() - first < 1000000u) << 1 | (later >= time) << 2 |
                   (smid < nsmid) << 3 | (warpid < nwarpid) << 4 | (laneid == (threadIdx.x & 31)) << 5;
}
