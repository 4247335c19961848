// Speckle-reducing anisotropic diffusion, in the launches of Rodinia's srad_v1: brightness to exponentials and back.
#define THREADS 512

extern "C" __global__ void extract(float *image, int count)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count)
        image[i] = __expf(image[i] / 255.0f);
}

extern "C" __global__ void prepare(const float *image, float *sums, float *squares, int count)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count) {
        sums[i] = image[i];
        squares[i] = image[i] * image[i];
    }
}

// Every CTA leaves the sums of 512 numbers each of two arrays.
extern "C" __global__ void reduce(const float *sums, const float *squares, float *part_sums, float *part_squares,
                                  int count)
{
    __shared__ float sum[THREADS], square[THREADS];
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    sum[t] = i < count ? sums[i] : 0.0f;
    square[t] = i < count ? squares[i] : 0.0f;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) {
            sum[t] += sum[t + half];
            square[t] += square[t + half];
        }
    }
    if (t == 0) {
        part_sums[blockIdx.x] = sum[0];
        part_squares[blockIdx.x] = square[0];
    }
}

// Slopes to the four neighbours, and the coefficient of diffusion, from what the whole image varies.
extern "C" __global__ void diffuse(const float *image, const float *sums, const float *squares, float *slopes, float *c,
                                   int rows, int cols)
{
    int i = blockIdx.x * THREADS + threadIdx.x, count = rows * cols;
    if (i >= count)
        return;
    float mean = sums[0] / count;
    float square = __fmul_rn(mean, mean);
    float variance = (squares[0] / count - square) / square;
    int row = i / cols, col = i % cols;
    float here = image[i];
    float north = image[max(row - 1, 0) * cols + col] - here, south = image[min(row + 1, rows - 1) * cols + col] - here;
    float west = image[row * cols + max(col - 1, 0)] - here, east = image[row * cols + min(col + 1, cols - 1)] - here;
    float gradient = fmaf(north, north, fmaf(south, south, fmaf(west, west, __fmul_rn(east, east))));
    gradient = gradient / __fmul_rn(here, here);
    float laplacian = (north + south + west + east) / here;
    float above = fmaf(0.5f, gradient, __fmul_rn(__fmul_rn(-0.0625f, laplacian), laplacian));
    float below = fmaf(0.25f, laplacian, 1.0f);
    float local = above / __fmul_rn(below, below);
    float excess = (local - variance) / fmaf(variance, variance, variance);
    c[i] = fminf(fmaxf(1.0f / (1.0f + excess), 0.0f), 1.0f);
    slopes[i] = north;
    slopes[count + i] = south;
    slopes[2 * count + i] = west;
    slopes[3 * count + i] = east;
}

extern "C" __global__ void update(float *image, const float *slopes, const float *c, int rows, int cols, float rate)
{
    int i = blockIdx.x * THREADS + threadIdx.x, count = rows * cols;
    if (i >= count)
        return;
    int row = i / cols, col = i % cols;
    float here = c[i], south = c[min(row + 1, rows - 1) * cols + col], east = c[row * cols + min(col + 1, cols - 1)];
    float change = fmaf(here, slopes[i], __fmul_rn(south, slopes[count + i]));
    change = fmaf(east, slopes[3 * count + i], fmaf(here, slopes[2 * count + i], change));
    image[i] = fmaf(0.25f * rate, change, image[i]);
}

extern "C" __global__ void compress(float *image, int count)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count)
        image[i] = __logf(image[i]) * 255.0f;
}
