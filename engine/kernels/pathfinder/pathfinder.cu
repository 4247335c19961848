// The cheapest way down a grid, as in Rodinia: each row adds its cost to the least of three neighbours above.
extern "C" __global__ void pathfinder(const int *wall, const int *before, int *after, int cols, int steps, int row)
{
    __shared__ int now[256], next[256];
    int tx = threadIdx.x;
    int x = blockIdx.x * (256 - 2 * steps) - steps + tx;
    bool inside = x >= 0 && x < cols;
    now[tx] = inside ? before[x] : 1 << 28;
    __syncthreads();
    for (int step = 0; step < steps; step++) {
        if (inside && tx > step && tx < 255 - step) {
            int least = min(now[tx - 1], min(now[tx], now[tx + 1]));
            next[tx] = least + wall[(row + step) * cols + x];
        } else {
            next[tx] = now[tx];
        }
        __syncthreads();
        now[tx] = next[tx];
        __syncthreads();
    }
    if (inside && tx >= steps && tx < 256 - steps)
        after[x] = now[tx];
}
