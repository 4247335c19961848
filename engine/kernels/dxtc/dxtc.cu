// DXT1 compression, a CTA per tile of 4 x 4 pixels: colours are sorted along their principal axis, then grouped in the
// way whose least-squares end points err least. A grouping: two bits per sorted colour, thirds of the start in it.
#define PIXELS 16
#define THREADS 64

struct Ends {
    float start[3], end[3], error;
};

// Return a colour component as the nearest of `levels` + 1 steps.
__device__ float on_grid(float x, float levels)
{
    return rintf(fminf(fmaxf(x, 0.0f), 1.0f) * levels) / levels;
}

// Return the best end points for a grouping, and their squared error without what all groupings have in common.
__device__ Ends fit(const float (*colour)[PIXELS], unsigned int grouping)
{
    float start_2 = 0.0f, end_2 = 0.0f, both = 0.0f;
    float start_x[3] = {0.0f, 0.0f, 0.0f}, end_x[3] = {0.0f, 0.0f, 0.0f};
#pragma unroll 4
    for (int i = 0; i < PIXELS; i++) {
        float weight = (float)(grouping >> 2 * i & 3) * 0.333333343f;
        float rest = 1.0f - weight;
        start_2 = fmaf(weight, weight, start_2);
        end_2 = fmaf(rest, rest, end_2);
        both = fmaf(weight, rest, both);
#pragma unroll
        for (int k = 0; k < 3; k++) {
            start_x[k] = fmaf(weight, colour[k][i], start_x[k]);
            end_x[k] = fmaf(rest, colour[k][i], end_x[k]);
        }
    }
    float factor = 1.0f / fmaf(start_2, end_2, -__fmul_rn(both, both));
    Ends ends;
    ends.error = 0.0f;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        float levels = k == 1 ? 63.0f : 31.0f;
        float a = on_grid(fmaf(start_x[k], end_2, -__fmul_rn(end_x[k], both)) * factor, levels);
        float b = on_grid(fmaf(end_x[k], start_2, -__fmul_rn(start_x[k], both)) * factor, levels);
        float cross = fmaf(a, __fmul_rn(b, both), -fmaf(a, start_x[k], __fmul_rn(b, end_x[k])));
        ends.error += fmaf(2.0f, cross, fmaf(__fmul_rn(a, a), start_2, __fmul_rn(__fmul_rn(b, b), end_2)));
        ends.start[k] = a;
        ends.end[k] = b;
    }
    return ends;
}

// Return a colour in 16 bits: five of the lowest component on top, six, five.
__device__ unsigned int packed(const float *colour)
{
    return (unsigned int)rintf(colour[0] * 31.0f) << 11 | (unsigned int)rintf(colour[1] * 63.0f) << 5
         | (unsigned int)rintf(colour[2] * 31.0f);
}

extern "C" __global__ void dxtc(const unsigned int *image, const unsigned int *groupings, unsigned int *compressed,
                                int width, int count)
{
    __shared__ float colour[3][PIXELS], product[6][PIXELS], along[PIXELS], errors[THREADS];
    __shared__ float sorted[3][PIXELS];
    __shared__ int places[PIXELS], which[THREADS];
    int t = threadIdx.x, place = 0;
    if (t < PIXELS) {
        unsigned int pixel = image[(blockIdx.y * 4 + t / 4) * width + blockIdx.x * 4 + t % 4];
        for (int k = 0; k < 3; k++)
            colour[k][t] = (float)(pixel >> 8 * k & 255u) * 0.00392156886f;
    }
    __syncthreads();
    if (t < PIXELS) {
        float apart[3];
        for (int k = 0; k < 3; k++) {
            float sum = 0.0f;
#pragma unroll 1
            for (int i = 0; i < PIXELS; i++)
                sum += colour[k][i];
            apart[k] = colour[k][t] - sum * 0.0625f;
        }
        for (int k = 0, entry = 0; k < 3; k++)
            for (int l = k; l < 3; l++, entry++)
                product[entry][t] = apart[k] * apart[l];
    }
    for (int half = PIXELS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            for (int entry = 0; entry < 6; entry++)
                product[entry][t] += product[entry][t + half];
    }
    __syncthreads();
    // the principal axis by eight steps of the power method
    float x = 1.0f, y = 1.0f, z = 1.0f;
#pragma unroll 1
    for (int step = 0; step < 8; step++) {
        float nx = fmaf(product[0][0], x, fmaf(product[1][0], y, __fmul_rn(product[2][0], z)));
        float ny = fmaf(product[1][0], x, fmaf(product[3][0], y, __fmul_rn(product[4][0], z)));
        float nz = fmaf(product[2][0], x, fmaf(product[4][0], y, __fmul_rn(product[5][0], z)));
        float scale = 1.0f / fmaxf(fmaxf(fabsf(nx), fabsf(ny)), fmaxf(fabsf(nz), 1e-20f));
        x = nx * scale;
        y = ny * scale;
        z = nz * scale;
    }
    if (t < PIXELS)
        along[t] = fmaf(colour[0][t], x, fmaf(colour[1][t], y, __fmul_rn(colour[2][t], z)));
    __syncthreads();
    if (t < PIXELS) {
#pragma unroll 1
        for (int i = 0; i < PIXELS; i++)
            place += along[i] < along[t] || (along[i] == along[t] && i < t);
        places[t] = place;
        for (int k = 0; k < 3; k++)
            sorted[k][place] = colour[k][t];
    }
    __syncthreads();
    float least = 3.4e38f;
    int best = 0;
#pragma unroll 1
    for (int number = t; number < count; number += THREADS) {
        float error = fit(sorted, groupings[number]).error;
        if (error < least) {
            least = error;
            best = number;
        }
    }
    errors[t] = least;
    which[t] = best;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) {
            float other = errors[t + half];
            int number = which[t + half];
            if (other < errors[t] || (other == errors[t] && number < which[t])) {
                errors[t] = other;
                which[t] = number;
            }
        }
    }
    __syncthreads();
    if (t == 0) {
        unsigned int grouping = groupings[which[0]], codes = 0;
        Ends ends = fit(sorted, grouping);
        unsigned int start = packed(ends.start), end = packed(ends.end);
#pragma unroll 1
        for (int i = 0; i < PIXELS; i++) {
            // weight 3 thirds: code 0, none: 1, two thirds: 2, one third: 3
            unsigned int weight = grouping >> 2 * places[i] & 3;
            codes |= (weight == 3 ? 0u : weight == 0 ? 1u : weight == 2 ? 2u : 3u) << 2 * i;
        }
        if (start < end) {
            unsigned int held = start;
            start = end;
            end = held;
            codes ^= 0x55555555u;
        }
        unsigned int tile = blockIdx.y * gridDim.x + blockIdx.x;
        compressed[2 * tile] = start | end << 16;
        compressed[2 * tile + 1] = codes;
    }
}
