// Motion estimation as Parboil's sad: how much each 4 x 4 block differs from 32 x 32 places in the frame before, then
// the sums of four neighbouring blocks, twice.
#define SIDE 32
#define EACH 8
#define WINDOW (SIDE + 4)

extern "C" __global__ void sad_4x4(const unsigned char *frame, const unsigned char *before, unsigned short *sads,
                                   int width)
{
    __shared__ unsigned int window[WINDOW][WINDOW + 1], block[4][4];
    int t = threadIdx.x, x = blockIdx.x * 4, y = blockIdx.y * 4;
    for (int i = t; i < WINDOW * WINDOW; i += 128)
        window[i / WINDOW][i % WINDOW] = before[(y + i / WINDOW) * (width + SIDE) + x + i % WINDOW];
    if (t < 16)
        block[t / 4][t % 4] = frame[(y + t / 4) * width + x + t % 4];
    __syncthreads();
    int dy = t / 4, dx = t % 4 * EACH;
    unsigned int sum[EACH];
#pragma unroll
    for (int e = 0; e < EACH; e++)
        sum[e] = 0;
#pragma unroll 1
    for (int row = 0; row < 4; row++) {
        unsigned int a = block[row][0], b = block[row][1], c = block[row][2], d = block[row][3];
        unsigned int seen[EACH + 3];
#pragma unroll
        for (int e = 0; e < EACH + 3; e++)
            seen[e] = window[dy + row][dx + e];
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            sum[e] = __usad(a, seen[e], sum[e]);
            sum[e] = __usad(b, seen[e + 1], sum[e]);
            sum[e] = __usad(c, seen[e + 2], sum[e]);
            sum[e] = __usad(d, seen[e + 3], sum[e]);
        }
    }
    sads += (blockIdx.y * gridDim.x + blockIdx.x) * SIDE * SIDE + t * EACH;
#pragma unroll
    for (int e = 0; e < EACH; e++)
        sads[e] = sum[e];
}

// A block of twice the side: the sum of four; across: how many of these lie side by side.
extern "C" __global__ void sad_larger(const unsigned short *small, unsigned short *large, int across)
{
    const unsigned short *upper = small + (2 * blockIdx.y * across + 2 * blockIdx.x) * SIDE * SIDE;
    const unsigned short *lower = upper + across * SIDE * SIDE;
    large += (blockIdx.y * gridDim.x + blockIdx.x) * SIDE * SIDE;
    for (int i = threadIdx.x; i < SIDE * SIDE; i += 128)
        large[i] = upper[i] + upper[i + SIDE * SIDE] + lower[i] + lower[i + SIDE * SIDE];
}
