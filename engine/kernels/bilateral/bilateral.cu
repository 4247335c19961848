// A bilateral filter of colours: 7 x 7 pixels weighed by how far away and how different they are, from a shared tile.
#define SIDE 16
#define RADIUS 3
#define EDGE (SIDE + 2 * RADIUS)

__constant__ float near_by[7] = {0.135335f, 0.411112f, 0.800737f, 1.0f, 0.800737f, 0.411112f, 0.135335f};

extern "C" __global__ void bilateral(const unsigned *image, unsigned *filtered, const float *alike, int width, int height)
{
    __shared__ unsigned tile[EDGE * EDGE];
    __shared__ float weights[256];
    int thread = threadIdx.y * SIDE + threadIdx.x;
    int left = blockIdx.x * SIDE - RADIUS, top = blockIdx.y * SIDE - RADIUS;
    weights[thread] = alike[thread];
    for (int at = thread; at < EDGE * EDGE; at += SIDE * SIDE) {
        int x = min(max(left + at % EDGE, 0), width - 1), y = min(max(top + at / EDGE, 0), height - 1);
        tile[at] = image[y * width + x];
    }
    __syncthreads();

    unsigned middle = tile[(threadIdx.y + RADIUS) * EDGE + threadIdx.x + RADIUS];
    int r = middle & 255, g = middle >> 8 & 255, b = middle >> 16 & 255;
    float red = 0.0f, green = 0.0f, blue = 0.0f, sum = 0.0f;
#pragma unroll 1
    for (int dy = 0; dy < 7; dy++) {
        const unsigned *row = tile + (threadIdx.y + dy) * EDGE + threadIdx.x;
        float across = near_by[dy];
#pragma unroll
        for (int dx = 0; dx < 7; dx++) {
            int p = row[dx] & 255, q = row[dx] >> 8 & 255, s = row[dx] >> 16 & 255;
            int apart = (abs(p - r) + abs(q - g) + abs(s - b)) / 3;
            float weight = across * near_by[dx] * weights[apart];
            red = fmaf(weight, (float)p, red);
            green = fmaf(weight, (float)q, green);
            blue = fmaf(weight, (float)s, blue);
            sum += weight;
        }
    }
    unsigned out = (unsigned)fmaf(red, 1.0f / sum, 0.5f) | (unsigned)fmaf(green, 1.0f / sum, 0.5f) << 8
                   | (unsigned)fmaf(blue, 1.0f / sum, 0.5f) << 16;
    filtered[(top + RADIUS + threadIdx.y) * width + left + RADIUS + threadIdx.x] = out;
}
