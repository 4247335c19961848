// Divergent control flow: nested conditions, breaks, a switch, early exits, a lock taken lane by lane, warp barriers.
__device__ int classify(int v)
{
    switch (v & 7) {
    case 0: return 100;
    case 1: return v * 3;
    case 2: v += 11;  // falls through
    case 3: return v - 4;
    case 5: return v / 5;
    case 6: return v % 6;
    default: return -1;
    }
}

extern "C" __global__ void divergence(const int *in, int *out, int *counters, volatile int *lock)
{
    __shared__ int scratch[128];
    int t = threadIdx.x, lane = t & 31, i = blockIdx.x * blockDim.x + t, value = in[i], result = 0;
    scratch[t] = value;
    for (int k = 0; k < 40; k++) {
        if (k > (value & 31))
            break;
        if ((value ^ k) & 1)
            continue;
        if (value & 2) {
            if (k & 4)
                result += k;
            else
                result -= 2 * k;
        } else {
            int j = k;
            do {
                result += j & 3;
                j >>= 1;
            } while (j);
        }
    }
    result += classify(value);
    if (lane < 16) {
        __syncwarp(0x0000ffff);
        result += scratch[t ^ 8];
        __syncwarp(0x0000ffff);
        scratch[t] = -result;
        __syncwarp(0x0000ffff);
        result ^= scratch[t ^ 1];
    } else {
        __syncwarp(0xffff0000);
        result -= scratch[t ^ 4];
    }
    __syncwarp();
    out[i] = result;
    if (lane >= 24)
        return;
    if (blockIdx.x == 0 && t < 32) {  // a lock in one warp: needs forward progress of every lane
        bool done = false;
        while (!done) {
            if (atomicCAS((int *)lock, 0, 1) == 0) {
                counters[0] = ((volatile int *)counters)[0] + value;
                __threadfence();
                *lock = 0;
                done = true;
            }
        }
    }
    if (lane & 1)
        atomicAdd(&counters[1], 1);
}
