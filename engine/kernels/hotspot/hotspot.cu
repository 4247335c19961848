// Heat of a chip by a 5-point stencil, as in Rodinia: each CTA computes STEPS steps on a tile whose halo shrinks.
#define TILE 16
#define STEPS 2

extern "C" __global__ void hotspot(const float *power, const float *temp_in, float *temp_out, int cols, int rows,
                                   float rx_inv, float ry_inv, float rz_inv, float step_div_cap)
{
    __shared__ float temp[TILE][TILE];
    __shared__ float next[TILE][TILE];
    const float ambient = 80.0f;
    int tx = threadIdx.x, ty = threadIdx.y;
    int inner = TILE - 2 * STEPS;
    int x = inner * blockIdx.x - STEPS + tx;
    int y = inner * blockIdx.y - STEPS + ty;
    bool in_chip = x >= 0 && x < cols && y >= 0 && y < rows;
    int index = y * cols + x;
    float heat = 0.0f;
    if (in_chip) {
        temp[ty][tx] = temp_in[index];
        heat = power[index];
    }
    __syncthreads();

    // Neighbours beyond the chip's edge are the edge cell itself.
    int north = y > 0 ? ty - 1 : ty, south = y < rows - 1 ? ty + 1 : ty;
    int west = x > 0 ? tx - 1 : tx, east = x < cols - 1 ? tx + 1 : tx;
    bool computed = false;
    for (int step = 1; step <= STEPS; step++) {
        computed = in_chip && tx >= step && tx < TILE - step && ty >= step && ty < TILE - step;
        if (computed) {
            float here = temp[ty][tx];
            next[ty][tx] = here + step_div_cap * (heat
                                                  + (temp[south][tx] + temp[north][tx] - 2.0f * here) * ry_inv
                                                  + (temp[ty][east] + temp[ty][west] - 2.0f * here) * rx_inv
                                                  + (ambient - here) * rz_inv);
        }
        __syncthreads();
        if (step < STEPS && computed)
            temp[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (computed)
        temp_out[index] = next[ty][tx];
}
